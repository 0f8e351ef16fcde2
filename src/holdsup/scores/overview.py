"""What each column was taken for, in words."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Column, Labels

if TYPE_CHECKING:
    from holdsup.scores.table import Scores

__all__ = ["COLUMNS", "describe_columns"]

COLUMNS = ("role", "column", "levels", "such as")
EXAMPLES = 3
LONGEST = 24  # characters of a label that are shown
REASONS = ("missing", "nan", "infinite")  # statuses that no column says


def describe_columns(scores: Scores) -> Iterator[tuple[str, str, int | None, str]]:
    """Yield the role, the name, the number of levels and examples of each column."""
    roles = scores.roles
    stated = dict(zip(roles.properties, roles.stated_properties(), strict=True))
    yield "score", ", ".join(roles.score_columns), None, _range(scores.score)
    if roles.wide:
        yield roles.wide, "(the names of these columns)", *_levels(getattr(scores, roles.wide))
    for column, role in roles.columns().items():
        if role == "score":
            continue
        if role == "status":
            said = [name for name in scores.status.names if name not in REASONS]
            yield role, column, len(said), _listed(said)
        else:
            named = {"facet": scores.facets, "property": scores.properties}.get(role)
            yield role, stated.get(column, column), *_levels(named[column] if named else getattr(scores, role))
    for column, values in scores.others.items():
        yield "none", column, *_levels(values)


def _levels(column: Column) -> tuple[int | None, str]:
    if isinstance(column, Labels):
        return column.count, _listed(column.names if column.declared else _in_order(column.names))
    return None, _range(column.values)


def _in_order(names: tuple[str, ...]) -> list[str] | tuple[str, ...]:
    """Return labels that are all numbers by their size: 2 before 10."""
    try:
        return sorted(names, key=Decimal)
    except InvalidOperation:
        return names


def _listed(names: list[str] | tuple[str, ...]) -> str:
    shown = [_shown(name) for name in names[:EXAMPLES]]
    return ", ".join([*shown, "..."] if len(names) > EXAMPLES else shown)


def _shown(name: str) -> str:
    cut = name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..."
    return repr(cut) if "," in cut else cut


def _range(values: NDArray[np.float64]) -> str:
    finite = values[np.isfinite(values)]
    return f"{finite.min() + 0.0:.6g} to {finite.max() + 0.0:.6g}" if len(finite) else "no number"
