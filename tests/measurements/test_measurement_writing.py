"""What is written is what is read."""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, strategies as st

from holdsup.data import belz2022
from holdsup.errors import MeasurementError
from holdsup.measurements import CONDITIONS, Measurement, read_measurements, write_measurements, write_template

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=20).map(str.strip)
NAME = TEXT.filter(bool)


@st.composite
def measurements(draw: st.DrawFn) -> list[Measurement]:
    """Measurements of different objects, so that no units or scales have to agree."""
    objects = draw(st.lists(NAME, min_size=1, max_size=4, unique=True))
    found = []
    for name in objects:
        low = draw(st.floats(-100, 100))
        keys = st.sampled_from([*CONDITIONS, "seed", "value", "=cmd", "conditions.x", "system"])
        given = draw(st.dictionaries(keys, NAME, max_size=5))
        conditions = {**{key: given[key] for key in CONDITIONS if key in given}, **given}
        found.append(
            Measurement(name, draw(NAME), low + draw(st.floats(0, 1e6)), low, conditions, draw(TEXT), draw(TEXT))
        )
    return found


@pytest.mark.parametrize("ending", [".csv", ".json"])
@given(given_ones=measurements())
def test_what_is_written_reads_back_the_same(ending: str, given_ones: list[Measurement]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"m{ending}"
        write_measurements(given_ones, path)
        assert read_measurements(path) == tuple(given_ones)


@pytest.mark.parametrize("ending", [".csv", ".json"])
def test_the_published_measurements_survive_a_round_trip(ending: str, tmp_path: Path) -> None:
    write_measurements(belz2022(), tmp_path / f"m{ending}")
    assert read_measurements(tmp_path / f"m{ending}") == belz2022()


def test_no_cell_begins_with_what_a_spreadsheet_runs(tmp_path: Path) -> None:
    nasty = [f"{mark}cmd" for mark in "=+-@"]
    ones = [Measurement(n, n, 1.0, conditions={"code": n, n: n}, source=n, time=n, unit=n) for n in nasty]
    write_measurements(ones, tmp_path / "m.csv")
    with (tmp_path / "m.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert any(cell == "'=cmd" for cell in cells)
    assert not [cell for cell in cells if cell[:1] in {*"=+-@"}]
    assert read_measurements(tmp_path / "m.csv") == tuple(ones)


def test_a_negative_value_stays_a_number(tmp_path: Path) -> None:
    write_measurements([Measurement("a", "r", -0.5, -1.0)], tmp_path / "m.csv")
    assert ",-0.5,," in (tmp_path / "m.csv").read_text()


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match=r"must end in \.csv or \.json"):
        write_measurements(belz2022(), tmp_path / "m.xlsx")
    with pytest.raises(MeasurementError, match=r"must end in \.csv or \.json"):
        write_template(tmp_path / "m.xlsx")


@pytest.mark.parametrize("ending", [".csv", ".json"])
def test_an_empty_template_says_what_to_do_and_is_never_overwritten(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"m{ending}"
    write_template(path)
    with pytest.raises(MeasurementError, match="has no measurements yet: add a row"):
        read_measurements(path)
    before = path.read_bytes()
    with pytest.raises(MeasurementError, match="the file exists"):
        write_template(path)
    assert path.read_bytes() == before


def test_a_filled_csv_template_is_read(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    write_template(path)
    with path.open("a") as file:
        file.write("PASS,Clarity,5.64,,1,vdL,vdL,agree,vdL,survey,ten pairs,vdL,van der Lee 2017,2017\n")
    (one,) = read_measurements(path)
    assert (one.object, one.measurand, one.value, one.scale_minimum) == ("PASS", "Clarity", 5.64, 1.0)
    assert list(one.conditions) == list(CONDITIONS)
    assert (one.source, one.time) == ("van der Lee 2017", "2017")


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_template_that_a_spreadsheet_saved_is_read(delimiter: str, tmp_path: Path) -> None:
    """A spreadsheet pads every line with delimiters and quotes those with one in them."""
    path = tmp_path / "m.csv"
    write_template(path)
    lines = path.read_text().splitlines()
    heads = lines[-1].split(",")
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\r\n")
        writer.writerows([line, *[""] * (len(heads) - 1)] for line in lines[:-1])
        writer.writerow(heads)
        writer.writerow(["a", "m", "91,5 %", *[""] * (len(heads) - 3)])
        writer.writerow([""] * len(heads))
    assert read_measurements(path) == (Measurement("a", "m", 91.5, unit="percent"),)


def test_a_filled_json_template_is_read_and_fits_the_schema(tmp_path: Path, root: Path) -> None:
    path = tmp_path / "m.json"
    write_template(path)
    content = json.loads(path.read_text())
    schema = json.loads((root / "src/holdsup/measurements/schemas/measurements.json").read_text(encoding="utf-8"))
    jsonschema.validate(content, schema)
    record = content["measurements"][0]
    record.update(object="a", measurand="m", value="91 %")
    record["conditions"].update(code="x", seed="3")
    jsonschema.validate(content, schema)
    path.write_text(json.dumps(content))
    assert read_measurements(path) == (
        Measurement("a", "m", 91.0, conditions={"code": "x", "seed": "3"}, unit="percent"),
    )


def test_what_is_written_as_json_fits_the_schema_and_other_documents_do_not(tmp_path: Path, root: Path) -> None:
    schema = json.loads((root / "src/holdsup/measurements/schemas/measurements.json").read_text(encoding="utf-8"))
    write_measurements(belz2022(), tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    jsonschema.validate(content, schema)
    del content["measurements"][5]["value"]
    with pytest.raises(jsonschema.ValidationError, match="'value' is a required property"):
        jsonschema.validate(content, schema)


@pytest.mark.parametrize("ending", [".csv", ".json"])
def test_apostrophes_come_back_as_they_were(tmp_path: Path, ending: str) -> None:
    words = ["'=a", "'plain", "-1", "@x", "''=b", "=c"]
    written = tuple(Measurement("X", "b", 30.0 + i, conditions={"code": word}) for i, word in enumerate(words))
    write_measurements(written, tmp_path / f"m{ending}")
    assert read_measurements(tmp_path / f"m{ending}") == written


def test_a_json_text_keeps_its_apostrophe(tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    file.write_text(json.dumps([{"object": "X", "measurand": "b", "value": 3, "code": "'=a"}]), encoding="utf-8")
    assert read_measurements(file)[0].conditions == {"code": "'=a"}


def test_the_template_says_what_a_line_with_a_hash_is_and_its_examples_hold_no_comma(tmp_path: Path) -> None:
    write_template(tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text(encoding="utf-8")
    assert "above the column names" in text
    examples = [line.partition("such as: ")[2] for line in text.splitlines() if "such as: " in line]
    assert len(examples) >= 3
    assert not any("," in example for example in examples)
