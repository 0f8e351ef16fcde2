"""Systems rated by several raters, each on some of the items: differences adjusted for who rated what.

Ratings are y = system + rater + item + e, with raters fixed and items random: least squares on y - t mean(y of the
item), t = 1 - sqrt(1 / (1 + n r)) for n ratings of an item and r the variance of items over that of e. Errors are those
of clusters of items (CR2 of Bell & McCaffrey 2002), whatever else ratings of one item have in common.

For new raters systems may please one rater more than another. Each system has a mean b of each of its raters, with
variance C, and b = system + rater + u, u of variance t2 (Paule & Mandel 1982; Knapp & Hartung 2003 for the regression).
How much u varies is measured pair by pair, by the differences d of the raters that two systems have in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.layout import Floats
from holdsup.numerics.pooling import WEIGHT
from holdsup.numerics.spread import Spread, find_clusters

Codes = NDArray[np.integer]
FULL = 1 - 1e-9  # leverage of a column that lies in one cluster: without that cluster it is unknown
MANY = 200  # clusters from which on each moves next to nothing
STEPS = 200  # of the search for a variance
FEWEST_RATERS = 3  # in common, from which on new ones can be spoken of


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """Least squares with what each cluster of rows says of the coefficients."""

    beta: Floats  # the coefficients
    inverse: Floats  # of X'X
    sigma2: float  # the residual variance
    moves: Floats  # by how much each cluster moves the coefficients, shape (clusters, columns)
    df: float  # degrees of freedom of variances, at most
    columns: Floats | None  # X, and X (X'X)^-1 adjusted for leverage, of few clusters; with the clusters of the rows
    adjusted: Floats | None
    cluster: Codes

    @classmethod
    def of(cls, X: Floats, y: Floats, cluster: Codes, df: float) -> Regression:
        """Return the regression of y, shape (n,), on independent columns X."""
        inverse = np.asarray(np.linalg.inv(X.T @ X), float)
        beta = inverse @ (X.T @ y)
        residual, count = y - X @ beta, int(cluster.max()) + 1
        sigma2 = float(residual @ residual) / max(1, len(y) - X.shape[1])
        small = count <= MANY
        plain = np.asarray(X @ inverse * np.sqrt(count / (count - 1)))
        adjusted = _adjust(X, inverse, cluster) if small else plain
        moves = np.zeros((count, X.shape[1]))
        np.add.at(moves, cluster, adjusted * residual[:, None])
        return cls(beta, inverse, sigma2, moves, df, X if small else None, adjusted if small else None, cluster)

    def variance(self, weights: Floats) -> float:
        """Return the variance of a combination of the coefficients over new clusters."""
        return float(((self.moves @ weights) ** 2).sum())

    def degrees(self, weights: Floats) -> float:
        """Return the degrees of freedom of that variance: Bell and McCaffrey's, or those of clusters if fewer."""
        if self.columns is None or self.adjusted is None:
            return self.df
        a = self.adjusted @ weights
        size = np.bincount(self.cluster, a**2)
        through = np.zeros((len(size), len(weights)))
        np.add.at(through, self.cluster, self.columns * a[:, None])
        shared = through @ self.inverse
        own = (shared * through).sum(1)
        both = through.T @ through @ self.inverse
        trace = size.sum() - own.sum()
        square = (size**2).sum() - 2 * size @ own + (both * both.T).sum()
        return min(self.df, float(trace**2 / square)) if square > 0 else self.df


