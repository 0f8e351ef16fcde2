"""Re-partitions one after the other, until the verdict is safe or the budget ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdsup.arguments import check_level
from holdsup.errors import ScoresError
from holdsup.numerics.contests import confidence_sequence
from holdsup.verdict.contest.estimates import ENOUGH

__all__ = ["Decision", "decide_sequentially"]

TARGET = 0.8  # reproducibility from which a conclusion counts as one that survives another split


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Whether more re-partitions are needed, and what is known so far.

    Attributes
    ----------
    outcome : left or right (its lead survives another split), neither (no lead does), more, or budget (it ended)
    partitions : how many re-partitions there are
    left_share : share in which left is better
    low : lower limit of that probability, at all looks together
    high : upper limit of it
    target : reproducibility that a lead must have to survive
    """

    outcome: str
    partitions: int
    left_share: float
    low: float
    high: float
    target: float

    @property
    def is_final(self) -> bool:
        """Whether to stop."""
        return self.outcome != "more"


def decide_sequentially(
    leads: Sequence[float],
    *,
    target: float = TARGET,
    level: float = 0.95,
    least: int = ENOUGH,
    budget: int | None = None,
) -> Decision:
    """Return whether the leads of the left system, one for each re-partition so far, settle the matter.

    It may be asked after each partition: limits hold at all looks together, so that a final outcome is wrong with
    probability 1 - level at most. A lead of zero counts for neither system.

    Parameters
    ----------
    leads : lead of left over right, positive where left is better
    target : probability of a lead from which it survives another split, above .5
    level : how sure an outcome must be
    least : partitions before which nothing is settled
    budget : partitions after which to stop in any case

    Examples
    --------
    >>> decide_sequentially([0.01] * 30).outcome
    'left'
    """
    if not 0.5 < target < 1:
        raise ScoresError(f"target is {target!r}; it must lie between 0.5 and 1, such as 0.8")
    check_level(level)
    number, left, right = len(leads), sum(lead > 0 for lead in leads), sum(lead < 0 for lead in leads)
    for_left = confidence_sequence(left, number, level=level)
    for_right = confidence_sequence(right, number, level=level)
    outcome = "more"
    if number >= least:
        if for_left.low >= target:
            outcome = "left"
        elif for_right.low >= target:
            outcome = "right"
        elif max(for_left.high, for_right.high) < target:
            outcome = "neither"
    if outcome == "more" and budget is not None and number >= budget:
        outcome = "budget"
    return Decision(
        outcome=outcome, partitions=number, left_share=left / number if number else float("nan"),
        low=for_left.low, high=for_left.high, target=target,
    )  # fmt: skip
