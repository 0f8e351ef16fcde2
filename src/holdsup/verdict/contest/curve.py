"""The learning curve: is the sign of a difference at half of the corpus its sign at all of it?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import ScoresError, list_names
from holdsup.verdict.contest.records import CurveCheck, CurvePoint

__all__ = ["TOLD", "LearningCurve", "check_curve", "check_sign", "list_points"]

LearningCurve = Mapping[str, Mapping[int, Sequence[float]]]  # scores by system and number of items trained on

TOLD = 2.0  # standard errors from zero at which a sign counts as known
NEAR_ALL = 0.7  # share of the corpus that the largest size must reach to speak for all of it


def check_curve(curve: LearningCurve, systems: Sequence[str]) -> None:
    """Refuse a learning curve that does not let systems be compared size by size."""
    if missing := [system for system in systems if system not in curve]:
        raise ScoresError(f"the learning curve lacks {list_names(missing)}: give scores of every system")
    sizes = {size: len(scores) for size, scores in curve[systems[0]].items()}
    if len(sizes) < 2 or not all(sizes.values()):
        raise ScoresError("a learning curve needs two sizes or more, with a score or more at each")
    for system in systems:
        if {size: len(scores) for size, scores in curve[system].items()} != sizes:
            raise ScoresError(
                f"the learning curves of {systems[0]!r} and {system!r} differ in sizes or numbers of scores: train "
                "both on the same samples of items"
            )
        if not np.isfinite(np.concatenate([*map(np.asarray, curve[system].values())])).all():
            raise ScoresError(f"the learning curve of {system!r} has a score that is no finite number")


def list_points(curve: LearningCurve, systems: Sequence[str]) -> tuple[CurvePoint, ...]:
    """Return mean scores by system and size."""
    return tuple(
        CurvePoint(
            system=system, size=size, mean=float(np.mean(scores)), se=_se(np.asarray(scores)), repeats=len(scores)
        )
        for system in systems
        for size, scores in sorted(curve[system].items())
    )


def check_sign(curve: LearningCurve, left: str, right: str, *, items: int | None) -> CurveCheck:
    """Return whether the difference has one sign at half of the corpus and near all of it."""
    sizes = sorted(curve[left])
    corpus = items or sizes[-1]
    half, full = min(sizes, key=lambda size: abs(size - corpus / 2)), sizes[-1]
    gaps = {size: np.asarray(curve[left][size]) - np.asarray(curve[right][size]) for size in (half, full)}
    means = {size: float(gap.mean()) for size, gap in gaps.items()}
    errors = {size: _se(gap) for size, gap in gaps.items()}
    known = all(abs(means[size]) > TOLD * errors[size] for size in (half, full))  # never, if an error is not known
    if half == full or full < NEAR_ALL * corpus or not known:
        status = "unsure"
    else:
        status = "same" if means[half] * means[full] > 0 else "differs"
    return CurveCheck(
        left=left, right=right, half=half, half_difference=means[half], half_se=errors[half],
        full=full, full_difference=means[full], full_se=errors[full],
        samples=len(gaps[half]), status=status,
    )  # fmt: skip


def _se(scores: NDArray[np.float64]) -> float:
    return float(scores.std(ddof=1) / math.sqrt(len(scores))) if len(scores) > 1 else math.nan
