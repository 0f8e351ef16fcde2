"""A logistic mixed model, fitted: the start, the search, the certificate, standard errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from holdsup.numerics.chain import Model
from holdsup.numerics.laplace import TIGHTER, Laplace
from holdsup.numerics.layout import Floats
from holdsup.numerics.optimization import CERTAIN, ROUGHLY, Optimum, certify, differentiate, minimize
from holdsup.numerics.quadrature import Quadrature
from holdsup.numerics.threads import blas_threads

START, START_OTHERS = 1.0, 0.3  # standard deviations from which the search starts
ENOUGH_FOR_START = 1e-9  # decrement expected of another step to the modes
NEAR = 5e-2  # decrease left at the joint mode, from where the search goes on with beta
NEAR_ZERO = 0.02  # a standard deviation below is zero if the criterion is as good there
AS_GOOD = 1e-6
OFF_ZERO, LEAVE_ZERO = 0.03, 0.1  # where it is seen whether the criterion falls away from zero, and whither to go then
HALF = 0.5
CURVED = 10.0  # about the second derivative there
MOST_RESTARTS = 4
SETTLED = 1e-5  # change of the criterion by halving the spacing
MOST_REFINED = 16.0
RUNAWAY = 6.0  # a standard deviation in logits that no normal distribution of effects explains
WALL = 50.0  # a standard deviation in logits beyond which no search goes: the grids would grow without end
NOT_SETTLED = "the likelihood changes with the number of nodes: no normal distribution describes the effects"


class Runaway(ArithmeticError):
    """The spread of a random effect grows until its levels are always right or always wrong."""

    def __init__(self, parameter: int, size: float, method: str) -> None:
        super().__init__(f"a standard deviation of {size:.3g} logits by {method}")
        self.parameter, self.size, self.method = parameter, size, method


@dataclass(frozen=True, slots=True, eq=False)
class LogisticFit:
    """An optimum and what it implies."""

    method: str  # "quadrature" or "laplace"
    theta: Floats  # relative to the logit's scale, signs put right
    beta: Floats
    joint: Floats  # covariance of (theta, beta), theta as known where it is zero
    optimum: Optimum  # its value is -2 log-likelihood, without the binomial coefficients
    curvature: Floats  # Hessian of the criterion by (theta, beta) at the optimum
    decrease: float  # of the criterion that another step would bring
    converged: bool
    evaluations: int
    nodes: int  # of the quadrature over the coarser factor; 0 for Laplace
    criterion: Criterion

    @property
    def covariance(self) -> Floats:
        """The covariance of beta, shape (p, p)."""
        return self.joint[len(self.theta) :, len(self.theta) :]


class Criterion:
    """A criterion of (theta, beta) as one vector, for the search.

    A point without a mode is infinitely bad, and so is one where a spread of `walled` parameters is beyond the wall.
    """

    def __init__(
        self, evaluate: Callable[..., tuple[float, Floats]], parameters: int | None, walled: Sequence[int] = ()
    ) -> None:
        self.evaluate, self.parameters, self.walled = evaluate, parameters, list(walled)
        self.last: tuple[Floats, float, Floats] | None = None  # the last point, and what was found there

    def slopes(self, x: Floats) -> tuple[float, Floats]:
        """Return the value and its gradient."""
        if self.last is None or not np.array_equal(x, self.last[0]):
            self.last = (x.copy(), *self._find(x))
        return self.last[1], self.last[2]

    def _find(self, x: Floats) -> tuple[float, Floats]:
        if (np.abs(x[self.walled]) > WALL).any():
            return np.inf, np.zeros(len(x))
        try:
            value, gradient = self.evaluate(x) if self.parameters is None else self.evaluate(*self.split(x))
        except (np.linalg.LinAlgError, FloatingPointError):
            return np.inf, np.zeros(len(x))
        return (value, gradient) if np.isfinite(value) and np.isfinite(gradient).all() else (np.inf, np.zeros(len(x)))

    def split(self, x: Floats) -> tuple[Floats, Floats]:
        """Return theta and beta."""
        return x[: self.parameters], x[self.parameters :]

    def information(self, x: Floats) -> None:
        """Return nothing: the Hessian is not known without differences."""


def fit_logistic(model: Model, *, method: str = "auto", start: Floats | None = None) -> LogisticFit:
    """Return the maximum likelihood fit; "auto" is quadrature wherever the design allows it."""
    with blas_threads(1), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        laplace = Laplace(model)
        x, H = _start(model, laplace) if start is None else _start_from(laplace, model, start)
        quadrature = Quadrature(model, laplace) if method != "laplace" and factors(model) else None
        if quadrature is not None and not (quadrature.worth() if method == "auto" else quadrature.possible()):
            quadrature = None
        walled = _intercepts(model)
        if quadrature is None:
            criterion = Criterion(laplace.evaluate, model.parameters, walled)
            found = _search(model, criterion, x, H)
            _refuse_runaway(model, found, "laplace")
            return _conclude(model, criterion, found, laplace, None)
        criterion = Criterion(quadrature.evaluate, model.parameters, walled)
        while True:
            found = _search(model, criterion, x, H)
            _refuse_runaway(model, found, "quadrature")
            value = found.value
            quadrature.refinement *= 2
            finer, _ = quadrature.evaluate(*criterion.split(found.theta), slopes=False)
            settled = abs(finer - value) < SETTLED
            if settled or quadrature.refinement >= MOST_REFINED:
                break
            x, H = found.theta, found.curvature
        if settled:
            quadrature.refinement /= 2
        done = _conclude(model, criterion, found, laplace, quadrature)
        return done if settled else replace(
            done, converged=False, optimum=replace(done.optimum, reason=NOT_SETTLED)
        )  # fmt: skip


def factors(model: Model) -> bool:
    """Return whether the likelihood is a product over levels of one factor, with at most one factor within it."""
    chain = [t for t in model.terms if t.level is not None]
    intercepts = all(t.columns.shape[1] == 1 and (t.columns == 1).all() for t in chain)
    return len(chain) == len(model.cells.node) <= 2 and intercepts


def _diagonals(model: Model) -> dict[int, tuple[int, float]]:
    """Return for each parameter on a diagonal its term and how many effects it has."""
    weights = model.cells.weight
    return {
        parameter: (number, float(weights[t.level].sum() if t.level is not None else t.count))
        for number, t in enumerate(model.terms)
        for i, j, parameter in t.places
        if i == j
    }


def _intercepts(model: Model) -> list[int]:
    """Return the parameters that are standard deviations in logits: those of random intercepts."""
    return [k for k, (number, _) in _diagonals(model).items() if (model.terms[number].columns == 1).all()]


def _refuse_runaway(model: Model, found: Optimum, method: str) -> None:
    """Raise for the widest spread that no normal distribution of effects explains."""
    widest = max(_intercepts(model), key=lambda k: abs(found.theta[k]), default=None)
    if widest is not None and abs(found.theta[widest]) > RUNAWAY:
        raise Runaway(widest, abs(float(found.theta[widest])), method)


def _start(model: Model, laplace: Laplace) -> tuple[Floats, Floats]:
    """Return (theta, beta) with beta at the joint mode, and about the Hessian there.

    Standard deviations are looked for on a logarithmic scale, where few steps lead from anywhere to anywhere. How beta
    followed them tells how they go together at the optimum.
    """
    diagonals = _diagonals(model)
    theta = np.zeros(model.parameters)
    for parameter, (number, _) in diagonals.items():
        theta[parameter] = START if model.terms[number].level is not None else START_OTHERS
    logarithmic = len(diagonals) == len(theta)
    seen: list[Floats] = []

    def evaluate(x: Floats) -> tuple[float, Floats]:
        theta = np.exp(x) if logarithmic else x
        value, gradient = laplace.evaluate(theta)
        seen.append(np.concatenate([theta, laplace.beta]))
        return value, gradient * theta if logarithmic else gradient

    laplace.enough, criterion = ENOUGH_FOR_START, Criterion(evaluate, None)
    H, x = None, theta
    if logarithmic:
        x = np.log(theta)
        criterion.slopes(x)
        H = np.diag(
            [max((laplace.pull[k] * theta[k]) ** 2 / size * HALF, 1e-3) for k, (_, size) in sorted(diagonals.items())]
        )
    rough = minimize(criterion, x, enough=NEAR, curvature=H)  # type: ignore[arg-type]
    criterion.slopes(rough.theta)
    laplace.enough = TIGHTER
    H, k = rough.curvature, len(theta)
    if logarithmic:
        H = H / np.outer(seen[-1][:k], seen[-1][:k])
    apart = np.array(seen) - seen[-1]
    slope = np.linalg.lstsq(apart[:, :k], apart[:, k:], rcond=1e-6)[0]
    H_beta = 2 * laplace.precision()
    return seen[-1], np.block([[H + slope @ H_beta @ slope.T, -slope @ H_beta], [-H_beta @ slope.T, H_beta]])


def _start_from(laplace: Laplace, model: Model, start: Floats) -> tuple[Floats, Floats]:
    """Return a start that is known to be near, and about the Hessian there."""
    k, p = model.parameters, laplace.p
    laplace.evaluate(start[:k], start[k:])
    H = np.eye(k + p)
    for parameter, (_, size) in _diagonals(model).items():
        H[parameter, parameter] = max(laplace.pull[parameter] ** 2 / size, 1e-3)
    H[k:, k:] = 2 * laplace.precision()
    return start, H


def _search(model: Model, criterion: Criterion, x: Floats, H: Floats) -> Optimum:
    """Return the minimum from a start, with standard deviations that may as well be zero at zero.

    Zero is stationary whatever the data. A search that ends near it is looked at again from a little away, and goes on
    where the criterion falls.
    """
    for _ in range(MOST_RESTARTS):
        found = minimize(criterion, x, enough=ROUGHLY, curvature=H)  # type: ignore[arg-type]
        x, H, left = found.theta.copy(), found.curvature.copy(), False
        for parameter, (number, _) in _diagonals(model).items():
            if abs(found.theta[parameter]) >= NEAR_ZERO:
                continue
            places = model.terms[number].places
            column = next(j for i, j, p in places if p == parameter)
            nil, off = found.theta.copy(), found.theta.copy()
            nil[[p for i, j, p in places if column in (i, j)]] = 0.0
            off[parameter] = OFF_ZERO
            if criterion.slopes(off)[1][parameter] < 0:
                x[parameter], left = LEAVE_ZERO, True
                H[parameter], H[:, parameter], H[parameter, parameter] = 0.0, 0.0, CURVED
                continue
            value, gradient = criterion.slopes(nil)
            if value <= found.value + AS_GOOD:
                found = replace(found, theta=nil, value=value, gradient=gradient)
        if not left:
            break
    return found


def _conclude(
    model: Model, criterion: Criterion, found: Optimum, laplace: Laplace, quadrature: Quadrature | None
) -> LogisticFit:
    k = model.parameters
    curvature = differentiate(criterion, found.theta, found.gradient)  # type: ignore[arg-type]
    decrease, converged = certify(found.theta, found.gradient, curvature)
    if not converged and decrease < CERTAIN:
        found = replace(found, reason="it has no certain minimum: some variance can't be separated from another effect")
    free = np.concatenate([found.theta[:k] != 0, np.ones(len(found.theta) - k, bool)])
    values, vectors = np.linalg.eigh(curvature[np.ix_(free, free)])
    inverse = (vectors / np.maximum(values, 1e-10 * values.max(initial=1e-300))) @ vectors.T
    theta = _rectify(model, found.theta[:k])
    turned = np.concatenate([np.where(theta * found.theta[:k] < 0, -1.0, 1.0), np.ones(len(found.theta) - k)])
    joint = np.zeros_like(curvature)
    joint[np.ix_(free, free)] = 2 * inverse
    joint *= np.outer(turned, turned)
    return LogisticFit(
        method="quadrature" if quadrature else "laplace" if model.terms else "ml",
        theta=theta,
        beta=found.theta[k:],
        joint=joint,
        optimum=found,
        curvature=curvature,
        decrease=decrease,
        converged=converged,
        evaluations=laplace.evaluations + (quadrature.evaluations if quadrature else 0),
        nodes=quadrature.nodes[0] if quadrature else 0,
        criterion=criterion,
    )


def _rectify(model: Model, theta: Floats) -> Floats:
    """Return the mirror image of theta with no negative standard deviation."""
    signs = np.ones(len(theta))
    for term in model.terms:
        for _, column, parameter in term.places:
            if (column, column, parameter) in term.places and theta[parameter] < 0:
                signs[[p for _, j, p in term.places if j == column]] = -1
    return signs * theta
