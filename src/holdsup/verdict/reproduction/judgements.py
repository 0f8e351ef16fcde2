"""What several studies say about the same items: their scores or labels, read from a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels, Numbers, OpenTable, open_tables, read_columns
from holdsup.errors import ColumnError, MeasurementError, list_names
from holdsup.results import Rows
from holdsup.scores.table import digest_rows

# Names under which columns are found, the usual one first.
STUDY = ("study", "source", "performed_by", "rater", "annotator", "team")
ITEM = ("item", "item_id", "id", "sentence_id", "question_id")
SCORE = ("score", "value", "rating")
LABEL = ("label", "category", "value")


@dataclass(frozen=True, eq=False)
class Judgements:
    """What studies say about items, as a matrix."""

    studies: tuple[str, ...]  # their names, in the order in which they come
    items: tuple[str, ...]  # their names
    values: NDArray[np.float64]  # scores, or codes of labels, shape (studies, items); NaN where a study says nothing
    labels: tuple[str, ...]  # the labels in the order of their codes; empty for scores
    digest: str  # eight hex digits that change with any value
    rows: Rows  # rows used, and why others were not

    def place(self, study: str) -> int:
        """Return the row of a study."""
        if study not in self.studies:
            raise MeasurementError(f"there is no study {study!r}: choose from {list_names(self.studies)}")
        return self.studies.index(study)


def read_judgements(
    data: Any, *, study: str | None, item: str | None, score: str | None = None, label: str | None = None, scored: bool
) -> Judgements:
    """Return what studies say about items, from a table with a row for each study and item.

    Columns are found by name if not given. `scored` tells scores, which are numbers, from labels, which are not.
    """
    tables = open_tables(data)
    who = _find(tables, "study", study, STUDY)
    what = _find(tables, "item", item, ITEM)
    value = _find(tables, "score", score, SCORE) if scored else _find(tables, "label", label, LABEL)
    columns = read_columns(tables, labels=[who, what, *([] if scored else [value])], numbers=[value] if scored else [])
    studies, items, column = columns.named[who], columns.named[what], columns.named[value]
    assert isinstance(studies, Labels)
    assert isinstance(items, Labels)
    if isinstance(column, Numbers):
        values = column.values
        digest = digest_rows({"study": studies, "item": items}, {"value": values})
    else:
        values = np.where(column.codes < 0, np.nan, column.codes)
        digest = digest_rows({"study": studies, "item": items, "value": column}, {})
    named = (studies.codes >= 0) & (items.codes >= 0)
    used = named & np.isfinite(values)
    _refuse_repeats(studies, items, used, who)
    matrix = np.full((studies.count, items.count), np.nan)
    matrix[studies.codes[used], items.codes[used]] = values[used]
    order = list(dict.fromkeys(studies.codes[used].tolist()))  # as they come: the original first
    if len(order) < 2:
        raise MeasurementError(
            f"column {who!r} has {len(order)} study with values: two are needed, an original and a reproduction"
        )
    reasons = {"no study or item": int((~named).sum()), "no value": int((named & ~used).sum())}
    return Judgements(
        studies=tuple(studies.names[code] for code in order),
        items=items.names,
        values=matrix[order],
        labels=column.names if isinstance(column, Labels) else (),
        digest=digest,
        rows=Rows(len(values), int(used.sum()), {why: count for why, count in reasons.items() if count}),
    )


def _find(tables: Sequence[OpenTable], role: str, asked: str | None, usual: Sequence[str]) -> str:
    columns = dict.fromkeys(column for table in tables for column in table.columns)
    if asked is not None:
        if asked not in columns:
            raise ColumnError.not_found(asked, columns, where=tables[0].name)
        return asked
    lowered = {column.lower(): column for column in columns}
    found = next((lowered[name] for name in usual if name in lowered), None)
    if found is None:
        raise ColumnError(
            f"no column of {tables[0].name} is called {' or '.join(usual)}; name it with --{role} COL "
            f"({role}= in Python). It has {list_names(columns)}"
        )
    return found


def _refuse_repeats(studies: Labels, items: Labels, used: NDArray[np.bool_], who: str) -> None:
    cells = studies.codes[used].astype(np.int64) * items.count + items.codes[used]
    cell, counts = np.unique(cells, return_counts=True)
    repeated = cell[counts > 1]
    if len(repeated):
        study, item = divmod(int(repeated[0]), items.count)
        raise MeasurementError(
            f"{who} {studies.names[study]!r} has several values for item {items.names[item]!r} "
            f"({len(repeated)} such cells): keep one a cell, or give the values to different studies"
        )
