"""Bradley and Terry's (1952) ratings from pairwise votes: logit P(i wins against j) = r_i - r_j + effects.

A tie is half a win of each side: the ratings are then those of expected points, whatever ties depend on, and a system's
points and ratings go together as wins and ratings do. A system that wins every vote, or loses every one, has an infinite
rating; its limit, and its test against another, come from the probability of such a sweep.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, sparse, special

from holdsup.errors import FitError
from holdsup.numerics.distributions import t_quantile
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.placing import Pairs, judge_pairs
from holdsup.numerics.shares import Clustered, cluster, fit_shares, join_levels


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Ratings of k systems on votes, log-odds that sum to zero over the finite ones, with their limits."""

    ratings: Floats  # shape (k,)
    low: Floats
    high: Floats
    shares: Floats  # chance to win against another system drawn at random, a tie half
    share_low: Floats
    share_high: Floats
    effects: Floats  # of the regressors besides the systems, shape (q,)
    effect_se: Floats
    df: float
    pairs: Pairs
    order: Ints  # the systems, best first


def rate(
    first: Ints, second: Ints, y: Floats, count: int, extra: Floats, clusterings: Sequence[Ints], alpha: float
) -> Ratings:
    """Return the ratings of `count` systems, all of whose votes hang together (`join_levels`).

    Parameters
    ----------
    first, second : the systems of each vote, shape (n,)
    y : 1 where the first won, 0 where the second did, 1/2 for a tie
    extra : regressors besides the systems, shape (n, q): ones for who is shown first, differences of properties
    clusterings : codes of what ties votes together, none, one or two
    alpha : 1 less the level of the limits
    """
    levels = join_levels(first, second, y, count)
    finite = np.flatnonzero(levels == 0)
    rows = np.flatnonzero((levels[first] == 0) & (levels[second] == 0))

    ratings, effects, q = np.where(levels > 0, np.inf, -np.inf), np.full(extra.shape[1], np.nan), extra.shape[1]
    back, effect_se, known = np.zeros((count, 0)), effects, Clustered((np.zeros((0, 0)),), 1.0)
    ratings[finite] = 0.0
    if len(rows):
        X = _design(np.searchsorted(finite, first[rows]), np.searchsorted(finite, second[rows]), extra[rows])
        try:
            fit = fit_shares(X, y[rows])
        except FitError:
            why = "what moves votes besides the systems can't be told from them: use --no-order, or leave out --adjust"
            raise FitError(why) from None
        known = cluster(fit, X, [way[rows] for way in clusterings])
        own = X.shape[1] - q
        back = np.zeros((count, X.shape[1]))  # from coefficients to ratings that sum to zero
        back[finite[1:], np.arange(own)] = 1.0
        back[finite] -= back[finite].mean(0)
        ratings[finite] = (back @ fit.coefficients)[finite]
        effects, effect_se = fit.coefficients[own:], np.sqrt(known.variances(np.eye(X.shape[1])[own:]))
    alike = [back @ V @ back.T for V in known.covariances]
    half = t_quantile(1 - alpha / 2, known.df) * np.sqrt(known.variances(back))
    low, high = ratings - half, ratings + half
    pairs = judge_pairs(np.where(np.isfinite(ratings), ratings, 0.0), alike, known.df, alpha)
    shares, share_low, share_high = _limit_shares(ratings, back, known, alpha)
    for system in np.flatnonzero(levels):
        own = np.flatnonzero((first == system) | (second == system))
        _enter_sweep(system, levels, ratings, np.where(first[own] == system, second[own], first[own]),
                     _scale([way[own] for way in clusterings], len(own)), alpha, pairs, (low, high))  # fmt: skip
        bound = np.where(np.arange(count) == system, low[system] if levels[system] > 0 else high[system], ratings)
        (share_low if levels[system] > 0 else share_high)[system] = _share(bound, system)
    for system in np.flatnonzero(levels):  # what others may win or lose against it
        gaps = special.expit(ratings[finite] - (low if levels[system] > 0 else high)[system]) / (count - 1)
        side = share_high if levels[system] > 0 else share_low
        side[finite] += gaps if levels[system] > 0 else gaps - 1 / (count - 1)
    order = np.lexsort((-np.where(levels == 0, ratings, 0.0), -levels))
    return Ratings(
        ratings, low, high, shares, share_low, share_high, effects, effect_se, known.df, pairs, order
    )  # fmt: skip


