"""The loop of a run: claim tasks, hand them to an executor, record what comes back."""

from __future__ import annotations

import queue
import time
from collections import Counter, deque
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future

from holdsup.errors import RunError
from holdsup.experiment.executors import SerialExecutor, WorkerDied, workers_of
from holdsup.experiment.interruption import Interruption
from holdsup.experiment.plan import Plan
from holdsup.experiment.replies import Failure, Success
from holdsup.experiment.store import FailedAttempt, OpenRun
from holdsup.experiment.timing import GRACE, STUCK
from holdsup.experiment.work import carry_out, order_of
from holdsup.progress import Progress

__all__ = ["Runner"]

TOGETHER = 0.1  # seconds between records: a commit waits for the disk, and short tasks share one
MUCH = 32 * 2**20  # bytes of finished results that are recorded without waiting for more
LOOK = 0.2  # seconds between looks for a signal
AHEAD = 1.0  # seconds of work that are claimed at once; what is claimed, other processes cannot take
SHARE = 100  # a claim takes at least one part in this many of what is left, which keeps the others busy for longer
MOST = 1_000  # tasks in one claim
LONG = 1.0  # seconds of a task from which no second one waits for each worker: another process may be idle
OTHERS = 0.5  # seconds between looks at tasks that other processes work on
TURN, LONELY = 10.0, 60.0  # seconds between counts of a cluster's workers, and without any until a run gives up


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
        self.failures: list[FailedAttempt] = []
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
            try:
                with self.interruption.raising():
                    future = self.executor.submit(carry_out, order_of(self.tasks[task], self.plan.folder))
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
            raise RunError(f"the cluster has had no worker for {LONELY:.0f} seconds: start some, and run again")

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
        try:
            self._take(self.finished.get(timeout=TOGETHER if self.successes or self.failures else LOOK))
            while True:
                self._take(self.finished.get_nowait())
        except queue.Empty:
            pass
        idle = not self.running and not self.claimed and not self.waiting
        if (self.successes or self.failures) and (
            time.monotonic() - self._recorded > TOGETHER or self.size > MUCH or idle
        ):
            self._record()

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
        self.failures.append(FailedAttempt(reply, self.before.get(task, 0) + self.tries[task], final))
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
            given_up = sum(attempt.final for attempt in self.failures)
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
        while True:
            try:
                self._take(self.finished.get_nowait())
            except queue.Empty:
                break
        self._record()
        for future in self.running:
            future.cancel()


def _given_up(error: BaseException) -> RunError:
    kind = type(error).__name__
    return RunError(f"the executor gave up ({kind}: {error}): what was done is recorded; run again to go on")
