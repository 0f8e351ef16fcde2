"""What a gate finds: a row for each metric and task, and what would decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from holdsup.results import Result

Outcome = Literal["pass", "fail", "inconclusive"]
SURE = 0.995  # one-sided level at which a candidate must be worse before it fails: a false alarm stops a release


@dataclass(frozen=True, slots=True, kw_only=True)
class GateContrast:
    """The difference of candidate and baseline by one metric, on one task."""

    metric: str | None  # the metric, null if there is only one
    task: str | None  # the task, null if there is only one, or all are taken together
    outcome: Outcome  # pass, fail or inconclusive
    difference: float  # candidate minus baseline, in the unit of the scores
    se: float | None  # its standard error; null where it is not measured
    # the CI, candidate minus baseline, of coverage 2 x level - 1: its end on the side where the candidate is worse is
    # the limit that must be within the drop
    low: float | None  # its lower end; null where it is not measured
    high: float | None  # its upper end; null likewise
    fail_limit: float | None  # the one-sided limit, on the side where it is better, that fails it if it is worse still
    drop: float  # how much worse the candidate may be
    lower_is_better: bool  # whether a lower score is a better one by this metric
    claim: str  # what the CI covers
    method: str  # how it was made
    rule: str = ""  # the same as a code
    why: str  # why it is inconclusive by design; empty where it is not
    items: int  # number of items that both have; 0 where runs have one score each
    candidate_mean: float  # the candidate's mean on these items
    baseline_mean: float  # the baseline's
    candidate_runs: int  # number of runs of the candidate
    baseline_runs: int  # number of runs of the baseline

    @property
    def gain(self) -> float:
        """How much better the candidate is, negative where it is worse."""
        return -self.difference if self.lower_is_better else self.difference

    @property
    def worst(self) -> float | None:
        """The limit of the gain that must be above -drop."""
        if self.low is None or self.high is None:
            return None
        return -self.high if self.lower_is_better else self.low

    @property
    def best(self) -> float | None:
        """The limit of the gain that must be below zero for it to fail."""
        if self.fail_limit is None:
            return None
        return -self.fail_limit if self.lower_is_better else self.fail_limit

    @property
    def name(self) -> str:
        """The metric and the task, as far as there are several."""
        return " on ".join(name for name in (self.metric, self.task) if name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """What would decide, four times in five, if the true difference is the one found."""

    outcome: Outcome  # what it would then be
    metric: str | None  # by which metric most is needed
    task: str | None  # on which task
    difference: float  # candidate minus baseline, as found
    runs: int | None = None  # runs of each side in all; null where no number of them will do alone
    items: int | None = None  # items in all; null likewise
    next_look: int | None = None  # the next number of runs at which a look is planned; null where none is


@dataclass(frozen=True, slots=True, kw_only=True)
class GateNumbers(Result):
    """What was found of a candidate and a baseline."""

    kind: ClassVar[str] = "gate"
    main_table: ClassVar[str] = "contrasts"

    outcome: Outcome  # all pass, one fails, or neither
    level: float  # one-sided level of the limit that must be within the drop
    fail_level: float  # one-sided level at which a candidate fails, before it is adjusted for several metrics and tasks
    candidate: str  # what the candidate is called in its table
    baseline: str  # what the baseline is called in its table
    identical: bool  # whether both are the same table, so that nothing was tested
    lower_is_better: bool  # whether a lower score is a better one, by the first metric
    unit: str | None  # what systems are scored on, items or datasets; null where runs have one score each
    contrasts: tuple[GateContrast, ...]  # a row for each metric and task
    needed: Needed | None  # what would decide; null where it is decided, or nobody can tell
