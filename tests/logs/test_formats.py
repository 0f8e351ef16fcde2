"""Every reader keeps the contract on real logs, and questions are answered or refused honestly without an option."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
