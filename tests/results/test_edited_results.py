"""A saved result that was edited or cut is shown or refused in one line, never a traceback."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import holdsup
from every_kind import PLAIN, make_measurements, make_results
from holdsup.errors import HoldsupError, ResultError
from holdsup.report import write_paper, write_report
from holdsup.report.view import make_view
from holdsup.report.writing import read_entries
from holdsup.results import KINDS, Result
from holdsup.results.reading import restore
from holdsup.verdict import agree_on_labels, audit_measurements, compare_findings, compare_score_sets

KEPT = sorted(Path(__file__).with_name("schema1").glob("*.json"))
DELETED = object()
EDITS = (DELETED, None, "text", -1, 7, 1e308, [])
EVERY = 997  # of all edits of one result the share that is also drawn and written


@pytest.fixture(scope="module")
def saved() -> list[dict[str, Any]]:
    """Return a saved result of every kind that needs no training."""
    judged = [
        {
            "study": study,
            "item": i,
            "score": float(i + (study == "B") * (i % 2)),
            "label": str((i + (study == "B")) % 3),
        }
        for study in "ABC"
        for i in range(6)
    ]
    partitions = np.random.default_rng(1).normal(0.8, 0.01, (2, 4, 3))
    results: list[Result] = [
        *make_results(),
        audit_measurements([{"object": "a", "measurand": "m", "value": value} for value in (1.0, "x")]),
        compare_findings(make_measurements(PLAIN)),
        agree_on_labels([{key: row[key] for key in ("study", "item", "label")} for row in judged]),
        compare_score_sets([{key: row[key] for key in ("study", "item", "score")} for row in judged]),
        holdsup.advise_tuning({5: partitions[0], 10: partitions[1]}, budget=300, metric_name="accuracy"),
    ]
    old = [json.loads(file.read_text(encoding="utf-8")) for file in KEPT]
    made = [json.loads(result.to_json()) for result in results]
    made += [plain for plain in old if plain["kind"] not in {result.kind for result in results}]
    assert all(restore(plain).kind == plain["kind"] for plain in made)  # none is refused as it is
    assert {plain["kind"] for plain in made} >= {kind for kind in KINDS if not kind.endswith("-study")}
    return made


def list_places(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to each field; of a list, that to its last member."""
    keys = plain if isinstance(plain, dict) else [len(plain) - 1] if isinstance(plain, list) and plain else ()
    for key in keys:
        yield (*path, key)
        yield from list_places(plain[key], (*path, key))


def list_edits(plain: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the result with each of its fields in turn deleted, emptied or given another type."""
    for path in list_places(plain):
        for new in EDITS:
            edited = copy.deepcopy(plain)
            at = edited
            for key in path[:-1]:
                at = at[key]
            if new is DELETED:
                del at[path[-1]]
            else:
                at[path[-1]] = new
            yield edited


@pytest.mark.slow
def test_any_edit_of_any_field_is_shown_or_refused_in_one_line(saved: list[dict[str, Any]], tmp_path: Path) -> None:
    file, refused = tmp_path / "edited.json", set[str]()
    for plain in saved:
        for place, edited in enumerate(list_edits(plain)):
            file.write_text(json.dumps(edited), encoding="utf-8")
            try:
                entries = read_entries([file])
                make_view(entries)
                if place % EVERY == 0:
                    write_report(entries, tmp_path / "page.html")
                    write_report(entries, tmp_path / "page.md")
                    write_paper(entries, tmp_path / f"{plain['kind']}-{place}")
            except HoldsupError as error:
                refused.add(str(error))
    assert refused
    assert not [line for line in refused if "\n" in line]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("contrasts", [], "can't be shown: its parts contradict each other"),
        ("systems", [], "can't be shown: its parts contradict each other"),
        ("level", 7, "compare.level is 7, not between 0 and 1"),
        ("seed", -1, "compare.seed is -1, below 0"),
    ],
)
def test_a_comparison_that_was_edited_is_one_clear_line(
    field: str, value: object, message: str, saved: list[dict[str, Any]], tmp_path: Path
) -> None:
    plain = next(plain for plain in saved if plain["kind"] == "compare")
    (tmp_path / "edited.json").write_text(json.dumps({**plain, field: value}), encoding="utf-8")
    with pytest.raises(ResultError) as caught:
        holdsup.read_result(tmp_path / "edited.json")
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "edited.json"))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"p": 1.5}, "p is 1.5, not from 0 to 1"),
        ({"low": 3.0, "high": 2.0}, "low is 3, above 2, the other end of the interval"),
    ],
)
def test_numbers_that_no_result_can_have_are_refused(
    edit: dict[str, float], message: str, saved: list[dict[str, Any]], tmp_path: Path
) -> None:
    plain = copy.deepcopy(next(plain for plain in saved if plain["kind"] == "compare"))
    plain["contrasts"][0].update(edit)
    (tmp_path / "edited.json").write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(ResultError, match=message):
        holdsup.read_result(tmp_path / "edited.json")


def test_a_result_of_schema_1_without_a_list_of_warnings_is_refused(tmp_path: Path) -> None:
    plain = json.loads(KEPT[0].read_text(encoding="utf-8"))
    (tmp_path / "edited.json").write_text(json.dumps({**plain, "warnings": None}), encoding="utf-8")
    with pytest.raises(ResultError, match="can't be shown"):
        holdsup.read_result(tmp_path / "edited.json")


def test_every_beginning_of_a_file_is_refused_in_one_line(saved: list[dict[str, Any]], tmp_path: Path) -> None:
    whole = json.dumps(saved[0], indent=2)
    for end in range(0, len(whole) - 1, 37):
        (tmp_path / "cut.json").write_text(whole[:end], encoding="utf-8")
        with pytest.raises(ResultError, match="is not JSON"):
            holdsup.read_result(tmp_path / "cut.json")
