"""The last checkpoint of each run, where a table has several: `--last step`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.columns.values import parse_number
from holdsup.errors import ColumnError, ScoresError
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.results import Caution
from holdsup.scores import Scores
from holdsup.scores.assembly import name_runs
from holdsup.verdict.phrases import join_names

Floats = NDArray[np.float64]
NUMBERED = re.compile(r"(\D*[^\W\d]\D*)(\d+)")  # a word and a number: checkpoint-500
DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?")  # ISO 8601: text sorts as time does
EXACT = 2.0**53  # from here on neighbours are one float


def keep_last(scores: Scores, column: str | None) -> tuple[Scores, dict[str, int], tuple[Caution, ...]]:
    """Return the rows at the largest value of a column in each run, dataset and metric, how many others, and cautions.

    A column that was read as a facet is none any more: a run has all its values.
    """
    if column is None:
        return scores, {}, ()
    if not isinstance(column, str):
        raise ScoresError(f"last is {column!r:.60}: give the name of one column, such as 'step'")
    scores = _without_facet(scores, column)
    values, dates = _values(scores, column)
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
    lowest, largest = (
        dates[int(end)] if dates else format_number(float(end)) for end in (np.nanmin(highest), np.nanmax(highest))
    )
    span = f"{lowest} in all" if lowest == largest else f"{lowest} to {largest}"
    owner = "run and dataset" if scores.dataset is not None else "run"
    passed = f"{format_counted(sum(reasons.values()), 'row')} {'was' if sum(reasons.values()) == 1 else 'were'}"
    note = Caution(
        code="last-checkpoint",
        severity="note",
        message=f"Only the last {column} of each {owner} is used ({span}): {passed} passed over.",
    )
    return scores.only(kept), reasons, (note, *(() if dates else _unfinished(scores, column, runs, highest)))


def _unfinished(scores: Scores, column: str, runs: NDArray[np.int64], highest: Floats) -> Iterator[Caution]:
    """Yield which runs end before half of what is usual on their dataset: their scores are those of a beginner."""
    first = np.unique(runs, return_index=True)[1]
    dataset = np.zeros(len(first), int) if scores.dataset is None else scores.dataset.codes[first]
    short, others = np.zeros(len(first), bool), [np.inf]
    for code in np.unique(dataset[~np.isnan(highest)]):
        mine = (dataset == code) & ~np.isnan(highest)
        usual = float(np.median(highest[mine]))
        early = mine & (highest < usual / 2) & (usual > 0)
        short |= early
        others += [float(highest[mine & ~early].min())] if early.any() else []
    if not short.any():
        return
    where = [scores.dataset.names[code] if scores.dataset is not None else "" for code in dataset[short]]
    named = [scores.run.names[code] for code in scores.run.codes[first[short]]]
    named = list(dict.fromkeys(f"{run} on {on}" if on else run for run, on in zip(named, where, strict=True)))
    low, high = (f"{end:,.10g}" for end in (highest[short].min(), highest[short].max()))
    span = low if low == high else f"{low} to {high}"
    ends, they = ("run ends", "it is") if len(named) == 1 else ("runs end", "they are")
    yield Caution(
        code="unfinished-runs",
        message=f"{len(named):,} {ends} long before the others ({column} {span}; others {min(others):,.10g} or more): "
        f"{join_names(named, most=2)}.",
        advice=f"If {they} unfinished, train to the end, or leave them out.",
        count=len(named),
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


def _values(scores: Scores, column: str) -> tuple[Floats, list[str]]:
    """Return a column as numbers, NaN where there is none; of dates their places among all, and these in order.

    A number at the end counts where all else is the same word, as in checkpoint-500; one within a label counts for
    nothing: the last one of 1,000 and of epoch2-step100 is not what orders them.
    """
    known = {**scores.properties, **scores.others}
    if column in scores.roles.columns() and column not in known:
        role = scores.roles.columns()[column]
        raise ScoresError(f"--last {column}: this column holds the {role}: name one that counts, such as step")
    if column not in known:
        raise ColumnError.not_found(column, (*scores.roles.columns(), *scores.others), where=scores.source)
    found = known[column]
    if not isinstance(found, Labels):
        return _finite(found.values, column), []
    numbers = _numbers(found.names)
    odd = [name for name, number in zip(found.names, numbers, strict=True) if number is None]
    dates: list[str] = []
    if odd and len(odd) == len(numbers) and _are_dates(odd):
        dates = sorted(odd)
        numbers = [float(dates.index(name)) for name in found.names]
    elif odd:
        shown = min(odd, key=_is_date)  # beside dates, what is none
        raise ScoresError(
            f"--last {column}: {shown!r} is not a number, so the last one is unknown: give {column} as plain "
            "numbers, such as 1000, or as dates, such as 2024-01-31"
        )
    return _finite(np.array([*numbers, np.nan], float)[found.codes], column), dates  # the last is that of code -1


def _numbers(labels: Sequence[str]) -> list[float | None]:
    """Return labels as numbers, None for one that is none; behind the same word each its own."""
    words = [word for word in map(NUMBERED.fullmatch, labels) if word is not None]
    if len(words) == len(labels) and len({word[1] for word in words}) == 1:
        return [float(word[2]) for word in words]
    return [parse_number(label) for label in labels]


def _is_date(label: str) -> bool:
    return DATE.fullmatch(label) is not None


def _are_dates(labels: list[str]) -> bool:
    """Return whether labels are dates that are all written alike, so that their order is that of the text."""
    return all(map(_is_date, labels)) and len({re.sub(r"\d", "0", label) for label in labels}) == 1


def _finite(values: Floats, column: str) -> Floats:
    known = values[~np.isnan(values)]
    if not len(known):
        raise ScoresError(f"--last {column}: it holds no number, so the last one is unknown")
    if np.abs(known).max() >= EXACT:
        raise ScoresError(
            f"--last {column}: {float(known[np.abs(known).argmax()]):.17g} is too large to be told apart from its "
            f"neighbours: give {column} as smaller numbers"
        )
    return values


def _highest(groups: NDArray[np.int64], values: Floats) -> Floats:
    """Return the largest value of each group, NaN where it has none."""
    highest = np.full(int(groups.max()) + 1, -np.inf)
    known = ~np.isnan(values)
    np.maximum.at(highest, groups[known], values[known])
    return np.where(np.isneginf(highest), np.nan, highest)
