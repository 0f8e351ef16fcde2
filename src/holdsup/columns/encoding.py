"""`Labels` and numbers: the two forms in which every later step sees a column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdsup.columns.values import MISSING_TOKENS, TRUTHS, is_text, parse_number, same_buffers, to_dictionary

SHOWN = 4  # values, that are no numbers, in a message
PIECE = 2**16  # rows looked at together: they stay in the cache


class BadNumber(ValueError):
    """A column of numbers holds something else.

    Attributes
    ----------
    value, row : the first such value, and its row (from 0)
    others : some more that differ from it and from each other, each with its first row
    count : how many rows hold no number in all
    """

    def __init__(self, value: str, row: int, others: Sequence[tuple[str, int]] = (), count: int = 1) -> None:
        super().__init__(value, row, others, count)
        self.value, self.row, self.others, self.count = value, row, others, count


@dataclass(frozen=True, eq=False)
class Labels:
    """A column of labels, as codes into sorted levels."""

    codes: NDArray[np.int32]  # level of each row, shape (n,), -1 where there is none
    levels: pa.StringArray  # the labels that occur, in code-point order unless the column declares another
    declared: bool = False  # whether the column itself declares the order of its levels

    @classmethod
    def of(cls, codes: NDArray[Any], names: Sequence[str]) -> Labels:
        """Return labels from codes into `names`, which need be neither sorted nor all in use."""
        return _tidy(codes.astype(np.int32, copy=False), pa.array(names, pa.string()), declared=False, ordered=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The levels as Python strings."""
        return tuple(self.levels.to_pylist())

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def has_gaps(self) -> bool:
        """Whether some row has no label."""
        return int(self.codes.min(initial=0)) < 0

    @property
    def count(self) -> int:
        """How many levels occur."""
        return len(self.levels)

    def take(self, rows: NDArray[Any]) -> Labels:
        """Return the labels of some rows (indices or a mask), levels that no longer occur dropped."""
        return _tidy(self.codes[rows], self.levels, declared=self.declared, ordered=True)


def encode_labels(chunks: pa.ChunkedArray, *, declared: bool = False) -> Labels:
    """Return a dictionary<int32, string> column as `Labels`; the empty string counts as no label."""
    if chunks.num_chunks == 0:
        return Labels(np.empty(0, np.int32), pa.array([], pa.string()))
    levels = chunks.chunk(0).dictionary
    if not all(same_buffers(chunk.dictionary, levels) for chunk in chunks.chunks):  # those encoded together share it
        chunks = chunks.unify_dictionaries()
        levels = chunks.chunk(chunks.num_chunks - 1).dictionary  # the last chunk knows all levels
    pieces = [codes_of(chunk) for chunk in chunks.chunks]
    codes = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    return _tidy(codes, levels, declared=declared, ordered=declared)


def codes_of(chunk: pa.DictionaryArray) -> NDArray[np.int32]:
    """Return the codes of a dictionary's rows, -1 where there is none."""
    indices = pc.fill_null(chunk.indices, -1) if chunk.indices.null_count else chunk.indices
    return np.asarray(indices, dtype=np.int32)


def order_labels(codes: NDArray[np.int32], levels: pa.StringArray, order: pa.StringArray | None) -> Labels:
    """Return codes into `levels` as labels whose levels are sorted, or stand in a declared order that has them all."""
    if order is None:
        return _tidy(codes, levels, declared=False, ordered=False)
    places = np.append(pc.index_in(levels, value_set=order).to_numpy(zero_copy_only=False), -1).astype(np.int32)
    return _tidy(places[codes], order, declared=True, ordered=True)


def follows(order: pa.StringArray, longest: pa.StringArray) -> bool:
    """Return whether levels stand in the order that another list of levels declares."""
    rest = iter(longest.to_pylist())
    return order.equals(longest) or all(level in rest for level in order.to_pylist())


