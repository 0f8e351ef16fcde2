"""What a spec varies: the facets of runs, or the parameters of which a tuning has candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdsup.studies.specs.records import Scalar
from holdsup.studies.specs.shapes import Place, is_scalar, is_seed

__all__ = ["FILES", "read_facets"]

FILES = ("train", "test", "out", "python")  # placeholders of commands that are no settings
# Columns that an exported table of scores has anyway, and what commands are given.
TAKEN = ("dataset", "system", "run", "item", "metric", "score", "status", "reason", "split", "resplit", *FILES)


def read_facets(file: str, kind: str, tables: Mapping[str, Any]) -> dict[str, tuple[Scalar, ...]]:
    """Return the values of each facet; of a tuning, those of each parameter in [candidates]."""
    place = Place(file, "candidates" if kind == "tune" else "facets")
    found: dict[str, tuple[Scalar, ...]] = {}
    for name, values in tables.get(place.table, {}).items():
        _require_name(place, name)
        if not isinstance(values, list) or not values or not all(map(is_scalar, values)):
            raise place.refuse(f"{name} is {values!r:.80}; it must be a list of text, numbers or truth values")
        if len({(type(value), value) for value in values}) < len(values):
            raise place.refuse(f"{name} is {values!r:.80}, which has a value more than once")
        if name == "seed" and not all(map(is_seed, values)):
            raise place.refuse(f"seed is {values!r:.80}; seeds are whole numbers from 0")
        found[name] = tuple(values)
    if kind == "tune" and not found:
        raise place.refuse("there are no candidates: give at least one parameter a list of values")
    return found


def _require_name(place: Place, name: str) -> None:
    """Refuse a name that systems cannot be given; parameters become no columns, so more names will do."""
    if place.table == "candidates":
        if not name.isidentifier() or name in (*FILES, "seed"):
            raise place.refuse(f"{name!r} cannot name a parameter: it must be a keyword argument that the system takes")
    elif not name.isidentifier() or name in TAKEN:
        raise place.refuse(f"{name!r} cannot name a facet: it is a keyword argument and a column of its own")
