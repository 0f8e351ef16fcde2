"""Measurements from every form in which people have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import holdsup
from holdsup.columns.limits import MOST_MEASUREMENTS
from holdsup.errors import ColumnError, MeasurementError, ReadError
from holdsup.measurements import CONDITIONS, Measurement, caution_reading, read_measurements

ROWS: list[dict[str, Any]] = [
    {"object": "NTS", "measurand": "BLEU", "value": 84.51, "scale_minimum": 0, "performed_by": "Nisioi", "seed": "1"},
    {"object": "NTS", "measurand": "BLEU", "value": 84.5, "scale_minimum": 0, "performed_by": "Cooper", "seed": "2"},
]
EXPECTED = (
    Measurement("NTS", "BLEU", 84.51, conditions={"performed_by": "Nisioi", "seed": "1"}),
    Measurement("NTS", "BLEU", 84.5, conditions={"performed_by": "Cooper", "seed": "2"}),
)


def values_of(*values: Any, **more: Any) -> list[float]:
    """Return what measurements of one thing with these values are read as."""
    return [
        one.value for one in read_measurements([{"object": "a", "measurand": "m", "value": v, **more} for v in values])
    ]


def refusal(*values: Any, **more: Any) -> str:
    with pytest.raises(MeasurementError) as refused:
        values_of(*values, **more)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def csv_text(delimiter: str = ",") -> str:
    return "\n".join(delimiter.join(str(cell) for cell in row) for row in [ROWS[0], *(r.values() for r in ROWS)]) + "\n"


def test_the_conditions_are_those_of_the_paper_in_its_order() -> None:
    assert [(key, condition.group) for key, condition in CONDITIONS.items()] == [
        ("code", "object"),
        ("compile_training", "object"),
        ("specification", "method"),
        ("implementation", "method"),
        ("procedure", "procedure"),
        ("test_set", "procedure"),
        ("performed_by", "procedure"),
    ]


@pytest.mark.parametrize(
    "form", ["list", "nested", "polars", "pandas", "arrow", "csv", "tsv", "jsonl", "json", "parquet"]
)
def test_every_form_gives_the_same_measurements(form: str, tmp_path: Path) -> None:
    nested = [
        {
            **{k: r[k] for k in ("object", "measurand", "value")},
            "conditions": {k: r[k] for k in ("performed_by", "seed")},
        }
        for r in ROWS
    ]
    path = tmp_path / f"measurements.{form}"
    source: Any = path
    if form == "list":
        source = ROWS
    elif form == "nested":
        source = nested
    elif form == "polars":
        source = pl.DataFrame(ROWS)
    elif form == "pandas":
        source = pl.DataFrame(ROWS).to_pandas()
    elif form == "arrow":
        source = pa.Table.from_pylist(ROWS)
    elif form in ("csv", "tsv"):
        path.write_text(csv_text("," if form == "csv" else "\t"))
    elif form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    elif form == "json":
        path.write_text(json.dumps({"kind": "measurements", "schema": 1, "measurements": nested}, indent=2))
    else:
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    assert holdsup.read_measurements(source) == EXPECTED


def test_measurements_that_are_read_already_stay_as_they_are() -> None:
    assert read_measurements(EXPECTED) == EXPECTED


def test_standard_conditions_come_first_and_an_empty_one_is_not_reported() -> None:
    row = {"seed": "1", "performed_by": "x", "code": "y", "test_set": "", "object": "a", "measurand": "m", "value": 1}
    (one,) = read_measurements([row])
    assert list(one.conditions.items()) == [("code", "y"), ("performed_by", "x"), ("seed", "1")]


def test_the_heads_of_the_papers_tables_are_understood() -> None:
    row = {"Object": "a", "Measurand": "m", "Code by": "1", "Comp./trained by": "2", "Method": "3", "Implem. by": "4", "Procedure": "5", "Test set": "6", "Performed by": "7", "Measured quantity value": "5.64"}  # fmt: skip
    (one,) = read_measurements([row])
    assert dict(one.conditions) == dict(zip(CONDITIONS, "1234567", strict=True))
    assert one.value == 5.64


def test_a_wide_table_gives_a_measurement_for_each_cell(tmp_path: Path) -> None:
    """The layout of the paper's Table 4, where a dash says that there is no such measurement."""
    path = tmp_path / "table4.csv"
    path.write_text(
        "object,measurand,scale_minimum,test_set,Nisioi et al.,Cooper & Shardlow,this paper\n"
        "NTS_def,BLEU,0,N,84.51,84.50,85.60\nNTS-w2v_def,BLEU,0,N,87.50,–,89.36\nPASS,Stance,0,N,91 %,97 %,\n",
        encoding="utf-8",
    )
    found = read_measurements(path)
    assert [(one.object, one.source, one.value) for one in found] == [
        ("NTS_def", "Nisioi et al.", 84.51),
        ("NTS_def", "Cooper & Shardlow", 84.5),
        ("NTS_def", "this paper", 85.6),
        ("NTS-w2v_def", "Nisioi et al.", 87.5),
        ("NTS-w2v_def", "this paper", 89.36),
        ("PASS", "Nisioi et al.", 91.0),
        ("PASS", "Cooper & Shardlow", 97.0),
    ]
    assert all(one.conditions == {"test_set": "N"} for one in found)


