"""`run_plan`: what is recorded, what is run again, and what stops a run."""

from __future__ import annotations

import math
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import errands
import pytest

from holdsup.errors import RunError, StoreError
from holdsup.experiment import Plan, RunInterrupted, RunReport, Store, Task, read_status, run_plan
from holdsup.results import read_result
from waiting import LIMIT, wait_for


def scores(path: Path) -> dict[str, Any]:
    with Store(path, writing=False) as store:
        return {result.task: result.values["score"] for result in store.results()}


def test_a_plan_is_run_once(tmp_path: Path) -> None:
    plan = errands.make_plan("note_and_give", 20, file=str(tmp_path / "noted"))
    first, second = run_plan(plan, tmp_path / "runs.db"), run_plan(plan, tmp_path / "runs.db")
    assert (first.executed, second.executed) == (20, 0)
    assert second.verdict == "All 20 tasks are done."
    assert (tmp_path / "noted").read_text().split() == [str(i) for i in range(20)]
    assert scores(tmp_path / "runs.db") == {f"task-{i}": i + 0.5 for i in range(20)}


def test_a_plan_that_grows_runs_what_is_new(tmp_path: Path) -> None:
    run_plan(errands.make_plan("give", 3), tmp_path / "runs.db")
    assert run_plan(errands.make_plan("give", 5), tmp_path / "runs.db").executed == 2


def test_a_failure_is_recorded_and_the_rest_goes_on(tmp_path: Path) -> None:
    report = run_plan(errands.make_plan("fail_at_one", 4), tmp_path / "runs.db")
    assert report.statuses == {"done": 3, "undefined": 0, "failed": 1, "running": 0, "waiting": 0}
    assert report.rows.reasons == {"failed": 1}
    (failed,) = report.failures
    assert (failed.error, failed.message, failed.attempts, failed.labels) == (
        "ValueError", "one is not wanted", 1, "system S, seed 1",
    )  # fmt: skip
    with Store(tmp_path / "runs.db", writing=False) as store:
        (failure,) = store.failures()
    assert "in fail_at_one" in failure.trace
    assert failure.message == "one is not wanted\nsecond line"


def test_failed_tasks_are_run_again_only_when_asked(tmp_path: Path) -> None:
    plan = errands.make_plan("fail_until_marked", 1, file=str(tmp_path / "mark"))
    assert run_plan(plan, tmp_path / "runs.db").statuses["failed"] == 1
    assert run_plan(plan, tmp_path / "runs.db").statuses["failed"] == 1
    report = run_plan(plan, tmp_path / "runs.db", retry_failed=True)
    assert (report.executed, report.statuses["done"], report.failures) == (1, 1, ())


def test_retries_are_counted(tmp_path: Path) -> None:
    plan = errands.make_plan("fail_until_marked", 1, file=str(tmp_path / "mark"))
    assert run_plan(plan, tmp_path / "runs.db", retries=1).statuses["done"] == 1
    report = run_plan(errands.make_plan("fail_at_one", 2, prefix="other"), tmp_path / "runs.db", retries=2)
    assert [failed.attempts for failed in report.failures] == [3]
    again = run_plan(errands.make_plan("fail_at_one", 2, prefix="other"), tmp_path / "runs.db", retry_failed=True)
    assert [failed.attempts for failed in again.failures] == [4]


@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        ("no_outcome", "TaskError", "errands:no_outcome returned int, not an Outcome"),
        ("no_json", "TaskError", "values.score is a set, which JSON cannot hold"),
        ("leave", "SystemExit", "bye"),
        ("interrupt_itself", "KeyboardInterrupt", "mine"),
        ("missing", "AttributeError", "module 'errands' has no attribute 'missing'"),
    ],
)
def test_work_that_gives_nothing_usable_is_a_failure(tmp_path: Path, work: str, error: str, message: str) -> None:
    (failed,) = run_plan(errands.make_plan(work, 1), tmp_path / "runs.db").failures
    assert (failed.error, failed.message) == (error, message)


