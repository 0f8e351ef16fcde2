"""`run_contest`: train systems on partition after partition of a corpus, and judge what comes out."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdsup.errors import MetricError, SpecError
from holdsup.experiment import Store, export_scores, write_scores
from holdsup.experiment.holding import forget
from holdsup.experiment.importing import import_from
from holdsup.experiment.score_files import check_ending
from holdsup.metrics import make_metric
from holdsup.progress import Progress
from holdsup.splits import BlockedCV, Splitter
from holdsup.studies.contests.curves import train_curve
from holdsup.studies.contests.faults import check_corpus, warn_of_systems
from holdsup.studies.contests.fields import field_of_spec
from holdsup.studies.contests.losses import tell_failures
from holdsup.studies.contests.memory import field_in_memory, require_memory
from holdsup.studies.contests.rounds import Rounds, plan_rounds, rounds_of_spec
from holdsup.studies.contests.signing import sign_field, sign_system
from holdsup.studies.contests.training import Trainer
from holdsup.studies.specs import Spec, read_spec
from holdsup.verdict.contest import Contest
from holdsup.verdict.contest.judging import check_question

__all__ = ["run_contest", "run_contest_spec"]


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
    margin: float = 0.0,
    pairs: Sequence[tuple[str, str]] | None = None,
    conclusion: str | None = None,
    estimator: str | None = None,
    correction: str = "holm",
) -> Contest:
    """Train systems on partition after partition of a corpus: would the conclusion survive another split?

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
    rounds = plan_rounds(splits or BlockedCV(m=3, seed=seed), repeats, sequential)
    field = field_in_memory(systems, data, asked, seed=seed, key=key, stored=store is not None)
    judged = {"level": level, "margin": margin, "pairs": pairs, "conclusion": conclusion, "estimator": estimator,
              "correction": correction}  # fmt: skip
    try:
        with _open_store(store) as opened:
            trainer = Trainer(
                field=field, store=opened, executor=executor, progress=progress, retry_failed=retry_failed
            )
            contest = _run(trainer, rounds, judged, learning_curve=learning_curve, export=export)
            more = warn_of_systems(systems, field.corpus)
            return dataclasses.replace(contest, warnings=(*contest.warnings, *more))
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
) -> Contest:
    """Run the contest of a spec; what its store holds is not trained again.

    Parameters
    ----------
    spec : what `read_spec` returns, or the path of a spec
    store : a file instead of the spec's store
    executor : where trainings run, any `concurrent.futures.Executor`
    sequential : whether to stop as soon as the verdict is safe; the spec's target says how safe
    progress, learning_curve, export, retry_failed, level : as for `run_contest`
    """
    spec = spec if isinstance(spec, Spec) else read_spec(spec)
    if spec.kind != "contest":
        raise SpecError(f'{spec.file.name} is of the kind {spec.kind!r}: a contest needs kind = "contest"')
    options = {name: value for name, value in spec.contest.items() if name not in ("repeats", "target")}
    rounds = rounds_of_spec(spec, sequential=sequential)
    field = field_of_spec(spec)
    with Store(store or spec.store) as opened:
        trainer = Trainer(field=field, store=opened, executor=executor, progress=progress, retry_failed=retry_failed)
        return _run(
            trainer, rounds, {"level": level, **options}, learning_curve=learning_curve, export=export,
            spec=spec.file.name,
        )  # fmt: skip


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
    warnings = check_corpus(field.corpus, metric, rounds.strategy, rounds.repeats)
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
    contest = dataclasses.replace(contest, warnings=(*contest.warnings, *warnings))
    return tell_failures(contest, trainer.lost, of=len(trained)) if trainer.lost else contest


@contextmanager
def _open_store(path: str | Path | None) -> Iterator[Store]:
    """Give the store at a path, or one that is forgotten."""
    if path is not None:
        with Store(path) as opened:
            yield opened
        return
    with tempfile.TemporaryDirectory(prefix="holdsup-") as folder, Store(Path(folder) / "contest.db") as opened:
        yield opened