@pytest.mark.parametrize(
    ("column", "cell", "says"),
    [
        ("mean", "85.58", "summary"),
        ("stdev 95 % CI", "[0.45 to 2.13]", "summary"),
        ("CV* ↓", "1.562", "summary"),
        ("seed", "3", "name it conditions.seed"),
    ],
)
def test_a_wide_table_refuses_columns_that_only_look_like_values(column: str, cell: str, says: str) -> None:
    row = {"object": "a", "measurand": "m", "study 1": 84.51, column: cell}
    with pytest.raises(ColumnError, match=says):
        read_measurements([row])


def test_a_wide_column_with_a_word_among_its_numbers_is_refused() -> None:
    rows = [{"object": "a", "measurand": "m", "study": v} for v in ("1.5", "good")]
    with pytest.raises(ColumnError, match="mixes numbers with 'good'"):
        read_measurements(rows)


def test_comments_above_the_header_are_skipped_and_lines_keep_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text(
        '# a, "note"\n"# quoted, by a spreadsheet",,\n\nobject,measurand,value\n#1 system,m,1\n#1 system,m,x\n'
    )
    with pytest.raises(MeasurementError, match=r"line 6 of .*m\.csv: the value 'x' is not a finite number"):
        read_measurements(path)
    path.write_text(path.read_text().replace(",x", ",2"))
    assert [one.object for one in read_measurements(path)] == ["#1 system", "#1 system"]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("91 %", 91.0, "percent"),
        ("91%", 91.0, "percent"),
        ("91\N{NO-BREAK SPACE}%", 91.0, "percent"),
        ("91 percent", 91.0, "percent"),
        ("0.91", 0.91, ""),
        (".91", 0.91, ""),
        ("0,91", 0.91, ""),
        ("91,5 %", 91.5, "percent"),
        ("1e-3", 0.001, ""),
    ],
)
def test_values_are_read_as_people_write_them(text: str, value: float, unit: str) -> None:
    (one,) = read_measurements([{"object": "a", "measurand": "m", "value": text}])
    assert (one.value, one.unit, one.reported) == (value, unit, text)


@pytest.mark.parametrize(
    "text", ["abc", "nan", "inf", "≈91", "84.5±0.3", "5/7", "1e999", "true", "1.234,5", "1_000", "٣"]
)
def test_what_is_no_finite_number_is_refused_with_its_row(text: str) -> None:
    message = refusal(0.5, text)
    assert message.startswith("row 2 of the list given: the value ")
    assert repr(text) in message


@pytest.mark.parametrize("value", [None, "", "  ", float("nan")])
def test_an_empty_value_is_refused_with_its_row(value: Any) -> None:
    assert refusal(0.5, value) == "row 2 of the list given: there is no value: fill it in"


def test_an_infinite_value_of_a_frame_is_refused() -> None:
    with pytest.raises(MeasurementError, match="row 1"):
        read_measurements(pl.DataFrame({"object": ["a"], "measurand": ["m"], "value": [float("inf")]}))


def test_a_comma_that_may_mark_thousands_is_refused() -> None:
    assert "'1,234' could be 1.234 or 1234" in refusal("1,234")


def test_one_line_tells_how_many_rows_are_wrong() -> None:
    assert refusal("x", "y", "z").endswith("(2 more: see holdsup qra --validate)")


def test_percentages_and_proportions_become_percent_with_a_note() -> None:
    rows = [{"object": "a", "measurand": "m", "value": v} for v in ("91 %", ".91", "0.07")]
    found = read_measurements(rows)
    assert [(one.value, one.unit) for one in found] == [(91.0, "percent"), (91.0, "percent"), (7.0, "percent")]
    note, repeated = caution_reading(found)  # .91 is 91 %, again
    assert (note.code, repeated.code) == ("converted", "repeated")
    assert note.message == "Read as percentages, like the other values: m of a: .91 as 91 %, 0.07 as 7 %."


def test_numbers_above_one_beside_percentages_are_percentages_without_a_note() -> None:
    found = read_measurements([{"object": "a", "measurand": "m", "value": v} for v in ("91 %", "90", "0")])
    assert [(one.value, one.unit) for one in found] == [(91.0, "percent"), (90.0, "percent"), (0.0, "percent")]
    assert not list(caution_reading(found))


