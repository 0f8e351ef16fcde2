"""Results that version 0.2.0.dev1 saved (schema 1) are still read: they answer, keep their numbers and their signature."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import holdsup

FILES = sorted(Path(__file__).with_name("schema1").glob("*.json"))
STATES = {None, "yes", "no", "unclear"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_saved_result_answers_and_keeps_its_signature(file: Path) -> None:
    saved = json.loads(file.read_text(encoding="utf-8"))
    assert saved["schema"] == 1
    found = holdsup.read_result(file)
    assert found.kind == saved["kind"]
    assert found.signature == saved["signature"]
    assert found.state in STATES
    assert 0 < len(found.headline.split()) <= 25
    assert str(found).splitlines()[-1] == saved["signature"]
    assert found.page().text()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_saved_warnings_are_cautions_without_a_code_of_their_own(file: Path) -> None:
    saved = json.loads(file.read_text(encoding="utf-8"))
    legacy = [caution.message for caution in holdsup.read_result(file).cautions if caution.code == "legacy"]
    assert legacy == saved["warnings"]


def test_a_saved_reproduction_has_a_card_and_no_answer_that_nobody_asked_for(tmp_path: Path) -> None:
    found = holdsup.read_result(Path(__file__).with_name("schema1") / "qra.json")
    assert isinstance(found, holdsup.Reproduction)
    assert (found.state, found.within) == (None, None)
    assert "CV* of 1.85%" in found.headline
    holdsup.verdict.write_card(found, tmp_path / "card.md")
    assert "1.849%" in (tmp_path / "card.md").read_text(encoding="utf-8")
