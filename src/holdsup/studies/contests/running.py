"""`run_contest`: train systems on partition after partition of a corpus, and judge what comes out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdsup.errors import MetricError, ScoresError, SpecError, SplitError
from holdsup.experiment import Store, export_scores
from holdsup.experiment.sources import forget, import_from
from holdsup.metrics import Metric, make_metric
from holdsup.progress import Progress
from holdsup.rendering.numbers import format_counted
from holdsup.results import Caution, order_cautions
from holdsup.scores.writing import check_ending, write_scores
from holdsup.splits import BlockedCV, Splitter, make_splitter
from holdsup.studies.contests.faults import check_corpus, warn_of_systems
from holdsup.studies.contests.fields import (
    Strategy,
    choose_strategy,
    field_in_memory,
    field_of_spec,
    require_memory,
    sign_field,
    sign_system,
)
from holdsup.studies.contests.training import Trainer, open_store, tell_failures, train_curve
from holdsup.studies.specs import Preview, Spec, preview_spec, read_spec
from holdsup.verdict.contest import Contest, Decision, Partition, decide_sequentially, judge_contest
from holdsup.verdict.contest.question import check_question
from holdsup.verdict.contest.records import ENOUGH, TARGET

BUDGET = 100  # partitions of a sequential contest, unless it is told
STEP = 5  # partitions between two looks


def run_contest(
    systems: Mapping[str, Any],
    data: Any,
    metric: str | Mapping[str, Any],
    splits: Splitter | None = None,
    repeats: int | None = None,
    *,
    store: str | Path | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    seed: int = 0,
    key: str | None = None,
    sequential: float | None = None,
    learning_curve: bool = False,
    export: str | Path | None = None,
    retry_failed: bool = False,
    level: float = 0.95,
    threshold: float | None = None,
    margin: float = 0.0,
    pairs: Sequence[tuple[str, str]] | None = None,
    conclusion: str | None = None,
    estimator: str | None = None,
    correction: str = "holm",
) -> Contest:
    """Train systems on partition after partition of a corpus: would another split say the same?

    Each system is trained once on each split; all estimators share these trainings.

    Parameters
    ----------
    systems : by name: a function ``f(inputs, targets, *, seed)`` that trains and returns ``predict(inputs)``, an
        unfitted scikit-learn estimator, or the argument list of a command (as in a spec)
    data : ``(inputs, targets)``, ``(inputs, targets, groups)``, or a file with the columns input, target, perhaps group
    metric : the name of a metric, or its name and options
    splits : how the corpus is split, ``BlockedCV(m=3)`` by default
    repeats : how many times it is partitioned anew, as `splits` says or 20; with `sequential` at most, 100 by default.
        A partition is all folds of BlockedCV or KFold, and all hold-outs of RepeatedHoldOut: 5 of these and 20 repeats
        are 100 splits
    store : a file that keeps results, so that nothing is trained twice, today or later
    executor : where trainings run: this process by default, or a ThreadPoolExecutor
    progress : called with the number of trainings done
    seed : of the default splits, and of the first training; each split adds one, alike for all systems
    key : with a store, a text that stands for the systems' code where it cannot be read
    sequential : reproducibility, such as .8, at which to stop before all repeats are trained
    threshold : the reproducibility from which a conclusion holds up; by default that of `sequential`, else .8
    learning_curve : whether to check, by more trainings, that the sign at half of the corpus is that near all of it
    export : a .parquet or .csv file for the scores, which `compare_systems` and `decompose_variance` take
    retry_failed : whether to try again what failed before, with a store
    level, margin, pairs, conclusion, estimator, correction : see `holdsup.verdict.contest.judge_contest`

    Raises
    ------
    SplitError : a corpus that cannot be split as asked
    MetricError : a metric that is not there, or undefined in every partition
    RunError : so many trainings failed that too few partitions are complete
    """
    require_memory(executor)
    if store is not None and Path(store).suffix in (".csv", ".parquet"):
        raise SpecError(f"the store {store} looks like a table: give a name such as contest.db")
    asked = _name_metric(metric)
    rounds = choose_rounds(splits or BlockedCV(m=3, seed=seed), repeats, sequential)
    field = field_in_memory(systems, data, asked, seed=seed, key=key, stored=store is not None)
    threshold = threshold or sequential or TARGET
    judged = {"level": level, "threshold": threshold, "margin": margin, "pairs": pairs, "conclusion": conclusion,
              "estimator": estimator, "correction": correction}  # fmt: skip
    try:
        with open_store(store) as opened:
            trainer = Trainer(
                field=field, store=opened, executor=executor, progress=progress, retry_failed=retry_failed
            )
            contest = _run(trainer, rounds, judged, learning_curve=learning_curve, export=export)
            more = warn_of_systems(systems, field.corpus)
            return dataclasses.replace(contest, cautions=order_cautions((*contest.cautions, *more)))
    finally:
        forget(field.held)


def run_contest_spec(
    spec: Spec | str | Path,
    *,
    store: str | Path | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    sequential: bool = False,
    learning_curve: bool = False,
    export: str | Path | None = None,
    retry_failed: bool = False,
    level: float = 0.95,
    threshold: float | None = None,
) -> Contest:
    """Run the contest of a spec; what its store holds is not trained again.

    Parameters
    ----------
    spec : what `read_spec` returns, or the path of a spec
    store : a file instead of the spec's store
    executor : where trainings run, any `concurrent.futures.Executor`
    sequential : whether to stop as soon as the answer is safe
    threshold : the reproducibility from which a conclusion holds up; by default the spec's target, else .8
    progress, learning_curve, export, retry_failed, level : as for `run_contest`
    """
    spec = spec if isinstance(spec, Spec) else read_spec(spec)
    if spec.kind != "contest":
        raise SpecError(f'{spec.file.name} has kind = {spec.kind!r}: a contest needs kind = "contest"')
    options = {name: value for name, value in spec.contest.items() if name not in ("repeats", "target")}
    threshold = threshold or spec.contest.get("target", TARGET)
    rounds = rounds_of_spec(spec, target=threshold if sequential else None)
    field = field_of_spec(spec)
    with Store(store or spec.store) as opened:
        trainer = Trainer(field=field, store=opened, executor=executor, progress=progress, retry_failed=retry_failed)
        judged = {"level": level, "threshold": threshold, **options}
        return _run(trainer, rounds, judged, learning_curve=learning_curve, export=export, spec=spec.file.name)


def _name_metric(metric: Any) -> dict[str, Any]:
    """Return the name and options of a metric that there is; a function is given by its import string."""
    asked = {"name": metric} if isinstance(metric, str) else dict(metric) if isinstance(metric, Mapping) else {}
    if not isinstance(asked.get("name"), str):
        what = f"the function {metric.__name__}" if hasattr(metric, "__name__") else f"{metric!r:.60}"
        raise MetricError(
            f"the metric is {what}: give the name of one, such as 'accuracy', a name with options, such as "
            "{'name': 'f1', 'average': 'macro'}, one of scikit-learn's, such as 'sklearn:balanced_accuracy', or a "
            "function of targets and predictions in a file of yours as 'module:function'"
        )
    make_metric(**asked)
    return asked


def _run(
    trainer: Trainer,
    rounds: Rounds,
    judged: Mapping[str, Any],
    *,
    learning_curve: bool,
    export: str | Path | None,
    spec: str | None = None,
) -> Contest:
    field = trainer.field
    import_from(field.folder)
    check_question(list(field.systems), **judged)
    if export is not None:
        check_ending(Path(export))
    metric = make_metric(**field.metric).for_targets(field.corpus.targets)
    cautions = check_corpus(field.corpus, metric, rounds.strategy, rounds.repeats)
    curve = train_curve(trainer, rounds.strategy, metric) if learning_curve else None
    signed = sign_field(field, rounds.strategy.make(rounds.repeats))
    signed["systems"] = ", ".join(f"{name}={sign_system(name, system)}" for name, system in field.systems.items())
    signed |= {"curve": learning_curve or None, "sequential": rounds.target, "spec": spec}
    options = {**judged, "learning_curve": curve, "seed": field.seed, "signed": signed,
               "grouped": field.corpus.groups is not None, "groups": field.corpus.groups}  # fmt: skip
    contest, trained = rounds.go(trainer, metric, options)
    if export is not None:
        plan = field.plan(rounds.strategy, trained, rounds.repeats)
        write_scores(export_scores(plan, trainer.store), Path(export))
    contest = dataclasses.replace(contest, cautions=order_cautions((*contest.cautions, *cautions)))
    return tell_failures(contest, trainer.lost, of=len(trained)) if trainer.lost else contest


def preview_contest(spec: Spec) -> Preview:
    """Return what a contest would import, execute and train, all its repeats."""
    rounds = rounds_of_spec(spec)
    options = rounds.strategy.options(rounds.repeats)
    return preview_spec(replace(spec, splits={name: value for name, value in options.items() if name != "seed"}))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """How many partitions to train."""

    strategy: Strategy  # how the corpus is split
    repeats: int  # how many partitions, at most
    target: float | None  # reproducibility at which to stop earlier; None to train all

    def go(self, trainer: Trainer, metric: Metric, options: Mapping[str, Any]) -> tuple[Contest, list[int]]:
        """Return the verdict, and the partitions that were trained for it; copies of others are not."""
        places, targets = trainer.field.find_different(self.strategy, self.repeats), trainer.field.corpus.targets
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
                contest = dataclasses.replace(contest, decisions=tuple(decisions))
                dealt = [*places, self.repeats][done]
                return _tell_copies(contest, dealt - done, of=dealt), places[:done]

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
            values = contest.decider(c).values
            leads = [sign * value if abs(value) > contest.margin else 0.0 for value in values]
            # Partitions whose score is undefined are not among the leads, but were paid for.
            budget = most - (done - len(leads))
            decisions.append(decide_sequentially(leads, target=self.target, level=level, budget=budget))
        return decisions


def _tell_copies(contest: Contest, copies: int, *, of: int) -> Contest:
    """Return a contest that says how many of the partitions asked for are none of their own."""
    if not copies:
        return contest
    copied = Caution(
        code="copied-partitions",
        severity="note",
        message=f"{copies} of {format_counted(of, 'partition')} are copies of others and left out: so few groups or "
        "items can be split in few ways.",
        count=copies,
    )
    return dataclasses.replace(contest, cautions=order_cautions((*contest.cautions, copied)))


def choose_rounds(splitter: Splitter, repeats: int | None, target: float | None) -> Rounds:
    """Return how many partitions to train: as many as asked for, as the splitter says, or enough to judge."""
    strategy, own = choose_strategy(splitter)
    if repeats is not None and own not in (1, repeats):
        raise SplitError(
            f"{splitter!r} partitions the corpus {own} times, but repeats says {repeats!r}: give one of them"
        )
    if repeats is None:
        repeats = own if own > 1 else ENOUGH if target is None else BUDGET
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise SplitError(f"repeats is {repeats!r}: give a whole number, 1 or more")
    if target is not None and not 0.5 < target < 1:
        raise ScoresError(f"a sequential contest stops at a reproducibility between 0.5 and 1, not at {target!r}")
    if target is not None and repeats < ENOUGH:
        raise SplitError(f"a sequential contest needs {ENOUGH} repeats or more, not {repeats}")
    return Rounds(strategy=strategy, repeats=repeats, target=target)


def rounds_of_spec(spec: Spec, *, target: float | None = None) -> Rounds:
    """Return how many partitions a spec asks for."""
    return choose_rounds(make_splitter(**spec.splits, seed=spec.seed), spec.contest.get("repeats"), target)
