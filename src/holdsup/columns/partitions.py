"""Dask's data frames: each partition is added up where it lies, and only the sums travel."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdsup.columns.limits import reason_of
from holdsup.columns.opening import OpenTable
from holdsup.columns.typed import open_frame
from holdsup.errors import HoldsupError, MissingExtra, ReadError
from holdsup.progress import Progress, no_progress

if TYPE_CHECKING:
    from holdsup.columns.batches import A

__all__ = ["Partitions", "is_dask"]

AT_A_TIME = 8  # parts that one task adds up
LOOK, LONELY = 2.0, 60.0  # seconds between looks at a cluster, and without any worker after which nothing is hoped for


def is_dask(data: Any) -> bool:
    """Return whether an object is one of Dask's, without importing Dask."""
    return type(data).__module__.partition(".")[0] in ("dask", "dask_expr")


@dataclass(frozen=True, slots=True)
class Partitions:
    """A Dask data frame; its tasks run wherever `dask.compute` runs them: threads here, or a cluster's workers.

    Attributes
    ----------
    frame : the collection
    tables : a table without rows that shows its columns
    """

    frame: Any
    tables: list[OpenTable]

    @classmethod
    def of(cls, frame: Any) -> Partitions:
        """Return the partitions of a Dask data frame."""
        if not hasattr(frame, "to_delayed") or not hasattr(frame, "columns"):
            raise ReadError(f"a Dask {type(frame).__name__} is not a table: make a dask.dataframe of it")
        kind = type(frame).__name__
        return cls(frame, [open_frame(f"the Dask {kind} given", kind, frame._meta)])

    def fold(self, make: Callable[[], A], columns: Sequence[str], *, label: str, progress: Progress = no_progress) -> A:
        """Return an accumulator to which all partitions were added, on the workers and as a tree."""
        try:
            asyncio, dask = (importlib.import_module(name) for name in ("asyncio", "dask"))
        except ImportError:
            raise MissingExtra.named("dask", purpose="a Dask collection") from None
        partitions = self.frame[list(columns)].to_delayed()
        progress(0, None, f"{label}: {len(partitions):,} partitions")
        shared = dask.delayed(make, traverse=False)
        parts = [dask.delayed(_add)(shared, number, part) for number, part in enumerate(partitions, start=1)]
        while len(parts) > 1:
            starts = range(0, len(parts), AT_A_TIME)
            parts = [dask.delayed(_merge)(shared, parts[start : start + AT_A_TIME]) for start in starts]
        try:
            part = _compute(dask, parts[0])
        except HoldsupError:
            raise
        except (Exception, CancelledError, asyncio.CancelledError) as error:
            raise ReadError(
                f"Dask could not read a partition, or lost its workers: {type(error).__name__}, {reason_of(error)}"
            ) from error
        total = make()
        total.add_part(part)
        return total


def _compute(dask: Any, task: Any) -> Any:
    """Return what a task gives; a cluster that has lost all its workers would let us wait for ever."""
    client: Any = getattr(dask.base.get_scheduler(), "__self__", None)
    if not hasattr(client, "scheduler_info"):  # threads or processes of this machine
        return dask.compute(task)[0]
    future, alone = client.compute(task), 0.0
    while True:
        try:
            return future.result(timeout=LOOK)
        except TimeoutError:
            if future.done():  # it is the task that ran out of time
                raise
        alone = 0.0 if client.scheduler_info()["workers"] else alone + LOOK
        if alone >= LONELY:
            future.cancel()
            raise ReadError(f"Dask has had no worker for {LONELY:.0f} seconds: start some, and fit again")


def _add(make: Callable[[], A], number: int, partition: Any) -> Any:
    """Return what a partition adds up to; runs on a worker."""
    accumulator = make()
    accumulator.add(accumulator.prepare(open_frame(f"partition {number}", "", partition)))
    return accumulator.part()


def _merge(make: Callable[[], A], parts: Sequence[Any]) -> Any:
    """Return what parts add up to; runs on a worker."""
    accumulator = make()
    for part in parts:
        accumulator.add_part(part)
    return accumulator.part()
