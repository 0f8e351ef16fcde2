"""Where tasks run: local processes that may die, and Dask."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import errands
import pytest

from holdsup.errors import RunError
from holdsup.experiment import ProcessExecutor, Store, dask_executor, run_plan, timing

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessExecutor]:
    with ProcessExecutor(2) as executor:
        yield executor


def results(path: Path) -> dict[str, Any]:
    with Store(path, writing=False) as store:
        return {result.task: result for result in store.results()}


def test_processes_give_what_this_process_gives(tmp_path: Path, processes: ProcessExecutor) -> None:
    plan = errands.make_plan("give", 30)
    run_plan(plan, tmp_path / "here.db")
    run_plan(plan, tmp_path / "there.db", processes)
    here, there = results(tmp_path / "here.db"), results(tmp_path / "there.db")
    assert {task: (r.values, r.tables) for task, r in here.items()} == {
        task: (r.values, r.tables) for task, r in there.items()
    }


def test_workers_are_other_processes_with_one_thread_each(tmp_path: Path, processes: ProcessExecutor) -> None:
    run_plan(errands.make_plan("count_threads", 8), tmp_path / "runs.db", processes)
    found = [result.values for result in results(tmp_path / "runs.db").values()]
    assert {values["parent"] for values in found} == {os.getpid()}
    assert all(set(values["threads"]) <= {1} for values in found)
    assert any(values["threads"] for values in found)


def test_a_single_worker_keeps_the_threads_that_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    with ProcessExecutor(1) as alone:
        run_plan(errands.make_plan("count_threads", 1), tmp_path / "runs.db", alone)
    (found,) = (result.values for result in results(tmp_path / "runs.db").values())
    assert found["parent"] == os.getpid()
    assert set(found["threads"]) == {min(2, os.cpu_count() or 1)}


def test_a_worker_that_dies_takes_only_its_own_task_with_it(tmp_path: Path, processes: ProcessExecutor) -> None:
    report = run_plan(errands.make_plan("die_at_one", 20), tmp_path / "runs.db", processes)
    assert report.statuses["done"] == 19
    assert [(f.error, f.labels) for f in report.failures] == [("worker died", "system S, seed 1")]
    assert "signal SIGKILL" in report.failures[0].message


def test_a_task_that_interrupts_itself_fails_and_its_worker_lives_on(
    tmp_path: Path, processes: ProcessExecutor
) -> None:
    report = run_plan(errands.make_plan("interrupt_itself", 3), tmp_path / "runs.db", processes)
    assert [(f.error, f.message, f.others) for f in report.failures] == [("KeyboardInterrupt", "mine", 2)]


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_a_worker_between_tasks_leaves_without_a_word() -> None:
    """Between tasks, and on the way out, nothing would catch an exception: its traceback would be printed."""
    script = """
        import os, signal, time
        from holdsup.experiment import workers
        signal.signal(signal.SIGTERM, workers._leave)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    """
    left = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False)
    assert (left.returncode, left.stderr) == (0, "")


def test_a_task_that_does_not_react_ends_with_its_process(
    tmp_path: Path, processes: ProcessExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = run_plan(errands.make_plan("block", 4, timeout=0.3), tmp_path / "runs.db", processes)
    assert report.statuses["done"] == 3
    assert [f.error for f in report.failures] == ["timeout"]
    assert "did not react" in report.failures[0].message
    with Store(tmp_path / "runs.db", writing=False) as store:
        (failure,) = store.failures()
    assert failure.seconds >= 0.3 + timing.GRACE


def test_a_pool_of_the_standard_library_will_do(tmp_path: Path) -> None:
    import multiprocessing

    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        assert run_plan(errands.make_plan("give", 10), tmp_path / "runs.db", executor).statuses["done"] == 10


def test_no_processes_are_refused() -> None:
    with pytest.raises(RunError, match="0 processes cannot work"):
        ProcessExecutor(0)


def run_script(tmp_path: Path, body: str) -> subprocess.Popen[str]:
    script = tmp_path / "script.py"
    start = f"import sys; sys.path.insert(0, {errands.FOLDER!r})\nimport errands\nfrom holdsup.experiment import *\n"
    script.write_text(start + textwrap.dedent(body))
    return subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE, text=True, start_new_session=True)


GUARDED = """
    def main():
        plan = errands.make_plan("note_and_give", 40, file={file!r}, seconds=0.2)
        with ProcessExecutor(2) as executor:
            run_plan(plan, {store!r}, executor)
    if __name__ == "__main__":
        main()
"""


def wait_for(condition: Any, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


def test_a_script_without_a_guard_is_told_so(tmp_path: Path) -> None:
    script = run_script(
        tmp_path, f"run_plan(errands.make_plan('give'), {str(tmp_path / 'runs.db')!r}, ProcessExecutor(1))"
    )
    _, said = script.communicate(timeout=60)
    assert script.returncode == 1
    assert 'must stand under if __name__ == "__main__":' in said.splitlines()[-1]


def test_ctrl_c_stops_all_processes_and_keeps_what_is_done(tmp_path: Path) -> None:
    noted, store = tmp_path / "noted", tmp_path / "runs.db"
    script = run_script(tmp_path, GUARDED.format(file=str(noted), store=str(store)))
    wait_for(lambda: noted.exists() and len(noted.read_text().split()) > 6)
    os.killpg(script.pid, signal.SIGINT)
    _, said = script.communicate(timeout=30)
    assert "stopped by SIGINT" in said.splitlines()[-1]
    wait_for(lambda: not group_lives(script.pid))
    done = len(results(store))
    assert 4 <= done < 40
    report = run_plan(errands.make_plan("give", 40), store)
    assert (report.executed, report.statuses["done"]) == (40 - done, 40)


def test_workers_leave_when_their_run_is_killed(tmp_path: Path) -> None:
    noted, store = tmp_path / "noted", tmp_path / "runs.db"
    script = run_script(tmp_path, GUARDED.format(file=str(noted), store=str(store)))
    wait_for(lambda: noted.exists() and len(noted.read_text().split()) > 3)
    script.kill()  # it alone
    script.communicate()
    wait_for(lambda: not group_lives(script.pid))


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_killed_dask_worker_loses_nothing(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        victim, other = client.run(os.getpid).values()
        noted = tmp_path / "noted"
        noted.mkdir()

        def kill() -> None:
            wait_for(lambda: len(list(noted.glob(f"{victim}-*"))) > 2)  # it is in the middle of its work
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        plan = errands.make_plan("touch_and_give", 60, folder=str(noted))
        with dask_executor(cluster.scheduler_address) as executor:
            report = run_plan(plan, tmp_path / "runs.db", executor)
        killer.join(timeout=60)
        assert not killer.is_alive()
        assert victim not in client.run(os.getpid).values()
    assert list(noted.glob(f"{other}-*"))
    assert report.statuses["done"] == 60
    assert {r.values["score"] for r in results(tmp_path / "runs.db").values()} == {i + 0.5 for i in range(60)}


def test_no_dask_scheduler_is_one_clear_line() -> None:
    pytest.importorskip("distributed")
    with (
        pytest.raises(RunError, match="no Dask scheduler answers at tcp"),
        dask_executor("tcp://127.0.0.1:1"),
    ):
        pass
