"""Profile-likelihood intervals of standard deviations, correlations and shares of variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holdsup.arguments import check_level
from holdsup.design.groups import RandomBlock
from holdsup.errors import FitError, list_names
from holdsup.fit.logistic_model import LogisticModel
from holdsup.fit.logistic_profile import LogisticProfile, fixed_quantity
from holdsup.fit.result import LmmFit, Model
from holdsup.numerics.layout import Floats
from holdsup.numerics.profiling import Profile, Quantity
from holdsup.numerics.threads import blas_threads, threads_for
from holdsup.progress import Progress, no_progress

SURE = 1 - 1e-6  # a correlation beyond this is one of -1 or 1
TINY = 1e-6  # a relative standard deviation below this is one of zero, with no direction of its own


@dataclass(frozen=True, slots=True)
class ProfileInterval:
    """The profile-likelihood interval of one standard deviation, correlation or share of variance."""

    group: str  # the grouping factor, "Residual" for the residual, "fixed" for a fixed effect
    term: str  # what varies, or the effect; for a correlation both terms
    parameter: str  # "sd", "correlation" or "share"; of a logistic fit also "effect"
    estimate: float  # its value at the optimum
    low: float  # lower end of the CI
    high: float  # its upper end


def profile_intervals(
    fit: LmmFit, *, level: float | None = None, progress: Progress = no_progress
) -> tuple[ProfileInterval, ...]:
    """Return profile intervals of all variance parameters, by the fit's own criterion (ML or REML).

    lme4's ``confint`` profiles the ML criterion whatever the fit: for its numbers, fit with method="ml".
    """
    _check(fit, level)
    model = fit.model()
    if isinstance(model, LogisticModel):
        return _profile_logistic(model, level or fit.level, progress)
    wanted = [q for block in model.design.random for q in _quantities(block, len(model.engine.optimum.theta))]
    wanted.append(("Residual", "", "sd", _sigma(math.sqrt(model.design.weight_unit))))
    found = []
    profile = _start(model, level or fit.level)
    for i, (group, term, parameter, quantity) in enumerate(wanted):
        progress(i, len(wanted), f"profile of {group} {term}")
        estimate = quantity.shown(quantity.value(profile.optimum))
        if parameter == "correlation" and not abs(estimate) < SURE:
            low, high = -1.0, 1.0  # a singular term: the profile of its correlation has corners, and tells nothing
        else:
            with blas_threads(threads_for(len(model.engine.moments.C))):
                low, high = profile.interval(quantity)
        found.append(ProfileInterval(group, term, parameter, estimate, low, high))
    return tuple(found)


def _profile_logistic(model: LogisticModel, level: float, progress: Progress) -> tuple[ProfileInterval, ...]:
    """Return the intervals of a logistic fit: its fixed effects have a likelihood that is no parabola, too."""
    wide = len(model.engine.fit.theta) + len(model.engine.fit.beta) - 1  # coordinates but the last
    wanted = [q for block in model.design.random for q in _quantities(block, wide, relative=False)]
    wanted += [("fixed", name, "effect", fixed_quantity(model, i)) for i, name in enumerate(model.names)]
    profile, found = LogisticProfile(model, level=level), []
    for i, (group, term, parameter, quantity) in enumerate(wanted):
        progress(i, len(wanted), f"profile of {group} {term}")
        estimate = quantity.value(profile.optimum)
        low, high = (
            (-1.0, 1.0) if parameter == "correlation" and not abs(estimate) < SURE else profile.interval(quantity)
        )
        found.append(ProfileInterval(group, term, parameter, estimate, low, high))
    return tuple(found)


def profile_share(
    fit: LmmFit, *groups: str, level: float | None = None, reaches: tuple[float, float] | None = None
) -> ProfileInterval:
    """Return the profile interval of the share of some groups in the total variance.

    ``profile_share(fit, "item")`` of a fit with random intercepts is the reliability coefficient phi. `reaches` are the
    roots of the rise of the criterion at the ends of the CI, by default those of the chi-square for `level`.
    """
    _check(fit, level)
    model = fit.model()
    if isinstance(model, LogisticModel):
        raise FitError(
            "shares of a logistic fit's variance have no profile: see intraclass_correlations, bootstrap_fit"
        )
    known = [block.group.label for block in model.design.random]
    for group in groups:
        if group not in known:
            raise FitError(f"the fit has no group {group!r}; it has {list_names(dict.fromkeys(known))}")
    profile = _start(model, level or fit.level)
    quantity = _root_odds(model.design.random, set(groups), len(model.engine.optimum.theta), model.design.weight_unit)
    with blas_threads(threads_for(len(model.engine.moments.C))):
        low, high = profile.interval(quantity, reaches)
    estimate = quantity.shown(quantity.value(profile.optimum))
    return ProfileInterval(", ".join(groups), "", "share", estimate, low, high)


def _start(model: Model, level: float) -> Profile:
    engine = model.engine
    optimum = np.append(engine.optimum.theta, math.log(model.engine_sigma))
    return Profile(engine.lean, optimum, engine.inference.curvature, level=level)


def _check(fit: LmmFit, level: float | None) -> None:
    if not fit.converged:
        raise FitError("a fit that did not converge has no profile: see its optimizer's reason")
    if level is not None:
        check_level(level, FitError)


def _quantities(block: RandomBlock, parameters: int, *, relative: bool = True) -> list[tuple[str, str, str, Quantity]]:
    names = [column.name for column in block.columns]
    rows = [_row(block, i, parameters) for i in range(len(names))]
    found = [
        (block.group.label, name, "sd", _sd(row, relative=relative)) for name, row in zip(names, rows, strict=True)
    ]
    if block.correlated:
        for i in range(len(names)):
            for j in range(i):
                pair = f"{names[j]} and {names[i]}"
                found.append((block.group.label, pair, "correlation", _correlation(rows[i], rows[j])))
    return found


def _row(block: RandomBlock, i: int, parameters: int) -> Floats:
    """Return the matrix G for which row i of the term's factor is G theta, shape (k, parameters)."""
    row = np.zeros((len(block.columns), parameters))
    for j, column, parameter in block.places:
        row[column, parameter] += block.transform[i, j]
    return row


