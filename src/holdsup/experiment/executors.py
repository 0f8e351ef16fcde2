"""Where tasks run. The seam is `concurrent.futures.Executor`: anything that gives one will do.

Each worker of a `ProcessExecutor` is a process, and a thread of ours that hands it its tasks one by one.
"""

from __future__ import annotations

import atexit
import importlib
import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, ParamSpec, TypeVar

from holdsup.errors import MissingExtra, RunError
from holdsup.experiment.work import Interrupted, end_process_when_stuck
from holdsup.numerics.processes import out_of_reach

P = ParamSpec("P")
T = TypeVar("T")
LOOK = 1.0  # seconds between looks at a worker
LEAVE = 3.0  # seconds that a worker, and what its tasks have started, has to end by itself before it is killed
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
_calling = False  # in a worker: whether it makes a call
_asked_to_leave = False  # in a worker: by SIGTERM
_environment = threading.Lock()  # the environment of a new process is that of ours at the moment of its start


class SerialExecutor(Executor):
    """Runs each task at once, in this process."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Return a future that is done; Ctrl-C stops the task and is raised here."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class ProcessExecutor(Executor):
    """Runs tasks in processes of this machine, started anew (spawned), each with one BLAS thread; a single one has all.

    Unlike the standard library's pool it outlives its workers: when one dies, only the task in it fails
    (`WorkerDied`), and another process takes its place. Workers end when this process does.

    Parameters
    ----------
    processes : how many
    """

    def __init__(self, processes: int) -> None:
        if processes < 1:
            raise RunError(f"processes is {processes}: give 1 or more")
        self.processes = processes
        self._orders: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._closed = False
        self._workers = [Worker(self._orders, alone=processes == 1) for _ in range(processes)]
        atexit.register(self.shutdown, cancel_futures=True)  # unless it is closed before this process ends

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Return the future of a call that the next free worker makes."""
        if self._closed:
            raise RuntimeError("the executor is closed")
        future: Future[T] = Future()
        self._orders.put((future, fn, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers: after their last task, or at once with `cancel_futures`."""
        if not self._closed:
            self._closed = True
            atexit.unregister(self.shutdown)
            for _ in self._workers:
                self._orders.put(None)
        for worker in self._workers if cancel_futures else ():
            worker.terminate()
        for worker in self._workers if cancel_futures else ():
            worker.kill()
        for worker in self._workers if wait else ():
            worker.thread.join()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.shutdown(cancel_futures=kind is not None)  # nobody waits for tasks after Ctrl-C


def workers_of(executor: Executor) -> int:
    """Return how many tasks an executor can work on at once; a cluster's workers come and go."""
    if isinstance(executor, SerialExecutor):
        return 1
    if isinstance(executor, ProcessExecutor):
        return executor.processes
    client: Any = getattr(executor, "_client", None)
    if client is not None:  # Dask's
        try:
            return sum(map(int, client.ncores().values()))
        except OSError as error:
            raise RunError(f"the Dask scheduler does not respond ({error}): run again when it does") from error
    return int(getattr(executor, "_max_workers", None) or os.cpu_count() or 1)


@contextmanager
def dask_executor(address: str | None = None, *, workers: int | None = None) -> Iterator[Executor]:
    """Give an executor on a Dask cluster: the one at `address`, or one of processes on this machine."""
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise MissingExtra.named("dask", purpose="running on Dask") from None
    if address is None:
        count = workers or os.cpu_count() or 1
        cluster = distributed.LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        )
        with cluster, distributed.Client(cluster) as client, client.get_executor(pure=False) as executor:
            yield executor
        return
    try:
        client = distributed.Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise RunError(
            f"no Dask scheduler responds at {address} ({error}): start one, or give another address"
        ) from error
    with client, client.get_executor(pure=False) as executor:
        yield executor


class WorkerDied(Exception):
    """The process of a worker ended in the middle of a task.

    Attributes
    ----------
    code : its exit code; below zero, the number of the signal that ended it
    seconds : how long the task had taken
    """

    def __init__(self, code: int | None, seconds: float) -> None:
        signals = {-number: number.name for number in signal.Signals}
        how = f"signal {signals[code]}" if code in signals else f"exit code {code}"
        super().__init__(f"its worker process ended with {how}")
        self.code, self.seconds = code, seconds


class Worker:
    """A process that makes calls, replaced by another one when it dies.

    Parameters
    ----------
    orders : where the calls are
    alone : whether there is no other one, so that it may use all cores

    Attributes
    ----------
    thread : takes (future, function, arguments, keywords) off the queue, until it finds None
    """

    def __init__(self, orders: queue.SimpleQueue[Any], *, alone: bool = False) -> None:
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            sys.exit(1)  # a worker that runs the user's script again; its parent says what to do
        self._orders = orders
        self._threads = None if alone else 1
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._stopped = False
        self._group: int | None = None  # of the process and all that its tasks start
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def terminate(self) -> None:
        """Ask the process to end, whatever it does."""
        self._stopped = True
        if self._process is not None and self._process.exitcode is None:
            self._process.terminate()

    def kill(self) -> None:
        """Wait for the process to end, and end what its tasks have left behind; what stays too long is killed."""
        if self._process is not None:
            self._process.join(LEAVE)
            if self._process.exitcode is None:
                self._process.kill()
                self._process.join()
            group, self._group = self._group, None  # once: its number may be another's later
            _end_group(group)

    def _serve(self) -> None:
        while (order := self._orders.get()) is not None:
            future, function, args, keywords = order
            if self._stopped or not future.set_running_or_notify_cancel():
                future.cancel()
                continue
            try:
                future.set_result(self._call(function, args, keywords))
            except BaseException as error:
                future.set_exception(error)
        if self._pipe is not None:
            self._pipe.close()  # the worker sees it and leaves
        self.kill()

    def _call(self, function: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        if self._process is None or self._process.exitcode is not None:
            self.kill()
            self._start()
        process, pipe = self._process, self._pipe
        assert process is not None
        assert pipe is not None
        started = time.perf_counter()
        try:
            pipe.send((function, args, keywords))
            while not wait([pipe, process.sentinel], timeout=LOOK):
                if process.exitcode is not None:  # and a process that the task left behind hides it
                    break
            if not pipe.poll():
                raise EOFError
            done, value = pipe.recv()
        except (EOFError, OSError):
            self.kill()
            raise WorkerDied(process.exitcode, time.perf_counter() - started) from None
        if done:
            return value
        raise value

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        if self._pipe is not None:
            self._pipe.close()
        self._pipe, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, self._threads), daemon=False)
        threads = {} if self._threads is None else dict.fromkeys(THREADS, str(self._threads))
        with _environment, _set(threads), out_of_reach():
            process.start()
        self._process = process  # not before: there was nothing to terminate
        started = time.perf_counter()
        if self._stopped:
            process.terminate()
        theirs.close()
        wait([self._pipe, process.sentinel])
        try:
            self._group = self._pipe.recv()
        except EOFError:
            process.join()
            if process.exitcode is not None and process.exitcode < 0:  # a signal: no script ends it so
                raise WorkerDied(process.exitcode, time.perf_counter() - started) from None
            raise RunError(
                "a worker process ended before it started: put the code that asks for processes under "
                'if __name__ == "__main__":'
            ) from None


