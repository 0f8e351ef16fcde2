"""`read_scores`: from any table a user has to `Scores`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Columns, Labels, Numbers, OpenTable, open_tables, read_columns
from holdsup.columns.crossing import cross
from holdsup.errors import ColumnError, ScoresError
from holdsup.progress import Progress, no_progress
from holdsup.scores.roles import FILE, NOTHING, Roles, find_roles
from holdsup.scores.table import STATUSES, Scores

__all__ = ["read_scores"]


def read_scores(
    data: Any,
    *,
    score: str | None = None,
    system: str | None = None,
    item: str | None = None,
    run: str | None = None,
    dataset: str | None = None,
    metric: str | None = None,
    cluster: str | None = None,
    facets: Iterable[str] = (),
    replicates: Iterable[str] = (),
    shared: Iterable[str] = (),
    properties: Iterable[str] = (),
    wide: Mapping[str, Iterable[str]] | None = None,
    progress: Progress = no_progress,
) -> Scores:
    """Return the scores in files, folders, patterns, frames, or several of these.

    Roles that are not given are found by the usual names of columns (system or model, item or id,
    score or the name of a metric, seed, run ...); `print` the result to see what was taken for what.

    Parameters
    ----------
    data : a path, a folder, a glob pattern, "-" for standard input; anything with an Arrow stream
        (pandas, polars, pyarrow, DuckDB); a dict of columns; a list of records; a list of these.
        Files without a header hold one score a line, or an id and a score; each is a system.
    score, system, item, run, dataset, metric, cluster : the column that plays this part;
        "-" when nothing does, whatever the columns are called
    facets : columns that differ between runs of one system (seed, learning rate, ...)
    replicates : the facets that are mere repetitions; those named seed, rep, trial ... are anyway
    shared : the facets whose levels mean the same in every system (seed 3 gives the same data order)
    properties : columns that describe items (length, genre)
    wide : ``{"system": ["A", "B"]}`` or ``{"metric": ["bleu", "chrf"]}`` when each has a column of its own
    progress : called as reading goes on

    Examples
    --------
    >>> scores = read_scores({"model": ["A", "A", "B", "B"], "id": [1, 2, 1, 2], "f1": [0.7, 0.8, 0.6, 0.9]})
    >>> scores.system.names, scores.item.names, len(scores)
    (('A', 'B'), ('1', '2'), 4)
    """
    asked = _wide(
        Roles(score=score, system=system, item=item, run=run, dataset=dataset, metric=metric, cluster=cluster,
              facets=_names(facets), replicates=_names(replicates), shared=_names(shared),
              properties=_names(properties)),
        wide,
    )  # fmt: skip
    tables = open_tables(data, progress=progress)
    roles = find_roles(asked, tables)
    _check_scored(tables, roles)
    named = roles.columns()
    there = {c for table in tables for c in table.columns}
    others = [c for t in tables for c in t.columns if c not in named and t.guess(c) != "other"]
    labels = [c for c, role in named.items() if role not in ("score", "property") and c in there]
    columns = read_columns(
        tables,
        labels=labels,
        numbers=roles.score_columns,
        either=[*(c for c in roles.properties if c in there), *others],
        progress=progress,
    )
    return _assemble(tables, roles, columns, by_line=item != NOTHING)


def _names(given: Iterable[str]) -> tuple[str, ...]:
    """Return the names of columns; one may be given bare."""
    return (given,) if isinstance(given, str) else tuple(given)


def _wide(asked: Roles, wide: Mapping[str, Iterable[str]] | None) -> Roles:
    if not wide:
        return asked
    (role, columns), *more = wide.items()
    named = _names(columns)
    if more or role not in ("system", "metric"):
        raise ColumnError(f"wide is {dict(wide)!r}: give one of system=A,B or metric=A,B")
    if asked.score is not None or getattr(asked, role) is not None or len(named) < 1:
        raise ColumnError(
            f"with wide {role}={','.join(named)} those columns hold the scores: leave score and {role} out"
        )
    return replace(asked, score=named, wide=role)


def _check_scored(tables: list[OpenTable], roles: Roles) -> None:
    for table in tables:
        if not set(roles.score_columns) & set(table.columns):
            raise ColumnError.not_found(roles.score_columns[0], table.columns, where=table.name)


def _assemble(tables: list[OpenTable], roles: Roles, columns: Columns, *, by_line: bool) -> Scores:
    """Put the columns in their places; a wide table becomes as many times longer as it has score columns."""
    if not sum(columns.lengths):
        raise ScoresError(f"{_source(tables)} has a header but no rows")
    notes = [f"{table.name} has no rows." for table, rows in zip(tables, columns.lengths, strict=True) if not rows]
    named = dict(columns.named)
    if len(tables) > 1 and FILE not in named:
        named[FILE] = _files(tables, columns.lengths)
    values, absent, source, rows = _stack(tables, roles, columns)
    stretched = {
        name: column if len(roles.score_columns) == 1 else _take(column, rows)
        for name, column in named.items()
        if name not in roles.score_columns
    }
    labels = {name: column for name, column in stretched.items() if isinstance(column, Labels)}
    found: dict[str, Labels | None] = {
        role: labels[column] if (column := getattr(roles, role)) else None
        for role in ("system", "item", "dataset", "metric", "cluster")
    }
    if roles.wide:
        found[roles.wide] = Labels.of(source, roles.score_columns)
    if roles.system == FILE and FILE not in columns.named:
        notes.append(f"There is no system column: each of the {len(tables)} tables is taken for a system.")
    system = found.pop("system") or _only_system(tables[0], len(values), notes)
    if by_line and found["item"] is None and _only_scores(tables, roles):
        found["item"] = _item_of_lines(tables, columns.lengths, rows)
        notes.append("There is no item column: the lines are the items, paired by their number.")
    if roles.status and "ok" not in labels[roles.status].names:
        notes.append(f"No row of column {roles.status!r} says ok: it is not taken for the status of the scores.")
        roles = replace(roles, status=None)
    status = _status(values, absent, labels[roles.status] if roles.status else None)
    values[status.codes != status.names.index("ok") if "ok" in status.names else slice(None)] = np.nan
    facets = {name: labels[name] for name in roles.facets}
    return Scores(
        source=_source(tables),
        roles=roles,
        score=values,
        status=status,
        system=system,
        run=_runs(system, labels[roles.run] if roles.run else None, facets),
        facets=facets,
        properties={name: stretched[name] for name in roles.properties},
        others={name: column for name, column in stretched.items() if name not in roles.columns()},
        notes=tuple(notes),
        **found,
    )


def _only_system(table: OpenTable, rows: int, notes: list[str]) -> Labels:
    notes.append("There is no system column: all rows are taken for one system, called by the name of the file.")
    return Labels.of(np.zeros(rows, int), [table.stem])


Stacked = tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]


def _stack(tables: list[OpenTable], roles: Roles, columns: Columns) -> Stacked:
    """Return the scores of all score columns, where they are absent, and the column and the row of each.

    A table without a column has no scores in it, as opposed to missing ones.
    """
    found = [column for name in roles.score_columns if isinstance(column := columns.named[name], Numbers)]
    every = np.arange(sum(columns.lengths))
    if len(found) == 1:
        return found[0].values.copy(), found[0].absent, np.zeros(len(every), np.int64), every
    rows = [every[np.repeat([name in t.columns for t in tables], columns.lengths)] for name in roles.score_columns]
    source = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
    values = np.concatenate([column.values[r] for column, r in zip(found, rows, strict=True)])
    absent = np.concatenate([column.absent[r] for column, r in zip(found, rows, strict=True)])
    return values, absent, source, np.concatenate(rows)


def _only_scores(tables: list[OpenTable], roles: Roles) -> bool:
    """Return whether the tables hold nothing from which a row could be known but its number."""
    known = {*roles.score_columns, *roles.properties, roles.cluster}
    return all(known.issuperset(table.columns) for table in tables)


def _source(tables: list[OpenTable]) -> str:
    return tables[0].name if len(tables) == 1 else f"{len(tables)} tables ({tables[0].name} ...)"


def _take(column: Labels | Numbers, rows: NDArray[np.int64]) -> Labels | Numbers:
    if isinstance(column, Labels):
        return column.take(rows)
    return Numbers(column.values[rows], column.absent[rows])


def _files(tables: list[OpenTable], lengths: tuple[int, ...]) -> Labels:
    """Return the table that each row comes from, by its short name where that tells them apart."""
    stems = [table.stem for table in tables]
    names = stems if len(set(stems)) == len(stems) else [f"{i}: {t.name}" for i, t in enumerate(tables, start=1)]
    return Labels.of(np.repeat(np.arange(len(tables)), lengths), names)


def _item_of_lines(tables: list[OpenTable], lengths: tuple[int, ...], rows: NDArray[np.int64]) -> Labels:
    """In files of one score a line, the line is the item: the same line of each file is the same item."""
    longest = max(lengths)
    for table, length in zip(tables, lengths, strict=True):
        if length != longest:
            raise ScoresError(
                f"{table.name} has {length:,} scores and another file {longest:,}: files of one score a line are "
                "paired by line, so they must be of equal length; or give each line an id: `id score`"
            )
    return Labels.of(rows % longest, [str(i + 1) for i in range(longest)])


def _status(values: NDArray[np.float64], absent: NDArray[np.bool_], given: Labels | None) -> Labels:
    """Return why each row has no score, or "ok"; a status column's word goes before our own."""
    codes = np.where(absent, 1, np.where(np.isnan(values), 2, np.where(np.isinf(values), 3, 0)))
    if given is None:
        return Labels.of(codes, STATUSES)
    names = [*STATUSES, *given.names]
    stated = (given.codes >= 0) & ~np.isin(given.codes, [i for i, name in enumerate(given.names) if name == "ok"])
    return _merge(np.where(stated, given.codes + len(STATUSES), codes), names)


