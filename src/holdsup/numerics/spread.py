"""How far a difference between two systems may be off, over new items and over new runs.

The variance of the difference has a part for each system's runs and one for the items. With v the
variance between the k run means of a system, and "these" the variance of the mean item difference,

    V = max(these, sum v/k + max(0, these - sum noise)),

where noise is the part of v/k that stems from the residual, MSE/(k I) when complete, and which
"these" holds as well. E(V) is the variance of the difference over new items and new runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from holdsup.numerics.arithmetic import ROUNDING
from holdsup.numerics.layout import Floats
from holdsup.numerics.least_squares import Additive, fit_additive

SMALLEST = 1e-30  # level below which one part has all the weight, to the last digit
ROUNDING_DF = 1e-6  # of degrees of freedom that are sums
MANY, KNOTS = 20_000, 40  # quantiles, as draws of families need them, and those that are computed
MOVED = 3.0  # standard errors that a mean is moved at most, see `at_common_mean`
LUCK = 0.35  # power of the level with which a part is small by luck, see `cautious_df`


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """One system's runs, or the differences of two systems paired by seed."""

    items: Floats  # mean score of each item, settings equally weighted, shape (..., I)
    part: Floats  # variance of the system's mean due to its runs, residual included: v/k
    noise: Floats  # what the residual contributes to `part`
    df: int  # degrees of freedom of `part`; 0 where no setting has two runs
    lacking: Floats  # what the variance of the item means lacks, see `Additive`
    run_variance: Floats  # the components
    residual_variance: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """The parts of the variance of one difference."""

    estimate: Floats  # the difference
    these: Floats  # its variance over new items, runs as they are
    item_df: float  # degrees of freedom of `these`
    runs: tuple[Floats, ...]  # variance due to the runs of each arm
    noise: tuple[Floats, ...]  # the share of each of `runs` that `these` holds as well
    run_df: tuple[int, ...]  # degrees of freedom of each of `runs`
    luck: float | Floats = LUCK  # power of the level with which parts are small by luck

    def items(self) -> Floats:
        """Return the part due to items alone."""
        return np.maximum(0.0, self.these - sum(self.noise))

    def variance(self) -> Floats:
        """Return V; with new runs a difference varies no less than with these, so that this is its least."""
        return np.asarray(np.maximum(self.these, sum(self.runs) + self.items()))

    def uncertainty(self) -> Floats:
        """Return the sum of part^2 / df, half the variance of V.

        Items count even where their part is zero: it would not always be.
        """
        runs = sum(part**2 / df for part, df in zip(self.runs, self.run_df, strict=True))
        noise = sum(part**2 / df for part, df in zip(self.noise, self.run_df, strict=True))
        return np.asarray(runs + (self.these**2 + noise) / self.item_df)

    def scaled(self, weight: float) -> Spread:
        """Return the parts of `weight` times the difference."""
        runs, noise = (tuple(weight**2 * part for part in parts) for parts in (self.runs, self.noise))
        return replace(self, estimate=weight * self.estimate, these=weight**2 * self.these, runs=runs, noise=noise)


def measure_arm(scores: Floats, settings: NDArray[np.integer] | None, clusters: Clusters) -> Arm:
    """Return what the runs of one system, shape (..., I, k), say of its mean.

    `settings` has a code for each run. Each setting has items and runs of its own, and the same weight;
    the variance between runs is pooled over settings.
    """
    if settings is None:
        groups = [scores]
    elif np.shape(settings) != scores.shape[-1:]:
        raise ValueError(f"a setting is needed for each of {scores.shape[-1]} runs: there are {np.size(settings)}.")
    else:
        groups = [scores[..., np.asarray(settings) == code] for code in np.unique(settings)]
    fits = [fit_additive(group) for group in groups]
    weight = 1 / len(fits)
    dfs = [fit.runs.shape[-1] - 1 for fit in fits]
    df, of_mean = sum(dfs), weight**2 * sum(1 / (each + 1) for each in dfs)
    pooled = [each / max(df, 1) for each in dfs]
    v = sum(w * fit.runs.var(-1, ddof=1) for w, fit in zip(pooled, fits, strict=True) if w)
    noise = sum(w * fit.mean_square * fit.run_noise * _design_effect(fit, clusters)
                for w, fit in zip(pooled, fits, strict=True) if w)  # fmt: skip
    residual = sum(w * fit.mean_square for w, fit in zip(pooled, fits, strict=True))
    v = np.where(v > (ROUNDING * np.nanmax(np.abs(scores), (-1, -2), initial=0.0)) ** 2, v, 0.0)  # runs that are copies
    return Arm(
        items=sum((weight * fit.items for fit in fits), np.zeros(())),
        part=np.asarray(of_mean * v),
        noise=np.asarray(of_mean * noise),
        df=df,
        lacking=sum((weight**2 * fit.lacking * fit.mean_square for fit in fits), np.zeros(())),
        run_variance=np.maximum(0.0, np.asarray(v - noise)),
        residual_variance=np.asarray(residual),
    )


