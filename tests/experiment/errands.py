"""Work for tests of the runner: worker processes import it by name."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from holdsup.experiment import Outcome, Plan, Task

FOLDER = str(Path(__file__).parent)


def make_plan(work: str, count: int = 3, *, timeout: float | None = None, prefix: str = "task", **more: Any) -> Plan:
    tasks = (
        Task(f"{prefix}-{i}", {"system": "S", "seed": i}, f"errands:{work}", {"number": i, **more}, timeout)
        for i in range(count)
    )
    return Plan(tuple(tasks), {"seed": 5}, FOLDER)


def give(arguments: Mapping[str, Any]) -> Outcome:
    number = arguments["number"]
    return Outcome({"score": number + 0.5}, {"items": pa.table({"item": [0, 1], "value": [number, -number]})})


def give_much(arguments: Mapping[str, Any]) -> Outcome:
    values = np.random.default_rng(arguments["number"]).normal(size=10 ** arguments["number"])
    return Outcome({"score": float(values.mean())}, {"items": pa.table({"value": values})})


def note_and_give(arguments: Mapping[str, Any]) -> Outcome:
    with Path(arguments["file"]).open("a") as stream:
        stream.write(f"{arguments['number']}\n")
    time.sleep(arguments.get("seconds", 0))
    return give(arguments)


def fail_at_one(arguments: Mapping[str, Any]) -> Outcome:
    if arguments["number"] == 1:
        raise ValueError("one is not wanted\nsecond line")
    return give(arguments)


def fail_until_marked(arguments: Mapping[str, Any]) -> Outcome:
    mark = Path(arguments["file"])
    if not mark.exists():
        mark.touch()
        raise ValueError("not yet")
    return give(arguments)


def not_finite(arguments: Mapping[str, Any]) -> Outcome:
    return Outcome({"score": float("nan"), "range": [float("inf"), 1.0], "none": None})


def no_outcome(arguments: Mapping[str, Any]) -> Any:
    return 3


def no_json(arguments: Mapping[str, Any]) -> Outcome:
    return Outcome({"score": {1, 2}})


def leave(arguments: Mapping[str, Any]) -> Outcome:
    raise SystemExit("bye")


def interrupt_itself(arguments: Mapping[str, Any]) -> Outcome:
    raise KeyboardInterrupt("mine")


def nap(arguments: Mapping[str, Any]) -> Outcome:
    time.sleep(60 if arguments["number"] == 1 else 0)
    return give(arguments)


def linger(arguments: Mapping[str, Any]) -> Outcome:
    time.sleep(60 if arguments["number"] == 1 else 0.2)
    return give(arguments)


def block(arguments: Mapping[str, Any]) -> Outcome:
    """Do not react to any exception: signals wait until the call into C is over."""
    if arguments["number"] == 1:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        time.sleep(60)
    return give(arguments)


def die_at_one(arguments: Mapping[str, Any]) -> Outcome:
    if arguments["number"] == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return give(arguments)


def interrupt_at_one(arguments: Mapping[str, Any]) -> Outcome:
    if arguments["number"] == 1:
        os.kill(os.getpid(), arguments["signal"])
        time.sleep(5)
    return give(arguments)


def count_threads(arguments: Mapping[str, Any]) -> Outcome:
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones(2) @ np.ones(2)
    threads = [library["num_threads"] for library in threadpool_info()]
    return Outcome({"threads": threads, "pid": os.getpid(), "parent": os.getppid()})


def spin(arguments: Mapping[str, Any]) -> Outcome:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        sum(range(100))
    return give(arguments)


def touch_and_give(arguments: Mapping[str, Any]) -> Outcome:
    (Path(arguments["folder"]) / f"{os.getpid()}-{arguments['number']}").touch()
    time.sleep(0.1)
    return give(arguments)
