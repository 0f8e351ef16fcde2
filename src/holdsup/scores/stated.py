"""Roles that a table states itself, so that they need no options: what exports of runs carry with them."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

from holdsup.columns import OpenTable
from holdsup.columns.layout import STATED_FACET
from holdsup.columns.typed import ROLES
from holdsup.errors import ColumnError
from holdsup.scores.roles import USUAL, Roles, is_replicate

__all__ = ["fill_in", "find_stated", "state_in_names", "state_roles"]

ONE = ("score", *USUAL)  # roles of one column
SEVERAL = ("facets", "replicates")


def state_roles(table: Any, roles: Roles) -> Any:
    """Return an Arrow table whose metadata, which Parquet files keep, state the roles of its columns."""
    stated = {role: value for role in (*ONE, *SEVERAL) if (value := getattr(roles, role))}
    return table.replace_schema_metadata({**(table.schema.metadata or {}), ROLES: json.dumps(stated)})


def state_in_names(table: Any) -> Any:
    """Return an Arrow table whose facets are known by the names of their columns, as in CSV files: facets.rate."""
    facets = json.loads((table.schema.metadata or {}).get(ROLES.encode(), b"{}")).get("facets", ())
    return table.rename_columns(
        [f"{STATED_FACET}{c}" if c in facets and not is_replicate(c) else c for c in table.column_names]
    )


def find_stated(tables: list[OpenTable]) -> Roles:
    """Return the roles that tables state for columns that they have; the first one that states a role decides."""
    found: dict[str, Any] = {}
    for table in tables:
        stated = _check(table)
        for role in ONE:
            if stated.get(role) in table.columns:
                found.setdefault(role, stated[role])
        for role in SEVERAL:
            there = [column for column in stated.get(role, ()) if column in table.columns]
            found[role] = tuple(dict.fromkeys((*found.get(role, ()), *there)))
    return Roles(**found)


def fill_in(asked: Roles, stated: Roles) -> Roles:
    """Return what the user asks for, and for roles that are left open what the tables state of the other columns."""
    taken = {*asked.columns(), *asked.replicates, *asked.shared}
    free = [role for role in ONE if getattr(asked, role) is None and role != asked.wide]
    found: dict[str, Any] = {role: column for role in free if (column := getattr(stated, role)) not in taken}
    if not (asked.facets or asked.replicates or asked.shared):
        found |= {role: tuple(c for c in getattr(stated, role) if c not in taken) for role in SEVERAL}
    return replace(asked, **found)


def _check(table: OpenTable) -> dict[str, Any]:
    """Return the roles that a table states; refuse what cannot be roles."""
    stated = table.stated
    named = [field.name for field in fields(Roles)]
    right = isinstance(stated, dict) and all(
        role in named and (_is_names(value) if role in SEVERAL else isinstance(value, str))
        for role, value in stated.items()
    )
    if not right:
        raise ColumnError(
            f"the metadata {ROLES} of {table.name} are {stated!r:.80}: give each role a column, such as "
            '{"system": "model", "facets": ["rate"]}'
        )
    return dict(stated)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)
