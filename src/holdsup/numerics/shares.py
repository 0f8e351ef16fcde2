"""Shares of wins as logistic regressions whose outcomes lie between 0 and 1, with limits that hold for clustered votes.

An outcome y is 1 for a win, 0 for a loss, 1/2 for a tie, or a judge's preference in between. The coefficients b solve
sum_i w_i x_i (y_i - p_i) = 0, p_i = 1 / (1 + exp(-x_i b)) (Papke & Wooldridge 1996); nothing but the mean of y has to
be as modelled. Bradley & Terry's (1952) ratings are those coefficients where x_i is +1 for the first system of a vote
and -1 for the second. Their covariance is the sandwich H^-1 M H^-1 (Liang & Zeger 1986), M from the sums of x_i (y_i -
p_i) over clusters; with two crossed ways of clustering, annotators and prompts, M_1 + M_2 - M_12 (Cameron, Gelbach &
Miller 2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse, special
from scipy.sparse import csgraph

from holdsup.errors import FitError
from holdsup.numerics.layout import Floats, Ints

STEPS, ENOUGH = 100, 1e-10  # of Newton's method, and the step at which it ends
FAR, SINGULAR = 30.0, 1e12  # log-odds beyond which an estimate runs to infinity, condition of what has no single fit
MOST_EXACT, MOST_CELLS = 400, 20_000_000  # clusters up to which each is left out in turn, and votes times ratings
SPLIT = 10**9  # the level of a system that no vote ties to the others


@dataclass(frozen=True, slots=True, eq=False)
class SharesFit:
    """Coefficients of shares, and what their covariance is made of."""

    coefficients: Floats  # b, shape (p,)
    fitted: Floats  # p_i, shape (n,)
    information: Floats  # H = sum_i w_i p_i (1 - p_i) x_i x_i', shape (p, p)
    scores: Any  # w_i x_i (y_i - p_i), a sparse matrix of shape (n, p)


def fit_shares(X: Any, y: Floats, weights: Floats | None = None) -> SharesFit:
    """Return the coefficients that make fitted shares match: Newton's method, halved where the likelihood falls.

    Parameters
    ----------
    X : the regressors, dense or sparse, shape (n, p), of full rank; without a finite fit a FitError is raised
    y : outcomes from 0 to 1, shape (n,)
    weights : of the outcomes; all 1 where there are none
    """
    X = sparse.csr_array(X)
    w = np.ones(len(y)) if weights is None else weights
    b = np.zeros(X.shape[1])
    worth, step = -np.inf, b
    for turn in range(STEPS):
        eta = X @ (b + step)
        now = float(w @ (y * eta - np.logaddexp(0, eta)))
        if now < worth - ENOUGH * abs(worth):
            step = step / 2
            continue
        b, worth, p = b + step, now, special.expit(eta)
        if np.abs(b).max(initial=0.0) > FAR:
            raise FitError("shares have no finite fit: something explains every outcome")
        if turn and np.abs(step).max(initial=0.0) < ENOUGH:
            break
        information = _weigh(X, w * p * (1 - p))
        if not turn and b.size and np.linalg.cond(information) > SINGULAR:
            raise FitError("shares have no single fit: one regressor is a combination of others")
        step = np.linalg.solve(information, X.T @ (w * (y - p)))
    return SharesFit(b, p, _weigh(X, w * p * (1 - p)), sparse.csr_array(X.multiply((w * (y - p))[:, None])))


def _weigh(X: Any, w: Floats) -> Floats:
    """Return X' diag(w) X."""
    return np.asarray((X.T @ X.multiply(w[:, None])).toarray())


@dataclass(frozen=True, slots=True, eq=False)
class Clustered:
    """Covariances of coefficients under several ways of clustering; a combination's variance is the largest of them."""

    covariances: tuple[Floats, ...]  # the one of all ways together first
    df: float  # of t-tests

    def variances(self, combinations: Floats) -> Floats:
        """Return the variance of each row of combinations of the coefficients, shape (m, p)."""
        each = [((combinations @ V) * combinations).sum(-1) for V in self.covariances]
        return np.asarray(np.maximum(np.maximum.reduce(each), 0.0))


