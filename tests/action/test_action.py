"""The GitHub Action: its steps are run as a runner would, in bash, with a holdsup on the path and no network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import holdsup
from holdsup.scores.writing import write_scores

yaml = pytest.importorskip("yaml", reason="PyYAML, which comes with the extra docs, reads action.yml")
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")


@pytest.fixture(scope="module")
def action(root: Path) -> dict[str, Any]:
    """What action.yml says."""
    found = yaml.safe_load((root / "action" / "action.yml").read_text())
    assert isinstance(found, dict)
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A checkout with tables, and a `holdsup` on the path that is this one."""
    for n, (name, mean) in enumerate({"base": 0.7, "good": 0.7, "bad": 0.6, "close": 0.688}.items()):
        table = holdsup.simulate_scores({"agent": mean}, items=80, runs=3, sd_item=0, seed=n + 10)
        write_scores(table, tmp_path / f"{name}.csv")
    (tmp_path / "bin").mkdir()
    write_script(tmp_path / "bin" / "holdsup", f'exec "{sys.executable}" -m holdsup "$@"')
    return tmp_path


def write_script(file: Path, text: str) -> None:
    file.write_text(f"#!/usr/bin/env bash\n{text}\n")
    file.chmod(0o755)


def run_step(step: dict[str, Any], place: Path, root: Path, **inputs: str) -> tuple[int, str, dict[str, str]]:
    """Run a step as the runner does: inputs are put into its environment, the script is handed to bash as it is."""
    assert step["shell"] == "bash"
    assert not EXPRESSION.search(step["run"])
    given = {
        name: EXPRESSION.sub(lambda found: inputs[found[1].strip().removeprefix("inputs.")], value)
        for name, value in step.get("env", {}).items()
    }
    (place / "temp").mkdir(exist_ok=True)
    runner = {
        "PATH": f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}", "GITHUB_ACTION_PATH": str(root / "action"),
        "RUNNER_TEMP": str(place / "temp"), "GITHUB_OUTPUT": str(place / "output"), "GITHUB_PATH": str(place / "path"),
        "GITHUB_STEP_SUMMARY": str(place / "summary.md"),
    }  # fmt: skip
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
    done = subprocess.run(
        command, cwd=place, env=os.environ | runner | given, capture_output=True, text=True, check=False
    )
    output = place / "output"
    said = dict(line.split("=", 1) for line in output.read_text().splitlines()) if output.exists() else {}
    return done.returncode, done.stdout + done.stderr, said


def gate(action: dict[str, Any], place: Path, root: Path, **inputs: str) -> tuple[int, str, dict[str, str]]:
    defaults = {name: each.get("default", "") for name, each in action["inputs"].items()}
    step = action["runs"]["steps"][-1]
    return run_step(step, place, root, **(defaults | {"baseline": "base.csv", "drop": "0.02"} | inputs))


@pytest.mark.parametrize(
    ("candidate", "inconclusive", "code", "outcome"),
    [
        ("good.csv", "pass", 0, "pass"),
        ("bad.csv", "pass", 1, "fail"),
        ("close.csv", "pass", 0, "inconclusive"),
        ("close.csv", "fail", 3, "inconclusive"),
        ("nothing.csv", "pass", 4, "none"),
    ],
)
def test_the_gate_ends_as_it_came_out(
    action: dict[str, Any], place: Path, root: Path, candidate: str, inconclusive: str, code: int, outcome: str
) -> None:
    ended, printed, said = gate(action, place, root, candidate=candidate, inconclusive=inconclusive)
    assert (ended, said) == (code, {"outcome": outcome}), printed
    assert (place / "summary.md").exists() == (outcome != "none")


def test_options_and_drops_are_passed_on_line_by_line(action: dict[str, Any], place: Path, root: Path) -> None:
    ended, printed, said = gate(
        action, place, root, candidate="bad.csv", options="--claim=these-runs\n--lower-is-better", junit="gate.xml"
    )
    assert (ended, said["outcome"]) == (0, "pass"), printed
    assert "these runs" in printed
    assert (place / "gate.xml").exists()
    ended, printed, said = gate(action, place, root, candidate="bad.csv", drop="f1=0.1\n0.02")
    assert (ended, said["outcome"]) == (2, "none"), printed


@pytest.mark.parametrize(
    "hostile", ["$(touch owned).csv", "a;touch owned;.csv", "`touch owned`", "--help", '"; touch owned #']
)
def test_an_input_is_never_run(action: dict[str, Any], place: Path, root: Path, hostile: str) -> None:
    ended, _, said = gate(action, place, root, candidate=hostile)
    assert (ended, said["outcome"]) == (4, "none")
    ended, _, said = gate(action, place, root, candidate="bad.csv", drop=hostile)
    assert said["outcome"] == "none"
    assert not (place / "owned").exists()


def test_a_broken_installation_is_no_failure_of_the_candidate(action: dict[str, Any], place: Path, root: Path) -> None:
    write_script(place / "bin" / "holdsup", "exit 1")
    ended, _, said = gate(action, place, root, candidate="bad.csv")
    assert (ended, said["outcome"]) == (4, "none")


def test_it_installs_its_own_checkout_into_an_environment_of_its_own(
    action: dict[str, Any], place: Path, root: Path
) -> None:
    write_script(
        place / "bin" / "python3",
        'echo "python3 $*" >> log\nmkdir -p "$3/bin"\n'
        'printf \'#!/usr/bin/env bash\\necho "python $*" >> log\\n\' > "$3/bin/python"\nchmod +x "$3/bin/python"',
    )
    ended, printed, _ = run_step(action["runs"]["steps"][0], place, root)
    assert ended == 0, printed
    made = place / "temp" / "holdsup"
    calls = (place / "log").read_text().splitlines()
    assert calls[0] == f"python3 -m venv {made}"
    assert calls[1].startswith("python -m pip install ")
    assert Path(calls[1].split()[-1]).resolve() == root
    assert (place / "path").read_text() == f"{made / 'bin'}\n"


def test_the_outcome_is_the_output_of_the_step_that_gates(action: dict[str, Any]) -> None:
    assert action["runs"]["using"] == "composite"
    assert action["outputs"]["outcome"]["value"] == "${{ steps.gate.outputs.outcome }}"
    assert action["runs"]["steps"][-1]["id"] == "gate"
