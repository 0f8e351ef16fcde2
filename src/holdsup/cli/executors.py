"""What runs the tasks of `run`, `contest` and `tune`: processes of this machine, or a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

LOCAL = "local"  # instead of an address: a Dask cluster on this machine


@contextmanager
def open_executor(jobs: int, dask: str | None) -> Iterator[Executor]:
    """Give what runs tasks: processes of this machine, or a Dask cluster.

    A single job gets a process of its own, too: a system that crashes must not take the run with it.
    """
    from holdsup.experiment import ProcessExecutor, dask_executor

    if dask is not None:
        with dask_executor(None if dask == LOCAL else dask, workers=jobs if jobs > 1 else None) as executor:
            yield executor
        return
    processes = ProcessExecutor(jobs)
    try:
        yield processes
    finally:
        processes.shutdown(cancel_futures=True)
