"""`read_scores`: from any table a user has to `Scores`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Columns, Labels, Numbers, OpenTable, open_tables, read_columns
from holdsup.errors import ColumnError, ScoresError
from holdsup.progress import Progress, no_progress
from holdsup.scores.crossing import cross
from holdsup.scores.roles import FILE, Roles, find_roles
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
    tables = open_tables(data, progress=progress)
    asked = _wide(
        Roles(score=score, system=system, item=item, run=run, dataset=dataset, metric=metric, cluster=cluster,
              facets=tuple(facets), replicates=tuple(replicates), shared=tuple(shared),
              properties=tuple(properties)),
        wide,
    )  # fmt: skip
    roles = find_roles(asked, tables)
    _check_scored(tables, roles)
    named = roles.columns()
    others = [c for t in tables for c in t.columns if c not in named and t.guess(c) != "other"]
    labels = [
        c for c, role in named.items() if role not in ("score", "property") and any(c in t.columns for t in tables)
    ]
    columns = read_columns(
        tables,
        labels=labels,
        numbers=roles.score_columns,
        either=[*roles.properties, *others],
        progress=progress,
    )
    return _assemble(tables, roles, columns)


def _wide(asked: Roles, wide: Mapping[str, Iterable[str]] | None) -> Roles:
    if not wide:
        return asked
    (role, columns), *more = wide.items()
    named = tuple(columns)
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


def _assemble(tables: list[OpenTable], roles: Roles, columns: Columns) -> Scores:
    """Put the columns in their places; a wide table becomes as many times longer as it has score columns."""
    rows = sum(columns.lengths)
    if rows == 0:
        raise ScoresError(f"{_source(tables)} has a header but no rows")
    named = dict(columns.named)
    if len(tables) > 1 and FILE not in named:
        named[FILE] = _files(tables, columns.lengths)
    times = len(roles.score_columns)
    numbers = [named[column] for column in roles.score_columns]
    values = np.concatenate([column.values for column in numbers if isinstance(column, Numbers)])
    absent = np.concatenate([column.absent for column in numbers if isinstance(column, Numbers)])
    stretched = {name: _repeat(column, times) for name, column in named.items() if name not in roles.score_columns}
    labels = {name: column for name, column in stretched.items() if isinstance(column, Labels)}
    notes: list[str] = []
    found: dict[str, Labels | None] = {
        role: labels[column] if (column := getattr(roles, role)) else None
        for role in ("system", "item", "dataset", "metric", "cluster")
    }
    if roles.wide:
        found[roles.wide] = Labels.of(np.repeat(np.arange(times), rows), roles.score_columns)
    system = found.pop("system")
    if system is None:
        notes.append("There is no system column: all rows are taken for one system, called by the name of the file.")
        system = Labels.of(np.zeros(rows * times, int), [tables[0].stem])
    elif roles.system == FILE and FILE not in columns.named:
        notes.append(f"There is no system column: each of the {len(tables)} tables is taken for a system.")
    if found["item"] is None and all(table.columns == roles.score_columns for table in tables):
        found["item"] = _item_of_lines(tables, columns, times, notes)
    facets = {name: labels[name] for name in roles.facets}
    status = _status(values, absent, labels[roles.status] if roles.status else None)
    values[status.codes != status.names.index("ok") if "ok" in status.names else slice(None)] = np.nan
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


def _source(tables: list[OpenTable]) -> str:
    return tables[0].name if len(tables) == 1 else f"{len(tables)} tables ({tables[0].name} ...)"


def _repeat(column: Labels | Numbers, times: int) -> Labels | Numbers:
    if times == 1:
        return column
    if isinstance(column, Labels):
        return Labels(np.tile(column.codes, times), column.levels, column.declared)
    return Numbers(np.tile(column.values, times), np.tile(column.absent, times))


def _files(tables: list[OpenTable], lengths: tuple[int, ...]) -> Labels:
    """Return the table that each row comes from, by its short name where that tells them apart."""
    stems = [table.stem for table in tables]
    names = stems if len(set(stems)) == len(stems) else [f"{i}: {t.name}" for i, t in enumerate(tables, start=1)]
    return Labels.of(np.repeat(np.arange(len(tables)), lengths), names)


def _item_of_lines(tables: list[OpenTable], columns: Columns, times: int, notes: list[str]) -> Labels:
    """In files of one score a line, the line is the item: the same line of each file is the same item."""
    longest = max(columns.lengths)
    for table, length in zip(tables, columns.lengths, strict=True):
        if length != longest:
            raise ScoresError(
                f"{table.name} has {length:,} scores and another file {longest:,}: files of one score a line are "
                "paired by line, so they must be of equal length; or give each line an id: `id score`"
            )
    notes.append("There is no item column: the lines are the items, paired by their number.")
    return Labels.of(np.tile(np.arange(longest), len(tables) * times), [str(i + 1) for i in range(longest)])


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
    parts = [("", run)] if run is not None else [(f"{name}=", labels) for name, labels in facets.items()]
    crossing = cross(system, *(labels for _, labels in parts))
    names = []
    for row in crossing.first:
        settings = [f"{prefix}{_label(labels, row)}" for prefix, labels in parts if labels.codes[row] >= 0]
        names.append("/".join([_label(system, row), ",".join(settings)]) if settings else _label(system, row))
    return Labels.of(crossing.codes, names)


def _label(labels: Labels, row: int) -> str:
    """Return a label with our separators escaped, so that no two runs can get the same name."""
    code = labels.codes[row]
    return labels.names[code].replace("\\", "\\\\").replace("/", "\\/").replace(",", "\\,") if code >= 0 else ""
