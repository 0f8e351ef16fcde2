"""Candidates that failed: they are not judged, and what is known of them is said."""

from __future__ import annotations

import math

from holdsup.rendering.numbers import format_counted
from holdsup.verdict.tuning.records import CandidateRow
from holdsup.verdict.tuning.report import Tuning

__all__ = ["has_failures", "say_failures"]

MOST = 3  # candidates that are spelt out


def has_failures(tuning: Tuning) -> bool:
    """Return whether there are candidates that are not judged."""
    return any(row.status == "failed" for row in tuning.candidates)


def say_failures(tuning: Tuning) -> str:
    """Return which candidates are not judged, the ones that may be better than the pick first."""
    sign = 1 if tuning.higher_is_better else -1
    compared = [(row, _beside_pick(row, tuning)) for row in tuning.candidates if row.status == "failed"]
    compared.sort(key=lambda pair: -sign * (pair[1][0] - pair[1][1]) if pair[1] else math.inf)
    said = [_say_failed(row, means, tuning) for row, means in compared[:MOST]]
    if len(compared) > MOST:
        said.append(f"{format_counted(len(compared) - MOST, 'more candidate')} failed and are not judged.")
    return "".join(f" {sentence}" for sentence in said)


def _beside_pick(row: CandidateRow, tuning: Tuning) -> tuple[float, float] | None:
    """Return the means of a candidate and of the pick on the partitions that the candidate completed, if any."""
    both = [pair for pair in zip(row.scores, tuning.pick.scores, strict=True) if not math.isnan(pair[0])]
    if not both:
        return None
    own, picks = zip(*both, strict=True)
    return math.fsum(own) / len(own), math.fsum(picks) / len(picks)


def _say_failed(row: CandidateRow, means: tuple[float, float] | None, tuning: Tuning) -> str:
    fits = sum(failure.candidate == row.index for failure in tuning.failures)
    partitions = len({failure.partition for failure in tuning.failures if failure.candidate == row.index})
    tried = tuning.k * (row.partitions + partitions)
    what = f"failed {fits} of {format_counted(tried, 'fit')}" if fits else "has no score on some partitions"
    if means is None:
        return f"{row.name} {what} and is not judged."
    own, picks = means
    side = "above" if own > picks else "below" if own < picks else "the same as"
    return (
        f"{row.name} {what} and is not judged (its mean over {format_counted(row.partitions, 'complete partition')}, "
        f"{own:.4g}, is {side} {tuning.pick.name}'s there, {picks:.4g})."
    )
