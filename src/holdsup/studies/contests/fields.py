"""Who competes on what: all that the trainings of a contest, or of a tuning, have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from holdsup.errors import SpecError
from holdsup.experiment.corpora import Corpus, read_corpus
from holdsup.experiment.plan import Plan, Task
from holdsup.studies.contests.strategies import Strategy
from holdsup.studies.specs.planning import describe_data, make_task
from holdsup.studies.specs.records import Spec
from holdsup.studies.specs.shapes import LARGEST_SEED
from holdsup.studies.specs.systems import describe_systems

__all__ = ["Field", "check_names", "field_of_spec"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """The corpus, the systems and the metric of a contest, as tasks are given them; of a tuning, the candidates.

    Attributes
    ----------
    name : what asks for the contest, for messages
    dataset : what the corpus is called
    data : the corpus (see `describe_data`)
    systems : each system (see `describe_systems`)
    metric : name and options of the metric
    seed : seed of the first training; the n-th split adds n - 1, alike for all systems
    folder : where import strings resolve from
    kind : contest or tune
    """

    name: str
    dataset: str
    data: Mapping[str, Any]
    systems: Mapping[str, Mapping[str, Any]]
    metric: Mapping[str, Any]
    seed: int
    folder: str
    kind: str = "contest"

    @property
    def corpus(self) -> Corpus:
        """The corpus itself."""
        return read_corpus(self.data)

    @property
    def held(self) -> list[str]:
        """The names of what is in memory for it."""
        return [part["held"] for part in (self.data, *self.systems.values()) if "held" in part]

    def plan(self, strategy: Strategy, partitions: Iterable[int], of: int) -> Plan:
        """Return the trainings of some partitions (from 0) `of` so many: split by split, all systems on each."""
        options = strategy.options(of)
        tasks: dict[str, Task] = {}
        for index in (p * strategy.splits + s for p in partitions for s in range(strategy.splits)):
            for system, described in self.systems.items():
                task = make_task(
                    {"dataset": self.dataset, "system": system, "split": index + 1},
                    data=self.data, described=described, metric=self.metric, split={**options, "index": index},
                    seed=(self.seed + index) % (LARGEST_SEED + 1),
                )  # fmt: skip
                if task.id in tasks:
                    raise SpecError(
                        f"{self.name}: {tasks[task.id].labels['system']!r} and {system!r} are the same training on the "
                        "same data: leave one out, or give one of them a key"
                    )
                tasks[task.id] = task
        versions = (system["code"].get("versions", ()) for system in self.systems.values())
        description = {
            "kind": self.kind, "spec": self.name, "seed": self.seed, "metric": dict(self.metric),
            "distributions": sorted({name for found in versions for name in found}),
        }  # fmt: skip
        return Plan(tuple(tasks.values()), description, self.folder)


def check_names(systems: Iterable[Any]) -> None:
    """Refuse names of systems that a verdict could not be read by."""
    for name in systems:
        if not isinstance(name, str) or not name.strip():
            raise SpecError(f"a system is called {name!r}: give it a name, a text that is not empty")


def field_of_spec(spec: Spec) -> Field:
    """Return who competes in a spec; its data are read, and its systems are imported in other processes."""
    check_names(spec.systems)
    (dataset,) = spec.data
    return Field(
        name=spec.file.name,
        dataset=dataset,
        data=describe_data(spec, dataset),
        systems=describe_systems(spec),
        metric=spec.metric,
        seed=spec.seed,
        folder=str(spec.folder),
        kind=spec.kind,
    )
