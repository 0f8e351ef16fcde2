"""Who competes on what, split how: all that the trainings of a contest, or of a tuning, have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from holdsup.errors import SpecError, SplitError
from holdsup.experiment.corpora import Corpus, read_corpus
from holdsup.experiment.plan import Plan, Task
from holdsup.splits import BlockedCV, HoldOut, JKFold, KFold, RepeatedHoldOut, Splitter, make_splitter
from holdsup.splits.splitter import find_copies
from holdsup.studies.specs.planning import describe_data, describe_plan, describe_systems, make_task
from holdsup.studies.specs.spec import LARGEST_SEED, Spec

MANY = 100  # items, or groups, that are never dealt alike twice


class Position(NamedTuple):
    """Where a split stands: its partition (from 0), and repetition and fold in it (from 1)."""

    partition: int
    repetition: int
    fold: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """How a corpus is split, and re-partitioned as often as one likes."""

    name: str  # blocked, holdout, repeated or kfold, as `judge_contest` has it
    splitter: dict[str, Any]  # name and options of the splitter, without how many deals it makes
    many: str  # its option that says how many
    splits: int  # splits in one partition
    folds: int  # splits in one repetition
    deals: int  # deals of the corpus in one partition: several for repeated hold-outs

    def options(self, partitions: int) -> dict[str, Any]:
        """Return name and options of the splitter that makes so many partitions; the first ones never change."""
        return {**self.splitter, self.many: self.deals * partitions}

    def make(self, partitions: int) -> Splitter:
        """Return the splitter that makes so many partitions."""
        return make_splitter(**self.options(partitions))

    def place(self, index: int) -> Position:
        """Return where a split (counted from 0 over all partitions) stands."""
        partition, within = divmod(index, self.splits)
        return Position(partition, within // self.folds + 1, within % self.folds + 1)


def choose_strategy(splitter: Splitter) -> tuple[Strategy, int]:
    """Return the strategy of a splitter, and how many partitions it asks for itself.

    >>> strategy, partitions = choose_strategy(BlockedCV(m=3, repeats=10))
    >>> strategy.name, strategy.splits, partitions
    ('blocked', 6, 10)
    """
    if not isinstance(splitter, BlockedCV | HoldOut | KFold):
        raise SplitError(f"{splitter!r} is no splitter of holdsup: give BlockedCV, HoldOut, RepeatedHoldOut or KFold")
    options = splitter.describe()
    if splitter.match is not None and options["match"] != splitter.match:
        raise SplitError('a contest can match splits on targets only (match="targets"), not on an array')
    if isinstance(splitter, BlockedCV):
        many, own, name, splits, folds, deals = "repeats", splitter.repeats, "blocked", 2 * splitter.m, 2, 1
    elif isinstance(splitter, KFold):
        many, own, name, splits, folds, deals = "j", getattr(splitter, "j", 1), "kfold", splitter.k, splitter.k, 1
        options["name"] = JKFold.name
    else:
        deals = splits = getattr(splitter, "repeats", 1)
        many, own, name, folds = "repeats", 1, "repeated" if isinstance(splitter, RepeatedHoldOut) else "holdout", 1
        options["name"] = RepeatedHoldOut.name
    options.pop(many, None)
    return Strategy(name=name, splitter=options, many=many, splits=splits, folds=folds, deals=deals), own


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """The corpus, the systems and the metric of a contest, as tasks are given them; of a tuning, the candidates."""

    name: str  # what asks for the contest, for messages
    dataset: str  # what the corpus is called
    data: Mapping[str, Any]  # the corpus (see `describe_data`)
    systems: Mapping[str, Mapping[str, Any]]  # each system (see `describe_systems`)
    metric: Mapping[str, Any]  # name and options of the metric
    seed: int  # seed of the first training; the n-th split adds n - 1, alike for all systems
    folder: str  # where import strings resolve from
    kind: str = "contest"  # contest or tune

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
        description = describe_plan(self.kind, self.name, self.seed, self.metric, self.systems)
        return Plan(tuple(tasks.values()), description, self.folder)

    def find_different(self, strategy: Strategy, of: int) -> list[int]:
        """Return those `of` so many partitions that are no copies of earlier ones: a copy is no new evidence."""
        corpus = self.corpus
        if len(corpus if corpus.groups is None else set(corpus.groups)) > MANY:
            return list(range(of))
        splits = strategy.make(of).split(corpus.inputs, corpus.targets, corpus.groups)
        return sorted(set(find_copies(list(islice(splits, strategy.splits)) for _ in range(of))))


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
