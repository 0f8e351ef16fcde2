"""Many differences at once: how small is the smallest of their p-values when nothing differs?

Under the null of every pair the smallest of m p-values is below x with some probability G(x) <= m x. With G known, a
pair's adjusted p is G(p), and the simultaneous intervals of level 1 - a are those of level 1 - G^-1(a): single-step
max-t (Westfall & Young 1993), on the scale of p because pairs have degrees of freedom of their own. The adjusted p is
below a level where the simultaneous interval of that level leaves out zero, and nowhere else, for it is the same rule.

G is drawn from the fitted parts: means of systems from their run variances (half way between own and moderated ones)
and from the covariance of item means; variances as chi-squares on their degrees of freedom. Each draw goes through the
rule that the pairs go through. Draws go to systems by the order of their means, so that names and the order of rows do
not matter. Fitted run variances of few systems are not the true ones: with S systems, log G is drawn towards
Bonferroni's bound by 1 / (S + 1) of the way. Three systems of three runs would have 6.3% false positives without. Those
of two runs each say so little that it is three tenths of the way: eight of which one is loud would have 8.2%.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from holdsup.numerics.layout import Floats
from holdsup.numerics.pooling import Pool
from holdsup.numerics.spread import Spread, cautious_df, total_variance

DRAWS, FEWEST_DRAWS, CELLS = 10_000, 2_000, 2_000_000
MOST_PAIRS = 1_000  # beyond, Bonferroni's bound serves: draws would take long, and it is near
FEW_SYSTEMS, FEW_DF = 12, 100.0  # up to which variances of item differences are drawn with their dependence
RESOLVED = 50  # draws below a p from which on their share is counted
FAR = 1e-3  # of the smallest p that is counted: from there on Bonferroni's bound serves
DIGITS = 9  # by which numbers of systems are told apart
TRUSTED = 0.7  # weight of draws at most where a run variance has a single degree of freedom
LIKELY = 1.5  # times 1/m: about the share of the level that a pair has
Codes = NDArray[np.intp]
MAX_T = "single-step max-t"


@dataclass(frozen=True, eq=False)
class Family:
    """The distribution of the smallest of `count` p-values when nothing differs; without draws, Bonferroni's bound."""

    count: int
    smallest: Floats = field(default_factory=lambda: np.empty(0))  # of each draw, sorted; empty for Bonferroni's bound
    trust: float = 1.0  # weight of the draws, on the scale of logarithms; the rest is that of Bonferroni's bound

    @property
    def name(self) -> str:
        """The adjustment in words."""
        return MAX_T if len(self.smallest) else "Bonferroni"

    def adjust(self, log10_p: ArrayLike) -> Floats:
        """Return the decimal logarithms of G(p); never below p itself, nor above Bonferroni's bound.

        >>> Family(10).adjust([-3.0, -0.5])
        array([-2.,  0.])
        """
        logs = np.asarray(log10_p, float)
        bound = np.asarray(np.minimum(0.0, logs + np.log10(self.count)))
        if not len(self.smallest):
            return bound
        grid, values = self._curve
        drawn = np.where(logs < grid[0], bound, np.interp(logs, grid, values))
        return np.asarray(self.trust * np.clip(drawn, np.minimum(logs, 0.0), bound) + (1 - self.trust) * bound)

    @cached_property
    def _curve(self) -> tuple[Floats, Floats]:
        """Logarithms of p and of G(p) as drawn; below what is counted, a straight line to Bonferroni's bound."""
        rank = np.arange(RESOLVED, len(self.smallest) + 1)
        at, share = np.log10(self.smallest[RESOLVED - 1 :]), np.log10(rank / len(self.smallest))
        far = at[0] + np.log10(FAR)
        values = np.concatenate([[far + np.log10(self.count)], share])
        return np.concatenate([[far], at]), np.maximum.accumulate(values)

    def share(self, alpha: float) -> float:
        """Return the level at which each pair is tested so that all of them keep `alpha`: G^-1(alpha)."""
        low, high, target = np.log10(alpha / self.count), np.log10(alpha), np.log10(alpha)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.adjust(middle) <= target else (low, middle)
        return float(10**low)


@dataclass(frozen=True, slots=True, eq=False)
class Systems:
    """What the draws need of each system, shape (S,); of the pairs, which systems they are."""

    means: Floats
    part: Floats  # variance of the mean due to runs, residual included
    noise: Floats  # what the residual contributes
    df: Floats  # of `part`, 0 where there is none
    covariance: Floats  # of the means over new items, runs as they are, shape (S, S)
    item_df: float
    pool: Pool
    left: Codes  # the systems of each pair, shape (m,)
    right: Codes