@contextmanager
def _set(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _work(pipe: Connection, threads: int | None) -> None:
    """Make calls until there are no more; runs in the worker."""
    from holdsup.numerics.threads import blas_threads

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the first process to decide
    group = _make_group()
    signal.signal(signal.SIGTERM, _leave)
    atexit.register(_end)  # before any task can: it is called last
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    with suppress(OSError):  # there may be no standard error
        os.dup2(2, 1)  # standard output is for the report, whoever writes: a program that a task has started, too
    end_process_when_stuck()
    with blas_threads(threads):
        pipe.send(group)
        while True:
            try:
                reply = _made(*pipe.recv())
                pipe.send(reply)
            except (EOFError, BrokenPipeError, KeyboardInterrupt):
                return


def _made(function: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[bool, Any]:
    global _calling  # a signal asks for it
    try:
        _calling = True
        return True, function(*args, **keywords)
    except Exception as error:
        return False, error
    finally:
        _calling = False


def _leave(_number: int, _frame: object) -> None:
    global _asked_to_leave  # the end of the process asks for it
    _asked_to_leave = True
    if _calling:
        raise Interrupted  # through the task, so that it can end processes of its own on the way out
    _end()  # between tasks, or on the way out, an exception would only be printed


def _leave_with_parent() -> None:
    """End this process when the one it works for is gone: nobody would take its results."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(LEAVE)
    _end()


def _end() -> None:
    """End this process as it was asked to; if nobody else will see to what its tasks have started, take it along."""
    parent = multiprocessing.parent_process()
    if parent is not None and not parent.is_alive():
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)
        os._exit(1)
    if _asked_to_leave:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)


def _make_group() -> int | None:
    """Return the number of a new session for this process and all that its tasks start; None on Windows."""
    if not hasattr(os, "setsid"):
        return None
    os.setsid()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # programs of tasks may need it
    return os.getpid()


def _end_group(group: int | None) -> None:
    """End the processes that a worker which has ended leaves behind: they are asked to, then killed."""
    if group is None:
        return
    try:
        os.killpg(group, signal.SIGTERM)
        end = time.monotonic() + LEAVE
        while time.monotonic() < end:
            time.sleep(LOOK / 100)
            os.killpg(group, 0)
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # nobody is there any more; macOS says it in the second way
        return
