"""The progress bar shows late, on a terminal only, and shows labels as they are."""

from __future__ import annotations

import io
import sys

import pytest

from holdsup.cli import output as bar
from holdsup.progress import no_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_drawn_when_quiet_or_into_a_pipe() -> None:
    with bar.show_progress(quiet=True) as progress:
        assert progress is no_progress
    with bar.show_progress(quiet=False) as progress:  # pytest's stderr is no terminal
        assert progress is no_progress


def test_the_bar_appears_only_after_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    now = [0.0]
    monkeypatch.setattr(bar.time, "monotonic", lambda: now[0])
    with bar.show_progress(quiet=False) as progress:
        progress(0, 10, "reading [red]a[/red]")
        assert terminal.getvalue() == ""
        now[0] = 2.5
        progress(5, 10, "reading [red]a[/red]")
    assert "reading [red]a[/red]" in terminal.getvalue()


def test_a_label_that_changes_has_one_bar_and_one_estimate_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(bar, "PATIENCE", 0.0)
    with bar.show_progress(quiet=False) as progress:
        for done, label in enumerate(("partition 1", "partition 2", "the learning curve")):
            progress(done, 10, label)
        assert isinstance(progress, bar._DrawnLate)
        assert progress.bar is not None
        assert [task.completed for task in progress.bar.tasks] == [2]
