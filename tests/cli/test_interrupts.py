"""Ctrl-C: one line and exit code 130, whatever a library in flight makes of it."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from holdsup.cli import program
from holdsup.errors import ReadError

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def _ctrl_c_is_heard() -> Iterator[None]:
    """A shell starts what it puts into the background with Ctrl-C ignored, the tests, too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def press_in_a_half_written_file() -> int:
    try:
        press()
    except KeyboardInterrupt:
        raise ValueError("inconsistent stream state") from None
    return 0


def press_in_a_reader() -> int:
    try:
        press()
    except KeyboardInterrupt:
        raise ReadError("cannot read it") from None
    return 0


def press_in_a_destructor() -> int:
    class Fragile:
        def __del__(self) -> None:
            press()

    Fragile()
    for _ in range(6000):  # what the command would go on with
        time.sleep(0.01)
    return 0


@pytest.mark.parametrize(
    "work", [press, press_in_a_half_written_file, press_in_a_reader, press_in_a_destructor], ids=lambda f: f.__name__
)
def test_a_command_that_is_interrupted_says_so_and_nothing_else(
    run: Run, monkeypatch: pytest.MonkeyPatch, work: Callable[[], int]
) -> None:
    before = signal.getsignal(signal.SIGINT), sys.unraisablehook
    monkeypatch.setattr(program, "run", lambda args, name: work())
    assert run("check") == (130, "", "holdsup: stopped\n")
    assert (signal.getsignal(signal.SIGINT), sys.unraisablehook) == before


def test_an_error_without_an_interrupt_is_itself(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> int:
        raise ReadError("cannot read it")

    monkeypatch.setattr(program, "run", lambda args, name: fail())
    assert run("check") == (1, "", "holdsup: cannot read it\n")


def test_where_ctrl_c_is_ignored_it_stays_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        monkeypatch.setattr(program, "run", lambda args, name: press() or 0)
        assert run("check") == (0, "", "")
    finally:
        signal.signal(signal.SIGINT, before)