def cluster(fit: SharesFit, X: Any, clusterings: Sequence[Ints]) -> Clustered:
    """Return the covariance of coefficients, outcomes of one cluster being related in any way.

    Up to 400 clusters are left out in turn, one Newton step each (the jackknife, CR3: a cluster that a coefficient
    rests on counts for what it is); of more the plain sums serve. With two ways of clustering the sum less that of
    their intersections can be too small, even negative: either way alone is a lower bound. A t-test has as many
    degrees of freedom as there are clusters, less one, and clusters of unequal sizes n_g count as (sum n_g)^2 / sum
    n_g^2.

    Parameters
    ----------
    X : the regressors of the fit
    clusterings : codes from 0 of each way of clustering, each of shape (n,); none: outcomes are independent
    """
    X = sparse.csr_array(X)
    n = X.shape[0]
    ways = [np.unique(each, return_inverse=True)[1].reshape(-1) for each in clusterings] or [np.arange(n)]
    found = [_sandwich(fit, X, way) for way in ways]
    if len(ways) == 2:
        both = np.unique(np.stack(ways), axis=1, return_inverse=True)[1].reshape(-1)
        found.insert(0, found[0] + found[1] - _sandwich(fit, X, both, exact=False))
    sizes = [np.bincount(way).astype(float) for way in ways]
    return Clustered(tuple(found), max(1.0, min(float(n**2 / (size @ size)) for size in sizes) - 1))


def _sandwich(fit: SharesFit, X: Any, way: Ints, *, exact: bool = True) -> Floats:
    """Return the covariance of coefficients from sums over the clusters of one way."""
    G = int(way.max()) + 1
    sums = (sparse.csr_array((np.ones(len(way)), (way, np.arange(len(way))))) @ fit.scores).toarray()
    if not exact or G > MOST_EXACT or X.shape[0] * X.shape[1] > MOST_CELLS:
        moved = np.linalg.solve(fit.information, sums.T).T
        return np.asarray(G / max(1, G - 1) * moved.T @ moved)
    dense, w = X.toarray(), fit.fitted * (1 - fit.fitted)
    order, ends = np.argsort(way, kind="stable"), np.cumsum(np.bincount(way))
    moved = np.empty_like(sums)
    for g, rows in enumerate(np.split(order, ends[:-1])):
        own = dense[rows]
        left = fit.information - (own * w[rows, None]).T @ own
        moved[g] = np.linalg.lstsq(left, sums[g], rcond=None)[0]
    return np.asarray((G - 1) / G * moved.T @ moved)


def join_levels(first: Ints, second: Ints, y: Floats, count: int) -> Ints:
    """Return the level of each system: 0 where ratings are finite, above for those that win every vote.

    Ratings exist where every two groups of systems both have won against the other, ties included (Ford 1957). A
    system that has only won against those left gets level 1, 2, ... the later it is set aside the lower; one that has
    only lost gets -1, -2, ... What remains may still not hang together: its level is then `SPLIT`.
    """
    levels = np.zeros(count, np.intp)
    left = np.ones(count, bool)
    aside: list[tuple[int, int]] = []
    while left.sum() > 1:
        among = left[first] & left[second]
        won = np.bincount(first[among], y[among], count) + np.bincount(second[among], 1 - y[among], count)
        votes = np.bincount(first[among], minlength=count) + np.bincount(second[among], minlength=count)
        ends = np.flatnonzero(left & (votes > 0) & ((won == votes) | (won == 0)))
        if not len(ends):
            break
        aside.append((int(ends[0]), 1 if won[ends[0]] else -1))
        left[ends[0]] = False
    for place, (system, sign) in enumerate(aside):
        levels[system] = sign * (len(aside) - place)
    among = left[first] & left[second]
    edges = [(first, second, y > 0), (second, first, y < 1)]
    wins = np.concatenate([np.stack([a, b])[:, among & some] for a, b, some in edges], axis=1)
    graph = sparse.csr_array((np.ones(wins.shape[1]), tuple(wins)), shape=(count, count))
    parts = csgraph.connected_components(graph, connection="strong")[1]
    if len(set(parts[left].tolist())) > 1:
        levels[left & (parts != np.bincount(parts[left]).argmax())] = SPLIT
    return levels


def control(y: Floats, x: Floats, weights: Floats) -> Floats:
    """Return scores whose weighted mean is the share at x = 0, and whose spread is that of its estimate.

    Each is the share plus the influence of one outcome on it, p_0 (1 - p_0) [H^-1 x_i (y_i - p_i)]_0, so that whatever
    is done with scores of items can be done with a controlled share (Dubois et al. 2024).

    Parameters
    ----------
    y : outcomes from 0 to 1, shape (n,)
    x : what is held at zero, shape (n, q)
    weights : what each outcome counts for in the mean, summing to 1
    """
    X = np.column_stack([np.ones(len(y)), x])
    fit = fit_shares(X, y, weights)
    share = float(special.expit(fit.coefficients[0]))
    influence = np.linalg.solve(fit.information, (X * (y - fit.fitted)[:, None]).T)[0]
    return np.asarray(share + share * (1 - share) * influence)
