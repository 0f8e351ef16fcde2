"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import holdsup
from holdsup.cli import main
from holdsup.cli.program import COMMANDS

Run = Callable[..., Any]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "scores.csv"
    rows = [f"{s},{i},{seed},0.{ord(s) % 10}{i}{seed}" for s in "AB" for i in range(4) for seed in (1, 2)]
    file.write_text("\n".join(["system,item,seed,score", *rows, ""]))
    return file


def test_help_lists_every_command_and_where_to_start(run: Run) -> None:
    done = run("--help")
    assert done.code == 0
    assert all(f"  {name} " in done.out for name in COMMANDS)
    assert "holdsup demo" in done.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches_by_an_example(run: Run, name: str) -> None:
    done = run(name, "--help")
    assert done.code == 0
    assert "Example" in done.out
    assert f"holdsup {name}" in done.out.rpartition("Example")[2]


@pytest.mark.parametrize("name", ["compare", "variance"])
def test_help_fits_60_lines_in_titled_groups(run: Run, name: str) -> None:
    lines = run(name, "--help").out.splitlines()
    assert len(lines) <= 60
    assert [line for line in lines if line.endswith(":") and not line.startswith(" ")] == [
        "Question:", "Rows and scores:", "Columns (found by name; comma-separated; '-' for none):", "Output:", "Running:",
    ]  # fmt: skip


def test_the_version_is_printed(run: Run) -> None:
    assert run("--version").out == f"holdsup, version {holdsup.__version__}\n"


def test_a_wrong_command_or_option_is_wrong_usage(run: Run) -> None:
    assert run("frobnicate").code == 2
    assert run("check", "--frob").code == 2
    assert run("check").code == 2


@pytest.mark.parametrize(
    "option", [["--range", "1"], ["--range", "1,0"], ["--wide", "A,B"], ["--level", "95"], ["--jobs", "0"]]
)
def test_a_wrong_value_is_wrong_usage(run: Run, table: Path, option: list[str]) -> None:
    done = run("check", table, *option)
    assert done.code == 2
    assert option[0] in done.err


def test_check_prints_the_verdict_first_and_the_signature_last(run: Run, table: Path) -> None:
    done = run("check", table)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("Is this table fit for use? ")
    assert lines[0].endswith(" YES")
    assert lines[1] == "No problems found."
    assert "rows       16 of 16 rows used; 2 systems, 4 runs and 4 items" in lines
    assert lines[-1].startswith("check|data:")
    assert done.err == ""


def test_json_is_the_result_itself(run: Run, table: Path, tmp_path: Path) -> None:
    done = run("check", table, "--format", "json", "-o", tmp_path / "audit.json")
    assert (done.code, done.out) == (0, "")
    audit = holdsup.audit_scores([str(table)])
    assert holdsup.read_result(tmp_path / "audit.json") == audit
    assert json.loads(run("check", table, "--format", "json").out) == audit.to_dict()


@pytest.mark.parametrize("style", ["text", "markdown", "latex"])
def test_all_styles_show_the_same_cells(run: Run, table: Path, style: str) -> None:
    out = run("check", table, "--full", "--format", style).out
    for cells in (c for t in holdsup.audit_scores([str(table)]).tables() for row in t.cells() for c in row):
        assert cells.replace("_", "\\_" if style != "text" else "_")[:12] in out.replace("\n", " ")


def test_a_picture_is_drawn_on_request(run: Run, table: Path, tmp_path: Path) -> None:
    assert run("check", table, "--plot", tmp_path / "p.svg").code == 0
    assert (tmp_path / "p.svg").read_text().startswith("<?xml")


def test_bad_input_is_one_line_on_stderr_and_nothing_is_written(run: Run, tmp_path: Path) -> None:
    done = run("check", tmp_path / "none.csv", "-o", tmp_path / "out.txt", "--plot", tmp_path / "p.svg")
    assert done.code == 1
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert done.err.startswith("holdsup: cannot read ")
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_written_is_one_line(run: Run, table: Path, tmp_path: Path) -> None:
    done = run("check", table, "-o", tmp_path / "none" / "out.txt")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "cannot write" in done.err


