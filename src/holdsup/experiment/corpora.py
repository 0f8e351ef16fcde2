"""Corpora: the items that systems are trained and tested on, read once in each process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from holdsup.columns import OpenTable, open_tables
from holdsup.columns.delimited import DelimitedTable
from holdsup.columns.values import to_dictionary
from holdsup.errors import ColumnError, ReadError, list_names
from holdsup.experiment.cells import read_cells, read_numbers
from holdsup.experiment.digests import digest_file
from holdsup.experiment.holding import find_held

__all__ = ["Corpus", "read_corpus"]

KEPT = 8  # corpora that a process holds: tasks come dataset by dataset


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Items in the order of their file.

    Attributes
    ----------
    items : what each is called: its id, or its number in the file, counted from 1
    inputs : what a system is given; of a corpus in memory also an array, a sparse matrix or a frame
    targets : what it should predict
    groups : what must not be torn apart by a split (the document of a sentence), None where there is no such column
    spelled : columns that look like numbers and are kept as they are written, each with the reason
    """

    items: tuple[str, ...]
    inputs: Any
    targets: list[Any]
    groups: list[str] | None
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
    columns = source["input"]
    inputs = (columns,) if isinstance(columns, str) else tuple(columns)
    return _read(
        source["path"], source["digest"], inputs, isinstance(columns, str),
        source["target"], source.get("group"), source.get("item"), source.get("numbers", False),
    )  # fmt: skip


@lru_cache(maxsize=KEPT)
def _read(
    path: str, digest: str, inputs: tuple[str, ...], single: bool, target: str, group: str | None, item: str | None,
    numbers: bool,
) -> Corpus:  # fmt: skip
    file = Path(path)
    if digest_file(file) != digest:
        raise ReadError(f"{path} has changed since the tasks were planned: run the spec again to plan them anew")
    table, *more = open_tables(file)
    if more:
        raise ReadError(f"{path} is {1 + len(more)} tables: a dataset is one file")
    for column in (*inputs, target, group, item):
        if column is not None and column not in table.columns:
            raise ColumnError.not_found(column, table.columns, where=path)
    cells = {column: read_cells(table, column) for column in dict.fromkeys((*inputs, *(() if numbers else (target,))))}
    parts = [cells[column].values for column in inputs]
    targets = read_numbers(table, target) if numbers else cells[target].values
    if isinstance(table, DelimitedTable):
        _refuse_blank(table, target, targets)
    if len(targets) < 2:
        raise ReadError(f"{path} has {len(targets)} rows: a system needs some to train on and some to be tested on")
    return Corpus(
        items=_read_names(table, item, len(targets)),
        inputs=parts[0] if single else [list(row) for row in zip(*parts, strict=True)],
        targets=targets,
        groups=None if group is None else _read_labels(table, group),
        spelled={column: found.spelled for column, found in cells.items() if found.spelled},
    )


def _refuse_blank(table: OpenTable, column: str, targets: list[Any]) -> None:
    """Refuse an empty cell as a target: in a file that has no null, it is how a missing one is written."""
    for row, target in enumerate(targets):
        if isinstance(target, str) and not target.strip():
            raise ColumnError(
                f"{table.locate(row)} of {table.name} has no {column!r}: fill it in, or leave the row out"
            )


def _read_labels(table: OpenTable, column: str) -> list[str]:
    labels: list[str] = to_dictionary(table.read({column: "text"})[column]).to_pylist()
    for row, label in enumerate(labels):
        if not label:
            raise ColumnError(
                f"{table.locate(row)} of {table.name} has no {column!r}: fill it in, or leave the row out"
            )
    return labels


def _read_names(table: OpenTable, item: str | None, rows: int) -> tuple[str, ...]:
    if item is None:
        return tuple(map(str, np.arange(1, rows + 1)))
    names = _read_labels(table, item)
    if len(set(names)) < rows:
        counted: dict[str, int] = {}
        for name in names:
            counted[name] = counted.get(name, 0) + 1
        twice = [name for name, count in counted.items() if count > 1]
        raise ColumnError(
            f"column {item!r} of {table.name} has {list_names(twice, most=3)} more than once: ids must differ"
        )
    return tuple(names)
