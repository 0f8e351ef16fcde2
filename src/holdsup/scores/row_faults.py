"""What can be wrong with the rows of a table of scores, and with single scores: one function per kind of fault."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import Crossing, cross
from holdsup.errors import shell_names
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import EXAMPLES, Caution
from holdsup.scores.faults import count_have, make_fault, show_rows
from holdsup.scores.roles import FILE, is_progress
from holdsup.scores.suggestions import find_differing
from holdsup.scores.table import LABELLED, REASONS, Scores

CODES = frozenset((-1.0, *(sign * (10.0**digits - 1) for digits in range(1, 7) for sign in (-1, 1))))  # -1, -9, 99, ...
UNSCORED = {"missing": "missing-scores", "nan": "nan-scores", "infinite": "infinite-scores"}
FAR, MOST, FEWEST_AROUND = 100, (0.05, 0.95), 20  # times the range of most scores; which are most; of how many at least
GLANCE = 1_000_000  # scores that are looked at first, as the quantiles of many take long
FEWEST_VALUES = 5  # other than a code: with fewer, -1, 0 and 1 may be all the scores that there are
SUMMARIES = frozenset(
    ("average", "avg", "mean", "total", "sum", "all", "overall", "aggregate", "macro avg", "macro average", "micro avg",
     "average score", "mean score", "grand total")
)  # fmt: skip


def find_gaps(scores: Scores, *, lower_is_better: bool = False) -> Iterator[Caution]:
    """Yield the rows that cannot be used: no score, or no word on whose score it is."""
    worst = "highest score there is" if lower_is_better else "worst score there is (0 for an accuracy)"
    for code, status in enumerate(scores.status.names):
        if status == "ok":
            continue
        rows = np.flatnonzero(scores.status.codes == code)
        yield make_fault(
            UNSCORED.get(status, "failed-scores"),
            f"{count_have(len(rows), 'row')} {REASONS.get(status, f'status {status!r}')}.",
            count=len(rows),
            examples=show_rows(scores, rows),
            advice=f"Find out why they have no score. If a failure counts as wrong, give it the {worst}.",
        )
    yield from find_unlabelled(scores)
    if not scores.usable.any():
        yield make_fault("no-scores", "No row has a usable score.", count=len(scores))


def find_unlabelled(scores: Scores) -> Iterator[Caution]:
    """Yield the rows that do not say what they belong to."""
    for role in LABELLED:
        labels = getattr(scores, role)
        rows = np.flatnonzero(labels.codes < 0) if labels is not None else np.empty(0, int)
        if len(rows):
            yield make_fault(
                "unlabelled-rows",
                f"{count_have(len(rows), 'row')} no {role}.",
                count=len(rows),
                examples=show_rows(scores, rows),
                advice=f"Fill in the {role}.",
            )


def find_row_faults(scores: Scores, score_range: tuple[float, float] | None) -> Iterator[Caution]:
    """Yield what is wrong with single rows and scores, in rows that have all labels."""
    yield from _duplicates(scores)
    if score_range is not None:
        low, high = score_range
        rows = np.flatnonzero((scores.score < low) | (scores.score > high))
        if len(rows):
            yield make_fault(
                "out-of-range",
                f"{format_counted(len(rows), 'score')} {_be(len(rows))} outside the range {low:g} to {high:g}.",
                count=len(rows),
                examples=show_rows(scores, rows, with_score=True),
            )
    values = scores.score[scores.usable]
    if len(values) and values.min() == values.max():
        yield make_fault("constant-scores", f"Every score is {values[0]:g}.", count=len(values))
    yield from find_score_faults(scores)


def _be(count: int) -> str:
    return "is" if count == 1 else "are"


def _duplicates(scores: Scores) -> Iterator[Caution]:
    cells = cross(scores.run, scores.dataset, scores.item, scores.metric, scores.sample, scores.rater)
    extra = len(scores) - cells.count
    if not extra:
        return
    parts = [role for role in ("dataset", "run", "item", "metric") if getattr(scores, role) is not None]
    cell = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    first = scores.score[cells.first][cells.codes]
    conflicts = int(((scores.score != first) & ~(np.isnan(scores.score) & np.isnan(first))).sum())
    yield make_fault(
        "duplicates",
        f"{format_counted(extra, 'row')} {_be(extra)} {'a duplicate' if extra == 1 else 'duplicates'} (same {cell}, "
        f"{f'{conflicts:,} with another score' if conflicts else 'same score'}).",
        count=extra,
        examples=show_rows(scores, cells.first[cells.sizes() > 1]),
        advice=_advise_on_duplicates(scores, cells),
    )


def _advise_on_duplicates(scores: Scores, cells: Crossing) -> str:
    differing = sorted(find_differing(scores, cells), key=lambda name: name != FILE)
    named = ", ".join(differing[:6])
    ways = [f"take the last of each run with --last {shell_names([name])}" for name in differing if is_progress(name)]
    ways += ["name the column of the items with --item"] if scores.item is None else []
    if named:
        ways.append("name those that only repeat runs, as a seed does, with --replicates, settings with --facets")
        ways.append("otherwise remove the duplicates")
    else:
        ways.append("remove the duplicates, or add a column that tells the runs apart and name it with --run")
    advice = "; ".join(ways)
    differ = f"In the duplicate rows these columns differ: {named}. " if named else ""
    return f"{differ}{advice[0].upper()}{advice[1:]}."


def find_score_faults(scores: Scores) -> Iterator[Caution]:
    """Yield what poses as a score, in rows that have all labels: codes of missing ones, and means among the items."""
    masks = [scores.usable]
    if scores.metric is not None and scores.metric.count > 1:
        masks = [scores.usable & (scores.metric.codes == code) for code in range(scores.metric.count)]
    for mask in masks:
        yield from _find_codes(scores, mask)
        yield from _find_far(scores, mask)
    yield from _find_summaries(scores)


def _find_codes(scores: Scores, mask: NDArray[np.bool_]) -> Iterator[Caution]:
    """Find a number such as -1 or 999 that comes repeatedly, outside of all other scores of a metric."""
    values = scores.score[mask]
    for end in (values.min(), values.max()) if len(values) else ():
        if end not in CODES:
            continue
        rows = np.flatnonzero(mask & (scores.score == end))
        others = values[values != end]
        if len(rows) > 1 and _is_outside(float(end), others):
            yield make_fault(
                "missing-codes",
                f"{len(rows):,} scores are {end:g}, and all others from {others.min():g} to {others.max():g}: "
                f"{end:g} may stand for a missing score.",
                count=len(rows),
                examples=show_rows(scores, rows),
            )


def _find_far(scores: Scores, mask: NDArray[np.bool_]) -> Iterator[Caution]:
    """Find a few scores that lie a hundred times as far from the others as most of these from each other."""
    values = scores.score[mask]
    if len(values) < FEWEST_AROUND:
        return
    if len(values) > GLANCE and np.ptp(values) < FAR / 2 * np.ptp(np.quantile(values[:: len(values) // GLANCE], MOST)):
        return
    low, high = np.quantile(values, MOST)
    rows = np.flatnonzero(mask & (np.maximum(low - scores.score, scores.score - high) > FAR * (high - low)))
    if low < high and len(rows):
        lie, largest = ("lies" if len(rows) == 1 else "lie"), scores.score[rows][np.abs(scores.score[rows]).argmax()]
        yield make_fault(
            "far-scores",
            f"{format_counted(len(rows), 'score')} {lie} far from all others: {largest:g}, where nine in ten are from "
            f"{low:g} to {high:g}.",
            count=len(rows),
            examples=show_rows(scores, rows, with_score=True),
        )


def _is_outside(end: float, others: NDArray[np.float64]) -> bool:
    """Return whether a number lies apart from the others: below zero, where no other is, or far away."""
    if len(np.unique(others)) < FEWEST_VALUES:
        return False
    low, high = others.min(), others.max()
    far = max(low - end, end - high) > high - low
    return bool((end < 0 <= low) or far)


def _find_summaries(scores: Scores) -> Iterator[Caution]:
    """Find items called average or total that hold the mean, or the sum, of the others of their run."""
    role = "item" if scores.item is not None else "dataset"
    labels = scores.item if scores.item is not None else scores.dataset
    named = [] if labels is None else _name_summaries(labels)
    if labels is None or not named:
        return
    summary = np.isin(labels.codes, named)
    plain = scores.usable & ~summary
    runs = cross(scores.run, scores.metric, scores.dataset if role == "item" else None)
    sums = np.bincount(runs.codes[plain], scores.score[plain], runs.count)
    counts = np.bincount(runs.codes[plain], minlength=runs.count)
    rows = np.flatnonzero(summary & scores.usable & (counts[runs.codes] > 1))
    total, number = sums[runs.codes[rows]], counts[runs.codes[rows]]
    given = scores.score[rows]
    equal = np.array([is_rounded(s, t) or is_rounded(s, t / n) for s, t, n in zip(given, total, number, strict=True)])
    if not len(rows) or 2 * equal.sum() <= len(rows):
        return
    names = " and ".join(repr(labels.names[code]) for code in np.unique(labels.codes[rows])[:EXAMPLES])
    count = int(equal.sum())
    yield make_fault(
        "summary-rows",
        f"{format_counted(count, 'row')} of {role} {names} {_be(count)} the mean or the sum of the other {role}s of "
        "the run.",
        count=count,
        examples=show_rows(scores, rows[equal], with_score=True),
    )


def _name_summaries(labels: Labels) -> list[int]:
    """Return the levels that are called so: all at once, for there may be a million."""
    plain = pc.replace_substring(pc.utf8_lower(pc.utf8_trim(labels.levels, " .:_()[]")), "_", " ")
    found: list[int] = np.flatnonzero(pc.is_in(plain, value_set=pa.array(SUMMARIES, pa.string()))).tolist()
    return found


def is_rounded(score: float, exact: float) -> bool:
    """Return whether a score is a number, rounded to as many digits as the score has."""
    digits = len(np.format_float_positional(score, trim="-").partition(".")[2])
    return bool(abs(score - exact) <= 0.5001 * 10.0**-digits + 1e-12 * abs(exact))
