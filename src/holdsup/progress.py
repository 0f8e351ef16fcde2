"""The callback through which long calls say how far they are; only the command line draws it."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called as work goes on; must be cheap and must not raise."""

    def __call__(self, done: int, total: int | None, label: str) -> None:
        """Say that `done` of `total` units (None: not known yet) of the step `label` are finished."""


def no_progress(done: int, total: int | None, label: str) -> None:
    """Say nothing: the default of every `progress=` argument."""
