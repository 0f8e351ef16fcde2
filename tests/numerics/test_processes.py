"""Work in several processes: the same answers, errors that come back, and an end to all of them on Ctrl-C."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow.csv
import pytest

from holdsup import FitError, simulate_scores
from holdsup.numerics.processes import map_tasks
from waiting import LIMIT, wait_for

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


def processes_of(session: int) -> dict[Path, str]:
    """Return the command lines of the living processes of a session."""
    found = {}
    for folder in PROC.glob("[0-9]*"):
        try:
            state, _, _, own = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            if own == str(session) and state != "Z":
                found[folder] = (folder / "cmdline").read_text()
        except OSError:  # it has just ended
            continue
    return found


def ignores_ctrl_c(status: Path) -> bool:
    ignored = next(line for line in status.read_text().splitlines() if line.startswith("SigIgn:"))
    return bool(int(ignored.split()[1], 16) >> (signal.SIGINT - 1) & 1)


# Holds a worker in its start, before any line of ours can have set how it takes a signal.
HOLD = """
import pathlib, sys, time
if "spawn_main" in " ".join(sys.orig_argv):
    pathlib.Path({noted!r}).touch()
    time.sleep(600)
"""


@pytest.mark.skipif(not (PROC / "self" / "stat").exists(), reason="looks up processes in /proc")
@pytest.mark.parametrize(
    ("number", "stage"), [(signal.SIGINT, "starting"), (signal.SIGINT, "working"), (signal.SIGTERM, "working")]
)
def test_a_signal_ends_all_processes_without_a_traceback(tmp_path: Path, number: signal.Signals, stage: str) -> None:
    table, noted = tmp_path / "scores.csv", tmp_path / "noted"
    pyarrow.csv.write_csv(simulate_scores({"A": 0.70, "B": 0.71}, items=400, runs=4, seed=1), table)
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    if stage == "starting":
        (tmp_path / "sitecustomize.py").write_text(HOLD.format(noted=str(noted)))
    asked = ["compare", str(table), "--bootstrap", "2000000", "--jobs", "2", "--quiet"]
    started = subprocess.Popen(
        [sys.executable, "-m", "holdsup", *asked],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background ignores it
    )

    def has_come_to_its_stage() -> bool:
        workers = [folder for folder, line in processes_of(started.pid).items() if "spawn_main" in line]
        if stage == "starting":
            return noted.exists()
        return len(workers) == 2 and all(ignores_ctrl_c(folder / "status") for folder in workers)

    try:
        wait_for(has_come_to_its_stage)
        if number == signal.SIGINT:
            os.killpg(started.pid, number)  # a terminal sends it to all processes
        else:
            started.send_signal(number)
        shown, said = started.communicate(timeout=LIMIT)
        wait_for(lambda: not processes_of(started.pid))
    finally:
        if processes_of(started.pid):
            os.killpg(started.pid, signal.SIGKILL)
    assert shown == ""
    if number == signal.SIGINT:
        assert (started.returncode, said.split()) == (130, ["holdsup:", "stopped"])
    else:
        assert (started.returncode, said) == (-signal.SIGTERM, "")
