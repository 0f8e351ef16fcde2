"""Columns put in their places: a table of any shape as `Scores`, its runs named."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Column, Columns, Labels, Numbers, OpenTable
from holdsup.columns.crossing import cross
from holdsup.columns.layout import UNNAMED
from holdsup.errors import ColumnError, ScoresError
from holdsup.results.cautions import Caution
from holdsup.scores.faults import note
from holdsup.scores.properties import TextProperty, compute_property
from holdsup.scores.roles import FILE, METRIC_KIND, OF_METRICS, Roles
from holdsup.scores.samples import settle_samples
from holdsup.scores.settings import keep_settings, leave_out_outcomes
from holdsup.scores.spreadsheets import leave_out_rows
from holdsup.scores.table import STATUSES, Scores, take_rows

MOST_SYSTEMS = 20  # different texts in a column that may be the systems
OK = frozenset("ok success succeeded completed complete done finished".split())  # in lower case


def assemble(
    tables: list[OpenTable],
    roles: Roles,
    columns: Columns,
    virtual: Mapping[str, list[str]],
    computed: tuple[TextProperty, ...],
    *,
    by_line: bool,
    stated: bool,
    guessed: Collection[str],
    notes: tuple[Caution, ...],
    known: Collection[str | None] = (),
) -> Scores:
    """Return the columns in their places; a wide table becomes as many times longer as it has score columns.

    Parameters
    ----------
    columns : what was read of the tables
    virtual : columns with one value a table
    computed : properties to be computed from columns of texts
    by_line : whether lines may be items where nothing else tells them
    stated : whether the user named the column of the status
    guessed : facets that were found by the names of settings
    notes : what was decided before
    known : columns whose role was asked for, or stated
    """
    columns = replace(columns, named=_without_row_numbers(columns, roles))
    columns, left_out, said = leave_out_rows(columns, roles)
    if not sum(columns.lengths):
        raise ScoresError(f"{_source(tables)} has a header but no rows")
    empty = (
        note("empty-table", f"{t.name} has no rows.")
        for t, rows in zip(tables, columns.lengths, strict=True)
        if not rows
    )
    said = [*notes, *said, *empty]
    named = {**columns.named, **_spread(virtual, columns.lengths)}
    values, absent, source, rows = _stack(tables, roles, columns)
    long = {
        name: column if rows is None else take_rows(column, rows)
        for name, column in named.items()
        if name not in roles.score_columns
    }
    labels = {name: column for name, column in long.items() if isinstance(column, Labels)}
    found: dict[str, Labels | None] = {
        role: labels[column] if (column := getattr(roles, role)) else None
        for role in ("system", "item", "dataset", "metric", "cluster", "rater")
    }
    if roles.wide:
        found[roles.wide] = Labels.of(source, roles.score_columns)
    if roles.system == FILE and FILE in virtual:
        said.append(note("tables-as-systems", f"No system column: each of the {len(tables)} tables is a system."))
    system = found.pop("system") or _only_system(
        tables[0], len(values), _like_systems(roles, labels, found["item"]), said
    )
    texts = {asked.column for asked in computed}
    if by_line and found["item"] is None and _only_scores(named, roles, {*virtual, *texts}):
        found["item"] = _item_of_lines(tables, columns.lengths, rows)
        said.append(note("lines-as-items", "No item column: line 1 of every file is the first item, and so on."))
    roles = _check_status(roles, labels, said, stated=stated)
    roles = _read_kinds(roles, labels.get(METRIC_KIND), found["metric"])
    status = _status(values, absent, labels[roles.status] if roles.status else None)
    if status.names != ("ok",):
        ok = status.names.index("ok") if "ok" in status.names else -1
        values = np.where(status.codes == ok, values, np.nan)
    cells = (system, found["dataset"], found["item"])
    roles, answers = settle_samples(roles, labels, cells, known)
    said = [*said, *answers]
    roles = keep_settings(roles, labels, system, (found["dataset"], found["item"]), guessed)
    roles, said = leave_out_outcomes(roles, labels, system, found["dataset"], guessed, said)
    facets = {name: labels[name] for name in roles.facets}
    properties = {name: long[name] for name in roles.properties}
    for asked in computed:
        properties[asked.name], remarks = compute_property(asked, labels[asked.column], found["dataset"], found["item"])
        said.extend(remarks)
    roles = replace(roles, properties=tuple(properties), computed=tuple(map(str, computed)))
    used = {*roles.columns(), *texts, METRIC_KIND}
    return Scores(
        source=_source(tables),
        roles=roles,
        score=values,
        status=status,
        system=system,
        run=name_runs(system, labels[roles.run] if roles.run else None, facets),
        facets=facets,
        properties=properties,
        others={name: column for name, column in long.items() if name not in used},
        notes=tuple(said),
        left_out=left_out,
        item=found["item"],
        dataset=found["dataset"],
        metric=found["metric"],
        cluster=found["cluster"],
        sample=labels[roles.sample] if roles.sample else None,  # settled by now
        rater=found["rater"],
    )


def _spread(virtual: Mapping[str, list[str]], lengths: tuple[int, ...]) -> dict[str, Column]:
    """Return columns with one value a table, row by row."""
    return {name: _merge(np.repeat(np.arange(len(lengths)), lengths), list(values)) for name, values in virtual.items()}


def _without_row_numbers(columns: Columns, roles: Roles) -> dict[str, Column]:
    """Return the columns but for those without a name or role that number the rows: an index saved by pandas."""
    roled = roles.columns()
    kept: dict[str, Column] = {}
    for name, column in columns.named.items():
        unnamed = name not in roled and UNNAMED.fullmatch(name)
        if not (unnamed and isinstance(column, Numbers) and _counts(column, columns.lengths)):
            kept[name] = column
    return kept


def _counts(column: Numbers, lengths: tuple[int, ...]) -> bool:
    counts = np.concatenate([np.arange(length) for length in lengths])
    return any(np.array_equal(column.values, counts + start) for start in (0, 1))


def _check_status(roles: Roles, labels: Mapping[str, Labels], notes: list[Caution], *, stated: bool) -> Roles:
    """Return the roles without a status column that never says ok: it is about something else."""
    if roles.status is None or any(_is_ok(name) for name in labels[roles.status].names):
        return roles
    if stated:
        raise ColumnError(f"no row of column {roles.status!r} says ok: one of {', '.join(sorted(OK))} must occur")
    said = f"Column {roles.status!r} was not read as the status of the scores: no row says ok."
    notes.append(note("status-not-read", said))
    return replace(roles, status=None)


def _read_kinds(roles: Roles, kinds: Labels | None, metric: Labels | None) -> Roles:
    """Return the roles with what a CSV file states of its metrics."""
    if kinds is None or metric is None:
        return roles
    pairs = np.unique(np.stack([metric.codes, kinds.codes]), axis=1).T.tolist()
    said = [(metric.names[m], kinds.names[k].split()) for m, k in pairs if m >= 0 and k >= 0]
    lower, higher, costs = (tuple(name for name, own in said if role in own) for role in OF_METRICS)
    return replace(roles, lower=lower or roles.lower, higher=higher or roles.higher, costs=costs or roles.costs)


def _is_ok(name: str) -> bool:
    return name.strip().lower() in OK


def _only_system(table: OpenTable, rows: int, perhaps: list[str], notes: list[Caution]) -> Labels:
    """Return one system for all rows; `notes` gets which columns it may be instead."""
    said = "No system column: all rows count as one system, named after the file."
    if perhaps:
        said += f" Is it {' or '.join(map(repr, perhaps))}? Then give --system {shlex.quote(perhaps[0])}."
    notes.append(note("one-system", said))
    return Labels.of(np.zeros(rows, int), [table.stem])


def _like_systems(roles: Roles, labels: Mapping[str, Labels], item: Labels | None) -> list[str]:
    """Return the columns without a role that have a few texts, and not one for each item."""
    roled = roles.columns()
    few = [name for name, column in labels.items() if name not in roled and 2 <= column.count <= MOST_SYSTEMS]
    return [name for name in few if item is None or cross(item, labels[name]).count > cross(item).count]


Stacked = tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.integer], NDArray[np.int64] | None]


def _stack(tables: list[OpenTable], roles: Roles, columns: Columns) -> Stacked:
    """Return the scores of all score columns, where they are absent, and the column and the row of each (None: all).

    A table without a column has no scores in it, as opposed to missing ones.
    """
    found = [column for name in roles.score_columns if isinstance(column := columns.named[name], Numbers)]
    if len(found) == 1:
        return found[0].values, found[0].absent, np.zeros(len(found[0].values), np.int32), None
    every = np.arange(sum(columns.lengths))
    rows = [every[np.repeat([name in t.columns for t in tables], columns.lengths)] for name in roles.score_columns]
    source = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
    values = np.concatenate([column.values[r] for column, r in zip(found, rows, strict=True)])
    absent = np.concatenate([column.absent[r] for column, r in zip(found, rows, strict=True)])
    return values, absent, source, np.concatenate(rows)


def _only_scores(named: Mapping[str, Column], roles: Roles, aside: set[str]) -> bool:
    """Return whether the tables hold nothing, but for what is set `aside`, from which a row could be known."""
    return {*roles.score_columns, *roles.properties, roles.cluster, *aside}.issuperset(named)


def _source(tables: list[OpenTable]) -> str:
    return tables[0].name if len(tables) == 1 else f"{len(tables)} tables ({tables[0].name} ...)"


def _item_of_lines(tables: list[OpenTable], lengths: tuple[int, ...], rows: NDArray[np.int64] | None) -> Labels:
    """In files of one score a line, the line is the item: the same line of each file is the same item."""
    longest = max(lengths)
    for table, length in zip(tables, lengths, strict=True):
        if length != longest:
            raise ScoresError(
                f"{table.name} has {length:,} scores and another file {longest:,}: files of one score a line are "
                "paired by line, so they must be of equal length; or give each line an id: `id score`"
            )
    rows = np.arange(sum(lengths)) if rows is None else rows
    return Labels.of(rows % longest, [str(i + 1) for i in range(longest)])


def _status(values: NDArray[np.float64], absent: NDArray[np.bool_], given: Labels | None) -> Labels:
    """Return why each row has no score, or "ok"; a status column's word goes before our own."""
    codes, finite = np.zeros(len(values), np.int32), np.isfinite(values).all()
    if not finite:
        codes[np.isinf(values)] = 3
        codes[np.isnan(values)] = 2
        codes[absent] = 1
    if given is None:
        return Labels.of(codes, STATUSES[:1] if finite else STATUSES)
    names = [*STATUSES, *given.names]
    stated = (given.codes >= 0) & ~np.isin(given.codes, [i for i, name in enumerate(given.names) if _is_ok(name)])
    return _merge(np.where(stated, given.codes + len(STATUSES), codes), names)