def _design(first: Ints, second: Ints, extra: Floats) -> sparse.csr_array:
    """Return +1 and -1 for the two systems of each vote, the first system of all being the reference, and the rest."""
    n = len(first)
    signs = np.concatenate([np.ones(n), -np.ones(n)])
    places = (np.concatenate([np.arange(n)] * 2), np.concatenate([first, second]))
    return sparse.csr_array(sparse.hstack([sparse.csr_array((signs, places))[:, 1:], sparse.csr_array(extra)]))


def _share(ratings: Floats, system: int) -> float:
    """Return a system's chance to win against another one drawn at random; two infinite ratings are even."""
    others = np.delete(ratings, system)
    with np.errstate(invalid="ignore"):
        gaps = ratings[system] - others
    return float(special.expit(np.where(np.isnan(gaps), 0.0, gaps)).mean())


def _limit_shares(ratings: Floats, back: Floats, known: Clustered, alpha: float) -> tuple[Floats, Floats, Floats]:
    """Return the shares and their limits by the delta method, on log-odds so that they stay between 0 and 1."""
    count = len(ratings)
    shares = np.array([_share(ratings, i) for i in range(count)])
    low, high = shares.copy(), shares.copy()
    quantile = t_quantile(1 - alpha / 2, known.df)
    for i in np.flatnonzero(np.isfinite(ratings)):
        chance = special.expit(ratings[i] - ratings)
        slopes = chance * (1 - chance) / (count - 1)
        slopes[i] = 0.0
        gradient = -slopes
        gradient[i] = slopes.sum()
        se = math.sqrt(known.variances((gradient @ back)[None])[0])
        if se > 0:
            half = quantile * se / (shares[i] * (1 - shares[i]))
            low[i], high[i] = special.expit(special.logit(shares[i]) + np.array([-half, half]))
    return shares, low, high


def _scale(ways: Sequence[Ints], votes: int) -> float:
    """Return what a vote counts where votes of one cluster go together: effective clusters over votes."""
    sizes = [np.unique(way, return_counts=True)[1].astype(float) for way in ways]
    return min([votes / float(size @ size) for size in sizes], default=1.0)


def _enter_sweep(
    system: int, levels: Ints, ratings: Floats, opponents: Ints, scale: float, alpha: float, pairs: Pairs,
    limits: tuple[Floats, Floats],
) -> None:  # fmt: skip
    """Write the limit of a system that won every vote, or lost every one, and its tests, into `limits` and `pairs`.

    The chance of its sweep at a rating r is prod_v 1 / (1 + exp(-sign (r - r_v))), the logarithm scaled so that votes of
    one cluster count once; p is twice that at the rating of the other, and the limit is the r at which it is alpha / 2.
    Votes against systems with infinite ratings say nothing about finite ones: they count between the two alone.
    """
    sign, finite = (1 if levels[system] > 0 else -1), np.isfinite(ratings)
    against = sign * ratings[opponents[finite[opponents]]]
    limits[0 if sign > 0 else 1][system] = sign * _bound(against, scale, alpha)
    least = float((sign * ratings[finite]).min())
    for place in np.flatnonzero((pairs.left == system) | (pairs.right == system)):
        other = int(pairs.left[place] + pairs.right[place]) - system
        if sign * levels[other] > sign * levels[system]:
            continue  # the other was set aside before: it enters this pair
        alike = levels[other] * sign > 0
        votes = np.zeros(int((opponents == other).sum())) if alike else against
        at = 0.0 if alike else sign * float(ratings[other]) if finite[other] else least
        pairs.p[place] = min(1.0, 2 * math.exp(-scale * np.logaddexp(0, votes - at).sum()))
        pairs.p_adjusted[place] = min(1.0, len(pairs.p) * pairs.p[place])
        direction = sign if pairs.left[place] == system else -sign
        pairs.difference[place], pairs.se[place] = direction * math.inf, math.inf
        for ends, share in (
            ((pairs.low, pairs.high), alpha),
            ((pairs.low_simultaneous, pairs.high_simultaneous), alpha / len(pairs.p)),
        ):
            near, far = ends if direction > 0 else ends[::-1]
            near[place], far[place] = direction * (_bound(votes, scale, share) - at), direction * math.inf


def _bound(against: Floats, scale: float, alpha: float) -> float:
    """Return the rating at which a sweep of these opponents has the chance alpha / 2; minus infinity without any."""
    if not len(against):
        return -math.inf
    target = math.log(alpha / 2)

    def excess(rating: float) -> float:
        return -scale * float(np.logaddexp(0, against - rating).sum()) - target

    reach = float(np.abs(against).max()) - target / scale + 1
    return float(optimize.brentq(excess, -reach, reach + math.log(len(against))))
