"""A run that leaves witnesses: which tasks it began, and which results it was told are recorded.

    python benchmarks/witness.py FOLDER TASKS SECONDS PROCESSES [RUNS]

`faults.py` starts it, and kills it. `began` and `recorded` in FOLDER are appended to by single writes, which outlive
the process. With RUNS it begins when as many of them are up. What a task must give is known beforehand (`truth`),
without any runner.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from holdsup.errors import HoldsupError
from holdsup.experiment import Outcome, Plan, ProcessExecutor, Recorded, Store, Task, run_plan
from holdsup.experiment.store import Failure, OpenRun, Success

ITEMS = 40


def truth(number: int) -> tuple[dict[str, Any], dict[str, list[float]]]:
    """Return the values and the table that task `number` gives; some of the values are not finite."""
    rng = np.random.default_rng(number)
    values = {"number": number, "score": float("nan") if number % 7 == 3 else float(rng.normal())}
    return values, {"count": rng.integers(0, 9, ITEMS).astype(float).tolist(), "gain": rng.normal(size=ITEMS).tolist()}


def work(arguments: Mapping[str, Any]) -> Outcome:
    """Return `truth` after a while, having said that it was begun."""
    note(Path(arguments["folder"]) / "began", [f"{os.getppid()}-{os.getpid()} {arguments['number']}"])
    time.sleep(arguments["seconds"] * (0.5 + (arguments["number"] * 0.618) % 1))
    values, table = truth(arguments["number"])
    return Outcome(values, {"items": pa.table(table)})


def make_plan(folder: Path, tasks: int, seconds: float) -> Plan:
    """Return a plan of `tasks` tasks that take `seconds` on average."""
    arguments = [{"number": i, "folder": str(folder), "seconds": seconds} for i in range(tasks)]
    made = [Task(name(i), {"system": "S", "number": i}, "witness:work", arguments[i]) for i in range(tasks)]
    return Plan(tuple(made), {"seed": 1}, str(Path(__file__).parent))


def name(number: int) -> str:
    """Return the id of a task."""
    return hashlib.blake2b(f"task {number}".encode(), digest_size=16).hexdigest()


def is_true(recorded: Recorded) -> bool:
    """Return whether a recorded result is, bit for bit, what its task gives."""
    number = recorded.values.get("number")
    if not isinstance(number, int) or recorded.task != name(number):
        return False
    values, table = truth(number)
    same = repr(dict(recorded.values)) == repr(values) and recorded.tables["items"].to_pydict() == table
    return same and recorded.status == ("done" if np.isfinite(values["score"]) else "undefined")


def note(file: Path, lines: Sequence[str]) -> None:
    """Append lines with one write."""
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(handle, "".join(f"{line}\n" for line in lines).encode())
    os.close(handle)


def wait_for_runs(file: Path, runs: int) -> None:
    """Return when so many runs have come here."""
    note(file, [str(os.getpid())])
    while len(file.read_text().splitlines()) < runs:
        time.sleep(0.01)


class NotingRun(OpenRun):
    """A run that notes each result after it was told that it is recorded."""

    def record(self, successes: Sequence[Success], failures: Sequence[Failure] = ()) -> int:
        """Record, then note."""
        new = super().record(successes, failures)
        note(self.path.with_name("recorded"), [success.task for success in successes])
        return new


class NotingStore(Store):
    """A store whose runs note what is recorded."""

    def begin(self, environment: Mapping[str, Any]) -> NotingRun:
        """Return a new run."""
        return NotingRun(self.path, self.connection, self.ledger, environment)


def main() -> None:
    folder, tasks, seconds, processes = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    try:
        workers = ProcessExecutor(processes) if processes else nullcontext()
        with workers as executor, NotingStore(folder / "runs.db") as store:
            if len(sys.argv) > 5:
                wait_for_runs(folder / "up", int(sys.argv[5]))
            run_plan(make_plan(folder, tasks, seconds), store, executor)
    except HoldsupError as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
