"""Train all systems on partition after partition; what fails is told; learning curves."""

from __future__ import annotations

import dataclasses
import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from holdsup.errors import MetricError, RunError
from holdsup.experiment import Plan, Store, Task, run_plan
from holdsup.metrics import Metric
from holdsup.progress import Progress
from holdsup.rendering.numbers import format_counted
from holdsup.results import Caution, Rows, order_cautions
from holdsup.splits import RepeatedHoldOut
from holdsup.studies.contests.fields import Field, Strategy, choose_strategy
from holdsup.verdict.contest import Contest, Partition, Trained

SHARES = (1 / 4, 1 / 2, 3 / 4, 8 / 9)  # of the corpus, trained on
REPEATS = 10  # samples of each size
SHARED = ("seed", "stratify", "match", "uneven")  # options that the splits of the contest have, too


@dataclass(frozen=True, slots=True)
class Losses:
    """Trainings that failed."""

    trainings: int = 0  # how many
    partitions: int = 0  # how many partitions lack one or more of them
    first: str = ""  # the first, with its error

    def __bool__(self) -> bool:
        return self.trainings > 0

    def joined(self, later: Losses) -> Losses:
        """Return these and later ones together."""
        return Losses(self.trainings + later.trainings, self.partitions + later.partitions, self.first or later.first)

    def refuse(self, trainings: int, needed: str = "") -> RunError:
        """Return the error for so many losses that nothing can be judged."""
        return RunError(
            f"{self.trainings:,} of {trainings:,} trainings failed{needed}, the first of {self.first}. Fix the "
            "cause, then add --retry-failed (retry_failed=True)"
        )


@dataclass(slots=True, kw_only=True)
class Trainer:
    """Trains what a contest needs and is not in the store yet."""

    field: Field  # who competes on what
    store: Store  # where results are kept
    executor: Executor | None = None  # where trainings run
    progress: Progress | None = None  # told how far they are
    retry_failed: bool = False  # whether to try again what failed before
    trained: dict[str, Trained] = dataclasses.field(default_factory=dict)  # what is known of each task, by id
    lost: Losses = Losses()  # trainings that failed, and in which partitions

    def train(self, strategy: Strategy, partitions: Sequence[int], of: int) -> list[Partition]:
        """Return partitions (from 0) `of` so many, with all systems trained on them; incomplete ones are left out.

        Where none is complete, that is an error.
        """
        plan = self.field.plan(strategy, partitions, of)
        if any(task.id not in self.trained for task in plan.tasks):
            run_plan(plan, self.store, self.executor, self.progress, retry_failed=self.retry_failed)
            self.collect(plan, strategy)
        by_partition: dict[int, dict[str, list[Trained]]] = {}
        failed = {_partition(task, strategy) for task in plan.tasks if task.id not in self.trained}
        for task in plan.tasks:
            if (partition := _partition(task, strategy)) not in failed:
                own = by_partition.setdefault(partition, {system: [] for system in self.field.systems})
                own[str(task.labels["system"])].append(self.trained[task.id])
        return [
            Partition(strategy=strategy.name, trained={system: tuple(found) for system, found in own.items()})
            for own in by_partition.values()
        ]

    def collect(self, plan: Plan, strategy: Strategy) -> None:
        """Read what the store holds of a plan; a training without predictions cannot be judged."""
        place_of = {name: place for place, name in enumerate(self.field.corpus.items)}
        missing = {task.id for task in plan.tasks if task.id not in self.trained}
        for recorded in self.store.results(missing):
            items = recorded.tables["items"]
            place = strategy.place(recorded.arguments["split"]["index"])
            self.trained[recorded.task] = Trained(
                repetition=place.repetition,
                fold=place.fold,
                test=np.array([place_of[name] for name in items["item"].to_pylist()], dtype=np.intp),
                predictions=_read_json(items["prediction"].to_pylist()),
            )
            missing.discard(recorded.task)
        if missing:
            failed = [task for task in plan.tasks if task.id in missing]
            partitions = {_partition(task, strategy) for task in failed}
            first = _describe_first(failed, self.store)
            self.lost = self.lost.joined(Losses(len(missing), len(partitions), first))
            if len(partitions) * strategy.splits * len(self.field.systems) == len(plan.tasks):  # none is complete
                raise self.lost.refuse(len(plan.tasks))


