"""Where tasks run. The seam is `concurrent.futures.Executor`: anything that gives one will do."""

from __future__ import annotations

import atexit
import importlib
import os
import queue
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from holdsup.errors import MissingExtra, RunError
from holdsup.experiment.workers import Worker, WorkerDied

__all__ = ["ProcessExecutor", "SerialExecutor", "WorkerDied", "dask_executor", "workers_of"]

P = ParamSpec("P")
T = TypeVar("T")


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
            raise RunError(f"{processes} processes cannot work: ask for 1 or more")
        self.processes = processes
        self._orders: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._closed = False
        self._workers = [Worker(self._orders, alone=processes == 1) for _ in range(processes)]
        atexit.register(self._abandon)

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
            atexit.unregister(self._abandon)
            for _ in self._workers:
                self._orders.put(None)
        for worker in self._workers if cancel_futures else ():
            worker.terminate()
        for worker in self._workers if cancel_futures else ():
            worker.kill()
        for worker in self._workers if wait else ():
            worker.thread.join()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown(cancel_futures=kind is not None)  # nobody waits for tasks after Ctrl-C

    def _abandon(self) -> None:
        """End the workers when this process ends without having closed the executor."""
        self.shutdown(cancel_futures=True)


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
            raise RunError(f"the Dask scheduler does not answer ({error}): run again when it does") from error
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
        raise RunError(f"no Dask scheduler answers at {address} ({error}): start one, or give another") from error
    with client, client.get_executor(pure=False) as executor:
        yield executor
