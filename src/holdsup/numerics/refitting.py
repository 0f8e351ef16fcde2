"""One model fitted to many drawn responses, each search starting from where the first fit ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.criterion import Criterion
from holdsup.numerics.drawing import Drawn
from holdsup.numerics.elimination import Elimination, Patterns, SparseLevels
from holdsup.numerics.layout import Floats
from holdsup.numerics.moments import Moments
from holdsup.numerics.optimization import CERTAIN, NEAR_ZERO, ROUGHLY, Optimum, differentiate, minimize, newton_step

__all__ = ["Refits", "Refitter"]

LOOKED_AT = 3  # responses whose curvature is that of all


@dataclass(frozen=True, slots=True, eq=False)
class Refits:
    """The fits of d responses.

    Attributes
    ----------
    theta : relative covariance factors, shape (d, k); a column of Lambda may have the other sign
    values : criterion, shape (d,)
    converged : whether the optimum is a certain one, shape (d,)
    beta : fixed effects, shape (d, p); no rows where they were not asked for, as in the following
    covariance : of the fixed effects, shape (d, p, p)
    sigma2 : residual variance, shape (d,)
    """

    theta: Floats
    values: Floats
    converged: NDArray[np.bool_]
    beta: Floats
    covariance: Floats
    sigma2: Floats

    @classmethod
    def join(cls, parts: Sequence[Refits]) -> Refits:
        """Return several, one after the other."""
        return cls(*(np.concatenate([getattr(part, name.name) for part in parts]) for name in fields(cls)))


class Start(NamedTuple):
    """Where the search for each response starts, shape (d, k), and about the curvature there."""

    theta: Floats
    curvature: Floats


class Refitter:
    """A model whose response is replaced again and again."""

    def __init__(self, moments: Moments, elimination: Elimination, *, reml: bool, start: Floats) -> None:
        self.criterion = Criterion(moments, reml=reml, elimination=elimination)
        self.diagonal = moments.lower == 0
        self.start = np.array(start)

    def _point(self, theta: Floats, drawn: Drawn) -> Start:
        """Return a point for every response to start from, with the curvature that the first responses have there.

        That of the response in the data would do worse: it is another one where a smaller model is the truth.
        """
        total = np.zeros((len(theta), len(theta)))
        for d in range(min(LOOKED_AT, len(drawn))):
            self.respond(drawn, d)
            total += differentiate(self.criterion, theta, self.criterion.slopes(theta)[1])
        return Start(np.tile(theta, (len(drawn), 1)), total / min(LOOKED_AT, len(drawn)))

    def refit(self, drawn: Drawn, *, effects: bool = False, inner: tuple[Floats, Floats] | None = None) -> Refits:
        """Return the fits of drawn responses; with their fixed effects if asked.

        `inner` are the criteria and parameters, shapes (d,) and (d, k), at which a smaller model within this one
        has its optima. Where none of its variances is zero a search starts there, since the optimum is near; where
        one ended higher it has met a local optimum, and starts again from there.
        """
        start = self._point(self.start, drawn)
        if inner is not None:
            near = (np.abs(inner[1][:, self.diagonal]) >= NEAR_ZERO).all(axis=1)
            start.theta[near] = inner[1][near]
        theta, values, converged = self._search_all(drawn, start)
        doubtful = np.flatnonzero(self._may_be_local(theta))
        if len(doubtful):
            again = drawn.take(doubtful)
            middle = np.where(self.diagonal, 1.0, 0.0)  # where lme4 starts
            found = self._search_all(again, self._point(middle, again))
            lower = found[1] < values[doubtful]
            for known, other in zip((theta, values, converged), found, strict=True):
                known[doubtful[lower]] = other[lower]
        if inner is not None:
            for d in np.flatnonzero(values > inner[0] + CERTAIN):
                self.respond(drawn, int(d))
                theta[d], values[d], converged[d] = self._search(inner[1][d], None)
        return Refits(theta, values, converged, *self._effects(drawn, theta if effects else theta[:0]))

    def _search_all(self, drawn: Drawn, start: Start) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return theta, criterion and whether it is a certain optimum, of each response."""
        if self.criterion.small is not None and start.theta.size:
            from holdsup.numerics.refitting_loops import refit_small

            theta, values, settled = refit_small(self.criterion.small, *start, self.diagonal, drawn)
        else:
            theta = start.theta.copy()
            values, settled = np.empty(len(drawn)), np.zeros(len(drawn), bool)
        for d in np.flatnonzero(~settled):
            self.respond(drawn, int(d))
            theta[d], values[d], settled[d] = self._search(start.theta[d], start.curvature)
        return theta, values, settled

    def _may_be_local(self, theta: Floats) -> NDArray[np.bool_]:
        """Return which optima may be one of several: correlations allow one on each side of the boundary."""
        small = (np.abs(theta[:, self.diagonal]) < NEAR_ZERO).any(axis=1)
        return np.asarray(small & ~self.diagonal.all())

    def _effects(self, drawn: Drawn, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the fixed effects of the first fits, their covariances, and the residual variances."""
        d, p = len(theta), self.criterion.moments.p
        beta, covariance, sigma2 = np.empty((d, p)), np.empty((d, p, p)), np.empty(d)
        for i in range(d):
            self.respond(drawn, i)
            found = self.criterion.solve(theta[i])
            beta[i], covariance[i], sigma2[i] = found.beta, found.sigma2 * found.unscaled, found.sigma2
        return beta, covariance, sigma2

    def _search(self, start: Floats, curvature: Floats | None) -> tuple[Floats, float, bool]:
        """Return the optimum for the present response, and whether it is a certain one."""
        found = minimize(self.criterion, start, enough=ROUGHLY, curvature=curvature)
        if not _is_minimum(found) or (np.abs(found.theta[self.diagonal]) < NEAR_ZERO).any():
            found = minimize(self.criterion, found.theta, enough=ROUGHLY)
        return found.theta, found.value, _is_minimum(found)

    def respond(self, drawn: Drawn, d: int) -> None:
        """Put a drawn response in the place of the last one."""
        moments, elimination = self.criterion.moments, self.criterion.elimination
        moments.C[:-1, -1] = moments.C[-1, :-1] = drawn.products[d]
        moments.C[-1, -1] = drawn.squares[d]
        if isinstance(elimination, Patterns):
            sums = elimination.sums
            sums[..., :-1, -1] = drawn.crossed[d]
            sums[..., -1, :-1] = drawn.crossed[d].transpose(0, 2, 1, 3)
            sums[..., -1, -1] = drawn.squared[d]
        elif isinstance(moments.B, np.ndarray):
            moments.B[:, :, -1] = drawn.sums[d]
        else:
            for k, part in enumerate(moments.B):
                # The response stands last in each row, and is stored there even where it is zero.
                part.data[part.indptr[1:] - 1] = drawn.sums[d, :, k]
            self.criterion.elimination = SparseLevels(moments)


def _is_minimum(found: Optimum) -> bool:
    if not len(found.theta):
        return True
    _, decrease, downhill = newton_step(found.curvature, found.gradient)
    return decrease < CERTAIN and not downhill
