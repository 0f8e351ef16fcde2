"""What a system can be: a function that trains, a scikit-learn estimator, a program."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdsup.errors import TaskError
from holdsup.experiment.commands import run_command
from holdsup.experiment.holding import find_held
from holdsup.experiment.importing import load_callable
from holdsup.splits.routing import route_groups

__all__ = ["KINDS", "Trained", "load_system", "split_settings", "train_system"]


@dataclass(frozen=True, slots=True)
class Trained:
    """What came out of one training: predictions as returned, and how long training and predicting took.

    Attributes
    ----------
    predictions : what the system returned, not looked at yet
    seconds_train : seconds of training; of the whole program where a program does both
    seconds_test : seconds of predicting; None where a program does both
    """

    predictions: Any
    seconds_train: float
    seconds_test: float | None


@dataclass(frozen=True, slots=True)
class Examples:
    """What one training is given: examples with targets, inputs to predict, a seed, groups of the examples if any."""

    inputs: Sequence[Any]
    targets: Sequence[Any]
    unseen: Sequence[Any]
    seed: int
    groups: Sequence[Any] | None


def train_system(
    system: Mapping[str, Any],
    inputs: Sequence[Any],
    targets: Sequence[Any],
    unseen: Sequence[Any],
    *,
    seed: int,
    groups: Sequence[Any] | None = None,
) -> Trained:
    """Train a system on inputs and targets, and predict the targets of unseen inputs.

    Parameters
    ----------
    system : a task's `system`: kind, source (import string or argument list), settings; for what is imported, the
        modules that the plan has hashed; for what is in memory, the name it is held under; for programs, folder and
        timeout
    groups : what each of the inputs belongs to, for an estimator that asks for it
    """
    return KINDS[system["kind"]](system, Examples(inputs, targets, unseen, seed, groups))


def load_system(system: Mapping[str, Any]) -> None:
    """Import what a system is made of, where it is no program."""
    if system["kind"] != "command":
        _load(system)


def _call(system: Mapping[str, Any], given: Examples) -> Trained:
    function = _load(system)
    started = time.perf_counter()
    predict = function(given.inputs, given.targets, seed=given.seed, **system["settings"])
    if not callable(predict):
        raise TaskError(
            f"{system['source']} returned a {type(predict).__name__}: it must return a function that predicts, "
            "predict(inputs)"
        )
    return _predict(predict, given, started)


def _estimator(system: Mapping[str, Any], given: Examples) -> Trained:
    arguments, parameters = split_settings(system["settings"])
    estimator = _load(system)(**arguments)
    lacks = [name for name in ("fit", "predict", "get_params", "set_params") if not hasattr(estimator, name)]
    if lacks:
        raise TaskError(
            f"{system['source']} returned a {type(estimator).__name__} without {', '.join(lacks)}: it must return a "
            "scikit-learn estimator"
        )
    random = [name for name in estimator.get_params(deep=True) if name.split("__")[-1] == "random_state"]
    estimator.set_params(**{**dict.fromkeys(random, given.seed), **parameters})  # a setting says more than a seed
    started = time.perf_counter()
    estimator.fit(given.inputs, given.targets, **route_groups(estimator, given.groups))
    return _predict(estimator.predict, given, started)


def _command(system: Mapping[str, Any], given: Examples) -> Trained:
    train = [{"input": x, "target": y} for x, y in zip(given.inputs, given.targets, strict=True)]
    test = [{"input": x} for x in given.unseen]
    started = time.perf_counter()
    predictions = run_command(
        system["source"], system["settings"], train, test,
        seed=given.seed, folder=system["folder"], timeout=system["timeout"],
    )  # fmt: skip
    return Trained(predictions, time.perf_counter() - started, None)


KINDS: Mapping[str, Callable[[Mapping[str, Any], Examples], Trained]] = {
    "call": _call,
    "estimator": _estimator,
    "command": _command,
}


def split_settings(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what an estimator's function is called with, and what is set on the estimator: names such as svc__C.

    >>> split_settings({"kernel": "rbf", "svc__C": 10})
    ({'kernel': 'rbf'}, {'svc__C': 10})
    """
    parameters = {name: value for name, value in settings.items() if "__" in name}
    return {name: value for name, value in settings.items() if name not in parameters}, parameters


def _load(system: Mapping[str, Any]) -> Callable[..., Any]:
    if "held" in system:
        held: Callable[..., Any] = find_held(system["held"])
        return held
    return load_callable(system["source"], system["modules"], system.get("later"), pinned=system["pinned"])


def _predict(predict: Callable[[Sequence[Any]], Any], given: Examples, started: float) -> Trained:
    trained = time.perf_counter()
    predictions = predict(given.unseen)
    return Trained(predictions, trained - started, time.perf_counter() - trained)
