"""The progress bar: on a terminal, and only once the work has taken more than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdsup.progress import Progress, no_progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar, TaskID

PATIENCE = 2.0  # seconds


@contextmanager
def show_progress(*, quiet: bool) -> Iterator[Progress]:
    """Give a `progress` callback that draws a bar on stderr."""
    if quiet or not getattr(sys.stderr, "isatty", bool)():
        yield no_progress
        return
    drawn = _DrawnLate()
    try:
        yield drawn
    finally:
        drawn.stop()


class _DrawnLate:
    def __init__(self) -> None:
        self.started = time.monotonic()
        self.bar: Bar | None = None
        self.task: TaskID | None = None

    def __call__(self, done: int, total: int | None, label: str) -> None:
        if time.monotonic() - self.started < PATIENCE:
            return
        if self.bar is None:
            self._start()
        assert self.bar is not None
        if self.task is None:
            self.task = self.bar.add_task(label, total=total)
        self.bar.update(self.task, completed=done, total=total, description=label)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.text import Text

        class PlainText(TextColumn):  # labels come from files: never read as rich's markup
            def render(self, task):  # type: ignore[no-untyped-def]
                return Text(task.description)

        columns = (PlainText(""), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.bar.start()

    def stop(self) -> None:
        if self.bar is not None:
            self.bar.stop()
