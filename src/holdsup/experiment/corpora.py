"""Corpora: the items that systems are trained and tested on, read once in each process.

What is written as text becomes numbers only where nothing is lost by it: labels such as 1.1 and 1.10, 007 and 7, or ids
of twenty digits look like numbers and are none.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from holdsup.columns import OpenTable, open_tables
from holdsup.columns.delimited import DelimitedTable
from holdsup.columns.values import MISSING_TOKENS, is_text, parse_number, to_dictionary
from holdsup.errors import ColumnError, ReadError, list_names
from holdsup.experiment.sources import digest_file, find_held

KEPT = 8  # corpora that a process holds: tasks come dataset by dataset
# No sign of plus, no zeros in front: what is written so may be a code.
NUMERAL = re.compile(r"-?(?:0|[1-9]\d*|(?=\.\d))(?:\.\d*)?(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Items in the order of their file."""

    items: tuple[str, ...]  # what each is called: its id, or its number in the file, counted from 1
    inputs: Any  # what a system is given; of a corpus in memory also an array, a sparse matrix or a frame
    targets: list[Any]  # what it should predict
    # what must not be torn apart by a split (the document of a sentence), None where there is no such column
    groups: list[str] | None
    # columns that look like numbers and are kept as they are written, each with the reason
    spelled: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.items)


def read_corpus(source: Mapping[str, Any]) -> Corpus:
    """Return the corpus of a task's `data`, or what is held.

    Parameters
    ----------
    source : path, digest, columns of input, target, group, item; "numbers" where targets must be such
    """
    if "held" in source:
        held: Corpus = find_held(source["held"])
        return held
    return _read(json.dumps(source, sort_keys=True))


@lru_cache(maxsize=KEPT)
def _read(described: str) -> Corpus:
    source = json.loads(described)
    path, columns, target, numbers = source["path"], source["input"], source["target"], source.get("numbers", False)
    inputs, group, item = [columns] if isinstance(columns, str) else columns, source.get("group"), source.get("item")
    if digest_file(Path(path)) != source["digest"]:
        raise ReadError(f"{path} has changed since the tasks were planned: run the spec again")
    table, *more = open_tables(Path(path))
    if more:
        raise ReadError(f"{path} is {1 + len(more)} tables: give one file per dataset")
    for column in (*inputs, target, group, item):
        if column is not None and column not in table.columns:
            raise ColumnError.not_found(column, table.columns, where=path)
    cells = {column: _read_cells(table, column) for column in dict.fromkeys((*inputs, *(() if numbers else (target,))))}
    targets = _read_numbers(table, target) if numbers else cells[target].values
    if isinstance(table, DelimitedTable):  # in a file that has no null, an empty cell is how a missing one is written
        _require(table, target, targets, lambda value: isinstance(value, str) and not value.strip())
    if len(targets) < 2:
        raise ReadError(f"{path} has {len(targets)} rows: give at least 2, to train on and to test on")
    parts = [cells[column].values for column in inputs]
    return Corpus(
        items=_read_names(table, item, len(targets)),
        inputs=parts[0] if isinstance(columns, str) else [list(row) for row in zip(*parts, strict=True)],
        targets=targets,
        groups=None if group is None else _read_labels(table, group),
        spelled={column: found.spelled for column, found in cells.items() if found.spelled},
    )


def _read_labels(table: OpenTable, column: str) -> list[str]:
    labels: list[str] = to_dictionary(table.read({column: "text"})[column]).to_pylist()
    return _require(table, column, labels, lambda label: not label)


def _read_names(table: OpenTable, item: str | None, rows: int) -> tuple[str, ...]:
    if item is None:
        return tuple(map(str, range(1, rows + 1)))
    names = _read_labels(table, item)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ColumnError(
            f"column {item!r} of {table.name} has {list_names(twice, most=3)} more than once: give each item its own id"
        )
    return tuple(names)


class Cells(NamedTuple):
    """The values of a column; `spelled` says why it is kept as it is written although it looks like numbers."""

    values: list[Any]
    spelled: str | None = None


def _read_cells(table: OpenTable, column: str) -> Cells:
    """Return a column as text, numbers (whole ones as integers) or lists; none may be missing."""
    chunks = table.read({column: "text"})[column]
    written = chunks.type.value_type if hasattr(chunks.type, "value_type") else chunks.type
    if table.guess(column) != "number" or not is_text(written):
        return Cells(_whole(_require(table, column, chunks.to_pylist())))
    texts: list[str] = to_dictionary(chunks).to_pylist()
    decimal = table.decimal(column)
    known = {text: _clean(text) for text in dict.fromkeys(texts) if not _is_missing(text)}
    if any(parse_number(token, decimal) is None for token in known.values()):
        return Cells(texts)  # further down there is text
    if spelled := _find_loss(known.values(), decimal):
        return Cells(texts, spelled)
    numbers = {text: parse_number(token, decimal) for text, token in known.items()}
    return Cells(_whole(_require(table, column, [numbers.get(text) for text in texts])))


def _read_numbers(table: OpenTable, column: str) -> list[Any]:
    """Return a column as numbers, however they are written; text that is none is an error which names its row."""
    found = _require(table, column, table.read({column: "text"})[column].to_pylist())
    numbers = []
    for row, value in enumerate(found):
        number = parse_number(_clean(value), table.decimal(column)) if isinstance(value, str) else value
        if not isinstance(number, int | float):
            raise ColumnError(
                f"{table.locate(row)} of {table.name} has {value!r:.60} as {column!r}, which is not a number"
            )
        numbers.append(number)
    return _whole(numbers)


def _find_loss(tokens: Iterable[str], decimal: str) -> str | None:
    """Return what would be lost if these texts became numbers."""
    seen: dict[str, str] = {}
    for token in dict.fromkeys(tokens):
        plain = token.replace(decimal, ".")
        if not NUMERAL.fullmatch(plain):
            return f"{token!r} is not how a number is written"
        number = float(plain)
        if plain.lstrip("-").isdigit() and int(plain) != number:
            return f"{token!r} has more digits than a number keeps"
        other = seen.setdefault(repr(number), token)
        if other != token:
            return f"{other!r} and {token!r} would be one number"
    return None


def _require(
    table: OpenTable, column: str, values: list[Any], is_missing: Callable[[Any], bool] | None = None
) -> list[Any]:
    """Return values of which none is missing: by default, None or NaN."""
    for row, value in enumerate(values):
        if is_missing(value) if is_missing else value is None or value != value:
            raise ColumnError(
                f"{table.locate(row)} of {table.name} has no {column!r}: fill it in, or leave the row out"
            )
    return values


def _whole(values: list[Any]) -> list[Any]:
    """Return floats that are all whole as integers, which is what they were before a gap made them floats."""
    if all(isinstance(value, float) and value.is_integer() for value in values):
        return [int(value) for value in values]
    return values


def _clean(text: str) -> str:
    return text.strip(" \t")


def _is_missing(text: str) -> bool:
    return _clean(text) in MISSING_TOKENS or _clean(text).lower() == "nan"
