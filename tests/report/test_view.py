"""What a report shows: the same words and cells as every other rendering, and nothing that is not in the results."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import pytest

import holdsup
from holdsup.errors import ResultError
from holdsup.rendering import Table
from holdsup.report import Entry
from holdsup.report.methods import METHODS, OTHERS, describe_method
from holdsup.report.redoing import command_of
from holdsup.report.references import REFERENCES, write_bibtex
from holdsup.report.view import find_systems, make_view
from holdsup.results import KINDS, Result, Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Unheard(Result):
    """A kind of result that the report knows nothing of."""

    kind: ClassVar[str] = "unheard"

    def tables(self) -> tuple[Table, ...]:
        return (Table(title="t", columns=("a",), rows=((1,),)),)


def test_every_table_of_every_result_is_shown_in_order(results: list[Result]) -> None:
    view = make_view(results)
    for section, result in zip(view.sections, results, strict=True):
        assert [block.table for block in section.blocks] == list(result.tables())
        assert section.verdict == result.verdict
        assert section.signature == result.signature
        assert section.warnings == result.warnings


def test_every_picture_stands_beside_the_table_that_it_belongs_to(results: list[Result]) -> None:
    for section in make_view(results).sections:
        drawn = [(block, picture) for block in section.blocks for picture in block.pictures]
        assert drawn, section.kind
        for block, picture in drawn:
            assert picture.panel.beside, picture.name
            assert block.table.title.startswith(picture.panel.beside)
            assert section.verdict in picture.alt


def test_names_of_files_differ(results: list[Result]) -> None:
    view = make_view([*results, *results])
    blocks = [block for section in view.sections for block in section.blocks]
    names = [block.name for block in blocks] + [picture.name for block in blocks for picture in block.pictures]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[\w-]+", name) for name in names)


def test_systems_are_found_in_results_of_any_kind(results: list[Result]) -> None:
    found = {result.kind: find_systems(result) for result in results}
    assert found["compare"] == found["variance"] == found["check"] == {"baseline", "new", "wide"}
    assert found["contest"] == {"baseline", "new"}
    assert found["qra"] == set()


def test_a_kind_that_the_report_does_not_know_is_shown_all_the_same() -> None:
    unheard = Unheard(signature="unheard|v:1", seed=7, rows=Rows(1, 1), verdict="So it is.", version="1")
    (section,) = make_view([unheard]).sections
    assert section.heading == "What does unheard say?"
    assert section.method == ("Computed with holdsup 1, seed 7.",)
    assert section.command is None
    assert [block.pictures for block in section.blocks] == [()]


def test_an_entry_adds_a_heading_and_a_note(results: list[Result]) -> None:
    (section,) = make_view([Entry(result=results[0], heading="Ours", note="We simulated.", source="a.json")]).sections
    assert (section.heading, section.note, section.source) == ("Ours", "We simulated.", "a.json")


def test_a_report_of_nothing_is_refused() -> None:
    with pytest.raises(ResultError, match="a report needs results"):
        make_view([])


def test_every_kind_has_a_question_of_its_own() -> None:
    assert {*METHODS, *OTHERS} == set(KINDS)


def test_methods_say_what_was_done_and_cite_what_there_is(results: list[Result]) -> None:
    said = {result.kind: describe_method(result) for result in results}
    for method in said.values():
        assert set(method.citations) <= REFERENCES.keys()
        assert all(sentence.endswith(".") for sentence in method.sentences)
    compare = " ".join(said["compare"].sentences)
    assert "3 systems were compared with baseline, for the claim new-runs" in compare
    assert "Holm's method over 2 comparisons" in compare
    assert "score ~ system + (1 | item) + (1 | system:item) + (1 | system:run)" in compare
    assert said["compare"].citations[0] == "hagmann2023"
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


def test_the_command_of_a_signature_gives_the_same_signature(
    run: object, tmp_path: object, root: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The strongest check that there is: run it."""
    import json
    import shlex

    monkeypatch.chdir(root)  # type: ignore[arg-type]
    asked = [
        "check examples/scores.csv --range 0,1",
        "compare examples/scores.csv --claim these-runs --baseline baseline --level 0.9 --lower-is-better",
        "compare examples/scores.csv --bootstrap 20 --seed 3 --margin 0.1",
        "variance examples/scores.csv",
        "fit 'f1 ~ model + (1 | question_id)' examples/scores.csv --ml",
    ]
    for number, line in enumerate(asked):
        file = tmp_path / f"{number}.json"  # type: ignore[operator]
        assert run(*shlex.split(line), "--format", "json", "-o", file).code == 0  # type: ignore[operator]
        result = holdsup.read_result(file)
        command = command_of(result)
        assert command is not None
        again = [word if word != "DATA" else "examples/scores.csv" for word in shlex.split(command)[1:]]
        done = run(*again, "--format", "json")  # type: ignore[operator]
        assert json.loads(done.out)["signature"] == result.signature


@pytest.mark.parametrize("scores", [{"properties": "ease=flesch(source)"}], ids=["a property that is computed"])
def test_no_command_is_given_where_the_signature_does_not_tell_all(scores: dict[str, str]) -> None:
    unheard = Unheard(signature="x", seed=None, rows=Rows(1, 1), verdict="")
    assert command_of(unheard) is None
    found = holdsup.audit_scores(holdsup.simulate_scores({"A": 0.5}))
    signed = type(found).from_dict({**found.to_dict(), "signature": f"check|properties:{scores['properties']}|v:1"})
    assert command_of(signed) is None
