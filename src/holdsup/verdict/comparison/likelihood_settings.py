"""Settings in the model of the likelihood ratio: fixed for a claim of new runs, random for one of new settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns.crossing import cross
from holdsup.verdict.evaluation import Evaluation, Floats
from holdsup.verdict.settings import varying_facets

__all__ = ["Settings", "draw_settings", "fix_settings", "quote"]


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """What settings add to a model.

    Attributes
    ----------
    table : the rows, with the columns that the terms name
    columns : fixed terms, in both models
    random : random terms, in both models
    words : the fixed terms, as a reader writes them
    """

    table: Any
    columns: tuple[str, ...] = ()
    random: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def fix_settings(evaluation: Evaluation, table: Any) -> Settings:
    """Return the settings of each system as fixed effects that sum to zero.

    The effect of a system is then its mean over settings, equally weighted, and the model without systems is the
    one in which these means are equal, whatever the settings do.
    """
    names: list[str] = []
    for number, system in enumerate(evaluation.systems):
        setting = _settings_of_rows(evaluation, number)
        for code in np.unique(system.settings)[:-1]:
            effect = (setting == code).astype(float) - (setting == system.settings.max())
            names.append(f"setting {len(names) + 1}")
            table = _with(table, names[-1], effect)
    return Settings(table, columns=tuple(map(quote, names)), words=("system:setting",))


def draw_settings(evaluation: Evaluation, table: Any) -> Settings:
    """Return the facets that are settings as random effects, each in the systems in which it varies."""
    scores, terms = evaluation.scores, list[str]()
    for number, system in enumerate(evaluation.systems):
        mine = scores.system.codes == number
        facets = list(varying_facets(scores, mine))
        if facets:
            name = f"is {system.name}" if "`" not in system.name else f"is system {number}"
            table = _with(table, name, mine.astype(float))
            terms.extend(f"(0 + {quote(name)} | {quote(facet)})" for facet in facets)
    return Settings(table, random=tuple(terms))


def quote(name: str) -> str:
    """Return a column's name as a formula holds it."""
    return name if name.isidentifier() and name.isascii() else f"`{name}`"


def _settings_of_rows(evaluation: Evaluation, number: int) -> NDArray[np.int64]:
    """Return the setting of each row of one system, -1 in the rows of others."""
    scores = evaluation.scores
    rows = np.flatnonzero(scores.system.codes == number)
    setting = np.full(len(scores), -1)
    setting[rows] = evaluation.systems[number].settings[cross(scores.run.take(rows)).codes]
    return setting


def _with(table: Any, name: str, values: Floats) -> Any:
    return (table.drop_columns([name]) if name in table.column_names else table).append_column(name, pa.array(values))
