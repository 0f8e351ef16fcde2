"""`holdsup qra`: the way from an empty table to a card, and every kind of question."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import holdsup
from holdsup.data import belz2022
from holdsup.measurements import write_measurements

Run = Callable[..., Any]


def test_from_the_template_to_the_card(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    assert run("qra", "--init", file).code == 0
    with file.open("a", encoding="utf-8") as stream:
        stream.write("tagger,F1,91 %,,,ours,ours,F1,seqeval,as published,CoNLL,we,paper,2024\n")
        stream.write("tagger,F1,89.5 %,,,ours,theirs,F1,seqeval,as published,CoNLL,they,report,2025\n")
    checked = run("qra", file, "--validate")
    assert checked.code == 0
    assert "error" not in checked.out
    card = tmp_path / "card.html"
    done = run("qra", file, "--card", card)
    assert done.code == 0
    assert "compile training and performed by (reproducibility)" in done.out
    assert "what to align next" in card.read_text(encoding="utf-8")


def test_the_example_prints_table_6_with_its_conditions(run: Run) -> None:
    done = run("qra", "--example", "--where", "measurand=wF1", "--full")
    assert done.code == 0
    for cv in "14.633 10.609 10.440 3.818 3.808 4.500 4.387 17.147 18.248 17.033 16.226".split():
        assert cv in done.out
    for name in ("Huber & Çöltekin", "Bestgen", "≈Vajjala & Rama"):
        assert name in done.out


def test_json_is_the_contracts(run: Run) -> None:
    done = run("qra", "--example", "--format", "json")
    plain = json.loads(done.out)
    assert plain["kind"] == "qra"
    assert len(plain["assessments"]) == 18
    assert {"object", "measurand", "n", "mean", "sd", "sd_low", "sd_high", "cv", "repeatability"} <= set(
        plain["assessments"][0]
    )
    assert plain["conditions"]


def test_written_measurements_give_the_same_answer(run: Run, tmp_path: Path) -> None:
    kept = ("--where", "measurand=SARI", "--format", "json")
    for name in ("all.csv", "all.json"):
        write_measurements(belz2022(), tmp_path / name)
        before = run("qra", "--example", *kept)
        assert holdsup.read_measurements(tmp_path / name) == belz2022()
        after = run("qra", tmp_path / name, *kept)
        assert after.out == before.out


def test_seeds_take_a_table_of_scores(run: Run, root: Path) -> None:
    done = run("qra", "--seeds", root / "examples/scores.csv", "--quiet")
    assert done.code == 0
    assert "2 for repeatability" in done.out


def test_scores_labels_and_findings_are_asked_for_by_kind(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    rows = [f"{who},{i},{(i + (who == 'b') * (i % 2)) % 5}" for who in "ab" for i in range(12)]
    file.write_text("rater,id,score\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert "Pearson" in run("qra", file, "--kind", "scores", "--original", "a").out
    labels = run("qra", file, "--kind", "labels", "--label", "score", "--scale", "ordinal")
    assert "Krippendorff's alpha = " in labels.out
    assert "(ordinal;" in labels.out
    findings = run("qra", "--example", "--kind", "findings", "--where", "measurand=wF1")
    assert "283 of 385 findings (74%) hold" in findings.out


def test_validation_says_what_is_wrong_and_exits_with_1(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "bad.csv"
    file.write_text("object,measurand,value,preformed_by\ntagger,F1,high,me\ntagger,F1,0.9,you\n", encoding="utf-8")
    done = run("qra", file, "--validate")
    assert done.code == 1
    assert "1 measurement whose value is not a number" in " ".join(done.out.split())
    assert "did you mean performed_by?" in run("qra", file, "--validate", "--full").out
    refused = run("qra", file)
    assert refused.code == 1
    assert refused.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["x.csv", "--example"],
        ["--example", "--kind", "scores", "--card", "x.html"],
        ["--example", "--kind", "labels", "--where", "a=b"],
        ["--example", "--seeds", "--validate"],
        ["--example", "--seeds"],
        ["--example", "--scale", "ordinal"],
        ["--example", "--kind", "scores"],
        ["--example", "--system", "model"],
        ["--example", "--where", "nonsense"],
    ],
)
def test_options_that_have_no_part_are_refused(run: Run, arguments: list[str]) -> None:
    done = run("qra", *arguments)
    assert done.code == 2
    assert "Error" in done.err


def test_a_single_measurement_is_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "one.csv"
    file.write_text("object,measurand,value\ntagger,F1,0.9\n", encoding="utf-8")
    done = run("qra", file)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "add a second one" in done.err


def test_the_data_are_not_overwritten_by_the_card(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "card.md"
    file.write_text("object,measurand,value\ntagger,F1,0.9\ntagger,F1,0.8\n", encoding="utf-8")
    done = run("qra", file, "--card", file)
    assert done.code == 1
    assert "it is one of the files to read" in done.err


def test_every_format_and_the_picture_are_written(run: Run, tmp_path: Path) -> None:
    for style in ("text", "markdown", "latex", "json"):
        assert run("qra", "--example", "--where", "object=PASS", "--format", style).code == 0
    assert run("qra", "--example", "--where", "object=PASS", "--plot", tmp_path / "p.svg").code == 0
    assert (tmp_path / "p.svg").stat().st_size > 1000


def test_two_things_are_not_written_to_one_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "same.md"
    done = run("qra", "--example", "--where", "object=PASS", "--card", file, "-o", tmp_path / "." / "same.md")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "cannot write same.md twice" in done.err
    assert not file.exists()


def test_a_template_is_not_asked_for_beside_data(run: Run, tmp_path: Path) -> None:
    done = run("qra", tmp_path / "mine.csv", "--init", tmp_path / "new.csv")
    assert done.code == 2
    assert not (tmp_path / "new.csv").exists()


def test_an_option_that_has_no_part_says_where_it_has_one(run: Run) -> None:
    assert "use it with --kind values, --seeds" in run("qra", "x.csv", "--kind", "labels", "--scale-minimum", "0").err
    assert "use it with --kind labels" in run("qra", "--example", "--scale", "ordinal").err


def test_where_a_scale_starts_can_be_said_on_the_command_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("object,measurand,value,performed_by\nPASS,Fluency,5.36,a\nPASS,Fluency,6.14,b\n")
    open_, told, zero = (
        run("qra", tmp_path / "m.csv", *asked) for asked in ([], *(["--scale-minimum", n] for n in "10"))
    )
    assert "Counted from 0, CV* is 13.525; from 1, it is 16.372" in " ".join(open_.out.split())
    assert "CV* of 16.4%" in told.out
    assert "CV* of 13.5%" in zero.out
    assert not any("Counted from" in done.out for done in (told, zero))