def _tidy(codes: NDArray[np.int32], levels: pa.StringArray, *, declared: bool, ordered: bool) -> Labels:
    """Return labels whose levels all occur, sorted unless they are `ordered` already."""
    occurs = _occurring(codes, len(levels))
    empty = pc.index(levels, "").as_py()
    if empty >= 0:
        occurs[empty] = False
    sorted_ = ordered or pc.all(pc.less(levels[:-1], levels[1:])).as_py()  # as in a table that was encoded before
    order = np.arange(len(levels)) if sorted_ else pc.sort_indices(levels).to_numpy()
    kept = order[occurs[order]]
    if len(kept) == len(levels) and np.array_equal(kept, np.arange(len(levels))):
        return Labels(codes, levels, declared)
    recode = np.full(len(levels) + 1, -1, np.int32)  # the extra last place serves code -1
    recode[kept] = np.arange(len(kept), dtype=np.int32)
    tidied = np.empty(len(codes), np.int32)
    for start in range(0, len(codes), PIECE):
        rows = slice(start, start + PIECE)
        tidied[rows] = recode[codes[rows]]
    return Labels(tidied, levels.take(pa.array(kept)), declared)


def _occurring(codes: NDArray[np.int32], count: int) -> NDArray[np.bool_]:
    """Return which of `count` levels occur, and last whether code -1 does."""
    occurs = np.zeros(count + 1, bool)
    for start in range(0, len(codes), PIECE):
        occurs[codes[start : start + PIECE].astype(np.intp)] = True
    return occurs


def is_truth(label: str) -> bool | None:
    """Return whether a label says true or false, however it is written; None if it says "there is none"."""
    token = label.strip()
    return None if token in MISSING_TOKENS else token.lower() in TRUTHS


def fold_truths(labels: Labels) -> Labels:
    """Return labels that are all true or false, however they are written, as "False" and "True"; others as they are.

    What says "there is none" among numbers says so here too: a column is the same whether its format knows truth
    values or not.
    """
    known = {"": ""}
    for level in labels.levels:
        truth = is_truth(level.as_py())
        if truth is False:
            return labels
        known[level.as_py()] = level.as_py().strip().capitalize() if truth else ""
    names = list(dict.fromkeys(known.values()))
    if len(names) == 1:  # no truth among them
        return labels
    place = np.array([*(names.index(known[name]) for name in labels.names), -1], np.int32)
    return _tidy(place[labels.codes], pa.array(names), declared=labels.declared, ordered=labels.declared)


def encode_numbers(chunks: pa.ChunkedArray, *, decimal: str = ".") -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return an Arrow column as floats, and where it holds no value (as opposed to NaN).

    Raises
    ------
    BadNumber : text that is no number, or values that are neither numbers nor text
    """
    kind = chunks.type
    if pa.types.is_dictionary(kind) or is_text(kind) or pa.types.is_null(kind):
        return _parse(encode_labels(to_dictionary(chunks)), decimal)
    if pa.types.is_decimal(kind):  # by way of text: Arrow's own cast can miss the nearest float
        chunks = chunks.cast(pa.string())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        _refuse(chunks)
    absent = pc.is_null(chunks).to_numpy() if chunks.null_count else np.zeros(len(chunks), bool)
    floats = chunks if kind == pa.float64() else chunks.cast(pa.float64(), safe=False)
    values = np.array(pc.fill_null(floats, math.nan) if chunks.null_count else floats, dtype=np.float64)
    return values, absent


def _refuse(chunks: pa.ChunkedArray) -> None:
    """Raise for the first value of a column that cannot hold numbers."""
    row = pc.index(pc.is_valid(chunks), True).as_py()
    raise BadNumber(str(chunks[row]) if row >= 0 else f"a column of {chunks.type}", max(row, 0))


def _parse(labels: Labels, decimal: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return labels read as numbers: each level is parsed once."""
    values = np.full(labels.count + 1, math.nan)  # the extra last place serves code -1
    absent = np.zeros(labels.count + 1, bool)
    absent[-1] = True
    bad = []
    for code, name in enumerate(labels.names):
        token = name.strip()
        if token in MISSING_TOKENS:
            absent[code] = True
        elif (number := parse_number(token, decimal)) is not None:
            values[code] = number
        else:
            bad.append(code)
    if bad:
        rows = np.flatnonzero(np.isin(labels.codes, bad))
        first = rows[np.sort(np.unique(labels.codes[rows], return_index=True)[1])[:SHOWN]]
        shown = [(labels.names[labels.codes[row]], int(row)) for row in first]
        raise BadNumber(*shown[0], shown[1:], len(rows))
    return values[labels.codes], absent[labels.codes]