def _squares(blocks: Sequence[RandomBlock], parameters: int) -> Floats:
    """Return the matrix Q for which theta'Q theta is the sum of the terms' variances, relative to sigma^2."""
    rows = [_row(block, i, parameters) for block in blocks for i in range(len(block.columns))]
    return sum((row.T @ row for row in rows), np.zeros((parameters, parameters)))


def _sigma(unit: float) -> Quantity:
    """Return the logarithm of the residual standard deviation, told as that itself."""

    def value(point: Floats) -> float:
        return float(point[-1])

    def slope(point: Floats) -> Floats:
        return np.append(np.zeros(len(point) - 1), 1.0)

    return Quantity(value, slope, -math.inf, math.inf, shown=lambda s: unit * math.exp(s))


def _sd(row: Floats, *, relative: bool) -> Quantity:
    """Return the standard deviation of a column; where `relative`, to e to the last coordinate."""
    held = (np.abs(row).sum(axis=1) > 0).astype(float)

    def value(point: Floats) -> float:
        return float(np.linalg.norm(row @ point[:-1]) * (math.exp(point[-1]) if relative else 1.0))

    def slope(point: Floats) -> Floats:
        vector = row @ point[:-1]
        length = float(np.linalg.norm(vector))
        direction = vector / length if length > TINY else held / math.sqrt(held.sum())
        return (
            np.append(direction @ row * math.exp(point[-1]), value(point))
            if relative
            else np.append(direction @ row, 0.0)
        )

    return Quantity(value, slope, 0.0, math.inf, nil=_conditions(row))


def _root_odds(blocks: Sequence[RandomBlock], groups: set[str], parameters: int, unit: float) -> Quantity:
    """Return the root of the odds of a share, variance inside to variance outside.

    Unlike the share itself it has a slope at zero, and it is all but linear in theta, which eases the search.
    """
    inside = _squares([block for block in blocks if block.group.label in groups], parameters)
    outside = _squares([block for block in blocks if block.group.label not in groups], parameters)

    def sizes(theta: Floats) -> tuple[float, float]:
        return math.sqrt(max(0.0, float(theta @ inside @ theta))), math.sqrt(float(theta @ outside @ theta) + unit)

    def value(point: Floats) -> float:
        inner, outer = sizes(point[:-1])
        return inner / outer

    def slope(point: Floats) -> Floats:
        theta = point[:-1]
        inner, outer = sizes(theta)
        direction = inside @ theta / inner if inner > 0 else np.sqrt(np.diag(inside))
        return np.append(direction / outer - inner * (outside @ theta) / outer**3, 0.0)

    return Quantity(value, slope, 0.0, math.inf, nil=_conditions(inside), shown=lambda odds: 1 - 1 / (1 + odds**2))


def _correlation(left: Floats, right: Floats) -> Quantity:
    def value(point: Floats) -> float:
        a, b = left @ point[:-1], right @ point[:-1]
        lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
        return float(a @ b / lengths) if lengths > 0 else math.nan

    def slope(point: Floats) -> Floats:
        a, b = left @ point[:-1], right @ point[:-1]
        la, lb, rho = float(np.linalg.norm(a)), float(np.linalg.norm(b)), value(point)
        gradient = (b / (la * lb) - rho * a / la**2) @ left + (a / (la * lb) - rho * b / lb**2) @ right
        return np.append(gradient, 0.0)

    # At -1 and 1 itself the gradient is nil, so that the profile could not be followed into them.
    return Quantity(value, slope, -SURE, SURE, shown=lambda rho: rho if abs(rho) < SURE else math.copysign(1.0, rho))


def _conditions(rows: Floats) -> Floats:
    """Return the rows without those that are nil, with a place for log sigma."""
    held = rows[np.abs(rows).sum(axis=1) > 0]
    return np.column_stack([held, np.zeros(len(held))])
