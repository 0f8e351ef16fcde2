"""R, where it is installed: lme4's answers on tables that the tests hold."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from waiting import LIMIT

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/reference/lme4.R"
ONE_THREAD = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # two that wait for each other crawl


@cache
def _installed() -> bool:
    if shutil.which("Rscript") is None or not SCRIPT.is_file():
        return False
    packages = "quit(status = !all(sapply(c('lme4', 'lmerTest', 'jsonlite'), requireNamespace, quietly = TRUE)))"
    return subprocess.run(["Rscript", "--vanilla", "-e", packages], capture_output=True, check=False).returncode == 0


def require() -> None:
    """Skip the test where R or lme4 is not installed."""
    if not _installed():
        pytest.skip("R with lme4, lmerTest and jsonlite is not installed")


def run(code: str, *arguments: str) -> str:
    """Return what R prints."""
    command = ["Rscript", "--vanilla", "-e", code, *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True, timeout=LIMIT, env=ONE_THREAD).stdout


def answers(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return lme4's answers on cases {name, formula, columns, reml[, theta][, quick]}; lists are factors, arrays numbers."""
    with tempfile.TemporaryDirectory() as name:
        listed = []
        for number, case in enumerate(cases):
            columns = case["columns"]
            with (Path(name) / f"{number}.csv").open("w", newline="") as stream:
                writer = csv.writer(stream)
                writer.writerow(columns)
                writer.writerows(
                    zip(
                        *(map(str, v) if isinstance(v, list) else map(repr, map(float, v)) for v in columns.values()),
                        strict=True,
                    )
                )
            factors = {k: sorted(set(map(str, v))) for k, v in columns.items() if isinstance(v, list)}
            told = {key: value for key, value in case.items() if key != "columns"}
            listed.append({"weights": None, **told, "file": f"{number}.csv", "factors": factors})
        (Path(name) / "cases.json").write_text(json.dumps(listed))
        subprocess.run(
            ["Rscript", "--vanilla", str(SCRIPT), name], check=True, capture_output=True, timeout=LIMIT, env=ONE_THREAD
        )
        found = json.loads((Path(name) / "answers.json").read_text())["answers"]
    for answer in found:
        assert "error" not in answer, answer
    return list(found)
