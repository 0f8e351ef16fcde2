"""A linear mixed model, fitted: cross-products, rank, optimum, fixed effects, Satterthwaite's parts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from holdsup.numerics.criterion import DEAR, Criterion, Solution, kernels_of, lambda_of, lambda_of_blocks
from holdsup.numerics.inference import Satterthwaite, prepare
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.moments import Moments
from holdsup.numerics.nested import make_lean
from holdsup.numerics.optimization import CERTAIN, ENOUGH, ROUGHLY, Optimum, certify, minimize, starting_point
from holdsup.numerics.threads import blas_threads, threads_for

DEPENDENT = 1e-7  # a column is dropped when less than this share of its length is new (as R's qr does)
NIL = 1e-6  # a residual with less than this share of the response's length may be nothing but rounding


NOT_TOLD_APART = "it has no certain minimum: some variance can't be separated from a fixed effect or another variance"
AT_A_TIME = 2000  # levels whose conditional variances are computed together


class NothingLeft(ArithmeticError):
    """The fixed and random effects leave no residual, so there is no likelihood."""


@dataclass(frozen=True, slots=True, eq=False)
class EngineFit:
    """An optimum and what it implies."""

    moments: Moments  # the cross-products, dependent columns taken out
    kept: Ints  # which fixed columns were kept
    criterion: Criterion  # the function that was minimized, all factors but the first together
    lean: Criterion  # the same, as quick as it gets
    optimum: Optimum  # where the search ended, signs put right
    solution: Solution  # fixed effects and residual variance there
    inference: Satterthwaite  # Satterthwaite's parts
    decrease: float  # the decrease of the criterion that another step would bring
    converged: bool  # whether the optimum is certified to be a minimum


def fit_moments(
    moments: Moments, *, reml: bool, start: Floats | None = None, curvature: Floats | None = None
) -> EngineFit:
    """Return the fit of a model whose cross-products are known.

    A `curvature` at the start that is about right, that of the same model on most of the same rows, saves a third of
    the work: the search need not make one, and the inference makes do with one-sided differences.
    """
    kept = independent_columns(moments)
    if len(kept) < moments.p:
        moments = keep_columns(moments, kept)
    if moments.n <= moments.p:
        raise NothingLeft(f"{moments.n} rows cannot tell {moments.p} fixed effects and a residual apart")
    _check_residual(moments)
    with blas_threads(1):
        criterion = Criterion(moments, reml=reml)
        lean = make_lean(criterion)
    # A search may run towards variances without end: what overflows there is no positive definite matrix.
    with blas_threads(threads_for(len(moments.C))), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        try:
            found = _attempt(criterion, lean, kept, starting_point(moments) if start is None else start, curvature)
            # In doubt once more, from where lme4 starts: a search that ends with a variance of zero may have been led
            # there by the rounding of scores, away from a better optimum without one.
            nil = (
                start is None and len(lean.moments.C) <= DEAR and (found.optimum.theta[moments.lower == 0] < NIL).any()
            )
            if not found.converged or nil:
                again = _attempt(criterion, lean, kept, np.where(moments.lower == 0, 1.0, 0.0))
                better = again.solution.value < found.solution.value - CERTAIN
                if better or again.converged > found.converged:
                    found = again
        except (
            FloatingPointError,
            np.linalg.LinAlgError,
        ) as rounding:  # variances grew until nothing positive was left beside them
            raise NothingLeft("the fixed and random effects fit every row exactly") from rounding
    if not found.solution.sigma2 * criterion.dof > NIL**2 * moments.C[-1, -1]:
        raise NothingLeft("the fixed and random effects fit every row exactly")
    return found


def _attempt(
    criterion: Criterion, lean: Criterion, kept: Ints, start: Floats, curvature: Floats | None = None
) -> EngineFit:
    """Return where a search from `start` ends, with its certificate."""
    moments = criterion.moments
    dear = len(lean.moments.C) > DEAR
    optimum = minimize(lean, start, enough=ROUGHLY if dear else ENOUGH, curvature=curvature)
    optimum = replace(optimum, theta=rectify(moments, optimum.theta))
    inference = prepare(lean, optimum.theta, one_sided=dear or curvature is not None)
    decrease, converged = certify(optimum.theta, inference.gradient, inference.curvature)
    if not converged and decrease < CERTAIN:
        optimum = replace(optimum, reason=NOT_TOLD_APART)
    solution = inference.solution if lean is criterion else criterion.solve(optimum.theta)
    return EngineFit(moments, kept, criterion, lean, optimum, solution, inference, decrease, converged)


def independent_columns(moments: Moments) -> Ints:
    """Return the fixed columns that are no combination of earlier ones; the later one goes, as in lme4."""
    q2, p = moments.q2, moments.p
    return find_independent(moments.C[q2 : q2 + p, q2 : q2 + p])


def find_independent(gram: Floats) -> Ints:
    """Return the columns that are no combination of earlier ones, from their cross-products."""
    p = len(gram)
    left = gram.copy()  # of which the columns kept so far explain nothing
    kept: list[int] = []
    # A squared length is known to about p roundings of the whole: below that, nothing is new.
    nil = max(DEPENDENT**2, 4 * p * np.finfo(float).eps)
    for j in range(p):
        if gram[j, j] > 0 and left[j, j] > nil * gram[j, j]:
            column = left[j:, j] / math.sqrt(left[j, j])
            left[j:, j:] -= np.outer(column, column)
            kept.append(j)
    return np.array(kept, dtype=np.int64)


def keep_columns(moments: Moments, kept: Ints) -> Moments:
    """Return the cross-products of the model with some of its fixed columns only."""
    q2, m = moments.q2, len(moments.C)
    places = np.concatenate([np.arange(q2), q2 + kept, [m - 1]])
    B = moments.held.B
    # Compiled loops take contiguous rows, which chosen columns of an array are not.
    chosen = np.ascontiguousarray(B[:, :, places]) if isinstance(B, np.ndarray) else tuple(b[:, places] for b in B)
    return replace(moments, p=len(kept), held=moments.held.with_rows(chosen), C=moments.C[np.ix_(places, places)])


def _check_residual(moments: Moments) -> None:
    total = moments.C[-1, -1]
    if not total > 0:
        raise NothingLeft("the response is the same in every row")
    q2, p = moments.q2, moments.p
    corner = moments.C[q2:, q2:]
    L = np.linalg.cholesky(corner[:p, :p]) if p else np.empty((0, 0))
    explained = np.linalg.solve(L, corner[:p, p]) if p else np.empty(0)
    if total - explained @ explained <= NIL**2 * total:
        raise NothingLeft("the fixed effects fit every row exactly, as far as rounding can tell")


def rectify(moments: Moments, theta: Floats) -> Floats:
    """Return the mirror image of theta whose Lambda has no negative diagonal."""
    signs = np.ones(len(theta))
    for pattern in (moments.first, *(block.pattern for block in moments.blocks)):
        for j in range(len(pattern)):
            diagonal = pattern[j, j]
            if diagonal >= 0 and theta[diagonal] < 0:
                column = pattern[:, j]
                signs[column[column >= 0]] = -1
    return signs * theta


@dataclass(frozen=True, slots=True, eq=False)
class PredictedEffects:
    """Effects of each grouping factor, in the engine's order."""

    values: tuple[Floats, ...]  # shape (levels, k)
    # their conditional covariances, shape (levels, k, k); () where they were not asked for
    covariances: tuple[Floats, ...]


