"""A document walked through a small window says what `json.loads` says of the whole."""

from __future__ import annotations

import io
import json
import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

from holdsup.errors import ReadError
from holdsup.logs import documents
from holdsup.logs.documents import walk

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text())
KEYS = st.text(alphabet='ab"\\\n: {}[]é😀', max_size=3)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=5
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
LAYOUTS = st.sampled_from([{}, {"indent": 2}, {"indent": 0}, {"indent": "\t"}, {"ensure_ascii": False, "indent": 1}])


def walk_text(text: str, **options: Any) -> list[tuple[str, Any]]:
    return list(walk(io.BytesIO(text.encode("utf-8", "surrogatepass")), "log", **options))


@given(OBJECTS, st.lists(OBJECTS, max_size=4), LAYOUTS, st.sets(KEYS), st.integers(1, 40))
def test_any_document_in_any_layout(
    head: dict[str, Any], samples: list[Any], layout: dict[str, Any], wanted: set[str], chunk: int
) -> None:
    head.pop("samples", None)
    text = json.dumps({**head, "samples": samples, "end": 12}, **layout)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(documents, "CHUNK", chunk)
        found = walk_text(text, lists=("samples",))
        needed = walk_text(text, lists=("samples",), wanted=wanted)
        listed = walk_text(json.dumps(samples, **layout))
    head.pop("end", None)
    assert found == [*head.items(), *(("samples", sample) for sample in samples), ("end", 12)]
    assert listed == [("", sample) for sample in samples]
    for (_, some), (_, whole) in zip(needed, found, strict=True):
        kept = {key: value for key, value in whole.items() if key in wanted} if isinstance(whole, dict) else whole
        assert some in (kept, whole)


def test_what_is_not_wanted_is_passed_over_where_lines_tell_where_it_ends() -> None:
    text = json.dumps({"samples": [{"id": 1, "events": [{"id": 2}], "b": {}}, {"id": "\n    }"}]}, indent=2)
    assert walk_text(text, lists=("samples",), wanted={"id"}) == [
        ("samples", {"id": 1}),
        ("samples", {"id": "\n    }"}),
    ]


def test_what_is_no_number_in_strict_json_is_read_as_python_writes_it() -> None:
    assert math.isnan(dict(walk_text('{"a": NaN}'))["a"])


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_cut_off_anywhere_is_refused(indent: int | None) -> None:
    text = json.dumps({"a": 1, "samples": [{"id": "x", "more": {"b": "c"}}, {"id": "y"}], "z": "end"}, indent=indent)
    for end in range(len(text)):
        with pytest.raises(ReadError, match="log is not whole JSON"):
            walk_text(text[:end], lists=("samples",), wanted={"id"})


@pytest.mark.parametrize("text", ["12", '{"a" 1}', "{1: 2}", "[1 2]", "[" * 100_000])
def test_what_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(ReadError, match="log is not whole JSON"):
        walk_text(text)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(ReadError, match=r"log is not whole JSON .it holds bytes that are no text"):
        list(walk(io.BytesIO(b'{"a": "\xff"}'), "log"))


def test_a_value_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LONGEST", 1_000)
    monkeypatch.setattr(documents, "CHUNK", 100)
    with pytest.raises(ReadError, match="holds a value of more than"):
        walk_text(json.dumps({"a": "x" * 5_000}))
