"""From open tables to encoded columns, one table under the other; why a column of numbers is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns.encoding import BadNumber, Labels, encode_labels, encode_numbers, fold_truths, follows
from holdsup.columns.layout import THOUSANDS
from holdsup.columns.limits import reason_of
from holdsup.columns.opening import OpenTable
from holdsup.columns.values import MISSING_TOKENS, TEXT, parse_number, to_dictionary
from holdsup.errors import ColumnError, quote_text
from holdsup.progress import Progress, no_progress

if TYPE_CHECKING:
    from holdsup.columns.opening import OpenTable

NUMERAL = re.compile(r"[-+\d.,eE]*\d[-+\d.,eE]*")
RIGHT = "Write decimals with a point, and no mark for thousands."


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A column of numbers: `values` (NaN where there is none) and where the value is `absent`."""

    values: NDArray[np.float64]
    absent: NDArray[np.bool_]


Column = Labels | Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Encoded columns of several tables, one under the other."""

    named: Mapping[str, Column]  # the columns
    lengths: tuple[int, ...]  # how many rows came from each table


def read_columns(
    tables: list[OpenTable],
    *,
    labels: Iterable[str] = (),
    numbers: Iterable[str] = (),
    either: Iterable[str] = (),
    advice: str = "",
    progress: Progress = no_progress,
) -> Columns:
    """Return columns of all tables, one under the other, encoded.

    Parameters
    ----------
    labels : columns to read as labels, whatever they hold
    numbers : columns that must hold numbers; text in them is an error that names the row
    either : columns to read as numbers if they hold nothing else, otherwise as labels; true and false are labels
    advice : what else to say when there is text among the numbers
    """
    required = dict.fromkeys(numbers)
    as_they_are = dict.fromkeys(labels)
    kinds = {**dict.fromkeys(as_they_are, "label"), **dict.fromkeys(required, "number")}
    kinds.update({column: _guess(tables, column) for column in either if column not in kinds})
    parts = []
    for i, table in enumerate(tables):
        progress(i, len(tables), f"reading {table.name}")
        there = set(table.columns)
        parts.append(table.read({column: kind for column, kind in kinds.items() if column in there}))
    lengths = tuple(len(next(iter(part.values()), ())) for part in parts)
    found: dict[str, Column] = {}
    for column, kind in kinds.items():
        pieces = [part.pop(column, None) for part in parts]  # let go of once it is encoded
        if kind == "number":
            try:
                found[column] = _join_numbers(tables, column, pieces, lengths, advice)
                continue
            except ColumnError:
                if column in required:
                    raise
            read = [
                table.read({column: "label"}) if part is not None else {}
                for table, part in zip(tables, pieces, strict=True)
            ]
            pieces = [part.get(column) for part in read]
        joined = _join_labels(tables, column, pieces, lengths)
        found[column] = joined if column in as_they_are else fold_truths(joined)
    return Columns(found, lengths)


def _guess(tables: list[OpenTable], column: str) -> str:
    guesses = {table.guess(column) for table in tables if column in table.columns}
    return "number" if guesses == {"number"} else "label"


Pieces = list[pa.ChunkedArray | None]  # a column's part in each table; None where a table does not have it


def _join_labels(tables: list[OpenTable], column: str, pieces: Pieces, lengths: tuple[int, ...]) -> Labels:
    chunks: list[pa.DictionaryArray] = []
    orders: list[pa.StringArray] = []
    declared = True
    for table, piece, length in zip(tables, pieces, lengths, strict=True):
        if piece is None:
            chunks.append(pa.nulls(length, TEXT))
            continue
        with converting(table, column):
            encoded = to_dictionary(piece).chunks
        chunks.extend(encoded)
        declared = declared and table.declares_order(column)
        orders.extend(chunk.dictionary for chunk in encoded if declared)
    longest = max(orders, key=len, default=None)
    declared = declared and longest is not None and all(follows(order, longest) for order in orders)
    if declared:  # the first dictionary sets the order of all
        chunks.insert(0, pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), longest))
    try:
        return encode_labels(pa.chunked_array(chunks, TEXT), declared=declared)
    except pa.ArrowException as error:  # more than 2 GiB of text
        raise ColumnError(f"column {column!r} cannot be read as labels: {reason_of(error)}") from error


def _join_numbers(
    tables: list[OpenTable], column: str, pieces: Pieces, lengths: tuple[int, ...], advice: str
) -> Numbers:
    encoded = []
    for table, piece, length in zip(tables, pieces, lengths, strict=True):
        if piece is None:
            encoded.append((np.full(length, np.nan), np.ones(length, bool)))
            continue
        encoded.append(convert_numbers(table, column, piece, advice))
    if len(encoded) == 1:
        return Numbers(*encoded[0])
    return Numbers(np.concatenate([v for v, _ in encoded]), np.concatenate([a for _, a in encoded]))


def convert_numbers(
    table: OpenTable, column: str, piece: pa.ChunkedArray, advice: str = ""
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return a column of a table as floats, and where it holds no value; text among them is an error."""
    with converting(table, column, advice):
        return encode_numbers(piece, decimal=table.decimal(column))


