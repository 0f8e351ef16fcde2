"""Partitions one after the other: all that were asked for, or until the verdict is safe."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from holdsup.errors import ScoresError, SplitError
from holdsup.metrics import Metric
from holdsup.rendering.numbers import format_interval
from holdsup.splits import Splitter, make_splitter
from holdsup.studies.contests.strategies import Strategy, choose_strategy
from holdsup.studies.contests.training import Trainer
from holdsup.studies.specs import Spec
from holdsup.verdict.contest import Contest, Decision, Partition, decide_sequentially, judge_contest
from holdsup.verdict.contest.estimates import ENOUGH
from holdsup.verdict.contest.pairs import find_decider
from holdsup.verdict.contest.sequential import TARGET

__all__ = ["Rounds", "plan_rounds", "rounds_of_spec"]

BUDGET = 100  # partitions of a sequential contest, unless it is told
STEP = 5  # partitions between two looks


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """How many partitions to train.

    Attributes
    ----------
    strategy : how the corpus is split
    repeats : how many partitions, at most
    target : reproducibility at which to stop earlier; None to train all
    """

    strategy: Strategy
    repeats: int
    target: float | None

    def go(self, trainer: Trainer, metric: Metric, options: Mapping[str, Any]) -> tuple[Contest, int]:
        """Return the verdict, and how many partitions it rests on."""
        targets = trainer.field.corpus.targets
        if self.target is None:
            partitions = trainer.train(self.strategy, range(self.repeats), self.repeats)
            self._require_enough(len(partitions), self.repeats, trainer)
            return judge_contest(partitions, targets, metric, **options), self.repeats
        done, partitions = 0, list[Partition]()
        while True:
            more = min(max(ENOUGH, done + STEP), self.repeats)
            partitions += trainer.train(self.strategy, range(done, more), self.repeats)
            done = more
            contest = judge_contest(partitions, targets, metric, **options)
            decisions = self._decide(contest, done)
            if all(decision.is_final for decision in decisions):
                self._require_enough(len(partitions), done, trainer)
                return dataclasses.replace(contest, verdict=f"{contest.verdict} {self._say(decisions)}"), done

    def _require_enough(self, complete: int, done: int, trainer: Trainer) -> None:
        """Refuse to judge what failures left, if it is too little for the reproducibility that was asked for."""
        if trainer.lost and complete < ENOUGH <= done:
            needed = f", so that {complete} of {done} re-partitions are complete and a reproducibility needs {ENOUGH}"
            raise trainer.lost.refuse(done * self.strategy.splits * len(trainer.field.systems), needed)

    def _decide(self, contest: Contest, done: int) -> list[Decision]:
        """Return where each pair stands; pairs share the risk of a wrong outcome."""
        assert self.target is not None
        level = 1 - (1 - contest.level) / len(contest.conclusions)
        sign = -1 if contest.lower_is_better else 1
        decisions = []
        for c in contest.conclusions:
            own = [row for row in contest.estimators if (row.left, row.right) == (c.left, c.right)]
            values = find_decider(own, c.strategy, c.estimator).values
            leads = [sign * value if abs(value) > contest.margin else 0.0 for value in values]
            # Partitions whose score is undefined are not among the leads, but were paid for.
            budget = self.repeats - (done - len(leads))
            decisions.append(decide_sequentially(leads, target=self.target, level=level, budget=budget))
        return decisions

    def _say(self, decisions: list[Decision]) -> str:
        """Return why it stopped; limits hold for all looks together, unlike those of a fixed number of partitions."""
        last = decisions[0]
        if any(decision.outcome == "budget" for decision in decisions):
            why = f"The budget of {self.repeats} re-partitions ended before this was safe"
        else:
            why = f"It stopped after {last.partitions} of at most {self.repeats} re-partitions, when this was safe"
        if len(decisions) > 1:
            return f"{why}."
        return f"{why}: limits {format_interval(last.low, last.high)}, at all looks together, against {last.target:g}."


def plan_rounds(splitter: Splitter, repeats: int | None, target: float | None) -> Rounds:
    """Return how many partitions to train: as many as asked for, as the splitter says, or enough to judge."""
    strategy, own = choose_strategy(splitter)
    if repeats is None:
        repeats = own if own > 1 else ENOUGH if target is None else BUDGET
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise SplitError(f"repeats is {repeats!r}: give a whole number from 1 up")
    if target is not None and not 0.5 < target < 1:
        raise ScoresError(f"a sequential contest stops at a reproducibility between 0.5 and 1, not at {target!r}")
    if target is not None and repeats < ENOUGH:
        raise SplitError(f"a sequential contest needs {ENOUGH} repeats or more to say anything, not {repeats}")
    return Rounds(strategy=strategy, repeats=repeats, target=target)


def rounds_of_spec(spec: Spec, *, sequential: bool) -> Rounds:
    """Return how many partitions a spec asks for."""
    splitter = make_splitter(**spec.splits, seed=spec.seed)
    return plan_rounds(
        splitter, spec.contest.get("repeats"), spec.contest.get("target", TARGET) if sequential else None
    )
