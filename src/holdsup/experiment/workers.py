"""One worker: a process of its own, and the thread of ours that hands it its tasks one by one."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn

from holdsup.errors import RunError
from holdsup.experiment.interruption import Interrupted

__all__ = ["Worker", "WorkerDied"]

LOOK = 1.0  # seconds between looks at a worker
LEAVE = 3.0  # seconds that a worker has to end its task's own processes before it is killed
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
_calling = False  # in a worker: whether it makes a call
_environment = threading.Lock()  # the environment of a new process is that of ours at the moment of its start


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
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def terminate(self) -> None:
        """Ask the process to end, whatever it does."""
        self._stopped = True
        if self._process is not None and self._process.exitcode is None:
            self._process.terminate()

    def kill(self) -> None:
        """Wait for the process to end; one that has not left after a while is killed."""
        if self._process is not None:
            self._process.join(LEAVE)
            if self._process.exitcode is None:
                self._process.kill()
                self._process.join()

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
        with _environment, _set({} if self._threads is None else dict.fromkeys(THREADS, str(self._threads))):
            process.start()
        self._process = process  # not before: there was nothing to terminate
        if self._stopped:
            process.terminate()
        theirs.close()
        wait([self._pipe, process.sentinel])
        try:
            self._pipe.recv()
        except EOFError:
            process.join()
            raise RunError(
                "a worker process ended before it could begin: a script that asks for processes must stand under "
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
    from holdsup.experiment.work import end_process_when_stuck
    from holdsup.numerics.threads import blas_threads

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the first one decides
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    end_process_when_stuck()
    with blas_threads(threads):
        pipe.send(None)
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


def _leave(_number: int, _frame: object) -> NoReturn:
    if _calling:
        raise Interrupted  # through the task, so that it can end processes of its own on the way out
    os._exit(0)  # between tasks, or on the way out, an exception would only be printed


def _leave_with_parent() -> None:
    """End this process when the one it works for is gone: nobody would take its results."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(LEAVE)
    os._exit(1)