def test_a_column_that_is_not_there_is_named_with_the_near_one(run: Run, table: Path) -> None:
    done = run("check", table, "--system", "sytem")
    assert done.code == 1
    assert "no column 'sytem'" in done.err
    assert "'system', 'item', 'seed', 'score'" in done.err
    assert "Did you mean 'system'?" in done.err


def test_the_traceback_is_shown_when_asked_for(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDSUP_DEBUG", "1")
    with pytest.raises(holdsup.ColumnError):
        main(["check", str(table), "--system", "x"])


def holdsup_process(*args: object, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "holdsup", *map(str, args)]
    return subprocess.run(command, input=stdin, capture_output=True, env={**os.environ, **environment}, check=False)


def test_standard_input_is_read(table: Path) -> None:
    done = holdsup_process("check", "-", "--full", stdin=table.read_bytes())
    assert done.returncode == 0
    assert b"What was read from standard input" in done.stdout


def test_files_of_one_score_a_line_are_paired_by_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("0.5\n0.25\n0.75\n")
    (tmp_path / "b.txt").write_text("0.5\n0.5\n1\n")
    out = run("check", tmp_path / "a.txt", tmp_path / "b.txt", "--full").out
    assert "2 systems, 2 runs and 3 items" in " ".join(out.split())
    assert "each of the 2 tables is a system" in " ".join(out.split())


def test_output_in_cp1252_shows_what_it_can_and_escapes_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "s.csv"
    file.write_text("system,item,score\n模型,1,0.5\né,1,0.25\n", encoding="utf-8")
    done = holdsup_process("check", file, "--full", PYTHONIOENCODING="cp1252")
    assert done.returncode == 0
    assert "é" in done.stdout.decode("cp1252")
    assert r"\u6a21\u578b" in done.stdout.decode("cp1252")
    assert "-----" in done.stdout.decode("cp1252")
    as_json = holdsup_process("check", file, "--format", "json", PYTHONIOENCODING="cp1252")
    assert json.loads(as_json.stdout.decode("ascii"))["systems"][1]["name"] == "模型"


def test_no_escape_sequence_reaches_a_pipe_or_a_terminal_with_no_color(table: Path) -> None:
    for environment in ({}, {"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}):
        assert b"\x1b" not in holdsup_process("check", table, **environment).stdout


def test_no_color_is_honoured_on_a_terminal(table: Path) -> None:
    pty = pytest.importorskip("pty", reason="pseudo-terminals are Unix only")

    def shown(**environment: str) -> bytes:
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "holdsup", "check", str(table)], stdout=follower, stderr=subprocess.DEVNULL,
            env={**os.environ, **environment},
        )  # fmt: skip
        os.close(follower)
        pieces = []
        try:
            while piece := os.read(leader, 4096):
                pieces.append(piece)
        except OSError:  # Linux says so at the end
            pass
        process.wait()
        os.close(leader)
        return b"".join(pieces)

    assert b"\x1b[1m" in shown(NO_COLOR="")
    assert b"\x1b" not in shown(NO_COLOR="1")


def test_a_reader_that_leaves_early_is_no_error(table: Path) -> None:
    command = f"{sys.executable} -m holdsup check {table} | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_output_that_is_closed_is_no_success(table: Path, tmp_path: Path) -> None:
    def code(options: str) -> int:
        command = f"{sys.executable} -m holdsup check {table} {options} >&-"
        return subprocess.run(["bash", "-c", command], stderr=subprocess.DEVNULL, check=False).returncode

    assert (code(""), code(f"--output {tmp_path / 'answer.txt'}")) == (1, 0)


def test_shell_completion_knows_commands_and_options() -> None:
    script = "from holdsup.cli import main\nmain()"

    def completed(words: str, position: int) -> str:
        environment = {"_HOLDSUP_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(position)}
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
            check=False,
        )
        return done.stdout

    assert "plain,check" in completed("holdsup ch", 1)
    assert "plain,--facets" in completed("holdsup check --fa", 2)


def test_fit_prints_the_model_and_saves_it(run: Run, table: Path, tmp_path: Path) -> None:
    formula = "score ~ system + (1 | item)"
    done = run("fit", formula, table, "--ml")
    assert done.code == 0
    assert done.out.startswith("What does this linear mixed model say?\nsystem B scores ")
    assert "systemB" in done.out
    assert run("fit", formula, table, "--format", "json", "-o", tmp_path / "fit.json").code == 0
    assert holdsup.read_result(tmp_path / "fit.json") == holdsup.fit_lmm(formula, str(table))


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("score ~ sytem + (1 | item)", "Did you mean 'system'?"),
        ("score ~ system + (1 | item", "at character 27 of the formula"),
        ("score ~ __import__('os').system('x')", "at character 20 of the formula"),
        ("score ~ system + (1 | item) + (1 | item)", "can't be separated"),
    ],
)
def test_a_bad_formula_is_one_line(run: Run, table: Path, formula: str, message: str) -> None:
    done = run("fit", formula, table)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert message in done.err