def _adjust(X: Floats, inverse: Floats, cluster: Codes) -> Floats:
    """Return (I - H)^(-1/2) X (X'X)^-1, H the leverage within clusters."""
    root = np.linalg.cholesky(inverse)
    Z, out = X @ root, np.empty_like(X)
    order = np.argsort(cluster, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(cluster[order])) + 1):
        left, s, right = np.linalg.svd(Z[rows], full_matrices=False)
        grown = np.where(s**2 < FULL, s / np.sqrt(np.where(s**2 < FULL, 1 - s**2, 1.0)), 0.0)
        out[rows] = (left * grown) @ right @ root.T
    return out


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings by one metric: arrays with a number for each row."""

    score: Floats
    system: Codes
    rater: Codes
    item: Codes
    cluster: Codes  # of the row's item; the item where there are none
    ratio: float  # variance of items over that of a rating of one

    @cached_property
    def systems(self) -> int:
        """Number of systems."""
        return int(self.system.max()) + 1

    @cached_property
    def raters(self) -> int:
        """Number of raters."""
        return int(self.rater.max()) + 1

    @cached_property
    def crossing(self) -> NDArray[np.bool_]:
        """Who rated which system, shape (systems, raters)."""
        there = np.zeros((self.systems, self.raters), bool)
        there[self.system, self.rater] = True
        return there

    def connected(self) -> Codes:
        """Return a number for each system: those with the same one can be compared, through raters they share."""
        group = np.arange(self.systems)
        for raters in self.crossing.T:
            mine = np.unique(group[raters])
            group[np.isin(group, mine)] = mine[0] if len(mine) else 0
        return group

    def effects(self, system: Codes, rater: Codes) -> Floats:
        """Return a column for each system, its mean over all raters, and one for each rater but the last."""
        X = np.zeros((len(system), self.systems + self.raters - 1))
        rows, last = np.arange(len(system)), rater == self.raters - 1
        X[rows, system] = 1.0
        X[rows[~last], self.systems + rater[~last]] = 1.0
        X[last, self.systems :] = -1.0
        return X

    def _regress(self, X: Floats) -> Regression:
        sizes = np.bincount(self.item).astype(float)
        shrunk = (1 - 1 / np.sqrt(1 + sizes * self.ratio))[self.item]
        means = np.zeros((len(sizes), X.shape[1] + 1))
        rows = np.column_stack([X, self.score])
        np.add.at(means, self.item, rows)
        rows = rows - shrunk[:, None] * (means / np.maximum(sizes, 1)[:, None])[self.item]
        first = np.unique(self.item, return_index=True)[1]
        _, cluster = np.unique(self.cluster, return_inverse=True)
        df = find_clusters(self.cluster[first], len(first)).df
        return Regression.of(rows[:, :-1], rows[:, -1], cluster, df)

    @cached_property
    def additive(self) -> Regression:
        """The regression on systems and raters."""
        return self._regress(self.effects(self.system, self.rater))

    @cached_property
    def cells(self) -> tuple[Regression, Codes, Codes]:
        """The regression on the mean of each system and rater, and which these are."""
        code = self.system.astype(np.int64) * self.raters + self.rater
        there, place = np.unique(code, return_inverse=True)
        X = np.zeros((len(code), len(there)))
        X[np.arange(len(code)), place] = 1.0
        return self._regress(X), there // self.raters, there % self.raters

    @cached_property
    def drawn(self) -> tuple[Floats, float]:
        """The weights of cells in each effect where raters are drawn anew, shape (effects, cells), and t2."""
        found, system, rater = self.cells
        effects, covariance = self.effects(system, rater), found.sigma2 * found.inverse
        free = len(system) - effects.shape[1]

        def weigh(between: float) -> tuple[Floats, float]:
            precision = np.linalg.inv(covariance + between * np.eye(len(system)))
            weights = np.linalg.solve(effects.T @ precision @ effects, effects.T @ precision)
            residual = found.beta - effects @ (weights @ found.beta)
            return np.asarray(weights), float(residual @ precision @ residual)

        low, high = 0.0, float(np.var(found.beta)) + 1e-300
        if weigh(0.0)[1] > free > 0:
            for _ in range(STEPS):  # Q falls as the variance grows
                middle = (low + high) / 2
                low, high = (middle, high) if weigh(middle)[1] > free else (low, middle)
                if high - low <= 1e-9 * high:
                    break
        return weigh(low)[0], low

    def common(self, left: int, right: int) -> Codes:
        """Return the raters that rated both of two systems."""
        return np.flatnonzero(self.crossing[left] & self.crossing[right])

    def agreement(self, left: int, right: int) -> tuple[float, float, float]:
        """Return the variance of a rater's difference of two systems, what the items contribute, and the df."""
        found, system, rater = self.cells
        place = {(s, r): i for i, (s, r) in enumerate(zip(system.tolist(), rater.tolist(), strict=True))}
        one, other = ([place[s, r] for r in self.common(left, right).tolist()] for s in (left, right))
        d, moves = found.beta[one] - found.beta[other], found.moves[:, one] - found.moves[:, other]
        of_items = found.sigma2 * (np.diag(found.inverse)[one] + np.diag(found.inverse)[other])
        w = 1 / (of_items + 2 * self.drawn[1])
        A = np.diag(w) - np.outer(w, w) / w.sum()
        trace = float(np.trace(A))
        df = trace**2 / float((A * A).sum())
        return float(d @ A @ d) / trace, float((moves @ A * moves).sum()) / trace, df

    def these(self, weights: Floats) -> Spread:
        """Return a combination of the systems' means over new items, raters as they are."""
        weights = np.concatenate([weights, np.zeros(self.raters - 1)])
        found = self.additive
        these, df = np.asarray(found.variance(weights)), found.degrees(weights)
        return Spread(np.asarray(weights @ found.beta), these, df, (), (), ())

    def new(self, left: int, right: int, moderated: tuple[float, float, float] | None) -> Spread:
        """Return the difference of two systems over new items and new raters.

        `moderated` is what `agreement` returns of all pairs, by which that of this one is moderated.
        """
        found = self.cells[0]
        weights = self.drawn[0][left] - self.drawn[0][right]
        own = self.agreement(left, right)
        scale = float(weights @ weights) / 2
        parts = [(1.0, own)]
        if moderated is not None:
            share = min(WEIGHT, 1 - 2 / self.systems)
            parts = [(1 - share, own), (share, moderated)]
        return Spread(
            estimate=np.asarray(weights @ found.beta), these=np.asarray(found.variance(weights)),
            item_df=found.degrees(weights),
            runs=tuple(np.asarray(scale * share * v) for share, (v, _, _) in parts),
            noise=tuple(np.asarray(scale * share * noise) for share, (_, noise, _) in parts),
            run_df=cast("tuple[int, ...]", tuple(df for _, (_, _, df) in parts)),
        )  # fmt: skip

    def moderate(self, pairs: Sequence[tuple[int, int]]) -> tuple[float, float, float] | None:
        """Return the mean over pairs of what `agreement` returns, on the df of all; None of two systems."""
        found = np.array([self.agreement(*pair) for pair in pairs])
        if self.systems < 3 or len(found) < 3:
            return None
        v, noise, df = found.mean(0)
        return float(v), float(noise), float(df) * (self.systems - 1)
