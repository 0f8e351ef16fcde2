"""The last checkpoint of each run, where a table has several: `--last step`."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.columns.values import parse_number
from holdsup.errors import ColumnError, ScoresError
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.scores import Scores
from holdsup.scores.run_names import name_runs

__all__ = ["keep_last"]

Floats = NDArray[np.float64]
NUMBER = re.compile(r"\d+(?:\.\d+)?")  # in a label such as checkpoint-500


def keep_last(scores: Scores, column: str | None) -> tuple[Scores, dict[str, int]]:
    """Return the rows at the largest value of a column in each run, dataset and metric, and how many were passed over.

    What was done is said in a note. A column that was taken for a facet is none any more: a run has all its values.
    """
    if column is None:
        return scores, {}
    if not isinstance(column, str):
        raise ScoresError(f"last is {column!r:.60}: give the name of one column, such as 'step'")
    scores = _without_facet(scores, column)
    values = _values(scores, column)
    owners = [scores.system, scores.run, *(each for each in (scores.dataset, scores.metric) if each is not None)]
    runs = cross(*owners).codes
    counted = np.where(scores.usable, values, np.nan)
    highest = _highest(runs, counted)
    kept = (values == highest[runs]) | (np.isnan(values) & np.isnan(highest[runs]))
    unknown = np.isnan(values) & ~kept
    reasons = {
        f"{column} before the last of its run": int((values < highest[runs]).sum()),
        f"{column} after the last that has a score": int((values > highest[runs]).sum()),
        f"no {column}": int(unknown.sum()),
    }
    reasons = {why: count for why, count in reasons.items() if count}
    lowest, largest = (format_number(float(end)) for end in (np.nanmin(highest), np.nanmax(highest)))
    span = f"{lowest} in all" if lowest == largest else f"{lowest} to {largest}"
    owner = "run and dataset" if scores.dataset is not None else "run"
    passed = f"{format_counted(sum(reasons.values()), 'row')} {'was' if sum(reasons.values()) == 1 else 'were'}"
    note = f"Only the last {column} of each {owner} is used ({span}): {passed} passed over."
    return replace(scores.only(kept), notes=(*scores.notes, note)), reasons


def _without_facet(scores: Scores, column: str) -> Scores:
    """Return the scores with a facet as a column without a role, and the runs that are left."""
    if column not in scores.facets:
        return scores
    facets = {name: labels for name, labels in scores.facets.items() if name != column}
    kept = {
        role: tuple(name for name in getattr(scores.roles, role) if name != column)
        for role in ("facets", "replicates", "shared")
    }
    return replace(
        scores,
        facets=facets,
        others={**scores.others, column: scores.facets[column]},
        roles=replace(scores.roles, **kept),  # type: ignore[arg-type]  # each of these holds names
        run=scores.run if scores.roles.run is not None else name_runs(scores.system, None, facets),
    )


def _values(scores: Scores, column: str) -> Floats:
    """Return a column as numbers, NaN where there is none; labels may hold one, as checkpoint-500 does."""
    known = {**scores.properties, **scores.others}
    if column in scores.roles.columns() and column not in known:
        role = scores.roles.columns()[column]
        raise ScoresError(f"--last {column}: it is the column of the {role}; give the one that counts, such as step")
    if column not in known:
        raise ColumnError.not_found(column, (*scores.roles.columns(), *scores.others), where=scores.source)
    found = known[column]
    if not isinstance(found, Labels):
        return found.values
    levels = np.array([_number(name) for name in found.names] + [np.nan])  # the last is that of code -1
    if np.isnan(levels[:-1]).any():
        odd = found.names[int(np.flatnonzero(np.isnan(levels))[0])]
        raise ScoresError(f"--last {column}: {odd!r} holds no number, so that nothing says which is the last")
    return levels[found.codes]


def _number(label: str) -> float:
    number = parse_number(label)
    if number is None:
        inside = NUMBER.findall(label)
        number = float(inside[-1]) if inside else np.nan
    return number


def _highest(groups: NDArray[np.int64], values: Floats) -> Floats:
    """Return the largest value of each group, NaN where it has none."""
    highest = np.full(int(groups.max()) + 1, -np.inf)
    known = ~np.isnan(values)
    np.maximum.at(highest, groups[known], values[known])
    return np.where(np.isneginf(highest), np.nan, highest)
