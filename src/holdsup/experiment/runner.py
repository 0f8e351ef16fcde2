"""`run_plan`: every task of a plan done once and recorded, however often the run is stopped."""

from __future__ import annotations

import json
import queue
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any, Self

from holdsup.errors import RunError, list_names
from holdsup.experiment.executors import SerialExecutor, WorkerDied, workers_of
from holdsup.experiment.identity import describe_environment
from holdsup.experiment.plan import Plan
from holdsup.experiment.report import RunReport, report_run
from holdsup.experiment.store import Failure, OpenRun, Store, Success
from holdsup.experiment.work import GRACE, STUCK, Interrupted, Order, carry_out
from holdsup.progress import Progress, no_progress

SIGNALS = (signal.SIGINT, signal.SIGTERM)
TOGETHER = 0.1  # seconds between records: a commit waits for the disk, and short tasks share one
MUCH = 32 * 2**20  # bytes of finished results that are recorded without waiting for more
LOOK = 0.2  # seconds between looks for a signal
AHEAD = 1.0  # seconds of work that are claimed at once; what is claimed, other processes cannot take
SHARE = 100  # a claim takes at least one part in this many of what is left, which keeps the others busy for longer
MOST = 1_000  # tasks in one claim
LONG = 1.0  # seconds of a task from which no second one waits for each worker: another process may be idle
OTHERS = 0.5  # seconds between looks at tasks that other processes work on
TURN, LONELY = 10.0, 60.0  # seconds between counts of a cluster's workers, and without any until a run gives up


def run_plan(
    plan: Plan,
    store: Store | str | Path,
    executor: Executor | None = None,
    progress: Progress | None = None,
    *,
    retries: int = 0,
    retry_failed: bool = False,
) -> RunReport:
    """Run every task of a plan that the store has no result of, record what they give, and say how it went.

    A task that fails is recorded with its error, and the others go on. A run that is stopped, by Ctrl-C or by
    kill -9, is resumed by calling this again; several processes may call it at once and share the work.

    Parameters
    ----------
    plan : what to run
    store : where results are; a file that is not there is made
    executor : where tasks run: this process by default, or any `concurrent.futures.Executor`
    progress : called with the number of tasks settled, of all tasks, after each time results are on the disk
    retries : how many more times a task that fails is tried
    retry_failed : whether to try tasks again that failed in runs before this one

    Raises
    ------
    RunInterrupted : Ctrl-C or SIGTERM; what was done by then is recorded
    StoreError : the store cannot be written, or is damaged
    RunError : the executor is gone
    """
    _require_distinct(plan)
    opened = store if isinstance(store, Store) else Store(store)
    executor = executor or SerialExecutor()
    started = time.monotonic()
    names = plan.description.get("distributions", ())
    environment = describe_environment(plan.folder, executor=type(executor).__name__, distributions=names)
    environment["plan"] = dict(plan.description)
    try:
        with Interruption() as interruption, opened.begin(environment) as run:
            run.add_tasks(plan.tasks)
            forgiven = opened.ledger.last_row("failures") if retry_failed else 0
            runner = Runner(
                plan, run, executor, interruption, progress or no_progress, retries=retries, forgiven=forgiven
            )
            runner.go()
        if interruption.asked:
            raise RunInterrupted(
                f"stopped by {interruption.asked.name}: {runner.settled:,} of {len(plan.tasks):,} tasks are recorded "
                f"in {opened.path.name}; run the same command again to continue",
                interruption.asked,
            )
        return report_run(plan, opened, executed=runner.executed, seconds=time.monotonic() - started)
    finally:
        if opened is not store:
            opened.close()


def read_status(plan: Plan, store: Store | str | Path) -> RunReport:
    """Return how far a plan has come; nothing is run, and a damaged store is read as far as it can be."""
    if isinstance(store, Store):
        return report_run(plan, store)
    with Store(store, writing=False) as opened:
        return report_run(plan, opened)


def _require_distinct(plan: Plan) -> None:
    if not plan.tasks:
        raise RunError("the plan has no tasks: there is nothing to run")
    twice = [task for task, count in Counter(task.id for task in plan.tasks).items() if count > 1]
    if twice:
        raise RunError(f"several tasks of the plan share an id ({list_names(twice, most=3)}): give each its own")


