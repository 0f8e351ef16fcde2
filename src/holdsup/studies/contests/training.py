"""Train all systems on partition after partition, and give what `judge_contest` takes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor

import numpy as np

from holdsup.experiment import Plan, Store, run_plan
from holdsup.progress import Progress
from holdsup.studies.contests.fields import Field
from holdsup.studies.contests.losses import Losses
from holdsup.studies.contests.strategies import Strategy
from holdsup.verdict.contest import Partition, Trained

__all__ = ["Trainer"]


@dataclasses.dataclass(slots=True, kw_only=True)
class Trainer:
    """Trains what a contest needs and is not in the store yet.

    Attributes
    ----------
    field : who competes on what
    store : where results are kept
    executor : where trainings run
    progress : told how far they are
    retry_failed : whether to try again what failed before
    trained : what is known of each task, by id
    lost : trainings that failed, and in which partitions
    """

    field: Field
    store: Store
    executor: Executor | None = None
    progress: Progress | None = None
    retry_failed: bool = False
    trained: dict[str, Trained] = dataclasses.field(default_factory=dict)
    lost: Losses = dataclasses.field(default_factory=Losses)

    def train(self, strategy: Strategy, partitions: Sequence[int], of: int) -> list[Partition]:
        """Return partitions (from 0) `of` so many, with all systems trained on them; incomplete ones are left out.

        Where none is complete, that is an error.
        """
        plan = self.field.plan(strategy, partitions, of)
        if any(task.id not in self.trained for task in plan.tasks):
            run_plan(plan, self.store, self.executor, self.progress, retry_failed=self.retry_failed)
            self.collect(plan, strategy)
        by_partition: dict[int, dict[str, list[Trained]]] = {}
        failed = {
            strategy.place(task.arguments["split"]["index"]).partition
            for task in plan.tasks
            if task.id not in self.trained
        }
        for task in plan.tasks:
            place = strategy.place(task.arguments["split"]["index"])
            if place.partition in failed:
                continue
            own = by_partition.setdefault(place.partition, {system: [] for system in self.field.systems})
            own[str(task.labels["system"])].append(self.trained[task.id])
        return [
            Partition(strategy=strategy.name, trained={system: tuple(found) for system, found in own.items()})
            for own in by_partition.values()
        ]

    def collect(self, plan: Plan, strategy: Strategy) -> None:
        """Read what the store holds of a plan; a training without predictions cannot be judged."""
        corpus = self.field.corpus
        place_of = {name: place for place, name in enumerate(corpus.items)}
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
            self._record(plan, strategy, missing)

    def _record(self, plan: Plan, strategy: Strategy, missing: set[str]) -> None:
        """Note what failed; where no partition is complete, there is nothing to judge."""
        tasks = {task.id: task for task in plan.tasks}
        partitions = {strategy.place(tasks[task].arguments["split"]["index"]).partition for task in missing}
        first = _describe_first(plan, missing, self.store)
        self.lost = self.lost.joined(Losses(len(missing), len(partitions), first))
        if len(partitions) * strategy.splits * len(self.field.systems) == len(plan.tasks):
            raise self.lost.refuse(len(plan.tasks))


def _read_json(texts: Iterable[str]) -> list[object]:
    """Return what JSON texts hold; many are the same."""
    known: dict[str, object] = {}
    return [known[text] if text in known else known.setdefault(text, json.loads(text)) for text in texts]


def _describe_first(plan: Plan, missing: set[str], store: Store) -> str:
    """Return which training failed first, and why, with the type of its error."""
    found = {failure.task: f"{failure.error}: {failure.message}" for failure in store.failures(missing)}
    task, why = next(((task, why) for task, why in found.items()), (min(missing), "it is not in the store"))
    labels = next(other.labels for other in plan.tasks if other.id == task)
    return f"{labels['system']!r} on split {labels['split']}: {' '.join(why.split()).rstrip('.')}"
