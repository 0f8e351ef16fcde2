"""Partitions one after the other: all that were asked for, or until the verdict is safe."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import Any

from holdsup.errors import ScoresError, SplitError
from holdsup.experiment.corpora import Corpus
from holdsup.metrics import Metric
from holdsup.rendering.numbers import format_counted
from holdsup.splits import Splitter, make_splitter
from holdsup.splits.copies import find_copies
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
MANY = 100  # items, or groups, that are never dealt alike twice


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

    def go(self, trainer: Trainer, metric: Metric, options: Mapping[str, Any]) -> tuple[Contest, list[int]]:
        """Return the verdict, and the partitions that were trained for it; copies of others are not."""
        corpus = trainer.field.corpus
        places, targets = self._find_different(corpus), corpus.targets
        if self.target is None:
            partitions = trainer.train(self.strategy, places, self.repeats)
            self._require_enough(len(partitions), len(places), trainer)
            contest = judge_contest(partitions, targets, metric, **options)
            return _tell_copies(contest, self.repeats - len(places), of=self.repeats), places
        done, partitions = 0, list[Partition]()
        while True:
            more = min(max(ENOUGH, done + STEP), len(places))
            partitions += trainer.train(self.strategy, places[done:more], self.repeats)
            done = more
            contest = judge_contest(partitions, targets, metric, **options)
            decisions = self._decide(contest, done, len(places))
            if all(decision.is_final for decision in decisions):
                self._require_enough(len(partitions), done, trainer)
                said = self._say(decisions, len(places))
                contest = dataclasses.replace(contest, verdict=f"{contest.verdict} {said}")
                dealt = [*places, self.repeats][done]
                return _tell_copies(contest, dealt - done, of=dealt), places[:done]

    def _find_different(self, corpus: Corpus) -> list[int]:
        """Return the partitions that are no copies of earlier ones: a copy is no new evidence."""
        if len(corpus if corpus.groups is None else set(corpus.groups)) > MANY:
            return list(range(self.repeats))
        splits = list(self.strategy.make(self.repeats).split(corpus.inputs, corpus.targets, corpus.groups))
        step = self.strategy.splits
        copied = find_copies(splits[start : start + step] for start in range(0, len(splits), step))
        return [place for place, first in enumerate(copied) if place == first]

    def _require_enough(self, complete: int, done: int, trainer: Trainer) -> None:
        """Refuse to judge what failures left, if it is too little for the reproducibility that was asked for."""
        if trainer.lost and complete < ENOUGH <= done:
            needed = f", so that {complete} of {done} re-partitions are complete and a reproducibility needs {ENOUGH}"
            raise trainer.lost.refuse(done * self.strategy.splits * len(trainer.field.systems), needed)

    def _decide(self, contest: Contest, done: int, most: int) -> list[Decision]:
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
            budget = most - (done - len(leads))
            decisions.append(decide_sequentially(leads, target=self.target, level=level, budget=budget))
        return decisions

    def _say(self, decisions: list[Decision], most: int) -> str:
        """Return why it stopped; limits hold for all looks together, unlike those of a fixed number of partitions."""
        last = decisions[0]
        outcomes = Counter(decision.outcome for decision in decisions)
        if outcomes["budget"]:
            why = f"The budget of {most} re-partitions ended before this was safe"
        else:
            why = f"It stopped after {last.partitions} of at most {most} re-partitions, when this was safe"
        if len(decisions) > 1:
            clear = outcomes["left"] + outcomes["right"]
            return f"{why}: {clear} of {len(decisions)} leads survive, {outcomes['neither']} do not."
        said = f"limits {_write_limits(last)}, at all looks together,"
        if last.outcome == "neither":
            return f"{why}: neither lead survives, with {said} below {last.target:g}."
        return f"{why}: {said} against {last.target:g}."


def _tell_copies(contest: Contest, copies: int, *, of: int) -> Contest:
    """Return a contest that says how many of the partitions asked for are none of their own."""
    if not copies:
        return contest
    said = (
        f"{copies} of {format_counted(of, 're-partition')} are copies of others and left out: so few groups or items "
        "can be split in few ways."
    )
    return dataclasses.replace(contest, warnings=(*contest.warnings, said))


def _write_limits(decision: Decision) -> str:
    """Return limits in as many digits as tell them from the target."""
    for digits in range(2, 7):
        written = [f"{limit:.{digits}f}" for limit in (decision.low, decision.high)]
        if decision.target not in map(float, written):
            break
    return f"[{', '.join(written)}]"


def plan_rounds(splitter: Splitter, repeats: int | None, target: float | None) -> Rounds:
    """Return how many partitions to train: as many as asked for, as the splitter says, or enough to judge."""
    strategy, own = choose_strategy(splitter)
    if repeats is not None and own not in (1, repeats):
        raise SplitError(
            f"{splitter!r} partitions the corpus {own} times, but repeats says {repeats!r}: both mean how often it is "
            "partitioned anew, so give one of them"
        )
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