class RunInterrupted(KeyboardInterrupt):
    """A run was stopped by a signal; its message says how to go on.

    Attributes
    ----------
    number : the signal; a program that ends because of it exits with 128 + number
    """

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self.number = number


class Interruption:
    """Notes the first signal instead of raising, so that none can strike in the middle of a record.

    A second one raises `Interrupted` wherever it strikes. Outside the main thread, signals stay as they are.

    Attributes
    ----------
    asked : the signal that has arrived
    """

    def __init__(self) -> None:
        self.asked: signal.Signals | None = None
        self._raising = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Let a signal raise `Interrupted` inside: a task of this process is being worked on."""
        self._raising = True
        try:
            yield
        finally:
            self._raising = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        again = self.asked is not None
        self.asked = signal.Signals(number)
        if self._raising or again:
            raise Interrupted


class Runner:
    """Runs what is left of a plan, with one executor.

    Attributes
    ----------
    executed, failed : tasks that this run has recorded as done, and given up
    settled : tasks of the plan for which nothing is left to do, whoever did them
    """

    def __init__(
        self, plan: Plan, run: OpenRun, executor: Executor, interruption: Interruption, progress: Progress,
        *, retries: int, forgiven: int,
    ) -> None:  # fmt: skip
        self.plan, self.run, self.executor = plan, run, executor
        self.interruption, self.progress = interruption, progress
        self.retries, self.forgiven = retries, forgiven
        self.tasks = {task.id: task for task in plan.tasks}
        ledger = run.ledger
        self.waiting = deque(task for task in self.tasks if not ledger.is_settled(task, forgiven=forgiven))
        self.elsewhere: list[str] = []
        self.claimed: deque[str] = deque()
        self.running: dict[Future[Success | Failure], str] = {}
        self.finished: queue.SimpleQueue[Future[Success | Failure]] = queue.SimpleQueue()
        self.successes: list[Success] = []
        self.failures: list[Failure] = []
        self.size = 0  # bytes of the tables that wait to be recorded
        self.tries: Counter[str] = Counter()
        self.before = {task: failure.attempt for task, failure in ledger.failures.items()}  # tries of other runs
        self.executed = self.failed = 0
        self.settled = len(self.tasks) - len(self.waiting)
        self.started = self._recorded = self._counted = self._peopled = time.monotonic()
        self.workers = workers_of(executor) or 1
        self.busy = 0.0  # seconds of work in all replies

    def go(self) -> None:
        """Run until nothing is left to do, or a signal arrives."""
        try:
            while not self.interruption.asked and self._is_unfinished():
                self._submit()
                if self.running:
                    self._collect()
                elif not self.claimed:
                    self._record()
                    self._look_at_others()
        except KeyboardInterrupt:
            if not self.interruption.asked:
                raise
        except RunError:
            self._record()
            raise
        self._stop()

    def _is_unfinished(self) -> bool:
        return bool(self.waiting or self.claimed or self.running or self.elsewhere)

    def _submit(self) -> None:
        while len(self.running) < self._room() and (self.claimed or self._claim()):
            task = self.claimed.popleft()
            self.tries[task] += 1
            planned = self.tasks[task]
            arguments = json.dumps(dict(planned.arguments))
            order = Order(task, planned.work, arguments, planned.timeout, self.plan.folder)
            try:
                with self.interruption.raising():
                    future = self.executor.submit(carry_out, order)
            except RuntimeError as error:  # it is closed, or broken
                raise _given_up(error) from error
            self.running[future] = task
            future.add_done_callback(self.finished.put)
            if self.interruption.asked:
                return

    def _room(self) -> int:
        """Return how many tasks may be under way."""
        if isinstance(self.executor, SerialExecutor):
            return 1
        if time.monotonic() - self._counted > TURN:
            self._count_workers()
        replies = self.executed + self.failed
        return self.workers if replies and self.busy / replies > LONG else 2 * self.workers

    def _count_workers(self) -> None:
        """Count the workers of a cluster; one that has had none for a while would let us wait for ever."""
        self._counted = time.monotonic()
        found = workers_of(self.executor)
        if found:
            self.workers, self._peopled = found, self._counted
        elif self._counted - self._peopled > LONELY:
            raise RunError(f"the cluster has had no worker for {LONELY:.0f} seconds: start workers, and run again")

    def _claim(self) -> bool:
        if not self.waiting:
            return False
        rate = self.executed / (time.monotonic() - self.started + AHEAD)
        most = min(max(self._room() - len(self.running), int(rate * AHEAD), len(self.waiting) // SHARE), MOST)
        before = len(self.waiting)
        claim = self.run.claim(self.waiting, most, forgiven=self.forgiven)
        self.claimed.extend(claim.mine)
        self.elsewhere.extend(claim.elsewhere)
        self.settled += before - len(self.waiting) - len(claim.mine) - len(claim.elsewhere)
        return bool(claim.mine)

    def _collect(self) -> None:
        """Take what has finished; record it when enough has come together, or nothing else would be done meanwhile."""
        self._drain(TOGETHER if self.successes or self.failures else LOOK)
        idle = not self.running and not self.claimed and not self.waiting
        if (self.successes or self.failures) and (
            time.monotonic() - self._recorded > TOGETHER or self.size > MUCH or idle
        ):
            self._record()

    def _drain(self, patience: float) -> None:
        """Take all that has finished, and wait for the first of it."""
        with suppress(queue.Empty):
            self._take(self.finished.get(timeout=patience))
            while True:
                self._take(self.finished.get_nowait())

    def _take(self, future: Future[Success | Failure]) -> None:
        task = self.running.pop(future)
        if self.interruption.asked and not future.cancelled() and isinstance(future.exception(), WorkerDied):
            return  # it was stopped, too, and is left to do
        reply = self._reply(future, task)
        self.busy += reply.seconds
        if isinstance(reply, Success):
            self.successes.append(reply)
            self.size += sum(map(len, reply.tables.values()))
            return
        final = self.tries[task] > self.retries
        attempt = self.before.get(task, 0) + self.tries[task]
        self.failures.append(replace(reply, attempt=attempt, final=final))
        if not final:
            self.claimed.append(task)

    def _reply(self, future: Future[Success | Failure], task: str) -> Success | Failure:
        limit = self.tasks[task].timeout
        try:
            return future.result()
        except WorkerDied as died:
            if limit is not None and died.code == STUCK and died.seconds > limit + GRACE:
                message = f"it took more than {limit:g} seconds and did not react; its process was ended"
                return Failure(task, died.seconds, "timeout", message)
            return Failure(task, died.seconds, "worker died", str(died))
        except RunError:
            raise
        except (BrokenExecutor, CancelledError) as error:
            raise _given_up(error) from error
        except Exception as error:
            kind = "worker died" if type(error).__name__ == "KilledWorker" else type(error).__name__
            return Failure(task, 0.0, kind, str(error))

    def _record(self) -> None:
        """Put what has finished on the disk; from here on it is acknowledged."""
        if self.successes or self.failures:
            given_up = sum(failure.final for failure in self.failures)
            self.run.record(self.successes, self.failures)
            self.executed += len(self.successes)
            self.failed += given_up
            self.settled += len(self.successes) + given_up
            self.successes, self.failures, self.size = [], [], 0
            self._recorded = time.monotonic()
        self.progress(self.settled, len(self.tasks), self._label())

    def _label(self) -> str:
        rate = (self.executed + self.failed) / max(time.monotonic() - self.started, 1e-9)
        if not rate:
            return "running"
        failed = f", {self.failed:,} failed" if self.failed else ""
        return f"running ({rate:.3g} a second{failed})"

    def _look_at_others(self) -> None:
        """Wait a little, then see whether other processes have done, or left, what they had claimed."""
        if self.waiting or not self.elsewhere:
            return
        self.progress(self.settled, len(self.tasks), f"{len(self.elsewhere):,} tasks are run by other processes")
        time.sleep(OTHERS)
        self.waiting.extend(self.elsewhere)
        self.elsewhere.clear()

    def _stop(self) -> None:
        """Record what has finished by now, and give up the rest."""
        self._drain(0)
        self._record()
        for future in self.running:
            future.cancel()


def _given_up(error: BaseException) -> RunError:
    kind = type(error).__name__
    return RunError(f"the executor failed ({kind}: {error}): finished tasks are recorded; run again to continue")
