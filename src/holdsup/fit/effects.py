"""Random effects by level: what the fit says about each item, run or dataset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from holdsup.design.matrices import Design, RandomBlock
from holdsup.fit.result import LmmFit
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.prediction import PredictedEffects, predict_effects
from holdsup.results.envelope import to_backend

__all__ = ["LevelEffects", "find_hosts", "random_effects"]


@dataclass(frozen=True, slots=True, eq=False)
class LevelEffects:
    """The predicted effects of one random term.

    Attributes
    ----------
    group : the grouping factor
    variables : the columns whose combinations are its levels
    levels : the labels of each level, one for each variable
    terms : what varies
    values : predicted effects, shape (levels, terms)
    sd : their standard deviations given the fixed effects, same shape
    """

    group: str
    variables: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    terms: tuple[str, ...]
    values: Floats
    sd: Floats

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a frame with a row for each level and term."""
        k = len(self.terms)
        labels = {name: np.repeat([level[i] for level in self.levels], k) for i, name in enumerate(self.variables)}
        columns = {**labels, "term": list(self.terms) * len(self.levels)}
        return to_backend(pa.table({**columns, "value": self.values.ravel(), "sd": self.sd.ravel()}), backend)


def random_effects(fit: LmmFit, *, with_sd: bool = True) -> tuple[LevelEffects, ...]:
    """Return the predicted effects (BLUPs) of every random term, with their conditional standard deviations."""
    model = fit.model()
    predicted = predict_effects(model.engine, with_spread=with_sd)
    return tuple(_block(model.design, block, predicted) for block in model.design.random)


def _block(design: Design, block: RandomBlock, predicted: PredictedEffects) -> LevelEffects:
    k = len(block.columns)
    values, spread = np.empty((block.group.count, k)), np.full((block.group.count, k, k), np.nan)
    for levels, effects, host, columns in find_hosts(design, block):
        values[levels] = predicted.values[effects][host][:, columns]
        if predicted.covariances:
            spread[levels] = predicted.covariances[effects][host][:, columns][:, :, columns]
    T = block.transform
    sd = np.sqrt(np.diagonal(T @ spread @ T.T, axis1=1, axis2=2))
    names = tuple(column.name for column in block.columns)
    labels = tuple(block.group.level_names())
    return LevelEffects(block.group.label, block.group.variables, labels, names, values @ T.T, sd)


def find_hosts(design: Design, block: RandomBlock) -> Iterator[tuple[Ints, int, Ints, list[int]]]:
    """Yield where a term stands in the engine: (levels of the term, effects, their levels, their columns).

    A term of ``system:item`` may be written as one column per system within ``item``; then its levels
    are spread over several of the engine's columns.
    """
    shown = block.group.shown
    own = [next(p for row, col, p in block.places if row == col == i) for i in range(len(block.columns))]
    for number, effects in enumerate(design.layout.effects):
        mine = [c for c in range(len(effects.columns)) if effects.pattern[c, c] in own]
        inside = [f for f in _factors(design, block) if f not in effects.factors]
        for start in range(0, len(mine), len(own)):  # one copy of the term after another
            columns = mine[start : start + len(own)]
            wanted = dict(effects.columns[columns[0]].levels)
            mask = np.ones(len(shown), bool)
            for factor in inside:
                mask &= design.sample.factors[factor][shown] == wanted[factor]
            levels = np.flatnonzero(mask)
            yield levels, number, effects.codes[shown[levels]].astype(np.int64), columns


def _factors(design: Design, block: RandomBlock) -> list[int]:
    return [design.variables.grouping[name] for name in block.group.variables]
