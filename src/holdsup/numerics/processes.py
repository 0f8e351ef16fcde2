"""Tasks in worker processes, where that pays and is safe."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from holdsup.errors import FitError
from holdsup.progress import Progress, no_progress

__all__ = ["cores", "map_tasks"]

Task = TypeVar("Task")
Done = TypeVar("Done")
DEAR = 10.0  # seconds of work left from which starting processes (a second or two each) pays


def map_tasks(
    prepare: Callable[[], Callable[[Task], Done]],
    tasks: Sequence[Task],
    *,
    processes: int | None = None,
    label: str = "working",
    progress: Progress = no_progress,
) -> list[Done]:
    """Return what the function that `prepare` makes, once in each process, gives for each task, in order.

    With `processes` None the work is shared among as many as there are cores if it turns out to be dear and
    the program that runs can be started again in a new process without harm; 1 keeps it in this one.
    """
    if processes is not None and processes > 1:
        return _share(prepare, tasks, processes, 0, label, progress)
    function = prepare()
    found: list[Done] = []
    started = time.perf_counter()
    for i, task in enumerate(tasks):
        progress(i, len(tasks), label)
        left = (time.perf_counter() - started) / max(i, 1) * (len(tasks) - i)
        if processes is None and i and left > DEAR and cores() > 1 and _can_start_again():
            return found + _share(prepare, tasks[i:], cores(), i, label, progress)
        found.append(function(task))
    progress(len(tasks), len(tasks), label)
    return found


def _share(
    prepare: Callable[[], Callable[[Task], Done]],
    tasks: Sequence[Task],
    processes: int,
    before: int,
    label: str,
    progress: Progress,
) -> list[Done]:
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(1)  # a worker that runs the user's script again; its parent says what to do
    found: list[Done] = []
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(processes, mp_context=context, initializer=_begin, initargs=(prepare,)) as pool:
            for i, done in enumerate(pool.map(_work, tasks), start=1):
                progress(before + i, before + len(tasks), label)
                found.append(done)
    except BrokenProcessPool:
        raise FitError(
            "worker processes ended before their work was done: a script that asks for processes must stand under if "
            '__name__ == "__main__": (or they ran out of memory); processes=1 does without'
        ) from None
    return found


_function: Callable[[Any], Any] | None = None  # in a worker: what `prepare` made there


def _begin(prepare: Callable[[], Callable[[Any], Any]]) -> None:
    global _function  # a process of the pool has no other place to keep what it prepared
    _function = prepare()


def _work(task: Any) -> Any:
    assert _function is not None  # the pool has called _begin
    return _function(task)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _can_start_again() -> bool:
    """Return whether a new process would not run the user's script a second time.

    It imports the main module; an interactive session has none, and a module run by ``python -m`` or a console
    script is guarded. A plain script may not be, so there the caller has to ask for processes.
    """
    main = sys.modules.get("__main__")
    return getattr(main, "__file__", None) is None or getattr(main, "__spec__", None) is not None
