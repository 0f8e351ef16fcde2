"""`holdsup rank` on the command line: forms, renderings, names that a page must not run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdsup import Ranking, read_result

Run = Callable[..., Any]

SYSTEMS = ("<script>alert(1)</script>", "a&b", "x_1%", "a:b", "None")
DATASETS = ("<b>d</b>", "e:f", "$x$", "NA", "100%", "`q`")


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of hostile names in a folder of its own, where the test runs."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    lines = ["system,dataset,seed,lr,score"]
    for s, system in enumerate(SYSTEMS):
        for d, dataset in enumerate(DATASETS):
            for seed in (1, 2, 3):
                for lr in ("1e-5", "2e-5"):
                    lines.append(f"{system},{dataset},{seed},{lr},{60 + s + d + rng.normal():.4f}")
    Path("runs.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_a_table_is_ranked_without_an_option(run: Run) -> None:
    done = run("rank", "runs.csv")
    assert done.code == 0
    first, headline = done.out.splitlines()[:2]
    assert first.startswith("Is one system the best over many datasets?")
    assert first.endswith("UNCLEAR")
    assert headline.startswith("None leads a:b by 1.1 (95% CI ")
    assert max(map(len, done.out.splitlines()[:-1])) <= 80
    assert len(done.out.splitlines()) <= 30
    assert done.out.splitlines()[-1].startswith("rank|data:")


def test_everything_is_shown_if_asked_for(run: Run) -> None:
    done = run("rank", "runs.csv", "--full", "--folds", "0")
    assert "Systems by adjusted mean" in done.out
    assert max(map(len, done.out.splitlines()[:-1])) <= 100
    pairs = run("rank", "runs.csv", "--pairs", "--folds", "0")
    assert "None - a:b" in pairs.out
    assert "Systems by adjusted mean" not in pairs.out


def test_help_fits_a_screen(run: Run) -> None:
    assert len(run("rank", "--help").out.splitlines()) <= 60


def test_json_is_what_read_result_restores(run: Run) -> None:
    assert run("rank", "runs.csv", "--format", "json", "-o", "rank.json", "--folds", "3").code == 0
    plain = json.loads(Path("rank.json").read_text(encoding="utf-8"))
    assert {"systems", "contrasts", "fixed", "random", "interactions", "r2", "cv", "waterfall"} <= set(plain)
    assert {"name", "mean", "low", "high", "rank", "p_best"} <= set(plain["systems"][0])
    assert {"group", "term", "variance", "sd", "percent", "lrt", "df", "p"} <= set(plain["random"][0])
    assert set(plain["r2"]) == {"marginal", "conditional"}
    assert plain["cv"]["folds"] == 3
    found = read_result("rank.json")
    assert isinstance(found, Ranking)
    assert {s.name for s in found.systems} == set(SYSTEMS)
    assert {e.dataset for e in found.interactions} == set(DATASETS)


def test_names_are_safe_in_every_rendering(run: Run) -> None:
    html = _restored(run)._repr_html_()
    assert "<script>" not in html
    assert "<b>d</b>" not in html
    assert "&lt;script&gt;" in html
    latex = run("rank", "runs.csv", "--folds", "0", "--format", "latex").out
    assert "a\\&b" in latex
    assert "x\\_1\\%" in latex
    markdown = run("rank", "runs.csv", "--folds", "0", "--format", "markdown").out
    assert "\\<script" in markdown
    assert not re.search(r"(?<!\\)<script", markdown)


def _restored(run: Run) -> Any:
    run("rank", "runs.csv", "--format", "json", "-o", "rank.json", "--folds", "0")
    return read_result("rank.json")


def test_paper_forms_and_predictions_print(run: Run) -> None:
    asked = "system=a:b,dataset=e:f,seed=2,lr=1e-5"
    done = run(
        "rank", "runs.csv", "--paper", "--forms", "--folds", "2", "--predict", asked, "--pair", "a:b,None", "--full"
    )
    assert done.code == 0
    assert "Predicted score of the configuration" in done.out
    assert "slopes by system" in done.out
    assert "From the raw gap of a:b - None" in done.out


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--nuisance", "nope"], 1, "no column 'nope'"),
        (["--formula", "score ~ (1|system"], 1, "expected ')'"),
        (["--treat", "lr"], 2, "epochs=numeric"),
        (["--predict", "system"], 2, "system=A,dataset=X"),
        (["--where", "dataset=NA"], 1, "only one dataset, 'NA'"),
        (["--treat", "lr=fixed", "--treat", "lr=random"], 2, "'lr' is given twice: fixed and random"),
        (["--predict", "system=a:b,system=None,dataset=NA,seed=1,lr=1e-5"], 2, "'system' is given twice: a:b and None"),
        (["--nuisance", "seed,lr,seed"], 1, "--nuisance names 'seed' twice"),
        (["--contribution", "lr,lr"], 1, "--contribution names 'lr' twice"),
        (["--nuisance", "system"], 1, "by its name it is the column of the systems"),
        (["--nuisance", "dataset"], 1, "by its name it is the column of the datasets"),
        (["--formula", "f1 ~ lr + (1|system)"], 1, "it has 'score', 'system', 'dataset', 'seed', 'lr'."),
        (["--pair", "None,nobody"], 1, "one whose name holds commas is quoted"),
        (["--treat", "lr=logs"], 1, "--treat lr=logs: a column can be treated as fixed, random, numeric, log"),
    ],
)
def test_bad_options_are_one_line(run: Run, options: list[str], code: int, message: str) -> None:
    done = run("rank", "runs.csv", *options)
    assert done.code == code
    assert message in done.err
    if code == 1:
        assert done.err.count("\n") == 1


def test_a_system_whose_name_holds_a_comma_can_be_asked_for(run: Run) -> None:
    text = Path("runs.csv").read_text(encoding="utf-8").replace("\na:b,", '\n"a, b",')
    Path("commas.csv").write_text(text, encoding="utf-8")
    asked = ["--pair", '"a, b",None', "--predict", 'system="a, b",dataset=e:f,seed=2,lr=1e-5']
    done = run("rank", "commas.csv", "--folds", "0", "--full", *asked)
    assert done.code == 0
    assert "From the raw gap of a, b - None" in done.out
    assert "system a, b" in done.out
    assert '|pair:"a, b",None|' in done.out


def test_a_setting_that_is_one_with_the_systems_is_to_be_left_out_of_a_formula(run: Run) -> None:
    lines = Path("runs.csv").read_text(encoding="utf-8").splitlines()
    own = [f"{line},{SYSTEMS.index(line.split(',')[0]) // 2}" for line in lines[1:]]
    Path("own.csv").write_text("\n".join([f"{lines[0]},big", *own]) + "\n", encoding="utf-8")
    formula = "score ~ big + (1|system) + (1|dataset) + (1|system:dataset)"
    done = run("rank", "own.csv", "--formula", formula)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "leave big out of the formula" in done.err
    left = run("rank", "own.csv", "--nuisance", "lr,seed,big", "--folds", "0", "--full").out.replace("\n  ", " ")
    assert "Each system has one big: its effect is part of the system's." in left
    assert "give --contribution big." in left


def test_a_formula_in_the_names_of_roles_is_told_those_of_its_columns(run: Run) -> None:
    text = Path("runs.csv").read_text(encoding="utf-8").replace("system,", "model,", 1)
    Path("models.csv").write_text(text, encoding="utf-8")
    done = run("rank", "models.csv", "--formula", "score ~ lr + (1|system) + (1|dataset)")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "there is no column 'system'; the systems are in 'model': write model" in done.err


def test_a_column_whose_name_holds_a_comma_can_be_treated_quoted_or_not(run: Run) -> None:
    header, rest = Path("runs.csv").read_text(encoding="utf-8").split("\n", 1)
    Path("peak.csv").write_text(header.replace("lr", '"lr (peak), x"') + "\n" + rest, encoding="utf-8")
    for name in ('"lr (peak), x"', "lr (peak), x"):
        done = run(
            "rank",
            "peak.csv",
            "--full",
            "--folds",
            "0",
            "--nuisance",
            'seed,"lr (peak), x"',
            "--treat",
            f"{name}=random",
        )
        assert done.code == 0, done.err
        assert "(1 | `lr (peak), x`)" in done.out.replace("\n  ", " ")


def test_a_logarithm_is_refused_where_a_number_has_none(run: Run) -> None:
    lines = Path("runs.csv").read_text(encoding="utf-8").splitlines()
    Path("warm.csv").write_text(
        "\n".join([f"{lines[0]},warmup", *(f"{line},{i % 3}" for i, line in enumerate(lines[1:]))]), encoding="utf-8"
    )
    done = run("rank", "warm.csv", "--treat", "warmup=log")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "'warmup' has 0, and only positive numbers have a logarithm" in done.err
