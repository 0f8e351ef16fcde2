"""Bradley and Terry's (1952) ratings from pairwise votes: logit P(i wins against j) = r_i - r_j + effects.

A tie is half a win of each side: ratings are then those of expected points, whatever ties depend on. A system that wins
every vote, or loses every one, has an infinite rating; its limit, and its test against another, come from the chance of
such a sweep.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, sparse

from holdsup.errors import FitError
from holdsup.numerics.distributions import t_quantile
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.placing import Pairs, judge_pairs
from holdsup.numerics.shares import Clustered, cluster, fit_shares, join_levels


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Ratings of k systems, log-odds that sum to zero over the finite ones, the best first, with their limits."""

    order: Ints  # the systems, best first, shape (k,)
    ratings: Floats  # in this order, as are all that follow
    low: Floats
    high: Floats
    pairs: Pairs
    effects: Floats  # of the regressors besides the systems, shape (q,)
    effect_se: Floats
    df: float


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
    levels, q = join_levels(first, second, y, count), extra.shape[1]
    finite = np.flatnonzero(levels == 0)
    rows = np.flatnonzero((levels[first] == 0) & (levels[second] == 0))
    ratings, effects, effect_se = np.zeros(count), np.full(q, np.nan), np.full(q, np.nan)
    back, known = np.zeros((count, 1)), Clustered((np.zeros((1, 1)),), 1.0)
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
        ratings = back @ fit.coefficients
        effects, effect_se = fit.coefficients[own:], np.sqrt(known.variances(np.eye(X.shape[1])[own:]))
    order = np.lexsort((-ratings, -levels))
    place = np.argsort(order)
    first, second, levels, ratings, back = place[first], place[second], levels[order], ratings[order], back[order]
    half = t_quantile(1 - alpha / 2, known.df) * np.sqrt(known.variances(back))
    low, high = ratings - half, ratings + half
    pairs = judge_pairs(ratings, [back @ V @ back.T for V in known.covariances], known.df, alpha)
    for system in map(int, np.flatnonzero(levels)):
        own_votes = (first == system) | (second == system)
        sweep = _Sweep(
            system, 1 if levels[system] > 0 else -1, levels, ratings,
            np.where(first == system, second, first)[own_votes], _scale([way[own_votes] for way in clusterings]),
        )  # fmt: skip
        bound = sweep.enter(pairs, alpha)
        low[system], high[system] = (bound, math.inf) if sweep.sign > 0 else (-math.inf, -bound)
    if len(finite) == 1:  # the last of a chain: its limit is that of who swept it
        alone = int(np.flatnonzero(levels == 0)[0])
        low[alone] = -np.inf if (levels >= 0).all() else -high[levels < 0].max()
        high[alone] = np.inf if (levels <= 0).all() else -low[levels > 0].min()
        levels[alone] = (levels <= 0).all() - int((levels >= 0).all())
    with np.errstate(invalid="ignore"):
        ratings = np.where(levels, levels * np.inf, ratings)
    return Ratings(order, ratings, low, high, pairs, effects, effect_se, known.df)


def _design(first: Ints, second: Ints, extra: Floats) -> sparse.csr_array:
    """Return +1 and -1 for the two systems of each vote, the first system of all being the reference, and the rest."""
    n = len(first)
    places = (np.tile(np.arange(n), 2), np.concatenate([first, second]))
    systems = sparse.csr_array((np.repeat([1.0, -1.0], n), places))
    return sparse.csr_array(sparse.hstack([systems[:, 1:], sparse.csr_array(extra)]))


def _scale(ways: Sequence[Ints]) -> float:
    """Return what a vote counts where votes of one cluster go together: effective clusters over votes."""
    sizes = [np.unique(way, return_counts=True)[1].astype(float) for way in ways]
    return min([float(size.sum() / (size @ size)) for size in sizes], default=1.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Sweep:
    """The votes of a system that won all of them, or lost all.

    The chance of its sweep at a rating r is prod_v 1 / (1 + exp(-sign (r - r_v))), the logarithm scaled so that votes
    of one cluster count once; p is twice that at the rating of the other, and the limit is the r at which it is alpha
    / 2. Votes against systems with infinite ratings say nothing about finite ones: they count between the two alone.
    """

    system: int
    sign: int  # 1 for wins, -1 for losses
    levels: Ints
    ratings: Floats
    opponents: Ints  # of each vote
    scale: float

    def enter(self, pairs: Pairs, alpha: float) -> float:
        """Write the tests of the system into `pairs`, and return its limit, as if it had won."""
        against = self.sign * self.ratings[self.opponents[self.levels[self.opponents] == 0]]
        for place in np.flatnonzero((pairs.left == self.system) | (pairs.right == self.system)):
            other = int(pairs.left[place] + pairs.right[place]) - self.system
            beyond = self.sign * self.levels[other]
            if beyond > self.sign * self.levels[self.system]:
                continue  # the other was set aside before: it enters this pair
            votes = np.zeros(int((self.opponents == other).sum())) if beyond > 0 else against
            at = 0.0 if beyond > 0 else self.sign * float(self.ratings[other])
            if beyond < 0:  # it lost every vote: no higher than the lowest of the others
                at = float((self.sign * self.ratings[self.levels == 0]).min())
            pairs.p[place] = min(1.0, 2 * math.exp(-self.scale * np.logaddexp(0, votes - at).sum()))
            pairs.p_adjusted[place] = min(1.0, len(pairs.p) * pairs.p[place])
            pairs.difference[place] = pairs.se[place] = math.inf
            pairs.high[place] = pairs.high_simultaneous[place] = math.inf
            pairs.low[place] = self.bound(votes, alpha) - at
            pairs.low_simultaneous[place] = self.bound(votes, alpha / len(pairs.p)) - at
        return self.bound(against, alpha)

    def bound(self, against: Floats, alpha: float) -> float:
        """Return the rating at which a sweep has the chance alpha / 2; minus infinity where there are no votes."""
        if not len(against):
            return -math.inf
        target = math.log(alpha / 2) / self.scale
        reach = float(np.abs(against).max()) - target + math.log(len(against)) + 1
        return float(optimize.brentq(lambda r: -np.logaddexp(0, against - r).sum() - target, -reach, reach))
