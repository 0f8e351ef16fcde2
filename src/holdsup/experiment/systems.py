"""What a system can be: a function that trains, a scikit-learn estimator, or a program.

A program is given files, and writes one JSON prediction a line. It is an argument list, never a shell.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from holdsup.columns.limits import LARGEST_DOCUMENT
from holdsup.errors import TaskError
from holdsup.experiment.sources import find_held, load_callable
from holdsup.splits.routing import route_groups

FILLED = ("train", "test", "out", "seed", "python")  # placeholders that a run fills; the others are settings
PLACEHOLDER = re.compile(r"\{(\w+)\}")
GUARD = Path(__file__).with_name("guard.py")  # ends a program when this process is killed
TAIL = 500  # characters of a program's last words that go into the error


class Trained(NamedTuple):
    """What came out of one training: what the system returned, not looked at yet, and how many seconds it took.

    A program trains and predicts at once: all its seconds are those of training.
    """

    predictions: Any
    seconds_train: float
    seconds_test: float | None


class Examples(NamedTuple):
    """What one training is given: examples with targets, inputs to predict, a seed, groups if any."""

    inputs: Sequence[Any]
    targets: Sequence[Any]
    unseen: Sequence[Any]
    seed: int
    groups: Sequence[Any] | None = None


def train_system(system: Mapping[str, Any], given: Examples) -> Trained:
    """Train a system, and predict the targets of unseen inputs.

    Parameters
    ----------
    system : a task's `system`: kind, source (import string or argument list), settings; for what is imported, the
        modules that the plan has hashed; for what is in memory, the name it is held under; for programs, folder and
        timeout
    """
    return KINDS[system["kind"]](system, given)


def load_system(system: Mapping[str, Any]) -> None:
    """Import what a system is made of, where it is no program."""
    if system["kind"] != "command":
        _load(system)


def _call(system: Mapping[str, Any], given: Examples) -> Trained:
    function = _load(system)
    started = time.perf_counter()
    predict = function(given.inputs, given.targets, seed=given.seed, **system["settings"])
    if not callable(predict):
        raise TaskError(f"{system['source']} returned a {type(predict).__name__}: return a function, predict(inputs)")
    return _predict(predict, given, started)


def _estimator(system: Mapping[str, Any], given: Examples) -> Trained:
    arguments, parameters = split_settings(system["settings"])
    estimator = _load(system)(**arguments)
    lacks = [name for name in ("fit", "predict", "get_params", "set_params") if not hasattr(estimator, name)]
    if lacks:
        raise TaskError(
            f"{system['source']} returned a {type(estimator).__name__} without {', '.join(lacks)}: return a "
            "scikit-learn estimator"
        )
    random = [name for name in estimator.get_params(deep=True) if name.split("__")[-1] == "random_state"]
    estimator.set_params(**{**dict.fromkeys(random, given.seed), **parameters})  # a setting says more than a seed
    started = time.perf_counter()
    estimator.fit(given.inputs, given.targets, **route_groups(estimator, given.groups))
    return _predict(estimator.predict, given, started)


def _command(system: Mapping[str, Any], given: Examples) -> Trained:
    """Run a program in its folder, with its files in a temporary one."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="holdsup-") as own:
        files = {name: Path(own) / f"{name}.jsonl" for name in ("train", "test", "out")}
        pairs = zip(given.inputs, given.targets, strict=True)
        _write_lines(files["train"], ({"input": x, "target": y} for x, y in pairs))
        _write_lines(files["test"], ({"input": x} for x in given.unseen))
        values = {**system["settings"], **files, "seed": given.seed, "python": sys.executable}
        filled, log, timeout = fill_arguments(system["source"], values), Path(own) / "log.txt", system["timeout"]
        code = _run(filled, system["folder"], log, timeout)
        program = " ".join(Path(part).name for part in filled[:2])
        if code is None:
            raise TaskError(f"{program} was stopped after {timeout:g} seconds: raise its timeout{_last(log)}")
        if code != 0:
            raise TaskError(f"{program} ended with code {code}{_last(log)}")
        predictions = _read_predictions(files["out"], program, log)
    return Trained(predictions, time.perf_counter() - started, None)


KINDS: Mapping[str, Callable[[Mapping[str, Any], Examples], Trained]] = {
    "call": _call,
    "estimator": _estimator,
    "command": _command,
}


def _load(system: Mapping[str, Any]) -> Callable[..., Any]:
    if "held" in system:
        held: Callable[..., Any] = find_held(system["held"])
        return held
    return load_callable(system["source"], system["modules"], system.get("later"), pinned=system["pinned"])


def _predict(predict: Callable[[Sequence[Any]], Any], given: Examples, started: float) -> Trained:
    trained = time.perf_counter()
    predictions = predict(given.unseen)
    return Trained(predictions, trained - started, time.perf_counter() - trained)


def split_settings(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what an estimator's function is called with, and what is set on the estimator: names such as svc__C.

    >>> split_settings({"kernel": "rbf", "svc__C": 10})
    ({'kernel': 'rbf'}, {'svc__C': 10})
    """
    parameters = {name: value for name, value in settings.items() if "__" in name}
    return {name: value for name, value in settings.items() if name not in parameters}, parameters


def find_placeholders(arguments: Sequence[str]) -> set[str]:
    """Return the names in braces.

    >>> sorted(find_placeholders(["{python}", "tag.py", "--rate={rate}"]))
    ['python', 'rate']
    """
    return {name for argument in arguments for name in PLACEHOLDER.findall(argument)}


def fill_arguments(arguments: Sequence[str], values: Mapping[str, Any]) -> list[str]:
    """Return an argument list with its placeholders filled; truth values as true and false."""

    def written(match: re.Match[str]) -> str:
        value = values.get(match[1], match[0])
        return str(value).lower() if isinstance(value, bool) else str(value)

    return [PLACEHOLDER.sub(written, argument) for argument in arguments]


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _run(arguments: list[str], folder: str, log: Path, timeout: float | None) -> int | None:
    """Return the exit code of a program, None if it had to be stopped."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(GUARD), *arguments],
            cwd=folder, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:  # it leads a session, whose group has its number until it is waited for
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
        process.communicate()


def _read_predictions(out: Path, program: str, log: Path) -> list[Any]:
    if not out.exists():
        raise TaskError(f"{program} wrote no file {{out}}{_last(log)}")
    if out.stat().st_size > LARGEST_DOCUMENT:
        raise TaskError(f"{program} wrote {out.stat().st_size:,} bytes to {{out}}: write one JSON prediction per line")
    predictions = []
    for number, line in enumerate(out.read_bytes().splitlines(), start=1):
        try:
            predictions.append(json.loads(line))
        except (ValueError, RecursionError):
            shown = line[:40].decode("utf-8", "replace")
            raise TaskError(f"line {number} that {program} wrote to {{out}} is not JSON: {shown!r}") from None
    return predictions


def _last(log: Path) -> str:
    """Return the last words of a program, ready to end an error."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4 * TAIL))
        words = " ".join(file.read().decode("utf-8", "replace").split())
    return f"; it said: {words[-TAIL:]}" if words else ""
