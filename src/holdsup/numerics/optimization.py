"""Minimizing the criterion: Newton's method on its symmetric extension.

The criterion depends on Lambda through Lambda Lambda' only, so it does not change when a column of
Lambda changes sign: it is a smooth function of all real theta, and the bounds "diagonal >= 0" merely
pick one of the mirror images. The search is therefore free of bounds; signs are put right at the end.
A variance of zero is then an ordinary stationary point: a minimum if the fit is singular, a saddle if
it is not, told apart by the curvature there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from holdsup.numerics.criterion import Criterion
from holdsup.numerics.elimination import turn
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.moments import Alike, Moments

ENOUGH = 1e-12  # expected further decrease, in units of the criterion (-2 log-likelihood)
ROUGHLY = 1e-8  # enough for one draw of many, and for a dear model: thousandths of a standard error
NEAR_ZERO = 0.02  # a relative standard deviation below this may be a saddle, which only the curvature tells
CLOSE = 1e-4  # expected decrease below which steps are judged by the gradient
CERTAIN = 1e-5  # expected decrease up to which a fit that cannot improve for rounding counts as converged
IDLE = 1e-5  # change of the criterion, per squared relative change of a parameter, that is no information
MOST_STEPS = 100
REFRESH, SHORT = 6, 3  # steps with an updated Hessian, and tries along each, before it is made anew
DIFFERENCE = 1e-4  # relative step of the difference quotient of gradients
SMALLEST = 1e-2  # theta below which the step is absolute
STRETCH = 3.0  # a step changes no parameter by more than this times itself (or 0.1)
FLAT = 1e-10  # eigenvalues of the scaled curvature below this times the largest are treated as this
LEAST, MOST = 0.03, 30.0  # relative standard deviations within which the search starts


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """Where the search ended."""

    theta: Floats  # the parameters
    value: float  # the criterion
    gradient: Floats  # its gradient
    curvature: Floats  # its Hessian, shape (k, k), updated from gradients
    reason: str  # why the search ended, in words
    steps: int  # steps taken


def minimize(
    criterion: Criterion, start: Floats, *, enough: float = ENOUGH, curvature: Floats | None = None
) -> Optimum:
    """Return the minimum that Newton's method finds from `start`, to an expected decrease of `enough`.

    The Hessian is made of differences of gradients every few steps, and in between updated from the
    gradients seen (BFGS): that halves the evaluations of a model with eleven variances. Updating alone
    crawls where variances are zero, because there the criterion is far from a parabola. A `curvature` that
    is about right, that of the same model for another response, saves making the first one.
    """
    theta = np.array(start, dtype=float)
    value, gradient = criterion.slopes(theta)
    H = np.empty((len(theta), len(theta))) if curvature is None else curvature
    if not len(theta):
        return Optimum(theta, value, gradient, H, "there is no variance to estimate", 0)
    age = 0 if curvature is None else 1  # steps since the Hessian was made
    for steps in range(MOST_STEPS):
        H = _hessian(criterion, theta, gradient, H if age else None)
        step, decrease, downhill = newton_step(H, gradient)
        if decrease < enough:
            if not downhill:
                found = Optimum(theta, value, gradient, H, "the gradient is nil", steps)
                return _polish(criterion, found, step)
            step = _off_the_saddle(H, theta)
        elif decrease < CLOSE and not downhill:
            closer = _closer(criterion, theta, step, H, decrease, value)
            if closer is not None:
                H = update_hessian(H, closer[0] - theta, closer[2] - gradient)
                theta, value, gradient = closer
                continue
        moved, tries = _search(criterion, theta, value, step, most=40 if age == 0 else SHORT)
        if moved is None:
            if age == 0:
                return Optimum(theta, value, gradient, H, "rounding leaves no further decrease", steps)
            age = 0
            continue
        H = update_hessian(H, moved[0] - theta, moved[2] - gradient)
        age = 0 if tries > 1 or age == REFRESH else age + 1  # a step that had to be cut shows a wrong Hessian
        theta, value, gradient = moved
    return Optimum(theta, value, gradient, H, f"no end after {MOST_STEPS} steps", MOST_STEPS)


def _hessian(criterion: Criterion, theta: Floats, gradient: Floats, updated: Floats | None) -> Floats:
    """Return the Hessian to step by: what the criterion knows of it, else the updated one, else one made anew."""
    known = criterion.information(theta)
    if known is not None:
        return known
    return differentiate(criterion, theta, gradient) if updated is None else updated


def certify(theta: Floats, gradient: Floats, H: Floats) -> tuple[float, bool]:
    """Return the decrease that another Newton step would bring, and whether the point is a minimum.

    It is one when nothing is to be gained by another step, no direction curves down, and no parameter
    away from zero can be changed at will (doubling it would move the criterion by less than rounding).
    theta = 0 is stationary whatever the data, and only the curvature tells a singular fit from a saddle.
    """
    if not len(gradient):
        return 0.0, True
    _, decrease, downhill = newton_step(H, gradient)
    idle = (np.abs(theta) > NEAR_ZERO) & (np.diag(H) * theta**2 < IDLE)
    return float(decrease), bool(decrease < CERTAIN and not downhill and not idle.any())


def _closer(
    criterion: Criterion, theta: Floats, step: Floats, H: Floats, decrease: float, value: float
) -> tuple[Floats, float, Floats] | None:
    """Return the end of a Newton step if the gradient there is smaller: so near the optimum rounding hides values."""
    moved = theta + step
    found, gradient = criterion.slopes(moved)
    if found > value + 1e-12 * abs(value) or newton_step(H, gradient)[1] > decrease / 4:
        return None
    return moved, found, gradient


def _polish(criterion: Criterion, found: Optimum, step: Floats) -> Optimum:
    """Return the optimum after a last Newton step, if that makes it no worse."""
    theta = found.theta + step
    value, gradient = criterion.slopes(theta)
    if value <= found.value and _norm(found.curvature, gradient) <= _norm(found.curvature, found.gradient):
        return replace(found, theta=theta, value=value, gradient=gradient)
    return found


def update_hessian(H: Floats, step: Floats, change: Floats) -> Floats:
    """Return the BFGS update of H after a step that changed the gradient; H where it would not curve up.

    This and the next two take one search, or many at once along a leading axis.
    """
    Hs = _times(H, step)
    along, bent = (step * change).sum(axis=-1), (step * Hs).sum(axis=-1)
    sound = (along > 1e-10 * (np.abs(step) * np.abs(change)).sum(axis=-1)) & (bent > 0)
    gained = _outer(change) / np.where(sound, along, 1.0)[..., None, None]
    lost = _outer(Hs) / np.where(sound, bent, 1.0)[..., None, None]
    return np.where(sound[..., None, None], H + gained - lost, H)


def differentiate(criterion: Criterion, theta: Floats, gradient: Floats) -> Floats:
    """Return the Hessian, by forward differences of the exact gradient."""
    H = np.empty((*theta.shape, theta.shape[-1]))
    for i in range(theta.shape[-1]):
        moved = theta.copy()
        moved[..., i] += DIFFERENCE * np.maximum(np.abs(theta[..., i]), SMALLEST)
        H[..., i] = (criterion.slopes(moved)[1] - gradient) / (moved[..., i] - theta[..., i])[..., None]
    return (H + turn(H)) / 2


def newton_step(H: Floats, gradient: Floats) -> tuple[Floats, Any, Any]:
    """Return the step, the decrease expected of it, and whether some direction curves down.

    The curvature of a factor with 11,490 levels and of one with 2 differ by orders of magnitude:
    the eigenvalues are those of H scaled to a unit diagonal, and their signs are made positive.
    """
    scale = 1 / np.sqrt(np.maximum(np.abs(np.diagonal(H, axis1=-2, axis2=-1)), 1e-300))
    values, vectors = np.linalg.eigh(H * scale[..., None] * scale[..., None, :])
    size = np.abs(values)
    floor = FLAT * np.maximum(1.0, size.max(axis=-1, keepdims=True))
    along = _times(turn(vectors), scale * gradient)
    step = -scale * _times(vectors, along / np.maximum(size, floor))
    return step, -(gradient * step).sum(axis=-1) / 2, (values < -1e-4).any(axis=-1)


def _times(matrix: Floats, vector: Floats) -> Floats:
    return np.asarray((matrix @ vector[..., None])[..., 0])


def _outer(vector: Floats) -> Floats:
    return np.asarray(vector[..., None] * vector[..., None, :])


def _norm(H: Floats, gradient: Floats) -> float:
    return float(np.abs(gradient / np.sqrt(np.maximum(np.abs(np.diag(H)), 1e-300))).max())


def _off_the_saddle(H: Floats, theta: Floats) -> Floats:
    """Return a step along the direction that curves down most; at a saddle the gradient shows none."""
    vectors = np.linalg.eigh(H)[1]
    return np.asarray(vectors[:, 0] * 0.05 * max(1.0, float(np.abs(theta).max()) * 0.1))


def _search(
    criterion: Criterion, theta: Floats, value: float, step: Floats, *, most: int
) -> tuple[tuple[Floats, float, Floats] | None, int]:
    """Return the first point along the step that is lower (None: there is none), and how many were tried."""
    limit = STRETCH * np.maximum(np.abs(theta), 0.1)
    length = min(1.0, float(np.min(limit / np.maximum(np.abs(step), 1e-300))))
    for tries in range(1, most + 1):
        moved = theta + length * step
        found, gradient = criterion.slopes(moved)
        if found < value:
            return (moved, found, gradient), tries
        length *= 0.3
    return None, most


def starting_point(moments: Moments) -> Floats:
    """Return theta from the spread of level means about the plain regression, one column at a time.

    For a column with weights a_l (its squared length in level l) and residual sums s_l, s_l / a_l has
    variance v + sigma^2 / a_l, so that sum s_l^2 / a_l is about q sigma^2 + v sum a_l. Other random
    terms are ignored: this is a start, not an estimate, and it need only be of the right order.
    """
    q2, p = moments.q2, moments.p
    C = moments.C
    beta = np.linalg.lstsq(C[q2 : q2 + p, q2 : q2 + p], C[q2 : q2 + p, -1], rcond=None)[0] if p else np.empty(0)
    total = max(float(C[-1, -1] - beta @ C[q2 : q2 + p, -1]), 1e-300) / moments.n
    columns: list[tuple[int, Floats, Floats]] = []
    held, kind = moments.held, slice(None)
    if isinstance(held, Alike):
        kind = held.kind  # type: ignore[assignment]  # either tells which A and b each level has
    for i, parameter in _diagonal(moments.first):
        rows = held.B[:, i, q2:] if isinstance(held.B, np.ndarray) else held.B[i][:, q2:].toarray()
        response = held.responses[:, i] if isinstance(held, Alike) else rows[:, -1]
        columns.append((parameter, held.A[kind, i, i], response - (rows[:, :p] @ beta)[kind]))
    for block in moments.blocks:
        for i, parameter in _diagonal(block.pattern):
            places = np.arange(block.start + i, block.stop, block.width)
            sums = C[places, -1] - C[np.ix_(places, np.arange(q2, q2 + p))] @ beta
            columns.append((parameter, C[places, places], sums))
    return _solve(columns, total, moments)


def _diagonal(pattern: Ints) -> list[tuple[int, int]]:
    return [(i, int(pattern[i, i])) for i in range(len(pattern)) if pattern[i, i] >= 0]


def _solve(columns: list[tuple[int, Floats, Floats]], total: float, moments: Moments) -> Floats:
    theta = np.zeros(len(moments.lower))
    sigma2 = total
    for _ in range(3):
        explained = 0.0
        found: dict[int, list[float]] = {}
        for parameter, weights, sums in columns:
            held = weights > 0
            spread = float((sums[held] ** 2 / weights[held]).sum()) - sigma2 * int(held.sum())
            variance = max(0.0, spread / max(float(weights.sum()), 1e-300))
            found.setdefault(parameter, []).append(variance)
            explained += variance * float(weights.sum()) / moments.n
        sigma2 = max(total - explained, 0.02 * total)
    for parameter, variances in found.items():
        theta[parameter] = np.clip(np.sqrt(np.mean(variances) / sigma2), LEAST, MOST)
    return theta
