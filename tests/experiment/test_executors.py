"""Where tasks run: local processes that may die, and Dask."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import errands
import pytest

from holdsup.errors import RunError
from holdsup.experiment import ProcessExecutor, Store, dask_executor, run_plan, work
from waiting import LIMIT, PROC, children_of, is_running, wait_for

pytestmark = pytest.mark.slow
needs_proc = pytest.mark.skipif(not (PROC / "self" / "stat").exists(), reason="looks up processes in /proc")


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
        from holdsup.experiment import executors
        signal.signal(signal.SIGTERM, executors._leave)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(600)
    """
    left = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False)
    assert (left.returncode, left.stderr) == (-signal.SIGTERM, "")


def test_a_task_that_does_not_react_ends_with_its_process(
    tmp_path: Path, processes: ProcessExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = run_plan(errands.make_plan("block", 4, timeouts={1: 0.3}), tmp_path / "runs.db", processes)
    assert report.statuses["done"] == 3
    assert [f.error for f in report.failures] == ["timeout"]
    assert "did not react" in report.failures[0].message
    with Store(tmp_path / "runs.db", writing=False) as store:
        (failure,) = store.failures()
    assert failure.seconds >= 0.3 + work.GRACE


def test_a_pool_of_the_standard_library_will_do(tmp_path: Path) -> None:
    import multiprocessing

    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        assert run_plan(errands.make_plan("give", 10), tmp_path / "runs.db", executor).statuses["done"] == 10


def test_no_processes_are_refused() -> None:
    with pytest.raises(RunError, match="processes is 0: give 1 or more"):
        ProcessExecutor(0)


def run_script(tmp_path: Path, body: str) -> subprocess.Popen[str]:
    script = tmp_path / "script.py"
    start = f"import sys; sys.path.insert(0, {errands.FOLDER!r})\nimport errands\nfrom holdsup.experiment import *\n"
    script.write_text(start + textwrap.dedent(body))
    return subprocess.Popen(
        [sys.executable, str(script)], stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background ignores it
    )  # fmt: skip


# The first eight of 40 tasks end at once; two workers then hold one each.
GUARDED = """
    def main():
        plan = errands.make_plan("note_and_give", 40, file={file!r}, held=8)
        with ProcessExecutor(2) as executor:
            run_plan(plan, {store!r}, executor)
    if __name__ == "__main__":
        main()
"""


def holds_two(noted: Path) -> bool:
    return noted.exists() and len(noted.read_text().splitlines()) == 10


def test_a_script_without_a_guard_is_told_so(tmp_path: Path) -> None:
    script = run_script(
        tmp_path, f"run_plan(errands.make_plan('give'), {str(tmp_path / 'runs.db')!r}, ProcessExecutor(1))"
    )
    _, said = script.communicate(timeout=LIMIT)
    assert script.returncode == 1
    assert 'asks for processes under if __name__ == "__main__":' in said.splitlines()[-1]


@needs_proc
def test_ctrl_c_stops_all_processes_and_keeps_what_is_done(tmp_path: Path) -> None:
    noted, store = tmp_path / "noted", tmp_path / "runs.db"
    script = run_script(tmp_path, GUARDED.format(file=str(noted), store=str(store)))
    wait_for(lambda: holds_two(noted))
    workers = children_of(script.pid)
    os.killpg(script.pid, signal.SIGINT)
    _, said = script.communicate(timeout=LIMIT)
    assert "stopped by SIGINT" in said.splitlines()[-1]
    wait_for(lambda: not any(map(is_running, workers)))
    assert len(results(store)) == 8
    report = run_plan(errands.make_plan("give", 40), store)
    assert (report.executed, report.statuses["done"]) == (32, 40)


@needs_proc
def test_ctrl_c_while_workers_start_is_one_line(tmp_path: Path) -> None:
    """A worker is held before any line of ours can have set how it takes a signal."""
    up, store = tmp_path / "up", tmp_path / "runs.db"
    (tmp_path / "sitecustomize.py").write_text(
        "import pathlib, sys, time\n"
        f"if 'spawn_main' in ' '.join(sys.orig_argv):\n    pathlib.Path({str(up)!r}).touch()\n    time.sleep(600)\n"
    )
    script = run_script(tmp_path, GUARDED.format(file=str(tmp_path / "noted"), store=str(store)))
    wait_for(up.exists)
    workers = children_of(script.pid)
    os.killpg(script.pid, signal.SIGINT)
    _, said = script.communicate(timeout=LIMIT)
    assert "stopped by SIGINT" in said.splitlines()[-1]
    assert said.count("Traceback") == 1  # the script's own
    wait_for(lambda: not any(map(is_running, workers)))


@needs_proc
def test_a_signal_to_every_process_is_no_failure_of_a_task(tmp_path: Path) -> None:
    """As a service manager or a batch system stops a run: whoever is first, what was under way is left to do."""
    noted, store = tmp_path / "noted", tmp_path / "runs.db"
    script = run_script(tmp_path, GUARDED.format(file=str(noted), store=str(store)))
    wait_for(lambda: holds_two(noted))
    workers = children_of(script.pid)
    for process in (script.pid, *workers):
        os.kill(process, signal.SIGTERM)
    _, said = script.communicate(timeout=LIMIT)
    assert "stopped by SIGTERM: 8 of 40 tasks are recorded" in said.splitlines()[-1]
    with Store(store, writing=False) as opened:
        assert list(opened.failures()) == []


def test_a_worker_that_is_asked_to_leave_says_so(tmp_path: Path, processes: ProcessExecutor) -> None:
    plan = errands.make_plan("interrupt_at_one", 3, signal=signal.SIGTERM)
    report = run_plan(plan, tmp_path / "runs.db", processes)
    assert report.statuses["done"] == 2
    assert [(f.error, f.message) for f in report.failures] == [
        ("worker died", "its worker process ended with signal SIGTERM")
    ]


@needs_proc
def test_workers_leave_when_their_run_is_killed(tmp_path: Path) -> None:
    noted, store = tmp_path / "noted", tmp_path / "runs.db"
    script = run_script(tmp_path, GUARDED.format(file=str(noted), store=str(store)))
    wait_for(lambda: holds_two(noted))
    workers = children_of(script.pid)
    assert len(workers) >= 2
    script.kill()  # it alone
    script.communicate()
    wait_for(lambda: not any(map(is_running, workers)))


@needs_proc
@pytest.mark.parametrize("deaf", [False, True])
def test_what_a_task_has_started_does_not_outlive_the_run(tmp_path: Path, deaf: bool) -> None:
    noted = tmp_path / "noted"
    with ProcessExecutor(1) as executor:
        run_plan(errands.make_plan("leave_child", 2, file=str(noted), deaf=deaf), tmp_path / "runs.db", executor)
        children = [int(line.split()[1]) for line in noted.read_text().splitlines()]
        assert all(map(is_running, children))  # a task may start what the next one needs
    assert len(children) == 2
    wait_for(lambda: not any(map(is_running, children)))


@needs_proc
@pytest.mark.parametrize("victim", ["the run", "the worker"])
def test_what_a_task_has_started_does_not_outlive_a_kill(tmp_path: Path, victim: str) -> None:
    noted, store = tmp_path / "noted", tmp_path / "runs.db"
    body = GUARDED.replace("note_and_give", "leave_child").replace("40", "1")
    script = run_script(tmp_path, body.format(file=str(noted), store=str(store)))
    wait_for(lambda: noted.exists() and noted.read_text().endswith("\n"))
    worker, child = map(int, noted.read_text().split())
    os.kill(script.pid if victim == "the run" else worker, signal.SIGKILL)
    script.communicate()
    wait_for(lambda: not is_running(worker) and not is_running(child))


def test_what_is_written_to_standard_output_goes_to_standard_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run_plan(errands.make_plan("speak", 1), tmp_path / "here.db")
    with ProcessExecutor(1) as executor:
        run_plan(errands.make_plan("speak", 1), tmp_path / "there.db", executor)
    print("mine")
    printed = capfd.readouterr()
    assert printed.out == "mine\n"
    assert sorted(printed.err.split()) == ["printed", "printed", "started", "started", "written", "written"]


def test_output_comes_back_when_the_last_of_several_threads_is_done(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with ThreadPoolExecutor(3) as executor:
        run_plan(errands.make_plan("speak", 9), tmp_path / "runs.db", executor)
    print("mine")
    printed = capfd.readouterr()
    assert printed.out == "mine\n"
    assert printed.err.count("printed") == 9


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
            wait_for(lambda: list(noted.glob(f"{victim}-*")))  # it is in the middle of its work
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        plan = errands.make_plan("touch_and_give", 60, folder=str(noted))
        with dask_executor(cluster.scheduler_address) as executor:
            report = run_plan(plan, tmp_path / "runs.db", executor)
        killer.join(timeout=LIMIT)
        assert not killer.is_alive()
    assert list(noted.glob(f"{other}-*"))
    assert report.statuses["done"] == 60
    assert {r.values["score"] for r in results(tmp_path / "runs.db").values()} == {i + 0.5 for i in range(60)}


def test_no_dask_scheduler_is_one_clear_line() -> None:
    pytest.importorskip("distributed")
    with (
        pytest.raises(RunError, match="no Dask scheduler responds at tcp"),
        dask_executor("tcp://127.0.0.1:1"),
    ):
        pass