def test_nan_is_a_status_with_a_reason_and_never_null(tmp_path: Path) -> None:
    report = run_plan(errands.make_plan("not_finite", 1), tmp_path / "runs.db")
    assert (report.statuses["undefined"], report.rows.used) == (1, 1)
    assert report.warnings == ("1 result with a value that is not defined: score is nan.",)
    with Store(tmp_path / "runs.db", writing=False) as store:
        (result,) = store.results()
    assert (result.status, result.reason) == ("undefined", "score is nan")
    assert math.isnan(result.values["score"])
    assert result.values["range"] == [math.inf, 1.0]


def test_a_task_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    report = run_plan(errands.make_plan("nap", 3, timeouts={1: 0.2}), tmp_path / "runs.db")
    assert report.statuses["done"] == 2
    assert [(f.error, f.message) for f in report.failures] == [("timeout", "it took more than 0.2 seconds")]


def test_a_task_in_a_thread_can_be_stopped_too(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as executor:
        plan = errands.make_plan("spin", 1, timeouts={0: 0.3})
        assert run_plan(plan, tmp_path / "runs.db", executor).failures[0].error == "timeout"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_run_and_keeps_what_is_done(tmp_path: Path, number: int) -> None:
    plan = errands.make_plan("interrupt_at_one", 3, signal=number)
    with pytest.raises(RunInterrupted, match=r"^stopped by SIG\w+: 1 of 3 tasks are recorded in runs.db; run the same"):
        run_plan(plan, tmp_path / "runs.db")
    assert scores(tmp_path / "runs.db") == {"task-0": 0.5}
    assert not list(tmp_path.glob("*.lock-*"))
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_progress_tells_what_is_on_the_disk(tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []

    def look(done: int, total: int | None, label: str) -> None:
        connection = sqlite3.connect(tmp_path / "runs.db")
        (rows,) = connection.execute("SELECT count(*) FROM results").fetchone()
        connection.close()
        seen.append((done, rows, label))

    run_plan(
        errands.make_plan("note_and_give", 8, file=str(tmp_path / "x"), seconds=0.05), tmp_path / "runs.db", None, look
    )
    assert seen[-1][:2] == (8, 8)
    assert len(seen) > 2  # not only at the end
    assert all(done == rows for done, rows, _ in seen)
    assert seen[-1][2].startswith("running (")
    assert "left" not in seen[-1][2]  # the bar tells how long it will take, and only it


def test_the_report_can_be_saved_and_restored(tmp_path: Path) -> None:
    report = run_plan(errands.make_plan("fail_at_one", 3), tmp_path / "runs.db")
    report.write_json(tmp_path / "report.json")
    restored = read_result(tmp_path / "report.json")
    assert isinstance(restored, RunReport)
    assert restored == report
    assert str(restored) == str(report)
    assert (report.state, report.headline) == ("no", "1 of 3 tasks failed, 2 are done.")
    assert "--retry-failed" in str(report)


def test_the_status_is_read_without_running(tmp_path: Path) -> None:
    run_plan(errands.make_plan("give", 2), tmp_path / "runs.db")
    before = (tmp_path / "runs.db").read_bytes()
    report = read_status(errands.make_plan("give", 5), tmp_path / "runs.db")
    assert (report.statuses["done"], report.statuses["waiting"], report.executed) == (2, 3, 0)
    assert report.verdict == "2 of 5 tasks are done, 3 are left to run."
    assert (tmp_path / "runs.db").read_bytes() == before


def test_the_environment_is_recorded(tmp_path: Path) -> None:
    run_plan(errands.make_plan("give", 1), tmp_path / "runs.db")
    with Store(tmp_path / "runs.db", writing=False) as store:
        (record,) = store.environments().values()
    assert record["versions"]["numpy"]
    assert record["executor"] == "SerialExecutor"
    assert record["plan"] == {"seed": 5}
    assert {"python", "platform", "cpu", "cores", "commit", "threads", "blas", "holdsup"} <= set(record)


def test_plans_that_cannot_be_run_are_refused(tmp_path: Path) -> None:
    task = Task("a", {}, "errands:give", {"number": 1})
    with pytest.raises(RunError, match="several tasks of the plan share an id"):
        run_plan(Plan((task, task)), tmp_path / "runs.db")
    with pytest.raises(RunError, match="the plan has no tasks"):
        run_plan(Plan(()), tmp_path / "runs.db")


class Broken(Executor):
    """Does two tasks, then breaks as a pool does whose workers are gone."""

    done = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.done += 1
        if self.done > 2:
            future.set_exception(BrokenExecutor("gone"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_an_executor_that_breaks_loses_nothing(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"the executor failed \(BrokenExecutor: gone\): .* run again to continue"):
        run_plan(errands.make_plan("give", 6), tmp_path / "runs.db", Broken())
    assert len(scores(tmp_path / "runs.db")) == 2
    assert run_plan(errands.make_plan("give", 6), tmp_path / "runs.db").executed == 4


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    folder = tmp_path / "closed"
    folder.mkdir()
    run_plan(errands.make_plan("give", 2), folder / "runs.db")
    folder.chmod(0o500)
    try:
        assert read_status(errands.make_plan("give", 2), folder / "runs.db").statuses["done"] == 2
        with pytest.raises(StoreError, match="cannot"):
            run_plan(errands.make_plan("give", 3), folder / "runs.db")
    finally:
        folder.chmod(0o700)


def test_two_threads_of_one_process_share_a_store(tmp_path: Path) -> None:
    plan = errands.make_plan("note_and_give", 30, file=str(tmp_path / "noted"), seconds=0.01)
    threads = [threading.Thread(target=run_plan, args=(plan, tmp_path / "runs.db")) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=LIMIT)
    assert sorted(map(int, (tmp_path / "noted").read_text().split())) == list(range(30))
    assert len(scores(tmp_path / "runs.db")) == 30


@pytest.mark.slow
def test_what_a_killed_run_had_claimed_is_taken_over_at_once(tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import sys; sys.path.insert(0, {errands.FOLDER!r})
        import errands
        from holdsup.experiment import run_plan
        run_plan(errands.make_plan("linger", 3), {str(tmp_path / "runs.db")!r})
    """)
    victim = subprocess.Popen([sys.executable, "-c", script])

    def has_one_done_and_one_begun() -> bool:
        found = read_status(errands.make_plan("linger", 3), tmp_path / "runs.db").statuses
        return (found["done"], found["running"]) == (1, 1)

    wait_for(lambda: (tmp_path / "runs.db").exists() and len(scores(tmp_path / "runs.db")) == 1)
    wait_for(has_one_done_and_one_begun)
    victim.kill()
    victim.wait()
    assert read_status(errands.make_plan("linger", 3), tmp_path / "runs.db").statuses["waiting"] == 2
    report = run_plan(errands.make_plan("give", 3), tmp_path / "runs.db")
    assert (report.executed, report.statuses["done"]) == (2, 3)


def test_failures_with_the_same_words_are_listed_once_with_a_count(tmp_path: Path) -> None:
    report = run_plan(errands.make_plan("no_outcome", 4), tmp_path / "runs.db")
    (failure,) = report.failures
    assert failure.others == 3
    assert (report.state, report.headline) == ("no", "All 4 tasks failed.")
    assert "; and 3 others" in str(report)


def test_one_task_that_is_left_is_told_in_words(tmp_path: Path) -> None:
    Store(tmp_path / "runs.db").close()
    report = read_status(errands.make_plan("give", 1), tmp_path / "runs.db")
    assert report.verdict == "The one task is left to run."


@pytest.mark.parametrize(
    ("work", "state", "codes"),
    [
        ("give", "yes", []),
        ("not_finite", "yes", ["undefined-values"]),
        ("fail_at_one", "no", ["failed-tasks"]),
    ],
)
def test_the_state_says_whether_everything_is_done(work: str, state: str, codes: list[str], tmp_path: Path) -> None:
    report = run_plan(errands.make_plan(work, 3), tmp_path / "runs.db")
    assert report.state == state
    assert [caution.code for caution in report.cautions] == codes
    assert len(str(report).splitlines()) <= 24
    left = read_status(errands.make_plan(work, 5), tmp_path / "runs.db")
    assert left.state == ("no" if state == "no" else "unclear")


def test_the_short_answer_shows_what_failed_with_its_error_and_how_to_go_on(tmp_path: Path) -> None:
    text = str(run_plan(errands.make_plan("fail_at_one", 3), tmp_path / "runs.db"))
    assert "failed     system S, seed 1: ValueError: one is not wanted\n" in text
    assert "settle it  fix the cause, then run the same with --retry-failed\n" in text