def _design_effect(fit: Additive, clusters: Clusters) -> Floats:
    """Return how much more a run's mean varies because its residuals are alike within clusters."""
    if clusters.order is None:
        return np.ones(())
    residual = np.swapaxes(fit.residual, -1, -2)
    count = residual.shape[-1]
    alone = (residual**2).sum((-1, -2)) / (count * (count - 1))
    together = clusters.variance_of_mean(residual).sum(-1)
    return np.where(alone > 0, together / np.where(alone > 0, alone, 1.0), 1.0)


def measure_spread(
    arms: Sequence[Arm], differences: Floats, clusters: Clusters, ends: tuple[float, float] | None = None
) -> Spread:
    """Return the parts of the variance of the mean of `differences`, one for each item, shape (..., I).

    `ends` are the two values that scores have, if they have two.
    """
    these = clusters.variance_of_mean(differences) + sum(arm.lacking for arm in arms)
    estimate = np.asarray(differences.mean(-1))
    these = np.maximum(these, least_at(estimate, ends, differences.shape[-1]))
    return Spread(
        estimate=estimate,
        these=np.asarray(these),
        item_df=clusters.df,
        runs=tuple(arm.part for arm in arms),
        noise=tuple(arm.noise for arm in arms),
        run_df=tuple(arm.df for arm in arms),
    )


def least_at(estimate: ArrayLike, ends: tuple[float, float] | None, count: int) -> Floats:
    """Return the smallest variance over new items that counts of the mean of `count` differences.

    Of scores with two values, `ends`, which may all agree by luck, it is that of one item on which systems differ.
    Where all differ by d it is the variance of d after Agresti and Min (2005), who add two items, one of them with a
    difference either way by half: 20 of 20 are not all.

    >>> least_at([0.0, 1.0], (0, 1), 20).round(4)
    array([0.0025, 0.0058])
    """
    square = np.asarray(estimate, float) ** 2
    if ends is None:
        return np.zeros_like(square)
    width, more = ends[1] - ends[0], count + 2
    smoothed = ((count * square + width**2) / more - count**2 * square / more**2) / more
    return np.asarray(np.maximum((width / count) ** 2, smoothed))


def at_common_mean(
    spread: Spread, means: Sequence[tuple[ArrayLike, ArrayLike]], ends: tuple[ArrayLike, ArrayLike]
) -> Spread:
    """Return the parts with the run variances that systems have if their means don't differ.

    For scores whose runs vary less near an end: in proportion to m (1 - m), m the mean as a share of the scale, where
    many scores are at an end, and to m where amounts have no upper end. A few runs near an end that happen to
    miss the tail look steady just where their mean is off to the other side. As in Wilson's interval the variance is
    that under the null, at the mean half way between both; it moves by three standard errors at most, for then both
    differ. Variances only grow.

    Parameters
    ----------
    means : for each arm of the spread, the mean of its own system and that of the other
    ends : of the scale; the upper one infinite for amounts
    """
    low, high = (np.asarray(end, float) for end in ends)
    reach, runs = MOVED * np.sqrt(spread.variance()), list(spread.runs)
    for place, sides in enumerate(means):
        own, other = (np.asarray(side, float) for side in sides)
        there = own + np.clip((other - own) / 2, -reach, reach)
        # At an end runs don't vary.
        room, more = ((m - low) * np.where(np.isinf(high), 1.0, high - m) for m in (own, there))
        ratio = np.maximum(1.0, np.where(room > 0, more / np.where(room > 0, room, 1.0), 1.0))
        residual = np.minimum(runs[place], spread.noise[place])
        runs[place] = ratio * residual + ratio**2 * (runs[place] - residual)
    return replace(spread, runs=tuple(runs))


def means_of_sides(
    arms: Sequence[Arm], spread: Spread, left: ArrayLike, right: ArrayLike
) -> list[tuple[ArrayLike, ArrayLike]]:
    """Return, for each arm, the mean of its own system and that of the other, of which one may be deterministic."""
    if len(arms) == 2:
        a, b = (arm.items.mean(-1) for arm in arms)
        return [(a, b), (b, a)]
    scores, lead = (np.asarray(side, float) for side in (left, right)), float(spread.estimate)
    one, certain = (float(np.nanmean(side)) if side.shape[1] == 1 else None for side in scores)
    if certain is not None:  # the right one is deterministic
        return [(certain + lead, certain)]
    assert one is not None
    return [(one - lead, one)]


