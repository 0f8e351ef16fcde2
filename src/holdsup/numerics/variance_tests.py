"""The restricted likelihood ratio of one variance, simulated under its null.

In y = X beta + U v + Z b + e, with b ~ N(0, lambda s^2 I) and the other variance ratios (in U, scaled by their
roots) held where the fit without Z has them, the statistic is, in distribution under lambda = 0,

    sup over lambda >= 0 of  d log[(Q + R) / (Q(lambda) + R)] - sum log(1 + lambda mu_s),
    Q(lambda) = sum w_s^2 / (1 + lambda mu_s),   Q = Q(0),   w_s ~ N(0, 1),   R ~ chi2(d - number of mu_s),

mu_s the positive eigenvalues of Z'P Z, P the projection that takes out X and U in the null's metric, d = n - p.
Crainiceanu & Ruppert (2004), JRSS B 66:165, theorem 1 for REML; Greven et al. (2008), JCGS 17:870, for other
variances. The usual half-and-half mixture of chi-squares is its limit for many independent levels.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag, cho_factor, cho_solve

from holdsup.numerics.criterion import kernels_of, lambda_of, lambda_of_blocks
from holdsup.numerics.elimination import choose_elimination
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.moments import Moments

MOST_COLUMNS = 1_500  # of Z, and of all but the first factor: the spectrum takes their cube

GRID = np.concatenate([[0.0], np.geomspace(1e-4, 1e4, 160)])  # of lambda times a typical eigenvalue
NEAR = 1.05  # eigenvalues within this ratio of one another count as equal
NIL = 1e-9  # share of the largest below which an eigenvalue is zero


def find_null(moments: Moments, theta: Floats, parameter: int) -> Floats | None:
    """Return the positive eigenvalues of Z'P Z for the term of a parameter, None where its columns are too many.

    `theta` is that of the fit without it: zero at the parameter. All is made of the model's cross-products, so that
    it costs the same whatever the number of rows.
    """
    q2, p = moments.q2, moments.p
    own = [c for c in range(len(moments.first)) if moments.first[c, c] == parameter]
    if max(len(moments.A) * len(own), q2) > MOST_COLUMNS:
        return None
    reduced = choose_elimination(moments).reduce(lambda_of(moments.first, theta))[1][: q2 + p, : q2 + p]
    scale = block_diag(lambda_of_blocks(moments, theta), np.eye(p))
    if own:
        tested, across = _within_first(moments, theta, own)
    else:
        places = _places(moments, parameter)
        tested, across = reduced[np.ix_(places, places)], reduced[places]
    kept = scale.T @ reduced @ scale
    kept[np.arange(q2), np.arange(q2)] += 1
    return null_spectrum(tested, across @ scale, kept)


def _within_first(moments: Moments, theta: Floats, own: list[int]) -> tuple[Floats, Floats]:
    """Return Z'V^-1 Z and Z'V^-1 [Z2 X] of columns of the first factor, V the variance of the null's first factor."""
    A, B = moments.A, moments.dense_rows()
    through = A[:, own] @ kernels_of(A, lambda_of(moments.first, theta))
    inside = A[np.ix_(range(len(A)), own, own)] - through @ A[:, :, own]
    across = B[:, own, :-1] - through @ B[:, :, :-1]
    return block_diag(*inside), across.reshape(len(A) * len(own), -1)


def _places(moments: Moments, parameter: int) -> Ints:
    """Return the columns of M that belong to a parameter."""
    found: list[int] = []
    for block in moments.blocks:
        columns = [c for c in range(block.width) if block.pattern[c, c] == parameter]
        found.extend(block.start + level * block.width + c for level in range(block.count) for c in columns)
    return np.array(found, dtype=np.int64)


def null_spectrum(tested: Floats, across: Floats, kept: Floats) -> Floats:
    """Return the positive eigenvalues of Z'P Z.

    Parameters
    ----------
    tested : Z'Z, shape (q, q)
    across : Z'[U X], shape (q, r)
    kept : [U X]'[U X] with ones added to the diagonal of U'U, shape (r, r)
    """
    scale = 1 / np.sqrt(np.diag(kept))
    factor = cho_factor(kept * np.outer(scale, scale), lower=True)
    narrow = across * scale
    values = np.linalg.eigvalsh(tested - narrow @ cho_solve(factor, narrow.T))
    return np.asarray(values[values > NIL * np.diag(tested).max(initial=0.0)])


def simulate_null(spectrum: Floats, dof: int, *, draws: int, seed: int) -> Floats:
    """Return draws of the statistic under its null, shape (draws,); all zero where nothing of Z is left."""
    if not len(spectrum):
        return np.zeros(draws)
    values, counts = _gather(spectrum)
    rng = np.random.default_rng(seed)
    squares = rng.chisquare(counts, (draws, len(counts)))
    rest = dof - int(counts.sum())
    beyond = rng.chisquare(rest, draws) if rest > 0 else np.zeros(draws)
    growth = 1 + np.outer(values, GRID / np.median(spectrum))  # shape (eigenvalues, grid)
    left = squares @ (1 / growth) + beyond[:, None]
    statistics = dof * np.log(left[:, :1] / left) - counts @ np.log(growth)
    return np.asarray(statistics.max(axis=1))


def _gather(spectrum: Floats) -> tuple[Floats, Floats]:
    """Return eigenvalues with how often each occurs; those that hardly differ as their mean."""
    ordered = np.sort(spectrum)
    bins = np.floor(np.log(ordered / ordered[0]) / np.log(NEAR) + 1e-9)
    _, bins = np.unique(bins, return_inverse=True)
    counts = np.bincount(bins).astype(float)
    return np.bincount(bins, ordered) / counts, counts