@contextmanager
def converting(table: OpenTable, column: str, advice: str = "") -> Iterator[None]:
    """Say of which column of which table a conversion fails."""
    try:
        yield
    except BadNumber as bad:
        raise explain(table, column, bad, advice) from None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise ColumnError(
            f"column {column!r} of {table.name} holds neither labels nor numbers: {reason_of(error)}"
        ) from error


def explain(table: OpenTable, column: str, bad: BadNumber, advice: str) -> ColumnError:
    """Return the error for values that are not numbers; `advice` is added where nothing else explains the first."""
    return ColumnError(f"{_explain_first(table, column, bad, advice)}{_list_others(table, bad)}")


def _list_others(table: OpenTable, bad: BadNumber) -> str:
    """Return a sentence that names further values, so that all can be mended at once."""
    if bad.count == 1:
        return ""
    others = ", ".join(f"{quote_text(value.strip())} in {table.locate(row)}" for value, row in bad.others)
    rest = bad.count - 1 - len(bad.others)
    more = f"{rest:,} more {'cell' if rest == 1 else 'cells'} of text" if rest else ""
    return f" The same column has {' and '.join(part for part in (others, more) if part)}."


def _explain_first(table: OpenTable, column: str, bad: BadNumber, advice: str) -> str:
    where = f"{table.locate(bad.row)} of {table.name}"
    token = bad.value.strip()
    if token == column:
        return f"{where} repeats the header: were two files put together? Delete that line."
    has = f"{where} has {bad.value!r:.60} in column {column!r}"
    if token.endswith("%") and parse_number(token[:-1].rstrip()) is not None:
        return f"{has}: remove the percent signs."
    if NUMERAL.fullmatch(token) and (doubt := _doubt(table, column, token)):
        return f"{has}: {doubt}. {RIGHT}"
    known = " or ".join(MISSING_TOKENS[1:3])
    return (
        f"{has}, which must hold numbers. Where there is no number, leave the field empty (or write {known}).{advice}"
    )


def _doubt(table: OpenTable, column: str, token: str) -> str | None:
    """Return what is unclear about the commas and points of a numeral, or None."""
    texts = to_dictionary(table.read({column: "label"})[column]).unify_dictionaries()
    numerals = [level for level in texts.chunk(0).dictionary.to_pylist() if NUMERAL.fullmatch(level.strip())]
    if all(any(mark in numeral for numeral in numerals) for mark in ",."):
        return "commas and points are mixed"
    if table.decimal(column) == ",":
        return "the file has decimal commas, so that the point may mark decimals or thousands"
    if THOUSANDS.fullmatch(token):
        return "the comma may mark decimals or thousands"
    return "a comma marks decimals only where a column has nothing but numbers" if "," in token else None
