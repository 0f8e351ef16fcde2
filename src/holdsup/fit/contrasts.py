"""Combinations of fixed effects: contrasts, joint tests, marginal means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from holdsup.errors import FitError, list_names
from holdsup.fit.records import Contrast
from holdsup.fit.result import LmmFit, Model
from holdsup.numerics.distributions import f_tail
from holdsup.numerics.layout import Floats


@dataclass(frozen=True, slots=True)
class JointTest:
    """Several combinations of fixed effects tested at once."""

    statistic: float  # F
    df1: int  # numerator degrees of freedom, the rank of the combinations
    df2: float  # denominator degrees of freedom (Fai & Cornelius 1996)
    p: float  # p-value
    log10_p: float  # its decimal logarithm


def contrast(fit: LmmFit, weights: Mapping[str, float] | Sequence[float], *, name: str = "contrast") -> Contrast:
    """Return a combination of fixed effects: a weight for each name, or one for each effect in order.

    Examples
    --------
    >>> from holdsup import fit_lmm, simulate_scores
    >>> fit = fit_lmm("score ~ system + (1 | item)", simulate_scores({"A": 0.5, "B": 0.6, "C": 0.6}))
    >>> contrast(fit, {"systemB": 1, "systemC": -1}, name="B - C").name
    'B - C'
    """
    return fit.model().combine(effect_weights(fit, weights), name, fit.level)


def joint_test(fit: LmmFit, names: Sequence[str] | None = None, *, matrix: Floats | None = None) -> JointTest:
    """Return the F-test that fixed effects (or combinations, rows of `matrix`) are all zero.

    The denominator degrees of freedom are Fai and Cornelius's: the combinations are rotated so that
    they are independent, each has Satterthwaite's df, and F is matched to the mean of their squares.
    """
    model = fit.model()
    if matrix is not None and names is not None:
        raise FitError("give the names of effects or a matrix of combinations, not both")
    if matrix is None:
        wanted = list(names) if names is not None else [e.name for e in fit.fixed if e.name != "(Intercept)"]
        if not wanted:
            raise FitError("there is no fixed effect to test besides the intercept")
        matrix = np.stack([effect_weights(fit, {name: 1.0}) for name in wanted])
    L = np.stack([effect_weights(fit, row) for row in np.atleast_2d(np.asarray(matrix, dtype=float))])
    values, vectors = np.linalg.eigh(L @ model.covariance @ L.T)
    rank = int((values > values.max(initial=0.0) * 1e-10).sum())
    if rank == 0:
        raise FitError("these combinations of fixed effects have no variance: there is nothing to test")
    order = np.argsort(-values)[:rank]
    rows = vectors[:, order].T @ L
    squares = (rows @ model.beta) ** 2 / values[order]
    statistic = float(squares.sum()) / rank
    df2 = _denominator([model.degrees(row) for row in rows])
    tail = f_tail(statistic, rank, df2)
    return JointTest(statistic, rank, df2, tail.p, tail.log10_p)


def _denominator(degrees: list[float]) -> float:
    """Return the df of F from those of its independent parts (lmerTest, JSS 82(13), eq. 12)."""
    if math.isinf(min(degrees)):
        return math.inf
    if len(degrees) == 1 or max(degrees) - min(degrees) < 1e-8 * max(degrees):
        return float(np.mean(degrees))
    if min(degrees) <= 2:
        return 2.0
    expected = sum(1.0 if math.isinf(df) else df / (df - 2) for df in degrees)
    return 2 * expected / (expected - len(degrees))


def effect_weights(fit: LmmFit, weights: Mapping[str, float] | Sequence[float]) -> Floats:
    """Return a vector of weights for the fixed effects, from names or from a sequence."""
    names = [effect.name for effect in fit.fixed]
    if not isinstance(weights, Mapping):
        vector = np.asarray(weights, dtype=float)
        if vector.shape != (len(names),):
            raise FitError(
                f"weights of shape {vector.shape} were given for {len(names)} fixed effects: {list_names(names)}"
            )
        return _checked(vector)
    twice = [name for name in weights if names.count(name) > 1]
    if twice:
        raise FitError(
            f"several fixed effects are called {list_names(twice)}: give one weight for each effect in order"
        )
    unknown = [name for name in weights if name not in names]
    if unknown:
        raise FitError(f"no fixed effect is called {list_names(unknown)}; there are {list_names(names)}")
    return _checked(np.array([float(weights.get(name, 0.0)) for name in names]))


def _checked(weights: Floats) -> Floats:
    if not np.isfinite(weights).all() or not weights.any():
        raise FitError("the weights of a combination must be finite, and not all zero")
    return weights


def marginal_means(fit: LmmFit, factor: str) -> tuple[Contrast, ...]:
    """Return the mean response at each level of a factor.

    Other factors are averaged over their levels with equal weight; numbers are held at their mean, a
    function of a number at the mean of the function. It is what the model predicts for a new group, not
    the mean of the rows. A mean that the rows cannot tell (a combination of levels that never occurs)
    is NaN.
    """
    means = []
    for label, weights in marginal_weights(fit, factor).items():
        name = f"{factor} {label}"
        unknown = Contrast(name, *[math.nan] * 8)
        means.append(unknown if weights is None else fit.model().combine(weights, name, fit.level))
    return tuple(means)


def marginal_weights(fit: LmmFit, factor: str, *, held: Mapping[str, float] | None = None) -> dict[str, Floats | None]:
    """Return for each level of a factor the combination of fixed effects that is its marginal mean.

    `held` gives columns of numbers another value than their mean. None stands for a mean that the rows cannot tell.
    """
    model = fit.model()
    design = model.design
    coded = {f: c for f, c in design.variables.coded.items() if f.variable == factor and c.factor is not None}
    used = {index for column in design.fixed for index, _ in column.levels}
    target = next((c for c in coded.values() if c.factor in used), None)
    if target is None or target.factor is None:
        known = {f.variable for f, c in design.variables.coded.items() if c.factor is not None}
        raise FitError(f"the fixed effects have no factor {factor!r}; they have {list_names(sorted(known))}")
    found: dict[str, Floats | None] = {}
    for code, label in enumerate(target.levels):
        row = average_row(fit, at={target.factor: code}, held=held)
        found[label] = row[model.engine.kept] if _is_estimable(model, row) else None
    return found


def average_row(fit: LmmFit, *, at: Mapping[int, int] | None = None, held: Mapping[str, float] | None = None) -> Floats:
    """Return the fixed columns of an average row: levels equally weighted, numbers at their mean.

    `at` puts factors, by their index, at one of their levels; `held` gives columns of numbers another value.
    """
    design = fit.model().design
    centre = [summary.mean for summary in design.variables.summaries]
    for factor, coded in design.variables.coded.items():
        if held and not factor.function and factor.variable in held:
            for _, index in coded.numbers:
                centre[index] = held[factor.variable]
    share = [1 / labels.count for labels in design.variables.factors]
    row = np.ones(len(design.fixed))
    for j, column in enumerate(design.fixed):
        for number in column.numbers:
            row[j] *= centre[number]
        for index, wanted in column.levels:
            row[j] *= float(wanted == at[index]) if at and index in at else share[index]
    return row


def _is_estimable(model: Model, row: Floats) -> bool:
    """Return whether a combination of all fixed columns, dropped ones included, is one that the rows can tell."""
    kept = model.engine.kept
    dropped = np.setdiff1d(np.arange(len(row)), kept)
    if not len(dropped):
        return True
    X = model.design.columns()
    through = np.linalg.lstsq(X[:, kept], X[:, dropped], rcond=None)[0]
    return bool(np.allclose(row[kept] @ through, row[dropped], rtol=1e-6, atol=1e-8))