def pairs_at_common_mean(spread: Spread, arms: Sequence[Arm], ends: tuple[float, float]) -> Spread:
    """Return the same of paired runs: their variance grows as much as those of both systems, `arms`, together."""
    both = replace(spread, runs=tuple(arm.part for arm in arms), noise=tuple(arm.noise for arm in arms),
                   run_df=spread.run_df * 2)  # fmt: skip
    grown = at_common_mean(both, means_of_sides(arms, both, (), ()), ends)
    alone = sum(both.runs)
    times = np.where(alone > 0, sum(grown.runs) / np.where(alone > 0, alone, 1.0), 1.0)
    return replace(spread, runs=tuple(times * part for part in spread.runs))


def measure_run_spread(left: Floats, right: Floats) -> Spread:
    """Return the parts of the variance of a difference between run scores, shapes (..., k): no items.

    A single run has no part: the caller knows that it does not vary.
    """
    several = [scores for scores in (left, right) if scores.shape[-1] > 1]
    parts = [np.asarray(scores.var(-1, ddof=1) / scores.shape[-1]) for scores in several]
    estimate = np.asarray(left.mean(-1) - right.mean(-1))
    nothing = np.zeros_like(estimate)
    return Spread(
        estimate=estimate,
        these=nothing,
        item_df=1.0,  # of a part that is zero: it never counts
        runs=tuple(parts),
        noise=(nothing,) * len(parts),
        run_df=tuple(scores.shape[-1] - 1 for scores in several),
    )


def total_variance(spreads: Sequence[Spread]) -> Floats:
    """Return V of the sum of independent differences."""
    return np.asarray(sum(each.variance() for each in spreads))


def satterthwaite_df(spreads: Sequence[Spread]) -> Floats:
    """Return V^2 / sum(part^2 / df), Satterthwaite (1946), for the sum of independent differences."""
    return _degrees(total_variance(spreads), np.asarray(sum(each.uncertainty() for each in spreads)))


def cautious_df(spreads: Sequence[Spread], alpha: ArrayLike) -> Floats:
    """Return the smallest Satterthwaite df when each part in turn is raised as far as its upper limit.

    A part on few degrees of freedom that is small by luck makes V small and, as its share is small, the
    df large: both err on the same side. At 5% up to 13% of true nulls are rejected, at 0.5% up to 7%.
    Here each part in turn is put at an upper limit, and the smallest df count. The limit depends on the
    level `alpha` of the test, for small levels are the business of rare luck. It costs little where
    parts are measured well: docs/decisions/0009-compare-rule.md.

    The df never grow as the level falls, so that what a test rejects at one level it rejects at all above: p is below
    a level where the interval of that level leaves out zero, and nowhere else. A part on its way up has the fewest df
    at an end or where V begins to grow with it: a run part where V leaves its least, items where they vary as much as
    their noise, or as the runs do. No raise takes the df below one, which each part has.
    """
    variance, uncertainty = total_variance(spreads), np.asarray(sum(each.uncertainty() for each in spreads))
    plain = smallest = _degrees(variance, uncertainty)
    for each in spreads:
        for part, df in zip(each.runs, each.run_df, strict=True):
            most, others = _limit(alpha, df, each.luck) * part, sum(each.runs) - part + each.items()
            for more in (np.clip(each.these - others, part, most), most):
                own = np.maximum(each.these, others + more)
                raised = _degrees(variance - each.variance() + own, uncertainty + (more**2 - part**2) / df)
                smallest = np.minimum(smallest, raised)
        most = _limit(alpha, each.item_df, each.luck) * each.these
        for these in (*(np.clip(sum(kink), each.these, most) for kink in (each.noise, each.runs)), most):
            other = replace(each, these=these)
            raised = _degrees(
                variance - each.variance() + other.variance(), uncertainty - each.uncertainty() + other.uncertainty()
            )
            smallest = np.minimum(smallest, raised)
    return np.maximum(smallest, np.minimum(plain, 1.0))


def _limit(alpha: ArrayLike, df: ArrayLike, power: ArrayLike) -> Floats:
    """Return the upper limit of a variance on `df` degrees of freedom, as a multiple of its estimate.

    It is exceeded with probability alpha^power, on a single degree of freedom 2 alpha^.7: with both at most 5.7% of
    true nulls are rejected at 5%, whatever the variances, and with less caution more (benchmarks/caution.py). It is
    never below the estimate, and is the estimate where df are infinite: nothing varies.
    gammaincinv gives the chi-square quantile.
    """
    some = np.isfinite(df)
    df = np.where(some, df, 1.0)
    least = np.maximum(alpha, SMALLEST)
    luck = np.where(df > 2 - ROUNDING_DF, least**power, np.minimum(1.0, 2 * least**0.7))
    return np.where(some, np.maximum(1.0, df / (2 * _gamma_quantiles(df / 2, luck))), 1.0)


