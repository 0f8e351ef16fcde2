"""`holdsup gate`: exit codes, of which 1 means FAIL and nothing else, JUnit XML and the summary of a step."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import holdsup
from holdsup.scores.writing import write_scores

Run = Callable[..., Any]


@pytest.fixture
def sides(tmp_path: Path) -> dict[str, Path]:
    """Tables of a baseline and of candidates that are as good, worse, and hard to tell."""
    files = {}
    for place, (name, mean) in enumerate({"base": 0.7, "good": 0.7, "bad": 0.6, "close": 0.688}.items()):
        files[name] = tmp_path / f"{name}.csv"
        table = holdsup.simulate_scores({"agent": mean}, items=80, runs=3, sd_item=0, seed=place + 10)
        write_scores(table, files[name])
    return files


def test_exit_codes_are_the_outcome(run: Run, sides: dict[str, Path]) -> None:
    asked = {name: run("gate", sides[name], sides["base"], "--drop", "0.02") for name in ("good", "bad", "close")}
    assert {name: done.code for name, done in asked.items()} == {"good": 0, "bad": 1, "close": 3}
    words = ("PASS: ", "FAIL: ", "INCONCLUSIVE: ")
    assert all(word in done.out for word, done in zip(words, asked.values(), strict=True))
    assert all(done.err == "" for done in asked.values())


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["bad.csv", "base.csv"], 2),
        (["bad.csv", "base.csv", "--drop", "much"], 2),
        (["bad.csv", "--drop", "0.02"], 2),
        (["bad.csv", "base.csv", "--drop", "0.02", "--looks", "4,x"], 2),
        (["bad.csv", "base.csv", "--drop", "0.02", "--drop", "f1=0.1"], 2),
        (["bad.csv", "nothing.csv", "--drop", "0.02"], 4),
        (["bad.csv", "base.csv", "--drop", "-1"], 4),
        (["bad.csv", "base.csv", "--drop", "0.02", "--looks", "4,8"], 4),
        (["bad.csv", "base.csv", "--drop", "0.02", "--score", "nothing"], 4),
        (["bad.csv", "base.csv", "--drop", "0.02", "-o", "no/such/folder/out.txt"], 4),
        (["bad.csv", "base.csv", "--drop", "0.02", "--junit", "base.csv"], 4),
        (["bad.csv", "base.csv", "--drop", "0.02", "--level", "0.3"], 4),
    ],
)
def test_without_an_answer_the_code_is_never_that_of_a_failure(
    run: Run, sides: dict[str, Path], monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int
) -> None:
    monkeypatch.chdir(sides["base"].parent)
    done = run("gate", *arguments)
    assert done.code == code
    if code == 4:
        assert done.err.count("\n") == 1
        assert done.err.startswith("holdsup: ")


def test_an_error_of_the_program_is_no_failure_of_the_candidate(
    run: Run, sides: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object, **more: object) -> None:
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr("holdsup.verdict.gate.gate_release", broken)
    done = run("gate", sides["bad"], sides["base"], "--drop", "0.02")
    assert done.code == 4
    assert "a mistake of ours" in done.err


def test_a_reader_who_has_seen_enough_changes_no_outcome(sides: dict[str, Path]) -> None:
    asked = [sys.executable, "-m", "holdsup", "gate", sides["bad"], sides["base"], "--drop", "0.02"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(asked, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert done.returncode == 1
    closed = subprocess.run(["bash", "-c", '"$@" >&-', "gate", *map(str, asked)], capture_output=True, check=False)
    assert closed.returncode == 4


def test_junit_has_a_case_for_each_metric_and_says_what_failed(
    run: Run, sides: dict[str, Path], tmp_path: Path
) -> None:
    tags = {}
    for name in ("good", "bad", "close"):
        file = tmp_path / f"{name}.xml"
        run("gate", sides[name], sides["base"], "--drop", "0.02", "--junit", file)
        suite = ET.parse(file).getroot()
        assert suite.attrib["tests"] == "1"
        (case,) = suite.findall("testcase")
        tags[name] = [child.tag for child in case]
        assert suite.findtext("system-out", "").endswith(holdsup.__version__)
    assert tags == {"good": [], "bad": ["failure"], "close": ["skipped"]}


def test_the_summary_of_a_step_gets_markdown_beneath_what_is_there(
    run: Run, sides: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# Before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    done = run("gate", sides["bad"], sides["base"], "--drop", "0.02", "--format", "json")
    text = summary.read_text()
    assert text.startswith("# Before\n**May the candidate replace the baseline?")
    assert "**NO.** FAIL: " in text
    assert json.loads(done.out)["outcome"] == "fail"


def test_every_rendering_holds_the_outcome(run: Run, sides: dict[str, Path], tmp_path: Path) -> None:
    pair = (sides["bad"], sides["base"], "--drop", "0.02")
    for style in ("markdown", "latex", "json"):
        done = run("gate", *pair, "--format", style, "--full")
        assert done.code == 1
        assert "FAIL" in done.out or '"fail"' in done.out
    saved, drawn = tmp_path / "g.json", tmp_path / "g.svg"
    assert run("gate", *pair, "--format", "json", "-o", saved, "--plot", drawn).code == 1
    assert "drop" in drawn.read_text()
    page = tmp_path / "page.html"
    assert run("report", saved, "-o", page).code == 0
    assert "May the candidate replace the baseline?" in page.read_text()
