"""Every reader keeps the contract on real logs, and questions are answered or refused honestly without an option."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lm_eval_layout import make_lines, write_run

from holdsup.logs.registry import KNOWN, find_readers
from holdsup.testing import check_reader

PLACES = {
    "inspect": "inspect", "lm_eval": "lm_eval", "helm": "helm", "every_eval_ever": "every_eval_ever",
    "mlflow": "mlflow", "hf_trainer": "hf_trainer",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", PLACES)
def test_readers_keep_the_contract_on_real_logs(formats: Path, name: str) -> None:
    reader = dict(zip(KNOWN, find_readers(), strict=True))[name]
    check_reader(reader, formats / PLACES[name])


@pytest.mark.parametrize(
    ("place", "code", "said"),
    [
        ("lm_eval", 0, "No system is better by any of four metrics."),
        ("inspect", 0, "2 samples x 12 items"),
        ("eee_fixtures/inspect", 0, "3 items can't rule out no difference"),
        ("eee_fixtures/helm", 1, "the systems have no task in common"),
    ],
)
def test_questions_about_real_logs_need_no_option(
    formats: Path, run: Callable[..., Any], place: str, code: int, said: str
) -> None:
    done = run("compare", formats / place)
    assert done.code == code
    assert said in " ".join((done.out + done.err).replace("\n", " ").split())


def test_a_formula_over_logs_is_pointed_to_import(tmp_path: Path, run: Callable[..., Any]) -> None:
    write_run(tmp_path / "runs", {"arc": make_lines({"acc": [1.0, 0.0, 1.0]})})
    done = run("fit", "score ~ 1 + (1 | item)", tmp_path / "runs")
    assert done.code == 1
    assert "is a log of lm-evaluation-harness, and a formula needs a table" in done.err
    assert f"holdsup import {tmp_path / 'runs'} -o scores.parquet" in done.err
    (tmp_path / "scores.csv").write_text("item,score\n1,2\n")
    assert "no column 'wage'" in run("fit", "wage ~ 1", tmp_path / "scores.csv").err
