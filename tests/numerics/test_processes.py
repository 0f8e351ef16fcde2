"""Work in several processes: the same answers, errors that come back, and an end to all of them on Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow.csv
import pytest

from holdsup import FitError, simulate_scores
from holdsup.numerics.processes import map_tasks

pytestmark = pytest.mark.slow

PROC = Path("/proc")


def square(offset: int) -> Callable[[int], int]:
    """Return a function for `map_tasks`, which workers import by name."""
    return partial(shift, offset)


def shift(offset: int, number: int) -> int:
    """Return a number squared and moved."""
    if number == 13:
        raise FitError("13 is not fitted")
    return number**2 + offset


def test_answers_come_in_the_order_of_the_tasks() -> None:
    assert map_tasks(partial(square, 5), list(range(12)), processes=3) == [i**2 + 5 for i in range(12)]


def test_what_a_worker_raises_is_raised_here() -> None:
    with pytest.raises(FitError, match="13 is not fitted"):
        map_tasks(partial(square, 0), list(range(20)), processes=2)


def processes_of(session: int) -> list[str]:
    """Return the command lines of the living processes of a session."""
    found = []
    for folder in PROC.glob("[0-9]*"):
        try:
            state, _, _, own = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            if own == str(session) and state != "Z":
                found.append((folder / "cmdline").read_text())
        except OSError:  # it has just ended
            continue
    return found


@pytest.mark.skipif(not (PROC / "self" / "stat").exists(), reason="looks up processes in /proc")
# A worker whose parent is ended while it still waits for its first word prints what the standard library says then:
# SIGTERM comes a moment later.
@pytest.mark.parametrize(
    ("number", "delay"),
    [(signal.SIGINT, 0.0), (signal.SIGINT, 0.3), (signal.SIGINT, 2.0), (signal.SIGTERM, 0.3), (signal.SIGTERM, 2.0)],
)
def test_a_signal_ends_all_processes_without_a_traceback(tmp_path: Path, number: signal.Signals, delay: float) -> None:
    table = tmp_path / "scores.csv"
    pyarrow.csv.write_csv(simulate_scores({"A": 0.70, "B": 0.71}, items=400, runs=4, seed=1), table)
    asked = ["compare", str(table), "--bootstrap", "200000", "--jobs", "2", "--quiet"]
    started = subprocess.Popen(
        [sys.executable, "-m", "holdsup", *asked],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background ignores it
    )
    try:
        while started.poll() is None and not any("spawn_main" in line for line in processes_of(started.pid)):
            time.sleep(0.01)
        time.sleep(delay)
        if number == signal.SIGINT:
            os.killpg(started.pid, number)  # a terminal sends it to all processes
        else:
            started.send_signal(number)
        shown, said = started.communicate(timeout=60)
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
    assert shown == ""
    if number == signal.SIGINT:
        assert (started.returncode, said.split()) == (130, ["holdsup:", "stopped"])
    else:
        assert (started.returncode, said) == (-signal.SIGTERM, "")
    ended = time.monotonic()
    while (left := processes_of(started.pid)) and time.monotonic() < ended + 30:
        time.sleep(0.1)
    assert left == []
