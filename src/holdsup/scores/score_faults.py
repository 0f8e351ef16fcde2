"""Scores that are none: codes that stand for missing ones, and means that stand among the items."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.rendering.numbers import format_counted
from holdsup.results.findings import EXAMPLES, Finding
from holdsup.scores.findings import present, show
from holdsup.scores.table import Scores

__all__ = ["find_score_faults", "is_rounded"]

CODES = frozenset((-1.0, *(sign * (10.0**digits - 1) for digits in range(1, 7) for sign in (-1, 1))))  # -1, -9, 99, ...
FEWEST_VALUES = 5  # other than a code: with fewer, -1, 0 and 1 may be all the scores that there are
SUMMARIES = frozenset(
    ("average", "avg", "mean", "total", "sum", "all", "overall", "aggregate", "macro avg", "macro average", "micro avg",
     "average score", "mean score", "grand total")
)  # fmt: skip


def find_score_faults(scores: Scores) -> Iterator[Finding]:
    """Yield what poses as a score, in rows that have all labels."""
    metrics = [np.ones(len(scores), bool)]
    if scores.metric is not None and scores.metric.count > 1:
        metrics = [scores.metric.codes == code for code in range(scores.metric.count)]
    for mask in metrics:
        yield from _codes(scores, mask & scores.usable)
    yield from _summaries(scores)


def _codes(scores: Scores, mask: NDArray[np.bool_]) -> Iterator[Finding]:
    """Find a number such as -1 or 999 that comes repeatedly, outside of all other scores of a metric."""
    values = scores.score[mask]
    for end in (values.min(), values.max()) if len(values) else ():
        if end not in CODES:
            continue
        rows = np.flatnonzero(mask & (scores.score == end))
        others = values[values != end]
        if len(rows) < 2 or not _is_outside(float(end), others):
            continue
        yield Finding(
            code="missing-codes",
            severity="warning",
            message=f"{len(rows):,} scores are {end:g}, and all others from {others.min():g} to {others.max():g}: "
            f"{end:g} may stand for a missing score",
            count=len(rows),
            examples=show(scores, rows),
            effect="A code counts as a score, and moves the means.",
            advice="If it is one, leave these cells empty; --range LOW,HIGH finds all that cannot be scores.",
        )


def _is_outside(end: float, others: NDArray[np.float64]) -> bool:
    """Return whether a number lies apart from the others: below zero, where no other is, or far away."""
    if len(np.unique(others)) < FEWEST_VALUES:
        return False
    low, high = others.min(), others.max()
    far = max(low - end, end - high) > high - low
    return bool((end < 0 <= low) or far)


def _summaries(scores: Scores) -> Iterator[Finding]:
    """Find items called average or total that hold the mean, or the sum, of the others of their run."""
    role = "item" if scores.item is not None else "dataset"
    labels = scores.item if scores.item is not None else scores.dataset
    named = [] if labels is None else _find_summaries(labels)
    if labels is None or not named:
        return
    summary = np.isin(labels.codes, named)
    plain = scores.usable & ~summary
    runs = cross(*present(scores.run, scores.metric, *([scores.dataset] if role == "item" else [])))
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
    yield Finding(
        code="summary-rows",
        severity="warning",
        message=f"{format_counted(count, 'row')} of {role} {names} {'is' if count == 1 else 'are'} the mean or the sum "
        f"of the other {role}s of the run",
        count=count,
        examples=show(scores, rows[equal], with_score=True),
        effect=f"It counts as one more {role}, though no system was scored on it.",
        advice="Leave these rows out.",
    )


def _find_summaries(labels: Labels) -> list[int]:
    """Return the levels that are called so: all at once, for there may be a million."""
    plain = pc.replace_substring(pc.utf8_lower(pc.utf8_trim(labels.levels, " .:_()[]")), "_", " ")
    found: list[int] = np.flatnonzero(pc.is_in(plain, value_set=pa.array(SUMMARIES, pa.string()))).tolist()
    return found


def is_rounded(score: float, exact: float) -> bool:
    """Return whether a score is a number, rounded to as many digits as the score has."""
    digits = len(np.format_float_positional(score, trim="-").partition(".")[2])
    return bool(abs(score - exact) <= 0.5001 * 10.0**-digits + 1e-12 * abs(exact))
