"""Some rows of a table of scores: those in which columns have certain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from holdsup.arguments import list_values_given
from holdsup.columns import Column, Labels
from holdsup.columns.values import parse_number, write_value
from holdsup.errors import ColumnError, ScoresError, list_names
from holdsup.results import Rows
from holdsup.scores import Scores
from holdsup.verdict.checkpoints import keep_last

__all__ = ["Where", "choose_rows", "leave_out", "select_rows", "sign_where", "write_values"]

Where: TypeAlias = Mapping[str, Iterable[str | float] | str | float] | None
ROLES = ("system", "item", "dataset", "metric", "cluster", "run")


def select_rows(scores: Scores, where: Where, last: str | None = None) -> tuple[Scores, Rows]:
    """Return the scores of `choose_rows`, and how many rows of all these are."""
    chosen, reasons = choose_rows(scores, where, last)
    used = chosen.rows()
    return chosen, Rows(scores.planned, used.used, {**reasons, **used.reasons})


def choose_rows(scores: Scores, where: Where, last: str | None = None) -> tuple[Scores, dict[str, int]]:
    """Return the scores in which each column has one of its values, and how many rows each condition takes out.

    A column is given by its own name or, if no column has that name, by its role. Of what is left `last` keeps, in each
    run and dataset, the rows at the largest value of a column.
    """
    if where is None:
        return keep_last(scores, last)
    if not isinstance(where, Mapping):
        raise ColumnError(f"where is {where!r:.60}: give a dict, such as {{'system': 'A'}}")
    mask = np.ones(len(scores), bool)
    reasons: dict[str, int] = {}
    known = _columns(scores)
    for name, given in where.items():
        values = write_values(name, given)
        if name not in known and name in scores.roles.columns():
            role = scores.roles.columns()[name]
            raise ScoresError(f"--where {name}: it is the column of the {role}, and rows are not chosen by that")
        if name not in known:
            raise ColumnError.not_found(name, known, where=scores.source)
        fits = _fits(name, known[name], values)
        reasons[f"another {name} than {' or '.join(values)}"] = int((mask & ~fits).sum())
        mask &= fits
    if not mask.any():
        asked = ", ".join(f"{name}={value}" for name, value in where.items())
        raise ScoresError(f"no row of {scores.source} has all of {asked}: give values that occur together")
    kept, earlier = keep_last(scores.only(mask), last)
    return kept, {why: count for why, count in reasons.items() if count} | earlier


def sign_where(where: Where) -> str | None:
    """Return the conditions as a part of a signature; None where there are none."""
    said = (f"{name}={'/'.join(write_values(name, v))}" for name, v in (where or {}).items())
    return ",".join(said) or None


def write_values(name: str, given: object) -> list[str]:
    """Return the values that a column may have as the labels they are: 1 and 1.0 as "1"."""
    return [write_value(value) or "" for value in list_values_given(given, name, "where")]


def leave_out(rows: Rows, count: int, why: str) -> Rows:
    """Return the rows without some that were to be used."""
    return replace(rows, used=rows.used - count, reasons={**rows.reasons, why: count}) if count else rows


def _columns(scores: Scores) -> dict[str, Column]:
    """Return every column that rows can be chosen by."""
    found: dict[str, Column] = {}
    for role in ROLES:
        labels = getattr(scores, role)
        if labels is not None:
            found[role] = labels
            column = getattr(scores.roles, role)
            if column is not None and role != "run":  # a run's own name is made longer by that of its system
                found[column] = labels
    return {**found, **scores.others, **scores.properties, **scores.facets}


def _fits(name: str, column: Column, values: list[str]) -> NDArray[np.bool_]:
    """Return in which rows a column has one of the values."""
    if isinstance(column, Labels):
        unknown = [value for value in values if value not in column.names]
        if unknown:
            raise ScoresError(f"no row has {name}={unknown[0]}: {name!r} has {list_names(column.names)}")
        return np.isin(column.codes, [column.names.index(value) for value in values])
    numbers = [parse_number(value) for value in values]
    for value, number in zip(values, numbers, strict=True):
        if number is None or not (column.values == number).any():
            raise ScoresError(f"no row has {name}={value}: {name!r} holds numbers, and none equals it")
    return np.isin(column.values, [number for number in numbers if number is not None])
