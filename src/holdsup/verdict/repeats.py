"""Scores that repeat a run and an item, and the column that may tell them apart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Column, Labels
from holdsup.columns.crossing import Crossing, cross
from holdsup.rendering.numbers import format_counted
from holdsup.scores import Scores
from holdsup.verdict.evaluation import Evaluation

__all__ = ["caution_repeats"]

AVERAGED = "averaged"
KEPT = "taken for scores of their own at the same levels"


def caution_repeats(evaluation: Evaluation, *, averaged: bool) -> Iterator[str]:
    """Yield a line about scores that repeat a run and an item, and what was done with them."""
    scores = evaluation.scores
    cells = cross(scores.run.codes.astype(np.int64), evaluation.item)
    repeated = len(scores) - cells.count
    if not repeated:
        return
    where = "a run" if evaluation.per_run else f"a run and {'an item' if scores.item is not None else 'a dataset'}"
    what = f"{format_counted(repeated, 'score')} {'repeats' if repeated == 1 else 'repeat'} {where}"
    advice = "name the columns that tell them apart (--facets, --run), or see holdsup check"
    if name := next(_telling(scores, cells), None):
        advice = f"{name} tells them apart; name it (--facets {name}, say) if it does so for runs"
    yield f"{what} and {'was' if repeated == 1 else 'were'} {AVERAGED if averaged else KEPT}: {advice}."


def _telling(scores: Scores, cells: Crossing) -> Iterator[str]:
    """Yield the columns without a role that have a value of its own in every row of a run and an item."""
    for name, column in scores.others.items():
        if cross(cells.codes, _codes(column)).count == len(scores):
            yield name


def _codes(column: Column) -> NDArray[np.int64]:
    if isinstance(column, Labels):
        return column.codes.astype(np.int64) + 1
    return np.unique(column.values, return_inverse=True)[1].astype(np.int64)