def draw_family(systems: Systems, spread: Spread, alpha: float, *, new_runs: bool, cells: int = CELLS) -> Family:
    """Return the family of the pairs whose parts are in `spread`; `cells` p-values are drawn, at most."""
    count = len(systems.left)
    if count < 2 or count > MOST_PAIRS:
        return Family(count)
    rng = np.random.default_rng(0)
    systems = _by_means(systems)
    draws = int(np.clip(cells // count, FEWEST_DRAWS, DRAWS))
    level = LIKELY * alpha / count
    sizes = np.diff([*range(0, draws, FEWEST_DRAWS), draws])
    smallest = [_draw(systems, spread, rng, size, level, new_runs=new_runs) for size in sizes]
    trust = min(1 - 1 / (len(systems.means) + 1), TRUSTED if systems.df.min() < 2 else 1.0) if new_runs else 1.0
    return Family(count, np.sort(np.concatenate(smallest)), trust)


def _by_means(systems: Systems) -> Systems:
    """Return the systems in the order of their means: draws then do not depend on how systems are called.

    Of equal means, but for rounding, variances tell; systems that are alike in all of them are drawn alike.
    """
    keys = (systems.covariance.sum(0), systems.covariance.diagonal(), systems.noise, systems.part, systems.means)
    place = np.lexsort([np.round(key / (np.abs(key).max() or 1.0), DIGITS) for key in keys])
    rank = np.argsort(place)
    means, part, noise, df = (each[place] for each in (systems.means, systems.part, systems.noise, systems.df))
    return Systems(
        means, part, noise, df, systems.covariance[np.ix_(place, place)], systems.item_df,
        systems.pool.take(place), rank[systems.left], rank[systems.right],
    )  # fmt: skip


def _draw(
    systems: Systems, spread: Spread, rng: np.random.Generator, draws: int, level: float, *, new_runs: bool
) -> Floats:
    """Return the smallest p of the pairs in each of some draws."""
    left, right, shape = systems.left, systems.right, (draws, len(systems.means))
    these = _draw_these(systems, spread, rng, draws)
    deviates = rng.standard_normal(shape)
    if not new_runs:
        means = deviates @ _root(systems.covariance).T
        return _smallest([_square(means[:, left] - means[:, right], these)], [systems.item_df])
    fitted = np.maximum((systems.part + systems.pool.moderate(systems.part)) / 2, systems.noise)
    half = np.maximum(systems.df, 1.0) / 2
    part = fitted * rng.standard_gamma(half, shape) / half
    over_items = deviates @ _root(systems.covariance - np.diag(systems.noise)).T
    means = over_items + np.sqrt(fitted) * rng.standard_normal(shape)
    differences = means[:, left] - means[:, right]
    pooled = systems.pool.share(replace(spread, these=these), part, systems.df, left, right)
    squares, dfs = [_square(differences, total_variance([pooled]))], [cautious_df([pooled], level)]
    if (spread.these > 0).all():  # else there are no items
        squares, dfs = [*squares, _square(differences, these)], [*dfs, np.asarray(systems.item_df)]
    return _smallest(squares, dfs)


def _draw_these(systems: Systems, spread: Spread, rng: np.random.Generator, draws: int) -> Floats:
    """Return variances of mean item differences, shape (draws, pairs).

    Of few systems on few items Wishart's distribution, by Bartlett's decomposition; else one chi-square for all.
    """
    df, count = systems.item_df, len(systems.means)
    if count > FEW_SYSTEMS or df > FEW_DF or df <= count:
        return np.asarray(spread.these * rng.standard_gamma(df / 2, (draws, 1)) * 2 / df)
    triangle = np.tril(rng.standard_normal((draws, count, count)), -1)
    diagonal = np.arange(count)
    triangle[:, diagonal, diagonal] = np.sqrt(2 * rng.standard_gamma((df - diagonal) / 2, (draws, count)))
    root = _root(systems.covariance)
    return np.asarray((((root[systems.left] - root[systems.right]) @ triangle) ** 2).sum(-1) / df)


def _root(covariance: Floats) -> Floats:
    """Return F with F F' = covariance, negative eigenvalues, which differences of variances have, set to zero.

    It is the symmetric one: signs of eigenvectors, and eigenvectors of equal eigenvalues, depend on rounding, and draws
    must not.
    """
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _square(differences: Floats, variance: Floats) -> Floats:
    """Return t^2; zero where there is no variance."""
    some = variance > 0
    return np.asarray(np.where(some, differences**2 / np.where(some, variance, 1.0), 0.0))


def _smallest(squares: Sequence[Floats], dfs: Sequence[ArrayLike]) -> Floats:
    """Return the smallest p over pairs, the last axis, where the p of a pair is the largest of its tests.

    Which pair that is, is found by normal deviates that are about as far out as t (Wallace 1959); its p is exact.
    """
    tests = [
        (square, np.minimum(np.broadcast_to(df, square.shape), 1e9)) for square, df in zip(squares, dfs, strict=True)
    ]
    deviates = [(8 * f + 1) / (8 * f + 3) * np.sqrt(f * np.log1p(square / f)) for square, f in tests]
    place = np.minimum.reduce(deviates).argmax(-1)[:, None]
    found: Floats = np.maximum.reduce(
        [
            2 * special.stdtr(np.take_along_axis(f, place, -1), -np.sqrt(np.take_along_axis(square, place, -1)))[:, 0]
            for square, f in tests
        ]
    )
    return found