def test_proportions_that_are_told_stay_proportions() -> None:
    assert values_of(0.91, 0.5, unit="proportion") == [0.91, 0.5]
    assert "91 isn't a proportion" in refusal(91, unit="proportion")


def test_the_scale_minimum_is_converted_with_the_value() -> None:
    rows = [{"object": "a", "measurand": "m", "value": "91 %", "scale_minimum": "25"}, {"object": "a", "measurand": "m", "value": 0.5, "scale_minimum": 0.25}]  # fmt: skip
    assert [(one.value, one.scale_minimum) for one in read_measurements(rows)] == [(91.0, 25.0), (50.0, 25.0)]


def test_mixtures_that_may_be_either_are_refused_and_the_unit_settles_them() -> None:
    assert "is one a proportion and the other a percentage?" in refusal(91, 0.91)
    assert "could be percentages or proportions" in refusal("91 %", 0.91, 90)
    assert "could be percentages or proportions" in refusal("0.8 %", 0.9)
    assert values_of(91, 0.91, unit="points") == [91.0, 0.91]


def test_small_values_about_one_are_no_mixture() -> None:
    assert values_of(0.8, 1.2) == [0.8, 1.2]


def test_other_units_that_differ_are_refused() -> None:
    rows = [{"object": "a", "measurand": "m", "value": v, "unit": u} for v, u in ((1.5, "s"), (1500, "ms"))]
    with pytest.raises(MeasurementError, match="has the units ms and s"):
        read_measurements(rows)


def test_a_percent_sign_with_another_unit_is_refused() -> None:
    assert "has the unit 'points'" in refusal("91 %", unit="points")


def test_different_scale_minima_of_one_thing_are_refused() -> None:
    rows = [{"object": "a", "measurand": "m", "value": 5, "scale_minimum": low} for low in ("1", "")]
    with pytest.raises(MeasurementError, match="is 1 here and 0 in row 2"):
        read_measurements(rows)


def test_a_value_below_the_scale_is_refused() -> None:
    assert "the value 0.5 of m of a is below the minimum of its scale, 1" in refusal(0.5, scale_minimum=1)


def test_two_columns_for_one_thing_are_refused_only_where_both_are_filled() -> None:
    row = {"object": "a", "measurand": "m", "value": 1.0, "code": "x", "conditions": {"code": ""}}
    assert read_measurements([row])[0].conditions == {"code": "x"}
    with pytest.raises(MeasurementError, match="two columns give code"):
        read_measurements([{**row, "conditions": {"code": "y"}}])


def test_a_missing_column_is_named_with_the_nearest_one() -> None:
    with pytest.raises(ColumnError, match=r"no column 'measurand'.*Did you mean 'mesurand'"):
        read_measurements([{"object": "a", "mesurand": "m", "value": 1}])


@pytest.mark.parametrize("name", ["object", "measurand"])
def test_a_row_without_object_or_measurand_is_refused(name: str) -> None:
    row = {"object": "a", "measurand": "m", "value": 1}
    with pytest.raises(MeasurementError, match=f"row 2 of the list given: there is no {name}"):
        read_measurements([row, {**row, name: None}])


