"""A smaller model within the cross-products of a larger one: fewer fixed effects, fewer parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from holdsup.numerics.elimination import Elimination, Levels, Nothing, Patterns, SparseLevels
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.moments import Block, Moments


@dataclass(frozen=True, slots=True, eq=False)
class Restriction:
    """How a smaller model lies within a larger one."""

    fixed: Floats  # K in X_small = X_large K, shape (p_large, p_small)
    parameters: Ints  # the parameter of the larger model that each of the smaller one is; all others are zero

    @classmethod
    def none(cls, moments: Moments) -> Restriction:
        """Return the restriction that leaves a model as it is."""
        return cls(np.eye(moments.p), np.arange(len(moments.lower)))


def restrict(moments: Moments, restriction: Restriction) -> tuple[Moments, Floats]:
    """Return the cross-products of the smaller model, and J in M0_small = M0_large J."""
    number = np.full(len(moments.lower) + 1, -1, np.int64)  # the last place serves -1, the mark of a zero
    number[restriction.parameters] = np.arange(len(restriction.parameters))
    blocks: list[Block] = []
    columns: list[int] = []
    start = 0
    for block in moments.blocks:
        pattern = number[block.pattern]
        if (pattern >= 0).any():
            blocks.append(Block(start, block.count, pattern))
            columns.extend(range(block.start, block.stop))
            start = blocks[-1].stop
    p = restriction.fixed.shape[1]
    J = np.zeros((moments.q2 + moments.p, start + p))
    J[columns, np.arange(start)] = 1.0
    J[moments.q2 :, start:] = restriction.fixed
    whole = with_response(J)
    B = moments.held.B
    rows = B @ whole if isinstance(B, np.ndarray) else tuple((part @ sp.csr_array(whole)).tocsr() for part in B)
    small = replace(
        moments,
        p=p,
        lower=moments.lower[restriction.parameters],
        first=number[moments.first],
        blocks=tuple(blocks),
        held=moments.held.with_rows(rows),
        C=whole.T @ moments.C @ whole,
    )
    return small, J


def with_response(J: Floats) -> Floats:
    """Return J with a last row and column for the response, which stays as it is."""
    return np.block([[J, np.zeros((len(J), 1))], [np.zeros((1, J.shape[1])), np.ones((1, 1))]])


def restrict_elimination(elimination: Elimination, small: Moments, J: Floats) -> Elimination:
    """Return how the first factor is taken out of a smaller model: as in the larger one."""
    if isinstance(elimination, Patterns):
        whole = with_response(J)
        P = np.ascontiguousarray(whole.T @ elimination.sums @ whole).reshape(len(elimination.P), -1)
        return Patterns(small.C, elimination.blocks, P)
    if isinstance(elimination, Nothing):
        return Nothing(small)
    return Levels.of(small) if isinstance(small.B, np.ndarray) else SparseLevels(small)