def predict_effects(fit: EngineFit, *, with_spread: bool = True) -> PredictedEffects:
    """Return the predicted random effects (BLUPs) of every grouping factor, the first one first.

    At the optimum, L' [u2; beta] = l_y gives the scaled effects of the other factors and the fixed effects,
    b2 = Lambda2 u2; then level j of the first factor has

        b1_j = H_j (b_jy - b_j [b2; beta]),
        Var(b2 | y) = s^2 Lambda2 (L_ZZ L_ZZ')^-1 Lambda2',
        Var(b1_j | y) = s^2 (H_j + H_j b_jZ Lambda2 (L_ZZ L_ZZ')^-1 Lambda2' b_jZ' H_j),

    conditional on the fixed effects, as lme4's ``condVar`` (Bates et al. 2015, eq. 58).
    """
    moments, theta, L = fit.moments, fit.optimum.theta, fit.solution.L
    q2, m = moments.q2, len(moments.C)
    coefficients = solve_triangular(L[:-1, :-1], L[-1, :-1], lower=True, trans="T") if m > 1 else np.empty(0)
    scale = lambda_of_blocks(moments, theta)
    coefficients[:q2] = scale @ coefficients[:q2]
    factor = lambda_of(moments.first, theta)
    H = kernels_of(moments.A, factor)
    rows = moments.dense_rows()
    left = rows[:, :, -1] - rows[:, :, :-1] @ coefficients
    values = [np.einsum("jkl,jl->jk", H, left)]
    values.extend(coefficients[b.start : b.stop].reshape(b.count, b.width) for b in moments.blocks)
    if not with_spread:
        return PredictedEffects(tuple(values), ())
    sigma2 = fit.solution.sigma2
    half = solve_triangular(L[:q2, :q2], scale.T, lower=True) if q2 else np.empty((0, 0))  # half'half = Var(b2) / s^2
    first = np.empty((*values[0].shape, values[0].shape[1]))
    for start in range(0, len(first), AT_A_TIME):
        piece = slice(start, start + AT_A_TIME)
        through = H[piece] @ moments.dense_rows(piece)[:, :, :q2]
        left = through @ half.T
        first[piece] = sigma2 * (H[piece] + left @ left.transpose(0, 2, 1))
    others = []
    for b in moments.blocks:
        columns = half[:, b.start : b.stop].reshape(q2, b.count, b.width)
        others.append(sigma2 * np.einsum("rli,rlj->lij", columns, columns))
    return PredictedEffects(tuple(values), (first, *others))
