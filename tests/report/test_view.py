"""What a report shows: the same words and cells as every other rendering, and nothing that is not in the results."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import holdsup
from holdsup.errors import ResultError
from holdsup.rendering import Answer, Table
from holdsup.rendering.markup import render_latex
from holdsup.report import Entry
from holdsup.report.references import REFERENCES, write_bibtex
from holdsup.report.view import describe_method, find_systems, make_view
from holdsup.report.writing import read_entries
from holdsup.results import KINDS, Asked, Caution, Result, Rows
from holdsup.results.kinds import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Unheard(Result):
    """A kind of result that the report knows nothing of."""

    kind: ClassVar[str] = "unheard"

    def answer(self) -> Answer:
        return Answer(question="What does it say?", state=None, headline="Nothing.", signature=self.signature)

    def tables(self) -> tuple[Table, ...]:
        return (Table(title="t", columns=("a",), rows=((1,),)),)


def test_every_table_of_every_result_is_shown_in_order(results: list[Result]) -> None:
    view = make_view(results)
    for section, result in zip(view.sections, results, strict=True):
        for block, table in zip(section.blocks, result.tables(), strict=True):
            assert replace(block.table, title=table.title) == table
            assert block.table.title.startswith(table.title)  # what the score is may follow
        assert (section.state, section.headline) == (result.state, result.headline)
        assert section.signature == result.signature
        said = {*section.caveats, *(caution for block in section.blocks for caution in block.cautions)}
        assert said == {caution.sentence() for caution in result.remarks()}


def test_a_caution_stands_at_the_table_that_it_is_about(results: list[Result]) -> None:
    (compared,) = [result for result in results if result.kind == "compare"]
    made = [
        Caution(code="a", about="table:tests", message="Of the tests.", severity="note"),
        Caution(code="b", about="system:new", message="Of one system."),
        Caution(code="c", about="pair:new - baseline", message="Of a pair.", severity="note"),
        Caution(code="d", about="claim", message="Of all."),
        Caution(code="e", about="table:nowhere", message="Of nothing.", severity="error"),
    ]
    (section,) = make_view([replace(compared, cautions=tuple(made))]).sections
    beside = {block.table.name: block.cautions for block in section.blocks if block.cautions}
    assert beside == {"systems": ("Of one system.",), "contrasts": ("Of a pair.",), "tests": ("Of the tests.",)}
    assert section.caveats == ("Of nothing.", "Of one system.", "Of all.")  # the gravest first, notes at their tables


def test_a_section_begins_with_the_short_answer(results: list[Result]) -> None:
    for section, result in zip(make_view(results).sections, results, strict=True):
        answer = result.answer()
        assert section.heading == answer.question
        assert {label for label, _ in section.foot} <= {label for label, _ in answer.foot} - {"caveat"}
        small = [part for part in answer.parts if isinstance(part, Table)]
        assert [block.table.rows for block in section.small] == [table.rows for table in small]


def test_a_result_of_another_version_is_shown_with_a_remark(results: list[Result], tmp_path: Path) -> None:
    changed = results[0].to_dict() | {"version": "9.8.7", "flavour": "new"}
    (tmp_path / "a.json").write_text(json.dumps(changed))
    (section,) = make_view(read_entries([tmp_path / "a.json"])).sections
    assert len(section.remarks) == 2
    assert section.remarks[0].startswith("holdsup 9.8.7 made these numbers;")
    assert section.remarks[1].endswith("doesn't know and doesn't show: 'flavour'.")
    (tmp_path / "a.json").write_text(results[0].to_json())
    (section,) = make_view(read_entries([tmp_path / "a.json"])).sections
    assert section.remarks == ()


def test_the_command_says_so_on_standard_error_and_on_the_page(results: list[Result], tmp_path: Path, run: Any) -> None:
    changed = results[0].to_dict() | {"version": "9.8.7"}
    (tmp_path / "a.json").write_text(json.dumps(changed))
    done = run("report", tmp_path / "a.json", "-o", tmp_path / "page.html")
    assert done.code == 0
    assert done.err.startswith("a.json: holdsup 9.8.7 made these numbers;")
    assert "holdsup 9.8.7 made these numbers;" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_every_picture_stands_at_the_table_that_it_belongs_to(results: list[Result]) -> None:
    for section in make_view(results).sections:
        assert section.picture is not None
        assert section.headline in section.picture.alt
        names = [block.table.name for block in section.blocks]
        assert section.picture.panel.beside in names, section.kind
        for block in section.blocks:
            for picture in block.pictures:
                assert picture.panel.beside == block.table.name, picture.name
                assert section.headline in picture.alt


def test_names_of_files_differ(results: list[Result]) -> None:
    view = make_view([*results, *results])
    names = [block.name for section in view.sections for block in (*section.small, *section.blocks)]
    names += [picture.name for section in view.sections for picture in section.pictures()]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[\w-]+", name) for name in names)


def test_systems_are_found_in_results_of_any_kind(results: list[Result]) -> None:
    found = {result.kind: find_systems(result) for result in results}
    assert found["compare"] == found["variance"] == found["check"] == {"baseline", "new", "wide"}
    assert found["contest"] == {"baseline", "new"}
    assert found["qra"] == set()


def test_a_kind_that_the_report_does_not_know_is_shown_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "unheard", Kind("What does it say?", ""))
    unheard = Unheard(asked=Asked.about("unheard"), seed=7, rows=Rows(1, 1), version="1")
    (section,) = make_view([unheard]).sections
    assert section.heading == "What does it say?"
    assert section.method == ("Computed with holdsup 1, seed 7.",)
    assert section.command is None
    assert [block.pictures for block in section.blocks] == [()]


NOTES = (("Data:", "We simulated."), ("", "Twice."))


def test_an_entry_adds_a_heading_and_notes(results: list[Result]) -> None:
    (section,) = make_view([Entry(result=results[0], heading="Ours", notes=NOTES, source="a.json")]).sections
    assert (section.heading, section.notes, section.source) == ("Ours", NOTES, "a.json")


def test_a_report_of_nothing_is_refused() -> None:
    with pytest.raises(ResultError, match="a report needs results"):
        make_view([])


def test_every_kind_has_a_question_of_its_own() -> None:
    assert len({kind.question for kind in KINDS.values()}) == len(KINDS)


def test_methods_say_what_was_done_and_cite_what_there_is(results: list[Result]) -> None:
    said = {result.kind: describe_method(result) for result in results}
    for method in said.values():
        assert set(method.citations) <= REFERENCES.keys()
        assert all(sentence.endswith(".") for sentence in method.sentences)
    compare = " ".join(said["compare"].sentences)
    assert "3 systems were compared with baseline" in compare
    assert "single-step max-t" in compare
    assert "score ~ system + (1 | item) + (1 | system:item) + (1 | system:run)" in compare
    assert said["compare"].citations[0] == "hagmann2023"
    assert said["contest"].citations[:2] == ("xue2023", "wang2014")
    assert "J=4 partitions into K=5 folds" in " ".join(said["tune"].sentences)
    assert "seed 1" in said["tune"].sentences[-1]


def test_the_bootstrap_is_named_with_its_draws_and_seed() -> None:
    scores = holdsup.simulate_scores({"A": 0.7, "B": 0.7}, items=10, runs=3)
    sentences = describe_method(holdsup.compare_systems(scores, bootstrap=20, seed=9)).sentences
    assert "parametric bootstrap of 20 draws" in " ".join(sentences)
    assert sentences[-1].endswith("seed 9.")


def test_references_are_whole() -> None:
    for key, reference in REFERENCES.items():
        entry = reference.bibtex(key)
        assert entry.count("{") == entry.count("}")
        assert str(reference.year) in reference.cite()
        assert "{" not in reference.line() + reference.cite()
    assert write_bibtex(["belz2022", "belz2022"]).count("@inproceedings") == 1


DRAWN = np.random.default_rng(5).normal(0.5, 0.05, 48)
CELLS = itertools.product("ABC", "wxyz", "12", ("0.1", "0.2"))
RUNS = "\n".join(
    ["system,dataset,seed,lr,score", *(f"{','.join(cell)},{x}" for cell, x in zip(CELLS, DRAWN, strict=True))]
)
MEASURED = "\n".join(
    ["object,measurand,value,performed_by,code", *(f"A,F1,{x},{lab},c{lab}" for lab, x in enumerate(DRAWN[:6]))]
)
REDONE = [
    "check examples/scores.csv --range 0,1",
    "compare examples/scores.csv --claim these-runs --baseline baseline --level 0.9 --lower-is-better",
    "compare examples/scores.csv --bootstrap 20 --seed 3 --margin 0.1",
    "compare examples/scores.csv --where seed=2 --claim these-runs",
    "variance examples/scores.csv",
    "fit 'f1 ~ model + (1 | question_id)' examples/scores.csv --ml",
    "qra measured.csv --level 0.9 --within 5%",
    "rank runs.csv --folds 0",
    "rank runs.csv --nuisance lr,seed --treat lr=numeric --pair B,C --level 0.9 --seed 4",
    "rank runs.csv --paper --folds 0 --where seed=1",
    "rank runs.csv --formula 'score ~ lr + (1 | system) + (1 | dataset)' --folds 0 --lower-is-better",
]


@pytest.mark.parametrize("line", REDONE)
def test_the_command_of_a_signature_gives_the_same_signature(
    line: str, run: Any, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The strongest check that there is: run it."""
    shutil.copytree(root / "examples", tmp_path / "examples")
    (tmp_path / "runs.csv").write_text(RUNS)
    (tmp_path / "measured.csv").write_text(MEASURED)
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line)
    data = next(word for word in words if word.endswith(".csv"))
    assert run(*words, "--format", "json", "-o", "first.json").code == 0
    result = holdsup.read_result("first.json")
    command = result.asked.command()
    assert command is not None
    again = [word if word != "DATA" else data for word in shlex.split(command)[1:]]
    assert json.loads(run(*again, "--format", "json").out)["signature"] == result.signature


