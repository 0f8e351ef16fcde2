"""What every test can use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from holdsup.cli import main

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The real data that stand beside the project where it is developed; users do not have them."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real data sets (../shared/data) are not on this machine")
    return folder


class Done(NamedTuple):
    """What a call of the command line left behind: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """A function that runs the command line with some arguments, in a terminal of 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")

    def call(*args: object) -> Done:
        with pytest.raises(SystemExit) as stopped:
            main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return Done(int(stopped.value.code or 0), captured.out, captured.err)

    return call