@pytest.fixture
def outcomes(tmp_path: Path) -> Path:
    """Right and wrong of two systems on 40 items in 4 runs."""
    state = np.random.RandomState(5)
    s, i, r = np.indices((2, 40, 4)).reshape(3, -1)
    y = state.random_sample(len(s)) < 1 / (1 + np.exp(-0.5 - 0.8 * s - state.standard_normal(40)[i]))
    file = tmp_path / "outcomes.csv"
    lines = [f"{'AB'[a]},q{b},{c},{d:d},{1 - d:d}" for a, b, c, d in zip(s, i, r, y.astype(int), strict=True)]
    file.write_text("\n".join(["system,item,run,passed,failed", *lines]) + "\n")
    return file


def test_a_logistic_fit_is_printed_saved_and_asked_again_by_its_own_command(
    run: Run, outcomes: Path, tmp_path: Path
) -> None:
    formula = "passed ~ system + (1 | item)"
    done = run("fit", formula, outcomes, "--family", "binomial")
    assert done.code == 0
    assert done.out.startswith("What does this logistic mixed model say?\nsystem B succeeds in ")
    assert "points above A" in done.out.replace("\n", " ")
    assert (
        run("fit", formula, outcomes, "--family", "binomial", "--format", "json", "-o", tmp_path / "fit.json").code == 0
    )
    fit = holdsup.read_result(tmp_path / "fit.json")
    assert fit.to_dict() == holdsup.fit_glmm(formula, str(outcomes)).to_dict()
    assert fit.asked.command() == "holdsup fit 'passed ~ system + (1 | item)' DATA --family binomial"
    counts = holdsup.fit_glmm(formula, str(outcomes), failures="failed", method="laplace")
    assert counts.asked.command() == (
        "holdsup fit 'passed ~ system + (1 | item)' DATA --method laplace --family binomial --failures failed"
    )
    assert counts.criterion == pytest.approx(holdsup.fit_glmm(formula, str(outcomes), method="laplace").criterion)
    for form, part in (("markdown", "| effect |"), ("latex", "\\begin{tabular}")):
        assert part in run("fit", formula, outcomes, "--family", "binomial", "--format", form).out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--trials", "run"], "add --family binomial"),
        (["--penalty", "2"], "add --family binomial"),
        (["--family", "binomial", "--ml"], "--ml belongs to a linear model"),
        (["--family", "binomial", "--penalty", "0"], "a standard deviation above zero"),
    ],
)
def test_options_of_the_other_model_are_one_line(run: Run, outcomes: Path, options: list[str], message: str) -> None:
    done = run("fit", "passed ~ system + (1 | item)", outcomes, *options)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert message in done.err


def test_a_table_whose_samples_repeat_each_other_is_named_and_not_fitted(run: Run) -> None:
    file = Path(__file__).resolve().parents[3] / "shared/data/shapes/crux.csv.gz"
    if not file.is_file():
        pytest.skip("the shared data are not beside the clone")
    done = run("fit", "passed ~ task + (1|item)", file, "--family", "binomial")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "1,314 of 1,600 cells" in done.err
    assert "linear model on means" in done.err
    nested = run("fit", "passed ~ task + (1|item) + (1|task:item)", file, "--family", "binomial")
    assert "1,314 of 1,600 levels of task:item are always right or always wrong" in nested.err
