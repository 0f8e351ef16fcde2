"""The runs of a table: which rows belong to one, and what it is called."""

from __future__ import annotations

from collections.abc import Mapping

from holdsup.columns import Labels
from holdsup.columns.crossing import cross

__all__ = ["name_runs"]


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