def _gamma_quantiles(shape: Floats, share: Floats) -> Floats:
    """Return quantiles of gamma distributions; of very many at one level by a polynomial in the logarithm."""
    level = share.flat[0] if share.size else 0.0
    if shape.size < MANY or (share != level).any():
        return np.asarray(special.gammaincinv(shape, share))
    logs = np.log(shape)
    low, width = logs.min(), np.ptp(logs) or 1.0
    place = (np.cos(np.pi * (np.arange(KNOTS) + 0.5) / KNOTS) + 1) / 2  # Chebyshev's: errors are the least
    values = np.log(special.gammaincinv(np.exp(low + width * place), level))
    polynomial = np.polynomial.chebyshev.chebfit(2 * place - 1, values, KNOTS - 1)
    return np.asarray(np.exp(np.polynomial.chebyshev.chebval(2 * (logs - low) / width - 1, polynomial)))


def _degrees(variance: Floats, uncertainty: Floats) -> Floats:
    """Return V^2 / sum(part^2 / df); infinite where nothing varies."""
    some = uncertainty > 0
    return np.where(some, variance**2 / np.where(some, uncertainty, 1.0), np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Which items belong together: clusters are drawn, items come with them.

    The estimand stays the mean over items: large clusters weigh more. Its variance is the jackknife's over clusters,
    which for clusters of one size n is exactly s^2 / C of the cluster means, and for single items s^2 / I.
    """

    order: NDArray[np.intp] | None  # items sorted by cluster; None where every item is its own
    starts: NDArray[np.intp]  # where each cluster starts in `order`
    sizes: Floats  # number of items of each cluster, shape (C,)
    df: float  # degrees of freedom of the variance

    def variance_of_mean(self, values: Floats) -> Floats:
        """Return the variance of the mean of `values`, shape (..., I)."""
        if self.order is None:
            return np.asarray(values.var(-1, ddof=1) / values.shape[-1])
        return np.asarray((1 - 1 / len(self.sizes)) * (self._moves(values) ** 2).sum(-1))

    def covariance_of_means(self, values: Floats) -> Floats:
        """Return the covariance matrix of the means of `values`, shape (S, I)."""
        if self.order is None:
            return np.asarray(np.atleast_2d(np.cov(values)) / values.shape[-1])
        moves = self._moves(values)
        return np.asarray((1 - 1 / len(self.sizes)) * moves @ moves.T)

    def _moves(self, values: Floats) -> Floats:
        """Return by how much the mean moves without each cluster: its total over the number of other items."""
        centred = (values - values.mean(-1, keepdims=True))[..., self.order]
        return np.asarray(np.add.reduceat(centred, self.starts, axis=-1) / (values.shape[-1] - self.sizes))


def find_clusters(codes: NDArray[np.integer] | None, count: int) -> Clusters:
    """Return the clusters of `count` items from a code per item; None makes each item its own."""
    if codes is None:
        return Clusters(None, np.arange(count), np.ones(count), count - 1.0)
    if np.shape(codes) != (count,):
        raise ValueError(f"a cluster is needed for each of {count} items, but there are {np.size(codes)} codes.")
    order = np.argsort(codes, kind="stable")
    _, starts, sizes = np.unique(np.asarray(codes)[order], return_index=True, return_counts=True)
    if len(sizes) == count:
        return find_clusters(None, count)
    if len(sizes) < 2:
        raise ValueError("all items are in one cluster: how much clusters differ is not measured.")
    return Clusters(order, starts, sizes.astype(float), _cluster_degrees(sizes / count))


def _cluster_degrees(share: Floats) -> float:
    """Return Satterthwaite's degrees of freedom, (tr A)^2 / tr(A^2), of the jackknife variance u'Au.

    u are cluster means of equal variance, as when clusters differ and items hardly do (with independent
    items the degrees would be more); A = M'DM, M = I - 1 share', D = diag(d). With S = MM', S_ij =
    delta_ij - p_i - p_j + q, both traces are sums over d, p and q. Bell & McCaffrey (2002).
    """
    p, q = share, float(share @ share)
    d = (p / (1 - p)) ** 2
    d0, d1, d2 = float(d.sum()), float(d @ p), float(d @ p**2)
    trace = d0 * (1 + q) - 2 * d1
    square = (
        float(d**2 @ (1 + 2 * (q - 2 * p))) + q**2 * d0**2 + 2 * d0 * d2 - 4 * q * d0 * d1 + 2 * d1**2
    )  # sum over i, j of d_i d_j S_ij^2
    return trace**2 / square
