"""The last checkpoint of each run, where a table has several: `--last step`."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
from holdsup.verdict.phrases import join_names

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
    notes = (*scores.notes, note, *_unfinished(scores, column, runs, highest))
    return replace(scores.only(kept), notes=notes), reasons


def _unfinished(scores: Scores, column: str, runs: NDArray[np.int64], highest: Floats) -> Iterator[str]:
    """Yield which runs end before half of what is usual on their dataset: their scores are those of a beginner."""
    first = np.unique(runs, return_index=True)[1]
    dataset = np.zeros(len(first), int) if scores.dataset is None else scores.dataset.codes[first]
    short, others = np.zeros(len(first), bool), [np.inf]
    for code in np.unique(dataset[~np.isnan(highest)]):
        mine = (dataset == code) & ~np.isnan(highest)
        early = mine & (highest < np.median(highest[mine]) / 2)
        short |= early
        others += [float(highest[mine & ~early].min())] if early.any() else []
    if not short.any():
        return
    where = [scores.dataset.names[code] if scores.dataset is not None else "" for code in dataset[short]]
    named = [scores.run.names[code] for code in scores.run.codes[first[short]]]
    named = list(dict.fromkeys(f"{run} on {on}" if on else run for run, on in zip(named, where, strict=True)))
    low, high = (f"{end:,.10g}" for end in (highest[short].min(), highest[short].max()))
    span = low if low == high else f"{low} to {high}"
    ends, they = ("run ends", "is it") if len(named) == 1 else ("runs end", "are they")
    yield (
        f"{len(named):,} {ends} long before the others ({column} {span}; others {min(others):,.10g} or more): {they} "
        f"unfinished? {join_names(named, most=2)}."
    )


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
