"""The envelope: saved, restored, described by a schema."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import jsonschema
import pytest
from hypothesis import given, strategies as st

import holdsup
from holdsup.errors import HoldsupError, MissingExtra, ReadError, ResultError
from holdsup.rendering import Answer, Table
from holdsup.results import KINDS, Asked, Caution, Result, Rows, schema_of
from holdsup.results.plain import from_plain, to_plain


@dataclass(frozen=True, slots=True)
class Part:
    """A part."""

    name: str  # its name
    value: float  # its value


@dataclass(frozen=True, slots=True, kw_only=True)
class Toy(Result):
    """A result for the tests."""

    kind: ClassVar[str] = "toy"
    parts: tuple[Part, ...]  # some parts
    kinds: Mapping[str, int]  # a mapping
    either: str | tuple[str, ...] | None  # one or the other
    pair: tuple[float, float]  # two numbers
    # a fixed word
    word: Literal["yes", "no"]

    def answer(self) -> Answer:
        return Answer(question="Is it?", state=None, headline="It is.", signature=self.signature)

    def tables(self) -> tuple[Table, ...]:
        return (Table(title="Parts", columns=("name", "value"), rows=tuple((p.name, p.value) for p in self.parts)),)


toys = st.builds(
    Toy,
    asked=st.builds(
        Asked,
        st.text(),
        st.none() | st.text(),
        st.dictionaries(st.text(), st.text() | st.lists(st.text()).map(tuple)),
        st.dictionaries(st.text(), st.booleans() | st.integers() | st.floats(0, 1) | st.text()),
    ),
    seed=st.none() | st.integers(0, 2**63),
    cautions=st.lists(st.builds(Caution, code=st.text(), message=st.text(), about=st.text())).map(tuple),
    rows=st.builds(Rows, st.integers(0), st.integers(0), st.dictionaries(st.text(), st.integers(0))),
    parts=st.lists(st.builds(Part, st.text(), st.floats(allow_nan=False, allow_infinity=False))).map(tuple),
    kinds=st.dictionaries(st.text(), st.integers()),
    either=st.none() | st.text() | st.lists(st.text()).map(tuple),
    pair=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    word=st.sampled_from(["yes", "no"]),
)


@given(toys)
def test_a_result_equals_what_is_restored_from_its_json(toy: Toy) -> None:
    assert Toy.from_dict(json.loads(toy.to_json())) == toy
    assert Toy.from_dict(json.loads(toy.to_json(ascii_only=True))) == toy


@pytest.mark.parametrize("label", ["a\x9b31m", "\u202eb", "\u2028", "\x7f", "\U000e0041", "\ud800"])
def test_json_shows_a_terminal_nothing_that_it_obeys(label: str) -> None:
    toy = Toy(
        asked=Asked("é 模", label), seed=None, rows=Rows(1, 1), parts=(), kinds={}, either=label, pair=(0.0, 1.0),
        word="yes",
    )  # fmt: skip
    assert not any(char in toy.to_json() for char in label if not char.isprintable())
    assert "é 模" in toy.to_json()
    assert Toy.from_dict(json.loads(toy.to_json())) == toy


@given(toys)
def test_json_fits_its_schema(toy: Toy) -> None:
    jsonschema.validate(json.loads(toy.to_json()), schema_of(Toy))


def test_nan_and_infinity_are_null_in_json_and_nan_when_restored() -> None:
    plain = to_plain(Part("x", math.inf))
    assert plain == {"name": "x", "value": None}
    assert math.isnan(from_plain(Part, plain).value)


def test_precision_is_full() -> None:
    assert json.loads(json.dumps(to_plain(Part("x", 0.1 + 0.2))))["value"] == 0.1 + 0.2


@pytest.fixture
def audit() -> holdsup.Audit:
    return holdsup.audit_scores(holdsup.simulate_scores({"A": 0.5, "B": 0.5}, items=5, runs=2))


def test_a_saved_audit_is_restored_whole(audit: holdsup.Audit, tmp_path: Path) -> None:
    audit.write_json(tmp_path / "audit.json")
    assert holdsup.read_result(tmp_path / "audit.json") == audit


def test_every_kind_of_result_ships_a_schema_that_its_envelope_fits(audit: holdsup.Audit, root: Path) -> None:
    for kind in KINDS:
        schema = json.loads((root / f"src/holdsup/results/schemas/{kind}.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        envelope = "kind schema version signature seed warnings rows verdict state headline asked cautions"
        assert set(envelope.split()) <= set(schema["required"])
    jsonschema.validate(audit.to_dict(), json.loads((root / "src/holdsup/results/schemas/check.json").read_text()))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON, so it isn't a saved result: it breaks at line 1, character 2"),
        ("[" * 100_000, "is nested far deeper than a saved result"),
        ("system,item,score\nA,1,0.5\n", "If it is a table of scores, save a result first: holdsup compare TABLE"),
        ("[]", "no result of holdsup"),
        ('{"kind": "check"}', "no result of holdsup"),
        ('{"kind": "frob", "schema": 1}', "'frob' are not known"),
        ('{"kind": ["x"], "schema": 1}', "are not known"),
        ('{"kind": "check", "schema": 99}', "update holdsup"),
        ('{"kind": "check", "schema": 2}', "lacks the field 'asked'"),
        ('{"kind": "check", "schema": 2, "asked": 5}', "check.asked is 5, not an object"),
        (
            '{"kind": "check", "schema": 1, "signature": "s", "seed": "x"}',
            'check.seed is "x", not a whole number or null',
        ),
        (
            '{"kind": "check", "schema": 2, "asked": {"kind": "check"}, "seed": 1, "cautions": "x"}',
            'check.cautions is "x", not a list',
        ),
    ],
)
def test_a_file_that_is_no_result_is_refused_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text(text)
    with pytest.raises(ResultError) as caught:
        holdsup.read_result(file)
    assert message in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_result_that_another_program_saved_with_a_mark_is_read(
    audit: holdsup.Audit, encoding: str, tmp_path: Path
) -> None:
    file = tmp_path / "r.json"
    file.write_text(audit.to_json(), encoding=encoding)
    assert holdsup.read_result(file) == audit


def test_bytes_that_are_no_text_are_no_result(tmp_path: Path) -> None:
    (tmp_path / "r.parquet").write_bytes(b"PAR1\xff\xfe\x80\x81")
    with pytest.raises(ResultError, match="is not JSON, so it isn't a saved result"):
        holdsup.read_result(tmp_path / "r.parquet")


def test_a_result_that_is_not_there_is_a_read_error(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="No such file"):
        holdsup.read_result(tmp_path / "none.json")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_json_is_restored_or_refused(plain: Any) -> None:
    with contextlib.suppress(HoldsupError):
        Toy.from_dict(
            {"asked": plain, "rows": plain, "cautions": plain, "seed": plain, "parts": plain} if plain else {}
        )


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_table_of_a_result_becomes_a_frame(audit: holdsup.Audit, backend: str) -> None:
    frame = audit.to_frame("systems", backend=backend)
    assert list(frame["name"] if backend != "pyarrow" else frame["name"].to_pylist()) == ["A", "B"]


def test_an_unknown_table_or_backend_says_what_there_is(audit: holdsup.Audit) -> None:
    with pytest.raises(ResultError, match="it has 'findings', 'cautions', 'columns', 'systems'"):
        audit.to_frame("nothing")
    with pytest.raises(ResultError, match="can be 'pandas'"):
        audit.to_frame(backend="excel")


def test_a_missing_extra_names_the_extra() -> None:
    assert "pip install 'holdsup[pandas]'" in str(MissingExtra.named("pandas", purpose="to_frame"))


def test_a_signature_keeps_its_parts_apart() -> None:
    assert Asked.about("fit", formula="y~x+(1|g)", none=None).sign("1") == r"fit|formula:y~x+(1\|g)|v:1"


def test_rows_say_how_many_were_used_and_why_not_all() -> None:
    assert Rows(3, 3).sentence() == "3 of 3 rows used."
    assert (
        Rows(10, 7, {"no score": 2, "no item": 1}).sentence() == "7 of 10 rows used (2 with no score, 1 with no item)."
    )


def test_a_result_shows_itself_in_a_notebook(audit: holdsup.Audit) -> None:
    assert "<table" in audit._repr_html_()
    assert audit.headline in str(audit)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("mqm_avg: higher is better", "mqm_avg: higher is better."),
        ("bleu4 is missing", "bleu4 is missing."),
        ("'run' is empty", "'run' is empty."),
        ("rarity: 12 words are unknown", "Rarity: 12 words are unknown."),
        ("can't tell: too few", "Can't tell: too few."),
        ("one run each: luck counts", "One run each: luck counts."),
    ],
)
def test_a_caution_begins_with_a_capital_unless_a_name_is_first(message: str, said: str) -> None:
    assert Caution(code="c", message=message).sentence() == said
