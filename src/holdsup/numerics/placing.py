"""Estimates of several systems with their covariance: all pairs tested at once.

A pair's t is its difference over its standard error. Adjusted p and simultaneous intervals are single-step max-t: the
largest t of draws with the correlations of the differences (`families`). A system may then have any place from one more
than the number of systems told better to the number of those not told worse; all places hold at once (Mogstad, Romano,
Shaikh & Wilhelm 2024, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from holdsup.numerics.distributions import t_quantiles, t_tails
from holdsup.numerics.families import DRAWS, MOST_PAIRS, Family
from holdsup.numerics.layout import Floats, Ints

PIECE = 1_000  # draws made at once


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Differences of all pairs, left minus right, in the order of `np.triu_indices`, each array of shape (m,)."""

    left: Ints
    right: Ints
    difference: Floats
    se: Floats
    df: Floats
    p: Floats
    p_adjusted: Floats
    low: Floats
    high: Floats
    low_simultaneous: Floats
    high_simultaneous: Floats
    adjusted_by: str  # empty for a single pair


def judge_pairs(estimates: Floats, covariances: Sequence[Floats], df: float | Floats, alpha: float) -> Pairs:
    """Return all pairs of estimates, shape (k,), tested together.

    Parameters
    ----------
    covariances : of the estimates, shape (k, k), the one that correlations are drawn from first; a pair's variance is
        the largest by any of them
    df : of the t-tests, one for all or one for each pair in the order of `np.triu_indices`
    alpha : the level of all tests together
    """
    left, right = np.triu_indices(len(estimates), 1)
    variances = [np.diagonal(V)[left] + np.diagonal(V)[right] - 2 * V[left, right] for V in covariances]
    se = np.sqrt(np.maximum(np.maximum.reduce(variances), 0.0))
    difference = estimates[left] - estimates[right]
    dfs = np.broadcast_to(np.asarray(df, float), se.shape)
    t = np.divide(difference, se, out=np.where(difference == 0, 0.0, np.inf), where=se > 0)
    p, logs = t_tails(t, dfs)
    family = _draw(covariances[0], left, right, float(dfs.min()))
    return Pairs(
        left, right, difference, se, dfs, p, 10 ** family.adjust(logs), *_bounds(difference, se, dfs, alpha),
        *_bounds(difference, se, dfs, family.share(alpha)), family.name if family.count > 1 else "",
    )  # fmt: skip


def _bounds(difference: Floats, se: Floats, df: Floats, alpha: float) -> tuple[Floats, Floats]:
    half = t_quantiles(1 - alpha / 2, df) * se
    return difference - half, difference + half


def _draw(covariance: Floats, left: Ints, right: Ints, df: float) -> Family:
    """Return the family of the pairs: the smallest p of draws with these correlations."""
    if not 1 < len(left) <= MOST_PAIRS:
        return Family(len(left))
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T  # the symmetric one: it does not hang on rounding
    rows = root[left] - root[right]
    scale = np.sqrt((rows**2).sum(-1))
    rows = rows / np.where(scale > 0, scale, 1.0)[:, None]
    rng = np.random.default_rng(0)
    largest = np.concatenate([np.abs(rng.standard_normal((PIECE, len(root))) @ rows.T).max(1)
                              for _ in range(0, DRAWS, PIECE)])  # fmt: skip
    t = largest / np.sqrt(rng.chisquare(df, len(largest)) / df)
    return Family(len(left), np.sort(2 * special.stdtr(df, -t)))