def _merge(codes: NDArray[Any], names: list[str]) -> Labels:
    """Return labels from codes into names of which some may be alike."""
    first = {name: i for i, name in reversed(list(enumerate(names)))}
    return Labels.of(np.array([first[name] for name in names])[codes], names)


def _runs(system: Labels, run: Labels | None, facets: Mapping[str, Labels]) -> Labels:
    """Return the run of each row: a value of the run column, else a combination of all facets, in its system."""
    parts = (
        [("", run)]
        if run is not None
        else [(_escape(name).replace("=", "\\=") + "=", labels) for name, labels in facets.items()]
    )
    crossing = cross(system, *(labels for _, labels in parts))
    names = []
    for row in crossing.first:
        settings = [f"{prefix}{_label(labels, row)}" for prefix, labels in parts if labels.codes[row] >= 0]
        names.append("/".join([_label(system, row), ",".join(settings)]) if settings else _label(system, row))
    return Labels.of(crossing.codes, names)


def _label(labels: Labels, row: int) -> str:
    code = labels.codes[row]
    return _escape(labels.names[code]) if code >= 0 else ""


def _escape(label: str) -> str:
    """Return a label with our separators escaped, so that no two runs can get the same name."""
    return label.replace("\\", "\\\\").replace("/", "\\/").replace(",", "\\,")