CONTEST = """
[contest]
repeats = 20

[systems.length]
call = "systems:train_length"

[systems.majority]
call = "systems:train_majority"
"""
TUNE = """
[splits]
name = "jkfold"
j = 2
k = 3

[systems.length]
call = "systems:train_length"

[candidates]
floor = [0, 1]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "asked"),
    [(CONTEST, ["contest", "--learning-curve", "--sequential", "--level", "0.9"]), (TUNE, ["tune", "--level", "0.9"])],
    ids=["contest", "tune"],
)
def test_the_command_of_a_spec_gives_the_same_signature(
    spec: str, asked: list[str], study: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, *options = asked
    data_and_metric = study.read_text().replace('"run"', f'"{kind}"').partition("[splits]")[0]
    (study.parent / "own spec.toml").write_text(data_and_metric + spec)
    monkeypatch.chdir(study.parent)
    assert run(kind, "own spec.toml", *options, "--format", "json", "-o", "first.json").code == 0
    result = holdsup.read_result("first.json")
    command = result.asked.command()
    assert command is not None
    assert sorted(shlex.split(command)) == sorted(["holdsup", *asked, "own spec.toml"])
    done = run(*shlex.split(command)[1:], "--store", "other.db", "--format", "json")
    assert json.loads(done.out)["signature"] == result.signature


def test_what_was_asked_in_python_has_no_command(results: list[Result]) -> None:
    commands = {result.kind: result.asked.command() for result in results}
    assert commands["contest"] is commands["tune"] is None
    assert commands["rank"] is not None


def make_two() -> list[Result]:
    """Return comparisons by a score that is better when higher, and by one that is better when lower."""
    table = holdsup.simulate_scores({"A": 0.7, "B": 0.6}, items=12, runs=3)
    columns: dict[str, list[Any]] = {name: table[name].to_pylist() for name in ("system", "seed", "item")}
    columns["Quality (%)"], columns["Latency (ms)"] = table["score"].to_pylist(), table["score"].to_pylist()
    return [
        holdsup.compare_systems(columns, score="Quality (%)"),
        holdsup.compare_systems(columns, score="Latency (ms)", lower_is_better=True),
    ]


def test_results_of_different_scores_are_told_apart_in_headings_captions_and_methods() -> None:
    entries = [Entry(result=result, source=f"{i}.json") for i, result in enumerate(make_two())]
    higher, lower = make_view(entries).sections
    assert higher.title == f"{higher.heading} Of Quality (%) (compare, 0.json)"
    assert lower.title == f"{lower.heading} Of Latency (ms), lower is better (compare, 1.json)"
    for section, name in ((higher, "Quality (%)"), (lower, "Latency (ms)")):
        assert all(name in block.table.title for block in section.blocks)
        assert all(name in picture.caption for picture in section.pictures())
        shown = [*(b.table.title for b in section.blocks), *(p.caption for p in section.pictures())]
        assert all(("lower is better" in text) == (section is lower) for text in shown)
    assert "The score is Latency (ms), lower is better." in lower.method


def test_results_alike_in_all_else_are_told_apart_by_the_digest_of_their_data(results: list[Result]) -> None:
    twice = [results[1], results[1]]
    data = results[1].asked.data
    assert [section.subject for section in make_view(twice).sections] == [f"(compare, data {data})"] * 2
    assert make_view(twice[:1]).sections[0].subject == "(compare)"


def test_every_kind_says_what_it_is_of(results: list[Result]) -> None:
    said = {section.kind: section.subject for section in make_view(results).sections}
    assert said["contest"] == "Of accuracy (contest)"
    assert said["tune"] == said["qra"].replace("qra", "tune") == "Of news (tune)"
    assert {kind for kind, subject in said.items() if subject == f"({kind})"} == {
        "check", "compare", "variance", "fit", "rank", "rank_runs", "plan",  # whose column is called score
        "votes",  # which have no scores
    }  # fmt: skip


def test_methods_in_tables_are_named_so_that_they_can_be_published(results: list[Result]) -> None:
    for section in make_view(results).sections:
        for block in section.blocks:
            latex = render_latex(block.table)
            assert not re.search(r"\bours\b|\bpaper\b|Next:", latex), block.table.title
    compared = next(result for result in results if result.kind == "compare")
    cells = [row[0] for table in compared.tables() for row in table.cells()]
    assert {"holdsup, new-runs", "Hagmann et al. (2023), eqs. 3-4", "Hagmann et al. (2023), eqs. 6-7"} <= set(cells)
