"""Who competes on what, split how: what the trainings of a contest, or of a tuning, share, from a spec or in memory."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from holdsup.errors import HoldsupError, SpecError, SplitError
from holdsup.experiment.corpora import Corpus, read_corpus
from holdsup.experiment.executors import SerialExecutor
from holdsup.experiment.identity import identify
from holdsup.experiment.plan import Plan, Task
from holdsup.experiment.sources import find_held, forget, hold
from holdsup.experiment.training import check_metric
from holdsup.metrics import make_metric
from holdsup.metrics.catalogue import write_metric
from holdsup.metrics.metric import plain_values
from holdsup.splits import BlockedCV, HoldOut, JKFold, KFold, RepeatedHoldOut, Splitter, make_splitter
from holdsup.splits.corpus import count_items
from holdsup.splits.splitter import find_copies
from holdsup.studies.contests.identities import (
    CORPUS_DIGITS,
    DIGITS,
    digest_values,
    identify_estimator,
    identify_function,
    sign_estimator,
)
from holdsup.studies.specs.planning import IN_PASSING, describe_data, describe_plan, describe_systems, make_task
from holdsup.studies.specs.reading import check_command
from holdsup.studies.specs.spec import LARGEST_SEED, DataSource, Place, Spec, SystemSource

NAME, CORPUS = "run_contest", "corpus"  # what a contest in memory, and its corpus, are called
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
        raise SplitError(f"{splitter!r} is not a holdsup splitter: give BlockedCV, HoldOut, RepeatedHoldOut or KFold")
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
            raise SpecError(f"a system is named {name!r}: give it a non-empty text")


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


def sign_field(field: Field, splitter: Splitter) -> dict[str, object]:
    """Return what the signature says about everything but the systems."""
    corpus = {name: value for name, value in field.data.items() if name not in IN_PASSING}
    group = field.data.get("group") or ("given" if field.corpus.groups is not None else None)
    return {
        "metric": write_metric(field.metric),
        "splitter": repr(splitter),
        "corpus": identify(corpus)[:CORPUS_DIGITS],
        "groups": group,
    }


def sign_system(name: str, described: Mapping[str, Any]) -> str:
    """Return one system (see `describe_systems`) as its source and settings, with a digest of its own code."""
    if "held" not in described:
        source = described["source"]
        written = _call(source if isinstance(source, str) else " ".join(source), described["settings"])
        code = {part: described["code"].get(part) for part in ("modules", "files", "key")}
        return f"{written}#{identify(code)[:DIGITS]}" if any(code.values()) else written
    held = find_held(described["held"])
    if described["kind"] == "estimator":
        return sign_estimator(held.args[0])
    try:
        code = identify_function(held, name)
    except SpecError:  # a closure, say: nothing tells it from another of its name
        return f"{described['source']}#unknown"
    return f"{described['source']}#{identify({**code, 'file': None})[:DIGITS]}"


def _call(name: str, options: Mapping[str, Any]) -> str:
    given = ", ".join(f"{option}={value!r}" for option, value in options.items())
    return f"{name}({given})" if given else name


def field_in_memory(
    systems: Mapping[str, Any], data: Any, metric: Mapping[str, Any], *, seed: int, key: str | None, stored: bool
) -> Field:
    """Return who competes, given Python objects (see `run_contest`); with a store, systems must be told apart."""
    if not isinstance(systems, Mapping) or len(systems) < 2:
        raise SpecError("a contest needs two or more systems: give them by name, {'A': ..., 'B': ...}")
    check_names(systems)
    programs = {name: system for name, system in systems.items() if isinstance(system, list | tuple)}
    files = {CORPUS: _open_file(Path(data))} if isinstance(data, str | Path) else {}
    folder = Path.cwd()
    spec = Spec(
        file=folder / NAME, kind="contest", seed=seed, store=folder / NAME, data=files, metric=metric, splits={},
        systems={name: _as_command(name, program, key) for name, program in programs.items()}, facets={}, contest={},
    )  # fmt: skip
    described = describe_systems(spec)
    try:
        for name, system in systems.items():
            if name not in programs:
                described[name] = _describe(name, system, key if stored else key or "not stored")
        corpus = describe_data(spec, CORPUS) if files else _hold_corpus(data, metric)
    except HoldsupError:
        forget([system["held"] for system in described.values() if "held" in system])
        raise
    return Field(
        name=NAME,
        dataset=CORPUS,
        data=corpus,
        systems={name: described[name] for name in systems},
        metric=metric,
        seed=seed,
        folder=str(folder),
    )


def require_memory(executor: Executor | None) -> None:
    """Refuse an executor whose workers cannot see what this process holds."""
    if not (executor is None or isinstance(executor, SerialExecutor | ThreadPoolExecutor)):
        raise SpecError(
            f"a {type(executor).__name__} runs other processes, which cannot see systems in the memory of this one: "
            "write a spec (holdsup contest SPEC --jobs 4), or leave executor out"
        )


def _describe(name: str, system: Any, key: str | None) -> dict[str, Any]:
    """Return a function or an estimator as `describe_systems` does; what it is, is held in memory."""
    is_estimator = hasattr(system, "fit") and hasattr(system, "predict")
    if is_estimator and isinstance(system, type):
        raise SpecError(f"the system {name!r} is the class {system.__name__}: give an estimator, {system.__name__}()")
    if not (is_estimator or callable(system)):
        raise SpecError(
            f"the system {name!r} is a {type(system).__name__}: give a function that trains, a scikit-learn estimator, "
            "or the list of a command's arguments"
        )
    if not is_estimator:
        _check_call(name, system)
    if key is not None:
        code: dict[str, Any] = {"key": f"{name} {key}"}
    else:
        code = identify_estimator(system, name) if is_estimator else identify_function(system, name)
    kind, trains = ("estimator", _cloning(system)) if is_estimator else ("call", system)
    source = type(system).__name__ if is_estimator else getattr(system, "__name__", type(system).__name__)
    held = hold(f"the system {name!r}", trains)
    return {"kind": kind, "source": source, "settings": {}, "held": held, "code": code, "limit": None}


def _check_call(name: str, function: Callable[..., Any]) -> None:
    """Refuse a function that cannot be called as it will be, before the others are trained."""
    try:
        inspect.signature(function).bind(None, None, seed=0)
    except TypeError as error:
        raise SpecError(
            f"the system {name!r} cannot be called as f(inputs, targets, seed=...): {error}. Give it these parameters"
        ) from None
    except ValueError:  # written in C, say: what it takes is found when it is called
        return


def _cloning(estimator: Any) -> Callable[[], Any]:
    """Return what makes a new, unfitted estimator for each training."""
    from sklearn.base import clone

    return functools.partial(clone, estimator)


def _as_command(name: str, arguments: Sequence[str], key: str | None) -> SystemSource:
    if not arguments or not all(isinstance(part, str) for part in arguments):
        raise SpecError(f"the system {name!r} is {arguments!r:.60}: a command is a list of strings")
    check_command(Place(NAME, f"systems.{name}"), list(arguments), {}, {})
    return SystemSource(kind="command", source=tuple(arguments), settings={}, timeout=None, code=(), key=key)


def _open_file(path: Path) -> DataSource:
    """Return a file that has the columns input and target, and perhaps group."""
    from holdsup.columns import open_tables

    group = "group" if "group" in open_tables(path)[0].columns else None
    return DataSource(path=path.resolve(), input="input", target="target", group=group, item=None)


def _hold_corpus(data: Any, metric: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs, targets and perhaps groups as `describe_data` does; they are held in memory."""
    if not isinstance(data, list | tuple) or len(data) not in (2, 3):
        raise SplitError("data must be a file, (inputs, targets) or (inputs, targets, groups)")
    inputs, targets, groups = (*data, None)[:3]
    n = count_items(inputs=inputs, targets=targets, groups=groups)
    known = plain_values(targets)
    _refuse_missing(known)
    if n < 2:
        raise SplitError(f"the corpus has {n} items: a system needs some to train on and some to be tested on")
    corpus = Corpus(
        items=tuple(map(str, range(1, n + 1))),
        inputs=list(inputs) if isinstance(inputs, tuple) else inputs,
        targets=known,
        groups=None if groups is None else plain_values(groups),
    )
    try:
        check_metric(make_metric(**metric), known, corpus.items)
    except HoldsupError as error:
        raise type(error)(f"{NAME}: {error}") from error
    parts = {"input": inputs, "target": known, "group": corpus.groups}
    digests = {what: digest_values(part, f"the {what}s") for what, part in parts.items() if part is not None}
    digest = identify(digests)
    return {"held": hold("the corpus", corpus), "digest": digest}


def _refuse_missing(targets: Sequence[Any]) -> None:
    """Refuse what the reader of files refuses, too: an item whose target is not known."""
    for item, target in enumerate(targets, start=1):
        if target is None or (isinstance(target, float) and math.isnan(target)):
            raise SplitError(f"item {item:,} of {len(targets):,} has no target: fill it in, or leave the item out")