def test_empty_rows_that_spreadsheets_leave_are_none(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("object,measurand,value\na,m,1\n,,\na,m,2\n,,\n")
    assert [one.value for one in read_measurements(path)] == [1.0, 2.0]


@pytest.mark.parametrize("source", [[], {"measurements": []}])
def test_no_measurements_at_all_is_one_clear_line(source: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps(source))
    with pytest.raises(MeasurementError, match="has no measurements yet"):
        read_measurements(path)


def test_a_file_that_is_not_there_is_a_read_error(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such file"):
        read_measurements(tmp_path / "none.csv")


def test_a_table_of_scores_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    count = MOST_MEASUREMENTS + 1
    pq.write_table(pa.table({"system": ["A"] * count, "metric": ["m"] * count, "score": [0.5] * count}), path)
    with pytest.raises(MeasurementError, match="holdsup compare"):
        read_measurements(path)


def test_a_measurement_is_finite_and_hashable() -> None:
    with pytest.raises(MeasurementError, match="finite"):
        Measurement("a", "m", float("nan"))
    assert len({*EXPECTED, *EXPECTED}) == 2


def _csv(folder: Path, text: str) -> Path:
    file = folder / "table.csv"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("cell", ["oops", "84.5±0.3"])
def test_text_among_columns_of_values_is_refused_unless_it_says_that_it_is_a_condition(
    tmp_path: Path, cell: str
) -> None:
    with pytest.raises(ColumnError, match=r"column 'B' .* not a number, and is not a known condition.*conditions\.B"):
        read_measurements(_csv(tmp_path, f"object,measurand,A,B,C\nX,b,30,{cell},31\n"))
    found = read_measurements(_csv(tmp_path, f"object,measurand,A,conditions.B,C\nX,b,30,{cell},31\n"))
    assert [(one.value, dict(one.conditions)) for one in found] == [(30, {"B": cell}), (31, {"B": cell})]


@pytest.mark.parametrize("gap", ["n/a", "-", ""])
def test_a_study_of_a_wide_table_without_any_value_is_no_condition(tmp_path: Path, gap: str) -> None:
    found = read_measurements(_csv(tmp_path, f"object,measurand,A,B,C\nX,b,30,{gap},31\n"))
    assert [(one.source, one.value, dict(one.conditions)) for one in found] == [("A", 30, {}), ("C", 31, {})]


def test_a_saved_index_is_no_condition_and_no_column_of_values(tmp_path: Path) -> None:
    tidy = read_measurements(_csv(tmp_path, ",object,measurand,value\n0,X,b,30\n2,X,b,31\n"))
    wide = read_measurements(_csv(tmp_path, ",object,measurand,A,B\n0,X,b,30,31\n"))
    assert [(one.value, dict(one.conditions)) for one in (*tidy, *wide)] == [(30, {}), (31, {})] * 2
    with pytest.raises(ColumnError, match="has no name but has values, such as 'red'"):
        read_measurements(_csv(tmp_path, "object,measurand,value,\nX,b,30,red\nX,b,31,blue\n"))


@pytest.mark.parametrize(("field", "value"), [("kind", "scores"), ("schema", 99), ("schema", True)])
def test_a_document_of_another_kind_or_version_is_refused(tmp_path: Path, field: str, value: Any) -> None:
    records = [{"object": "X", "measurand": "b", "value": v} for v in (3, 4)]
    document = {"kind": "measurements", "schema": 1, "measurements": records}
    file = tmp_path / "m.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    assert len(read_measurements(file)) == 2
    file.write_text(json.dumps({**document, field: value}), encoding="utf-8")
    with pytest.raises(ReadError, match=f"whose {field} is {value!r}"):
        read_measurements(file)


@pytest.mark.parametrize(
    ("values", "line"),
    [(["91 %", ".91", "90"], 3), (["0.5 %", "0.4"], 3), (["91", "92", ".91"], 4), ([".91", ".92", "91"], 4)],
)
def test_what_may_be_percent_or_proportion_is_named_by_its_own_line(
    tmp_path: Path, values: list[str], line: int
) -> None:
    rows = "".join(f"X,b,{value}\n" for value in values)
    with pytest.raises(MeasurementError, match=f"^line {line} of "):
        read_measurements(_csv(tmp_path, f"object,measurand,value\n{rows}"))


def test_pct_is_percent() -> None:
    rows = [
        {"object": "X", "measurand": "b", "value": v, "unit": u} for v, u in ((91, "pct"), (90, "%"), ("89 pct", ""))
    ]
    assert {(one.value, one.unit) for one in read_measurements(rows)} == {(v, "percent") for v in (91, 90, 89)}


def test_words_for_nothing_are_not_reported_and_none_may_be_a_condition() -> None:
    written = {"code": "N/A", "test_set": "?", "procedure": "unknown", "seed": "-", "preprocessing": "none"}
    (one,) = read_measurements([{"object": "X", "measurand": "b", "value": 3, **written}])
    assert one.conditions == written
    assert one.known == {"preprocessing": "none"}


def test_a_condition_that_is_a_list_is_refused_in_one_line() -> None:
    rows = [{"object": "X", "measurand": "b", "value": v, "code": ["x", "y"]} for v in (3, 4)]
    with pytest.raises(ColumnError, match="column 'code' of the list given has lists") as refused:
        read_measurements(rows)
    assert "kernel" not in str(refused.value)


def test_a_value_too_far_from_the_scale_minimum_is_refused() -> None:
    with pytest.raises(MeasurementError, match="too far from the scale minimum"):
        read_measurements([{"object": "X", "measurand": "b", "value": 1.7e308, "scale_minimum": -1.7e308}])


def test_a_long_text_is_quoted_to_its_end_or_with_a_mark_where_it_is_cut() -> None:
    with pytest.raises(MeasurementError, match=r"the value 'about eighty-four, as far as one can tel…' is not"):
        read_measurements(
            [{"object": "X", "measurand": "b", "value": "about eighty-four, as far as one can tell by eye"}]
        )


@pytest.mark.parametrize(
    ("columns", "pointer"),
    [
        (["model", "seed", "question_id", "f1"], "--seeds"),
        (["system", "run", "score"], "--seeds"),
        (["rater", "item", "label"], "--kind labels"),
        (["study", "item", "score"], "--kind scores"),
    ],
)
def test_tables_of_something_else_are_sent_to_the_right_question(columns: list[str], pointer: str) -> None:
    with pytest.raises(ColumnError, match=pointer):
        read_measurements([dict.fromkeys(columns, "1")])
