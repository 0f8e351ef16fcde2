"""The candidates of a spec on the runner: which trainings a partition takes, and what they scored."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace

from holdsup.errors import TuningError
from holdsup.experiment import Plan, Store, Task, run_plan
from holdsup.experiment.importing import import_from
from holdsup.experiment.scored_rows import rows_by_run
from holdsup.progress import Progress, no_progress
from holdsup.splits import make_splitter
from holdsup.studies.contests.fields import Field, field_of_spec
from holdsup.studies.contests.strategies import Strategy, choose_strategy
from holdsup.studies.specs import Spec
from holdsup.studies.specs.planning import vary
from holdsup.studies.tuning.candidates import Params
from holdsup.studies.tuning.pools import Pool, collect_pool
from holdsup.studies.tuning.scoring import ONE_METRIC
from holdsup.studies.tuning.training import Outcome

__all__ = ["Trials", "Unfinished", "field_of_candidates", "strategy_of_spec"]


class Unfinished(TuningError):
    """A store that is only read lacks trainings that come next."""


@dataclasses.dataclass(slots=True, kw_only=True)
class Trials:
    """Trains candidates on partitions, as far as the store does not hold them.

    Attributes
    ----------
    field : the corpus, and the candidates as its systems
    strategy : how the corpus is split
    j : how many partitions there are at most
    store : where results are kept
    executor : where trainings run
    progress : told how far they are
    most : how many trainings there will be at most, for `progress`
    retry_failed : whether to try again what failed before
    reading : whether to train nothing, and to end where a training is missing
    tasks : the trainings that were asked for so far
    """

    field: Field
    strategy: Strategy
    j: int
    store: Store
    executor: Executor | None = None
    progress: Progress = no_progress
    most: int
    retry_failed: bool = False
    reading: bool = False
    tasks: list[Task] = dataclasses.field(default_factory=list)

    @property
    def everyone(self) -> range:
        """The places of all candidates."""
        return range(len(self.field.systems))

    def plan(self, partitions: Sequence[int], chosen: Sequence[int]) -> Plan:
        """Return the trainings of some candidates on some partitions, both counted from 0."""
        named = list(self.field.systems.items())
        return replace(self.field, systems=dict(named[c] for c in chosen)).plan(self.strategy, partitions, self.j)

    def train(self, partitions: Sequence[int], chosen: Sequence[int]) -> Pool:
        """Return what some candidates score on some partitions."""
        plan = self.plan(partitions, chosen)
        before = len(self.tasks)
        self.tasks += plan.tasks
        if not self.reading:
            run_plan(
                plan,
                self.store,
                self.executor,
                lambda done, _, label: self.progress(before + done, self.most, label),
                retry_failed=self.retry_failed,
            )
        elif {"running", "waiting"} & set(self.store.statuses([task.id for task in plan.tasks]).values()):
            raise Unfinished("some trainings are still to be done")
        return self._read(plan, partitions)

    def _read(self, plan: Plan, partitions: Sequence[int]) -> Pool:
        """Return the scores of a plan's trainings by the metric asked for; the store may hold those of another."""
        import_from(plan.folder)
        tasks = {task.id: task for task in plan.tasks}
        names = {name: place for place, name in enumerate(self.field.systems)}
        outcomes = []
        for row in rows_by_run(tasks, self.store, self.field.metric, {task: task for task in tasks}):
            place = self.strategy.place(tasks[row.task].arguments["split"]["index"])
            outcome = Outcome({}, error=row.reason) if row.score is None else Outcome({ONE_METRIC: row.score})
            candidate = names[str(tasks[row.task].labels["system"])]
            outcomes.append((partitions.index(place.partition), place.fold - 1, candidate, outcome))
        return collect_pool(sorted(outcomes, key=_in_order), (len(partitions), self.strategy.folds, len(names)))


def field_of_candidates(spec: Spec) -> tuple[Field, list[Params]]:
    """Return the candidates of a spec as systems that compete, and their parameters, in the order of the spec."""
    field = field_of_spec(spec)
    (described,) = field.systems.values()
    candidates: list[Params] = list(vary(spec.facets))
    systems = {
        ", ".join(f"{name}={value!r}" for name, value in each.items()): {
            **described,
            "settings": {**described["settings"], **each},
        }
        for each in candidates
    }
    return replace(field, systems=systems), candidates


def strategy_of_spec(spec: Spec, k: int | None = None) -> tuple[Strategy, int]:
    """Return how a spec splits its corpus, with other folds if asked for, and its J."""
    folds = {} if k is None else {"k": k}
    return choose_strategy(make_splitter(**{**spec.splits, **folds}, seed=spec.seed))


def _in_order(placed: tuple[int, int, int, Outcome]) -> tuple[int, int, int]:
    return placed[:3]
