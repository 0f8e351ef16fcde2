"""The pytest plugin: a test passes, fails or is skipped as the gate decides, and nothing is loaded before."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import holdsup
from holdsup.scores.writing import write_scores

TESTS = """
def test_good(holdsup_gate):
    found = holdsup_gate("good.csv", "base.csv", drop=0.02)
    assert found.outcome == "pass"

def test_bad(holdsup_gate):
    holdsup_gate("bad.csv", "base.csv", drop=0.02)

def test_single(holdsup_gate):
    holdsup_gate("single.csv", "base.csv", drop=0.02)

def test_strict(holdsup_gate):
    holdsup_gate("single.csv", "base.csv", drop=0.02, strict=True)

def test_nothing(holdsup_gate):
    holdsup_gate("nothing.csv", "base.csv", drop=0.02)
"""


def run_pytest(folder: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    command = [sys.executable, "-m", "pytest", "-p", "holdsup.testing.plugin", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


def test_a_test_passes_fails_or_is_skipped_as_the_gate_decides(tmp_path: Path) -> None:
    for place, (name, mean, runs) in enumerate(
        (("base", 0.7, 3), ("good", 0.7, 3), ("bad", 0.6, 3), ("single", 0.7, 1))
    ):
        table = holdsup.simulate_scores({"agent": mean}, items=80, runs=runs, sd_item=0, seed=place + 10)
        write_scores(table, tmp_path / f"{name}.csv")
    (tmp_path / "test_it.py").write_text(TESTS)
    out = run_pytest(tmp_path, "-v", "-rA")
    assert "test_good PASSED" in out
    assert "test_bad FAILED" in out
    assert "test_single SKIPPED" in out
    assert "test_strict FAILED" in out
    assert "FAIL: the candidate is worse" in out
    assert "test_nothing FAILED" in out
    assert "holdsup has no answer: cannot read 'nothing.csv'" in out
    assert "plugin.py" not in out.partition("FAILURES")[2].partition("short test summary")[0]


def test_a_session_that_gates_nothing_loads_nothing_for_it(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import sys\n\ndef test_nothing():\n"
        "    loaded = {'numpy', 'scipy', 'pyarrow', 'click', 'holdsup.verdict', 'holdsup.scores'} & set(sys.modules)\n"
        "    assert 'holdsup.testing.plugin' in sys.modules\n"
        "    assert not loaded\n"
    )
    assert "1 passed" in run_pytest(tmp_path)


def test_pytest_finds_the_plugin_by_its_entry_point(root: Path) -> None:
    stated = tomllib.loads((root / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    assert stated == {"holdsup": "holdsup.testing.plugin"}
    assert hasattr(importlib.import_module(stated["holdsup"]), "holdsup_gate")
