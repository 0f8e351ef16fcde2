"""Every kind of fault is found where it was planted, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdsup.data import belz2022
from holdsup.errors import MeasurementError, ReadError
from holdsup.measurements import CONDITIONS, Measurement, read_measurements, validate
from holdsup.results import Caution
from holdsup.verdict import assess_reproduction, audit_measurements

GOOD: dict[str, Any] = {"object": "a", "measurand": "m", "scale_minimum": 0, **{key: f"{key} 1" for key in CONDITIONS}}
PAIR = [{**GOOD, "value": 0.5}, {**GOOD, "value": 0.6, "performed_by": "others"}]


def only(rows: Any) -> Caution:
    """Return the one finding that there is."""
    (finding,) = validate(rows)
    return finding


def test_a_good_pair_gives_no_finding() -> None:
    assert validate(PAIR) == ()


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("no-object", {"object": ""}),
        ("no-measurand", {"measurand": None}),
        ("no-value", {"value": None}),
        ("bad-value", {"value": "good"}),
        ("bad-scale-minimum", {"scale_minimum": "one"}),
        ("bad-unit", {"value": "60 %", "unit": "points"}),
        ("clash", {"conditions.code": "again"}),
    ],
)
def test_a_row_that_is_no_measurement_is_an_error_that_names_it(code: str, change: dict[str, Any]) -> None:
    rows = [*PAIR, {**PAIR[1], **change}]
    finding = only(rows)
    assert (finding.code, finding.severity, finding.count) == (code, "error", 1)
    assert finding.examples[0].startswith("row 3 of the list given: ")
    with pytest.raises(MeasurementError, match=r"^row 3 of the list given: "):
        read_measurements(rows)


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("units", {"value": 60.0}),
        ("scale-minima", {"scale_minimum": 0.1}),
        ("below-scale-minimum", {"value": -0.5}),
    ],
)
def test_rows_that_do_not_go_together_are_an_error(code: str, change: dict[str, Any]) -> None:
    rows = [*PAIR, {**PAIR[1], **change, "performed_by": "third"}]
    assert (only(rows).code, only(rows).severity) == (code, "error")
    with pytest.raises(MeasurementError):
        read_measurements(rows)


def test_all_faults_are_listed_not_only_the_first() -> None:
    rows = [*PAIR, {**GOOD, "value": "x"}, {**GOOD, "value": "y"}, {**GOOD, "object": "", "value": 1}]
    assert [(f.code, f.count) for f in validate(rows)] == [("no-object", 1), ("bad-value", 2)]


def test_a_column_that_is_not_there_is_a_finding() -> None:
    finding = only([{"object": "a", "value": 1, "mesurand": "m"}])
    assert (finding.code, finding.severity) == ("columns", "error")
    assert "Did you mean 'mesurand'?" in finding.message


def test_a_file_that_cannot_be_read_is_no_finding() -> None:
    with pytest.raises(ReadError):
        validate("no-such-file.csv")


def test_conditions_that_are_not_reported_are_named_with_their_rows() -> None:
    finding = only([PAIR[0], {**PAIR[1], "test_set": ""}])
    assert finding.code == "not-reported"
    assert finding.message == "Test set (test_set) is not reported for 1 of 2 measurements."
    assert finding.examples == ("row 2 of the list given",)
    finding = only([{**row, "test_set": ""} for row in PAIR])
    assert finding.message == "Test set (test_set) is reported for no measurement."
    assert finding.count == 2


def test_a_single_measurement_is_named_and_several_objects_are_fine() -> None:
    assert validate([*PAIR, *({**row, "object": "b"} for row in PAIR)]) == ()
    finding = only([*PAIR, {**PAIR[0], "measurand": "n"}])
    assert (finding.code, finding.examples) == ("single", ("n of a (row 3 of the list given)",))


def test_the_same_measurement_twice_is_named() -> None:
    finding = only([*PAIR, PAIR[0]])
    assert (finding.code, finding.examples) == (
        "repeated",
        ("row 3 of the list given repeats row 1 of the list given",),
    )
    assert validate([*PAIR, {**PAIR[0], "time": "later"}]) == ()


def test_a_misspelt_condition_is_asked_about() -> None:
    finding = only([{**row, "preformed_by": "x"} for row in PAIR])
    assert (finding.code, finding.examples) == ("misnamed", ("preformed_by: did you mean performed_by?",))
    assert validate([{**row, "seed": "1"} for row in PAIR]) == ()


def test_ratings_without_a_scale_minimum_are_asked_about() -> None:
    ratings = [{**row, "value": value, "scale_minimum": ""} for row, value in zip(PAIR, (5.64, 6.3), strict=True)]
    assert only(ratings).code == "scale-minimum"
    for minimum in ("0", "1"):  # stated: nothing to ask
        assert validate([{**row, "scale_minimum": minimum} for row in ratings]) == ()
    assert validate([{**row, "value": 10 * row["value"]} for row in ratings]) == ()


def test_words_for_nothing_are_not_conditions() -> None:
    finding = only([{**row, "test_set": "N/A"} for row in PAIR])
    assert (finding.code, finding.count) == ("words-for-nothing", 2)
    assert finding.examples[0] == "row 1 of the list given: test_set is 'N/A'"


def test_names_that_are_written_alike_are_named() -> None:
    finding = only([{**PAIR[0], "code": "Va. & Ra."}, {**PAIR[1], "code": "Va.&Ra."}])
    assert (finding.code, finding.examples) == ("written-alike", ("code: 'Va. & Ra.' and 'Va.&Ra.'",))
    signs = [{**row, "object": name} for row in PAIR for name in ("word+", "word-")]
    assert validate(signs) == ()


def test_conversions_and_approximate_conditions_are_notes() -> None:
    finding = only([{**PAIR[0], "value": "50 %"}, PAIR[1]])
    assert (finding.code, finding.severity) == ("converted", "note")
    assert finding.examples[0].startswith("m of a: 0.6 as 60 %")
    finding = only([PAIR[0], {**PAIR[1], "implementation": "≈implementation 1"}])
    assert (finding.code, finding.severity, finding.count) == ("approximate", "note", 1)


def test_the_published_measurements_have_nothing_odd_but_their_approximate_conditions() -> None:
    finding = only(belz2022())
    assert (finding.code, finding.count) == ("approximate", 4 + 11)


def test_records_are_validated_as_well_as_files() -> None:
    ones = [Measurement("a", "m", 0.5), Measurement("a", "m", 0.6, 0.1)]
    assert [f.code for f in validate(ones)] == ["scale-minima"] + ["not-reported"] * len(CONDITIONS)


def test_text_among_columns_of_values_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text("object,measurand,A,B,C\nX,b,30,oops,31\n", encoding="utf-8")
    (finding,) = validate(file)
    assert (finding.code, finding.severity) == ("columns", "error")
    assert "'oops'" in finding.message


def test_measurements_are_counted_alike_with_and_without_validation(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text("object,measurand,A,B,C\nX,b,30,32,31\nY,b,30,-,31\n", encoding="utf-8")
    assert audit_measurements(file).rows == assess_reproduction(file).rows
    assert audit_measurements(file).rows.used == 5
