"""Tasks in worker processes, where that pays and is safe."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn, TypeVar, cast

from holdsup.errors import FitError
from holdsup.progress import Progress, no_progress

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
    left = deque(enumerate(tasks))
    found: dict[int, Done] = {}
    with _workers(min(processes, len(tasks))) as pipes:
        for pipe in pipes:
            _send(pipe, prepare)
            _send(pipe, left.popleft())
        while len(found) < len(tasks):
            for ready in wait(pipes):
                pipe = cast(Connection, ready)
                number, done = _receive(pipe)
                found[number] = done
                progress(before + len(found), before + len(tasks), label)
                if left:
                    _send(pipe, left.popleft())
    return [found[number] for number in range(len(tasks))]


@contextmanager
def _workers(count: int) -> Iterator[list[Connection]]:
    """Give a pipe to each of `count` new processes, which are ended at once, whatever they do, when the block is left.

    A pool of the standard library waits for them first, and on Ctrl-C while they start it never ends.
    """
    context = multiprocessing.get_context("spawn")
    started: list[tuple[BaseProcess, Connection]] = []
    try:
        with _uninterrupted():
            for _ in range(count):
                ours, theirs = context.Pipe()
                process: BaseProcess = context.Process(target=_work, args=(theirs,), daemon=True)
                process.start()
                theirs.close()
                started.append((process, ours))
        yield [pipe for _, pipe in started]
    finally:
        for process, _ in started:
            process.terminate()
        for process, pipe in started:
            process.join()
            pipe.close()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put off Ctrl-C to the end of the block, so that it finds no process half started."""
    if threading.current_thread() is not threading.main_thread():  # others are not interrupted
        with out_of_reach():
            yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        with out_of_reach():
            yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def out_of_reach() -> Iterator[None]:
    """Keep Ctrl-C from the processes that are started in the block: they take over the mask of this thread.

    It reaches every process of a terminal, but the first one decides. One that is still importing would print a
    traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # the first process would start it, and that unblocks Ctrl-C again
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _send(pipe: Connection, value: Any) -> None:
    try:
        pipe.send(value)
    except OSError:
        raise _ended_early() from None


def _receive(pipe: Connection) -> tuple[int, Any]:
    """Return the number of a task and what came of it; what it raised in the worker is raised here."""
    try:
        number, done, error = pipe.recv()
    except (EOFError, OSError):
        raise _ended_early() from None
    if error is not None:
        raise error
    return number, done


def _ended_early() -> FitError:
    return FitError(
        "worker processes ended before their work was done: a script that asks for processes must stand under if "
        '__name__ == "__main__": (or they ran out of memory); processes=1 does without'
    )


def _work(pipe: Connection) -> None:
    """In a worker: make the function, then do the tasks that come through the pipe."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where there are no masks
    function: Callable[[Any], Any] | None = None
    try:
        prepare = pipe.recv()
        while True:
            number, task = pipe.recv()
            done: Any = None
            failed: Exception | None = None
            try:
                function = function or prepare()
                done = function(task)
            except Exception as error:
                failed = error
            pipe.send((number, done, failed))
    except (EOFError, OSError):  # nobody is there any more
        return


def _leave_with_parent() -> NoReturn:
    """End this process when the one that started it has ended, killed or not."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


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
