"""Levels that come in batches get the codes that all of them together would get."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdsup.columns import books
from holdsup.columns.books import LevelBook
from holdsup.columns.encoding import encode_labels
from holdsup.columns.values import to_dictionary

BATCHES: dict[str, list[Any]] = {
    "integers": [[5, 5, 3], [3, 9, -4], [5, 1000]],
    "text": [["b", "a", None], ["c", "", "a"], ["b"]],
    "integers, then text": [[1, 2, 2], ["2", "x", "10"], [10, 3]],
    "text, then integers": [["7", "x"], [7, 8], [9, 7]],
    "floats and integers": [[1.0, 0.5, float("nan")], [1, 2], [2.0]],
    "integers with gaps": [[1, None, 2], [None], [2, 3]],
    "far apart": [[1, 2**40], [2**40, 2], [-(2**50), 1]],
    "larger than any table": [[2**63 + 5, 1], [2**63 + 5], [7]],
    "truths": [[True, False], [False, None], [True]],
    "nothing": [[], [], []],
}


def typed(values: list[Any]) -> pa.ChunkedArray:
    kind = pa.uint64() if any(isinstance(v, int) and v >= 2**63 for v in values) else None
    return pa.chunked_array([pa.array(values, kind)])


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("name", BATCHES)
def test_batches_are_coded_like_the_whole(name: str, narrow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if narrow:
        monkeypatch.setattr(books, "WIDEST", 4)
    columns = [typed(values) for values in BATCHES[name]]
    whole = encode_labels(
        pa.chunked_array(
            [c for column in columns for c in to_dictionary(column).chunks], to_dictionary(columns[0]).type
        )
    )
    book = LevelBook()
    codes = np.concatenate([book.code(column) for column in columns])
    found = book.arrange(codes)
    assert found.names == whole.names
    np.testing.assert_array_equal(found.codes, whole.codes)
    places = np.full(book.count, -1, np.int32)
    places[codes[codes >= 0]] = found.codes[codes >= 0]
    settled = book.settle(places)
    for column in reversed(columns):  # in any order: the numbers are final
        settled.code(column)
    again = np.concatenate([settled.code(column) for column in columns])
    np.testing.assert_array_equal(again, whole.codes)


def test_small_integers_do_not_overflow() -> None:
    book = LevelBook()
    codes = [
        book.code(pa.chunked_array([pa.array(v, t)])) for v, t in (([100, -100], pa.int8()), ([-1000], pa.int64()))
    ]
    codes.append(book.code(pa.chunked_array([pa.array([-100, 100], pa.int8())])))
    names = book.levels().to_pylist()
    assert [names[code] for code in np.concatenate(codes)] == ["100", "-100", "-1000", "-100", "100"]


def test_a_settled_book_knows_no_new_level() -> None:
    book = LevelBook()
    book.code(typed([4, 6]))
    settled = book.settle(np.array([1, 0], np.int32))
    assert settled.code(typed([6, 4, 5, 1000])).tolist() == [0, 1, -1, -1]


def test_blank_labels_are_none() -> None:
    assert LevelBook({"", "NA"}).code(typed(["true", "NA", "", "false"])).tolist() == [0, -1, -1, 1]


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        ([["low", "high"], ["low", "mid", "high"]], ["low", "mid", "high"]),
        ([["a", "z"], ["z", "c"], ["a", "z", "c"]], ["a", "z", "c"]),
        ([["b", "a"], ["a", "b"]], ["a", "b"]),  # they contradict each other: sorted
    ],
)
def test_declared_orders_are_joined(orders: list[list[str]], expected: list[str]) -> None:
    book = LevelBook()
    codes = []
    for order in orders:
        column = pa.DictionaryArray.from_arrays(pa.array(range(len(order)), pa.int32()), pa.array(order), ordered=True)
        codes.append(book.code(pa.chunked_array([column]), declared=True))
    assert list(book.arrange(np.concatenate(codes)).names) == expected


def test_books_of_parts_are_joined() -> None:
    left, right = LevelBook(), LevelBook()
    left.code(typed([3, 1]))
    codes = right.code(typed(["2", "1", "x"]))
    joined = left.enter(right.levels(), right.orders)[codes]
    assert left.levels().to_pylist() == ["1", "3", "2", "x"]
    assert joined.tolist() == [2, 0, 3]
