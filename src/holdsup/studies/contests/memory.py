"""Systems and corpora that are in memory, as tasks of this process can be given them."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from holdsup.errors import HoldsupError, SpecError, SplitError
from holdsup.experiment.corpora import Corpus
from holdsup.experiment.executors import SerialExecutor
from holdsup.experiment.identity import identify
from holdsup.experiment.sources import forget, hold
from holdsup.experiment.training import check_metric
from holdsup.metrics import make_metric
from holdsup.splits.corpus import count_items
from holdsup.studies.contests.fields import Field, check_names
from holdsup.studies.contests.identities import digest_values, identify_estimator, identify_function
from holdsup.studies.specs.planning import describe_data, describe_systems
from holdsup.studies.specs.reading import check_command
from holdsup.studies.specs.spec import DataSource, Place, Spec, SystemSource

NAME, CORPUS = "run_contest", "corpus"


def field_in_memory(
    systems: Mapping[str, Any], data: Any, metric: Mapping[str, Any], *, seed: int, key: str | None, stored: bool
) -> Field:
    """Return who competes, given Python objects (see `run_contest`); with a store, systems must be told apart."""
    if not isinstance(systems, Mapping) or len(systems) < 2:
        raise SpecError("a contest is between two systems or more: give them by name, {'A': ..., 'B': ...}")
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
        raise SpecError(f"the system {name!r} is {arguments!r:.60}: a command is a list of texts")
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
        raise SplitError("data is neither a file nor (inputs, targets) nor (inputs, targets, groups)")
    inputs, targets, groups = (*data, None)[:3]
    n = count_items(inputs=inputs, targets=targets, groups=groups)
    known = _plain_list(targets)
    _refuse_missing(known)
    if n < 2:
        raise SplitError(f"the corpus has {n} items: a system needs some to train on and some to be tested on")
    corpus = Corpus(
        items=tuple(map(str, range(1, n + 1))),
        inputs=list(inputs) if isinstance(inputs, tuple) else inputs,
        targets=known,
        groups=None if groups is None else _plain_list(groups),
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


def _plain_list(values: Any) -> list[Any]:
    """Return Python's values: a label of NumPy is none that JSON can hold."""
    return [value.tolist() if hasattr(value, "tolist") else value for value in list(values)]
