"""`Scores`: the one long table that every question is asked of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns import Column, Labels
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from holdsup.results import Rows
from holdsup.scores.roles import Roles

__all__ = ["STATUSES", "Scores"]

STATUSES = ("ok", "missing", "nan", "infinite")
REASONS = {"missing": "no score", "nan": "a score that is NaN", "infinite": "an infinite score"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Scores:
    """Scores of systems on items: one row is one score of one system on one item in one run.

    Attributes
    ----------
    source : what was read, for messages
    roles : which column played which part
    score : the scores, shape (n,), NaN where `status` is not "ok"
    status : "ok", or why there is no score
    system, run : what was scored; runs are nested in systems
    item, dataset, metric, cluster : None where the table has no such column
    facets : named sources of variation between runs
    properties : facts about items, numbers or labels
    others : columns that play no part, by which the audit can tell what was forgotten
    notes : what the reader had to decide
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

    def __len__(self) -> int:
        return len(self.score)

    @cached_property
    def usable(self) -> NDArray[np.bool_]:
        """Where a row has a finite score and says whose score, and on what, it is; shape (n,)."""
        mask = np.isfinite(self.score) & (self.system.codes >= 0)
        for labels in (self.item, self.dataset, self.metric):
            if labels is not None:
                mask &= labels.codes >= 0
        return mask

    def rows(self) -> Rows:
        """Return how many rows can be used, and why the others cannot; each row counts once."""
        left = ~self.usable
        reasons: dict[str, int] = {}
        for code, name in enumerate(self.status.names):
            if name != "ok":
                reasons[REASONS.get(name, f"status {name!r}")] = int((left & (self.status.codes == code)).sum())
        left = (
            left & (self.status.codes == self.status.names.index("ok")) if "ok" in self.status.names else left & False
        )
        for role in ("system", "item", "dataset", "metric"):
            labels = getattr(self, role)
            if labels is not None:
                lacking = left & (labels.codes < 0)
                reasons[f"no {role}"] = int(lacking.sum())
                left = left & ~lacking
        return Rows(len(self), int(self.usable.sum()), {why: count for why, count in reasons.items() if count})

    @cached_property
    def digest(self) -> str:
        """Eight hex digits that change when any score, label or role does: the data's part of a signature."""
        digest = hashlib.blake2b(self.score.tobytes(), digest_size=4)
        for name, labels in self._labels().items():
            digest.update("\0".join(["", name, *labels.names, ""]).encode("utf-8", "surrogatepass"))
            digest.update(labels.codes.tobytes())
        for name, column in self.properties.items():
            digest.update(f"\0{name}\0".encode("utf-8", "surrogatepass"))
            digest.update(column.codes.tobytes() if isinstance(column, Labels) else column.values.tobytes())
        return digest.hexdigest()

    def _labels(self) -> dict[str, Labels]:
        roles = {role: getattr(self, role) for role in ("dataset", "system", "run", "item", "metric", "cluster")}
        return {role: labels for role, labels in roles.items() if labels is not None} | dict(self.facets)

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

    def overview_rows(self) -> list[tuple[str, str, int | None, str]]:
        """Return what each column was taken for: role, column, number of levels, examples."""
        rows = []
        for column, role in self.roles.columns().items():
            if role in ("score", "status"):
                continue
            named = {"facet": self.facets, "property": self.properties}.get(role)
            rows.append((role, column, *_levels(named[column] if named else getattr(self, role))))
        rows.insert(0, ("score", ", ".join(self.roles.score_columns), None, _range(self.score)))
        rows.extend(("none", column, *_levels(values)) for column, values in self.others.items())
        return rows

    def __str__(self) -> str:
        rows = tuple(self.overview_rows())
        table = Table(title=f"Scores from {self.source}", columns=("role", "column", "levels", "such as"), rows=rows)
        return "\n".join([render_text(table), *self.notes, self.rows().sentence()])


def _levels(column: Column) -> tuple[int | None, str]:
    if isinstance(column, Labels):
        shown = ", ".join(column.names[:3])
        return column.count, f"{shown:.60}{', ...' if column.count > 3 else ''}"
    return None, _range(column.values)


def _range(values: NDArray[np.float64]) -> str:
    finite = values[np.isfinite(values)]
    return f"{finite.min() + 0.0:.6g} to {finite.max() + 0.0:.6g}" if len(finite) else "no number"


def _arrow(column: Column) -> pa.Array:
    if isinstance(column, Labels):
        codes = pa.array(column.codes, mask=column.codes < 0)
        return pa.DictionaryArray.from_arrays(codes, column.levels, ordered=column.declared)
    return pa.array(column.values, from_pandas=True)
