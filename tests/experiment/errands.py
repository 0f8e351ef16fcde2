"""Work for tests of the runner: worker processes import it by name."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from holdsup.experiment import Outcome, Plan, Task

FOLDER = str(Path(__file__).parent)


def make_plan(
    work: str, count: int = 3, *, timeouts: Mapping[int, float] | None = None, prefix: str = "task", **more: Any
) -> Plan:
    limits = timeouts or {}  # of those alone that exceed them: any other may take long on a busy machine
    tasks = (
        Task(f"{prefix}-{i}", {"system": "S", "seed": i}, f"errands:{work}", {"number": i, **more}, limits.get(i))
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
    time.sleep(600 if arguments["number"] >= arguments.get("held", math.inf) else arguments.get("seconds", 0))
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


def speak(arguments: Mapping[str, Any]) -> Outcome:
    """Write to standard output in three ways."""
    print("printed", flush=True)
    os.write(1, b"written\n")
    subprocess.run([sys.executable, "-c", "print('started')"], check=True)
    return give(arguments)


def interrupt_itself(arguments: Mapping[str, Any]) -> Outcome:
    raise KeyboardInterrupt("mine")


def nap(arguments: Mapping[str, Any]) -> Outcome:
    time.sleep(600 if arguments["number"] == 1 else 0)
    return give(arguments)


def linger(arguments: Mapping[str, Any]) -> Outcome:
    time.sleep(600 if arguments["number"] == 1 else 0.2)
    return give(arguments)


def block(arguments: Mapping[str, Any]) -> Outcome:
    """Do not react to any exception: signals wait until the call into C is over."""
    if arguments["number"] == 1:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        time.sleep(600)
    return give(arguments)


def die_at_one(arguments: Mapping[str, Any]) -> Outcome:
    if arguments["number"] == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return give(arguments)


def interrupt_at_one(arguments: Mapping[str, Any]) -> Outcome:
    if arguments["number"] == 1:
        os.kill(os.getpid(), arguments["signal"])
        time.sleep(600)
    return give(arguments)


def leave_child(arguments: Mapping[str, Any]) -> Outcome:
    """Start a program that is there for ten minutes, and note its number and that of this process."""
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN); " if arguments.get("deaf") else ""
    script = f"import signal, time; {deaf}print(1, flush=True); time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()  # it is up
    with Path(arguments["file"]).open("a") as stream:
        stream.write(f"{os.getpid()} {child.pid}\n")
    time.sleep(600 if arguments.get("held") else 0)
    return give(arguments)


def count_threads(arguments: Mapping[str, Any]) -> Outcome:
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones(2) @ np.ones(2)
    threads = [library["num_threads"] for library in threadpool_info()]
    return Outcome({"threads": threads, "pid": os.getpid(), "parent": os.getppid()})


def spin(arguments: Mapping[str, Any]) -> Outcome:
    end = time.monotonic() + 600
    while time.monotonic() < end:
        sum(range(100))
    return give(arguments)


def touch_and_give(arguments: Mapping[str, Any]) -> Outcome:
    (Path(arguments["folder"]) / f"{os.getpid()}-{arguments['number']}").touch()
    time.sleep(0.1)
    return give(arguments)