def _partition(task: Task, strategy: Strategy) -> int:
    return strategy.place(task.arguments["split"]["index"]).partition


@contextmanager
def open_store(path: str | Path | None, *, writing: bool = True) -> Iterator[Store]:
    """Give the store at a path, or one that is forgotten."""
    if path is not None:
        with Store(path, writing=writing) as opened:
            yield opened
        return
    with tempfile.TemporaryDirectory(prefix="holdsup-") as folder, Store(Path(folder) / "runs.db") as opened:
        yield opened


def _read_json(texts: Iterable[str]) -> list[object]:
    """Return what JSON texts hold; many are the same."""
    known: dict[str, object] = {}
    return [known[text] if text in known else known.setdefault(text, json.loads(text)) for text in texts]


def _describe_first(failed: Sequence[Task], store: Store) -> str:
    """Return which training failed first, and why, with the type of its error."""
    tasks = {task.id: task for task in failed}
    found = [(failure.task, f"{failure.error}: {failure.message}") for failure in store.failures(set(tasks))]
    first, why = found[0] if found else (min(tasks), "it is not in the store")
    labels = tasks[first].labels
    return f"{labels['system']!r} on split {labels['split']}: {' '.join(why.split()).rstrip('.')}"


def tell_failures(contest: Contest, lost: Losses, *, of: int) -> Contest:
    """Return a contest that says how much of what was planned is missing."""
    per_partition = contest.rows.planned // max(1, of - lost.partitions)
    left = lost.partitions * per_partition
    failed = Caution(
        code="failed-trainings",
        message=f"{lost.partitions} of {format_counted(of, 'partition')} are left out: "
        f"{format_counted(lost.trainings, 'training')} failed, which can bias the answer. The first was {lost.first}.",
        advice="Find out why, then use --retry-failed.",
        count=lost.trainings,
    )
    return replace(
        contest,
        cautions=order_cautions((*contest.cautions, failed)),
        rows=Rows(
            contest.rows.planned + left,
            contest.rows.used,
            {**contest.rows.reasons, "a failed training in their partition": left},
        ),
    )


def train_curve(trainer: Trainer, strategy: Strategy, metric: Metric) -> dict[str, dict[int, list[float]]]:
    """Return the scores of each system, by how many items it was trained on, all systems on the same samples."""
    options = {name: strategy.splitter[name] for name in SHARED}
    targets = trainer.field.corpus.targets
    curve: dict[str, dict[int, list[float]]] = {system: {} for system in trainer.field.systems}
    for share in SHARES:
        holdouts, _ = choose_strategy(RepeatedHoldOut(test=1 - share, repeats=REPEATS, **options))
        (partition,) = trainer.train(holdouts, [0], 1)
        for system, instances in partition.trained.items():
            size = _mean_size(instances, len(targets))
            for trained in instances:
                assert trained.test is not None  # what was trained here has all three
                assert trained.predictions is not None
                score = metric.evaluate([targets[i] for i in trained.test.tolist()], trained.predictions)
                if not math.isfinite(score):
                    raise MetricError(
                        f"the learning curve of {system!r} has no {metric.name} after training on {share:.0%} of the "
                        "corpus: stratify the splits, or leave the curve out"
                    )
                curve[system].setdefault(size, []).append(score)
    return curve


def _mean_size(instances: Sequence[Trained], items: int) -> int:
    """Return how many items instances were trained on: groups make that differ a little from sample to sample."""
    tested = [len(trained.test) for trained in instances if trained.test is not None]
    return items - round(sum(tested) / len(tested))