def _merge(codes: NDArray[Any], names: list[str]) -> Labels:
    """Return labels from codes into names of which some may be alike."""
    first = {name: i for i, name in reversed(list(enumerate(names)))}
    return Labels.of(np.array([first[name] for name in names])[codes], names)


def name_runs(system: Labels, run: Labels | None, facets: Mapping[str, Labels]) -> Labels:
    """Return the run of each row: a value of the run column, else a combination of all facets, in its system."""
    parts = (
        [("", run)]
        if run is not None
        else [(_escape(name).replace("=", "\\=") + "=", labels) for name, labels in facets.items()]
    )
    crossing = cross(system, *(labels for _, labels in parts))
    names = []
    for row in crossing.first:
        settings = [
            f"{prefix}{_label(labels, row, listed=run is None)}" for prefix, labels in parts if labels.codes[row] >= 0
        ]
        names.append("/".join([_label(system, row), ",".join(settings)]) if settings else _label(system, row))
    return Labels.of(crossing.codes, names)


def _label(labels: Labels, row: int, *, listed: bool = True) -> str:
    code = labels.codes[row]
    return _escape(labels.names[code], listed=listed) if code >= 0 else ""


def _escape(label: str, *, listed: bool = True) -> str:
    """Return a label with our separators escaped, so that no two runs can get the same name; commas part facets."""
    escaped = label.replace("\\", "\\\\").replace("/", "\\/")
    return escaped.replace(",", "\\,") if listed else escaped
