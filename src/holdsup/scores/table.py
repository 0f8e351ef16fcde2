"""`Scores`: the one long table that every question is asked of."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns import Column, Labels, Numbers
from holdsup.columns.crossing import Crossing, cross
from holdsup.rendering import Table
from holdsup.rendering.markup import render_html
from holdsup.rendering.numbers import format_counted
from holdsup.rendering.table import visible
from holdsup.rendering.text import render_text
from holdsup.results import Rows
from holdsup.scores.fingerprint import digest_rows
from holdsup.scores.overview import COLUMNS, describe_columns
from holdsup.scores.roles import RESPLIT, Roles

__all__ = ["LABELLED", "REASONS", "STATUSES", "Scores", "take_rows"]

LABELLED = ("system", "item", "dataset", "metric")  # what a row must say to be of use, where the table has it

STATUSES = ("ok", "missing", "nan", "infinite")
REASONS = {"missing": "no score", "nan": "a score that is NaN", "infinite": "an infinite score"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Scores:
    """Scores of systems on items: one row is one score of one system on one item in one run.

    Attributes
    ----------
    source : what was read, for messages
    roles : which column has which role
    score : the scores, shape (n,), NaN where `status` is not "ok"
    status : "ok", or why there is no score
    system, run : what was scored; runs are nested in systems
    item, dataset, metric, cluster : None where the table has no such column
    facets : named sources of variation between runs
    properties : facts about items, numbers or labels
    others : columns without a role, by which the audit can tell what was forgotten
    notes : what the reader had to decide
    left_out : why rows of the input are not among these, and how many
    names : the pattern by which columns were found in the names of files
    """

    source: str
    roles: Roles
    score: NDArray[np.float64]
    status: Labels
    system: Labels
    run: Labels
    item: Labels | None = None
    dataset: Labels | None = None
    metric: Labels | None = None
    cluster: Labels | None = None
    facets: Mapping[str, Labels]
    properties: Mapping[str, Column]
    others: Mapping[str, Column]
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    names: str | None = None

    def __len__(self) -> int:
        return len(self.score)

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        """Where a row says whose score, and on what, it is; shape (n,)."""
        mask = np.ones(len(self), bool)
        for role in LABELLED:
            labels = getattr(self, role)
            if labels is not None:
                mask &= labels.codes >= 0
        return mask

    @cached_property
    def usable(self) -> NDArray[np.bool_]:
        """Where a row has all of these labels and a finite score; shape (n,)."""
        return self.labelled & np.isfinite(self.score)

    @cached_property
    def items(self) -> Crossing | None:
        """The items: an item belongs to its dataset, so that item 1 of two datasets is two items."""
        if self.item is None:
            return None
        return cross(*(labels for labels in (self.dataset, self.item) if labels is not None))

    @cached_property
    def holes(self) -> tuple[Crossing, NDArray[np.int64], int]:
        """The runs of each dataset and metric, how many items each lacks, and how many cells there should be."""
        assert self.item is not None
        # A run on a split of its own owes nothing to items that other splits test.
        parts = [x for x in (self.dataset, self.metric, self.facets.get(RESPLIT)) if x is not None]
        blocks, items, runs = (cross(*parts, *each, rows=len(self)) for each in ((), (self.item,), (self.run,)))
        items_of = np.bincount(blocks.codes[items.first], minlength=blocks.count)
        cells = cross(self.run, *parts, self.item)
        planned = items_of[blocks.codes[runs.first]]
        # Where no cell has two rows, as in most tables, the rows of a run are its cells.
        shown = runs.codes if cells.count == len(self) else runs.codes[cells.first]
        return runs, planned - np.bincount(shown, minlength=runs.count), int(planned.sum())

    @property
    def planned(self) -> int:
        """How many rows the input has, those that were left out among them."""
        return len(self) + sum(self.left_out.values())

    def take(self, rows: NDArray[Any]) -> Scores:
        """Return some of the rows (indices or a mask)."""
        single = ("status", "run", *LABELLED, "cluster")
        taken: dict[str, Any] = {
            name: column.take(rows) for name in single if (column := getattr(self, name)) is not None
        }
        for group in ("facets", "properties", "others"):
            taken[group] = {name: take_rows(column, rows) for name, column in getattr(self, group).items()}
        return dataclasses.replace(self, score=self.score[rows], **taken)

    def only(self, mask: NDArray[np.bool_]) -> Scores:
        """Return the rows of a mask: the same table if that is all of them."""
        return self if mask.all() else self.take(mask)

    def rows(self) -> Rows:
        """Return how many rows can be used, and why the others cannot; each row counts once."""
        left = ~self.usable
        reasons: dict[str, int] = dict(self.left_out)
        for code, name in enumerate(self.status.names):
            if name != "ok":
                reasons[REASONS.get(name, f"status {name!r}")] = int((left & (self.status.codes == code)).sum())
        left = (
            left & (self.status.codes == self.status.names.index("ok")) if "ok" in self.status.names else left & False
        )
        for role in LABELLED:
            labels = getattr(self, role)
            if labels is not None:
                lacking = left & (labels.codes < 0)
                reasons[f"no {role}"] = int(lacking.sum())
                left = left & ~lacking
        return Rows(self.planned, int(self.usable.sum()), {why: count for why, count in reasons.items() if count})

    @cached_property
    def digest(self) -> str:
        """Eight hex digits that change when any score, label or role does, but not with the order of rows."""
        named = {f"column {name}": column for name, column in (*self.facets.items(), *self.properties.items())}
        named |= {role: getattr(self, role) for role in (*LABELLED, "run", "cluster", "status")}
        labels = {name: column for name, column in named.items() if isinstance(column, Labels)}
        numbers = {name: column.values for name, column in named.items() if isinstance(column, Numbers)}
        return digest_rows(labels, {**numbers, "score": self.score})

    def to_arrow(self) -> pa.Table:
        """Return the table with the contract's columns: dataset, system, run, item, metric, score, status, ..."""
        columns: dict[str, Any] = {}
        for role in ("dataset", "system", "run", "item", "metric"):
            labels = getattr(self, role)
            if labels is not None:
                columns[role] = _arrow(labels)
        columns["score"] = pa.array(self.score, from_pandas=True)
        columns["status"] = _arrow(self.status)
        for name, column in (*self.facets.items(), *self.properties.items()):
            columns.setdefault(name, _arrow(column))
        if self.cluster is not None:
            columns["cluster"] = _arrow(self.cluster)
        return pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Give the table to pandas, polars, DuckDB or anything else that reads an Arrow stream."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def overview(self) -> Table:
        """Return what each column was taken for."""
        return Table(title=f"Scores from {self.source}", columns=COLUMNS, rows=tuple(describe_columns(self)))

    def __repr__(self) -> str:
        counts = [format_counted(len(self), "row"), format_counted(self.system.count, "system")]
        return f"<Scores from {self.source}: {', '.join(counts)}; print it to see its columns>"

    def __str__(self) -> str:
        return "\n".join([render_text(self.overview()), *self.notes, self.rows().sentence()])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{html.escape(visible(note))}</p>\n" for note in (*self.notes, self.rows().sentence()))
        return render_html(self.overview()) + notes


def take_rows(column: Column, rows: NDArray[Any]) -> Column:
    """Return some rows (indices or a mask) of a column."""
    if isinstance(column, Labels):
        return column.take(rows)
    return Numbers(column.values[rows], column.absent[rows])


def _arrow(column: Column) -> pa.Array:
    if isinstance(column, Labels):
        codes = pa.array(column.codes, mask=column.codes < 0)
        return pa.DictionaryArray.from_arrays(codes, column.levels, ordered=column.declared)
    return pa.array(column.values, from_pandas=True)
