"""A second factor eliminated after the first: items within documents, whose levels share no column of M.

With the first factor (one column a level) eliminated, the columns of a factor that it is nested in are orthogonal to
each other: S has the shape of an arrow, d on the diagonal for these columns, rows `side` beside it, a `corner` for the
rest. They are taken out one by one as well,

    delta = tau^2 d + 1,   S' = corner - side' (tau^2 / delta) side,   sum log delta to the log-determinant,

so that a thousand documents cost a thousand short rows instead of the cube of a thousand. All levels of the first
factor with the same A_j act through one sum, as in `elimination.Patterns`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from holdsup.numerics.cells import find_alike
from holdsup.numerics.criterion import Criterion
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.moments import Block, Moments

WORTH = 40  # levels from which a factor is worth taking out
MOST_PATTERNS = 40  # different A_j up to which their sums are held


class Arrow(NamedTuple):
    """A symmetric matrix with a diagonal block."""

    diagonal: Floats
    side: Floats
    corner: Floats

    def flat(self) -> Floats:
        """Return the three parts, one after the other."""
        return np.concatenate([part.ravel() for part in self])


class Nested:
    """The elimination of a first factor and of one that it is nested in; the factor is diag(theta, tau)."""

    def __init__(self, whole: Arrow, A: Floats, counts: Floats, sums: Floats) -> None:
        self.shape = whole.side.shape
        self.whole, self.A, self.counts, self.sums = whole.flat(), A, counts, sums
        self.last: tuple[float, Arrow] | None = None  # theta and what it leaves, which a gradient asks for again

    def reduce(self, factor: Floats) -> tuple[float, Floats]:
        """Return the log-determinants of both factors and what is left of S."""
        theta, tau = factor[0, 0], factor[1, 1]
        omega = theta**2 * self.A + 1
        arrow = self._arrow(theta)
        delta = tau**2 * arrow.diagonal + 1
        logdet = float(self.counts @ np.log(omega) + np.log(delta).sum())
        return logdet, arrow.corner - arrow.side.T @ (arrow.side * (tau**2 / delta)[:, None])

    def pull(self, factor: Floats, slope: Floats, *, determinant: bool) -> Floats:
        """Return the derivative by theta and tau of tr(slope S), plus the log-determinants if asked."""
        theta, tau = factor[0, 0], factor[1, 1]
        omega, arrow = theta**2 * self.A + 1, self._arrow(theta)
        delta = tau**2 * arrow.diagonal + 1
        through = arrow.side @ slope
        squares = (through * arrow.side).sum(axis=1)
        by_diagonal = tau**4 / delta**2 * squares
        by_tau = -2 * tau * (squares / delta**2).sum()
        by_theta = 0.0
        if determinant:
            by_diagonal += tau**2 / delta
            by_tau += 2 * tau * (arrow.diagonal / delta).sum()
            by_theta += 2 * theta * float(self.counts @ (self.A / omega))
        by_arrow = Arrow(by_diagonal, -2 * (tau**2 / delta)[:, None] * through, slope).flat()
        by_theta -= 2 * theta * float((self.sums @ by_arrow) @ omega**-2)
        return np.diag([by_theta, by_tau])

    def _arrow(self, theta: float) -> Arrow:
        if self.last is None or self.last[0] != theta:
            flat = self.whole - (theta**2 / (theta**2 * self.A + 1)) @ self.sums
            q, r = self.shape
            self.last = theta, Arrow(flat[:q], flat[q : q + q * r].reshape(q, r), flat[q + q * r :].reshape(r, r))
        return self.last[1]


def make_lean(criterion: Criterion) -> Criterion:
    """Return the same function without a factor that the first is nested in, where that pays; else itself."""
    moments = criterion.moments
    block = max(moments.blocks, key=lambda each: each.count, default=None)
    if block is None or block.count < WORTH or block.width > 1 or len(moments.first) != 1:
        return criterion
    host = _find_hosts(moments, block)
    patterns, pattern_of = find_alike(moments.A)
    if host is None or len(patterns) > MOST_PATTERNS:
        return criterion
    rest = np.r_[: block.start, block.stop : len(moments.C)]
    inside = slice(block.start, block.stop)
    whole = Arrow(np.diagonal(moments.C)[inside], moments.C[inside, rest], moments.C[np.ix_(rest, rest)])
    A = moments.A[:, 0, 0]
    rows = moments.B[:, 0, :] if isinstance(moments.B, np.ndarray) else moments.B[0].tocsc()
    beside = sp.csr_array(rows[:, rest])
    sums = [_sum_levels(A, beside, host, np.flatnonzero(pattern_of == u), block.count) for u in range(len(patterns))]
    elimination = Nested(
        whole, A[patterns], np.bincount(pattern_of, minlength=len(patterns)).astype(float), np.stack(sums)
    )
    first = np.array([[moments.first[0, 0], -1], [-1, block.pattern[0, 0]]])
    lean = replace(moments, first=first, blocks=_without(moments.blocks, block), C=whole.corner)
    return Criterion(lean, reml=criterion.reml, elimination=elimination)


def _find_hosts(moments: Moments, block: Block) -> Ints | None:
    """Return the level of the block that each level of the first factor lies in, None where some lie in several."""
    inside = slice(block.start, block.stop)
    rows = moments.B[:, 0, inside] if isinstance(moments.B, np.ndarray) else moments.B[0].tocsc()[:, inside]
    found = sp.csr_array(rows)
    found.eliminate_zeros()
    return found.indices.astype(np.int64) if (np.diff(found.indptr) == 1).all() else None


def _sum_levels(A: Floats, beside: sp.csr_array, host: Ints, levels: Ints, count: int) -> Floats:
    """Return the sum of b_j (x) b_j over some levels j, laid flat; b_j has A_j in the column of its host."""
    own, rows = A[levels], beside[levels]
    spread = sp.csr_array((own, (host[levels], np.arange(len(levels)))), shape=(count, len(levels)))
    side, corner = (spread @ rows).toarray(), (rows.T @ rows).toarray()
    return Arrow(np.bincount(host[levels], own**2, count).astype(np.float64), side, corner).flat()


def _without(blocks: tuple[Block, ...], left_out: Block) -> tuple[Block, ...]:
    moved = left_out.stop - left_out.start
    return tuple(
        replace(block, start=block.start - moved) if block.start > left_out.start else block
        for block in blocks
        if block is not left_out
    )
