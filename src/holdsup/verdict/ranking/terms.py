"""The terms of the fit: fixed effects, shares of the variance, systems on datasets, and a prediction term by term."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns.values import parse_number
from holdsup.design.groups import RandomBlock
from holdsup.design.matrices import code_fitted_rows, code_rows
from holdsup.errors import ScoresError, list_names
from holdsup.fit import LmmFit, random_effects
from holdsup.fit.likelihood import Reduction, embed_terms, reduce_terms
from holdsup.fit.prediction import covariances, find_hosts, term_variance
from holdsup.fit.result import Model
from holdsup.numerics.distributions import chi2_tail, t_quantile
from holdsup.numerics.mixed import predict_effects
from holdsup.numerics.variance_tests import find_null, simulate_null
from holdsup.verdict.ranking.fits import RankFits
from holdsup.verdict.ranking.records import InteractionEffect, NuisanceEffect, PredictionPart, TermVariance, copy_test

Floats = NDArray[np.float64]
DRAWS = 10_000  # of the statistic under its null
NIL = 1e-4  # share of the residual sd below which the sd of a term is zero, as a fit is called singular
Ints = NDArray[np.int64]
NOISE = 1e-8  # of the range of scores: what is smaller is left by an optimizer at a variance of zero


def share_variance(fit: LmmFit, *, seed: int) -> tuple[TermVariance, ...]:
    """Return every random term of a fit with its share and its test, the residual last.

    The p is the larger of a simulated null's and the mixture of chi-squares': the first takes the other variances for
    known, and finds too much where few levels say little of them. Terms of very many levels have the mixture alone.
    """
    tests = {(found.test.group, found.test.term): found for found in reduce_terms(fit)}
    exact = list(_exact_variances(fit))
    total, total_exact = sum(c.variance for c in fit.random), sum(exact)
    rows = []
    for i, (component, weighed) in enumerate(zip(fit.random, exact, strict=True)):
        there = weighed >= (NIL * fit.sigma) ** 2
        test = _test_term(tests.get((component.group, component.term)), fit, seed + i)
        if not there and test["p"] is not None:  # the criterion rises by rounding alone
            test |= {"p": 1.0, "p_at_most": False}
        rows.append(
            TermVariance(
                group=component.group,
                term=component.term,
                levels=fit.levels.get(component.group, fit.n),
                variance=there * component.variance,
                sd=there * component.sd,
                percent=there * 100 * component.variance / total,
                percent_exact=there * 100 * weighed / total_exact,
                **test,
            )
        )
    return tuple(rows)


def _test_term(found: Reduction | None, fit: LmmFit, seed: int) -> dict[str, Any]:
    """Return the test of a term; there is none of the residual, nor of an intercept that its slopes need."""
    if found is None:
        return dict.fromkeys(("lrt", "df", "p", "method", "p_ranova", "log10_p_ranova"))
    test = found.test.test
    plain = chi2_tail(test.statistic, test.df)
    p, method, least = test.p, "chi-square mixture", 1 / (DRAWS + 1)
    drawn = simulate_term(fit, found, seed) if test.df == 1 else None
    if drawn is not None:
        p, method = max(p, least * (1 + int((drawn >= test.statistic).sum()))), "simulated null and mixture"
    return {
        "lrt": test.statistic, "df": test.df, "p": p, "method": method, "p_ranova": plain.p,
        "log10_p_ranova": plain.log10_p, "p_at_most": drawn is not None and p == least,
    }  # fmt: skip


def _exact_variances(fit: LmmFit) -> Iterator[float]:
    """Yield what each term adds to the variance of a row: slopes weighed by the mean square of their regressors."""
    coded = code_fitted_rows(fit.model().design)
    for columns, sigma in zip(coded.columns, covariances(fit), strict=True):
        for i in range(columns.shape[1]):
            yield term_variance(columns[:, [i]], sigma[np.ix_([i], [i])])
    yield fit.sigma**2


def simulate_term(fit: LmmFit, found: Reduction, seed: int) -> Floats | None:
    """Return draws of the statistic where the term's variance is zero and the others are as in the fit without it.

    None where the term has too many levels, or the fit without it has columns of its own.
    """
    large, small = fit.model(), found.fit.model()
    parameters = embed_terms(small.design.random, large.design.random)
    if parameters is None:
        return None
    theta = np.zeros(len(large.engine.moments.lower))
    theta[parameters] = small.engine.optimum.theta
    (parameter,) = np.setdiff1d(np.arange(len(theta)), parameters)
    spectrum = find_null(large.engine.moments, theta, int(parameter))
    if spectrum is None:
        return None
    return simulate_null(spectrum, fit.n - large.engine.moments.p, draws=DRAWS, seed=seed)


def find_effects(fits: RankFits) -> tuple[NuisanceEffect, ...]:
    """Return the intercept and the fixed effects, by the fit in which systems are random."""
    model = fits.variances.model()
    rows = []
    for effect, kept in zip(fits.variances.fixed, model.engine.kept, strict=True):
        factor, level, reference = _origin(fits, model, int(kept))
        taken_log = factor is not None and factor in fits.form.logs.values()
        rows.append(
            NuisanceEffect(
                name=_name(effect.name, factor, level, taken_log=taken_log),
                factor=factor,
                level=level,
                reference=reference,
                **copy_test(effect),
            )
        )
    return tuple(rows)


def _name(effect: str, factor: str | None, level: str | None, *, taken_log: bool) -> str:
    if level is not None:
        return f"{factor} {level}"
    return f"log10 {factor}" if taken_log else factor or effect


def _origin(fits: RankFits, model: Model, column: int) -> tuple[str | None, str | None, str | None]:
    """Return the factor, level and reference of a fixed column; of a product of several, its name alone."""
    spec = model.design.fixed[column]
    if len(spec.levels) + len(spec.numbers) != 1:
        return None, None, None
    for factor, coded in model.design.variables.coded.items():
        if spec.levels and coded.factor == spec.levels[0][0]:
            return factor.variable, coded.levels[spec.levels[0][1]], coded.levels[0]
        if spec.numbers and any(index == spec.numbers[0] for _, index in coded.numbers):
            indicator = fits.form.indicators.get(factor.variable)
            if indicator is None:
                return fits.form.logs.get(factor.variable, factor.variable), None, None
            return indicator.factor, indicator.level, fits.runs.factors[indicator.factor].names[-1]
    return None, None, None


def find_interactions(fits: RankFits, *, level: float) -> tuple[InteractionEffect, ...]:
    """Return the predicted effect of every system on every dataset; () where the form has no such term.

    In the default form it is averaged over the levels of fixed nuisance factors, whose effects by system and dataset
    are part of it: settings are as given. Seeds are not: others would be drawn. In other forms it is the effect of
    system and dataset alone, as in the paper.

    Limits are for an effect given the rows, its variances taken as known. Where a system has no row on a dataset its
    effect is zero, and may lie anywhere that the variances allow.
    """
    runs = fits.runs
    design = fits.variances.model().design
    parts = [(block, weight) for block in design.random if (weight := _weight(fits, block))]
    if not parts:
        return ()
    effect, spread = _predict(fits, parts)
    nil = NOISE * np.ptp(runs.score)
    effect, spread = (np.where(np.abs(values) < nil, 0.0, values) for values in (effect, spread))
    reach = t_quantile((1 + level) / 2, float("inf"))
    counts = runs.cells()
    return tuple(
        InteractionEffect(
            system=system,
            dataset=dataset,
            effect=float(effect[s, d]),
            sd=float(spread[s, d]),
            low=float(effect[s, d] - reach * spread[s, d]),
            high=float(effect[s, d] + reach * spread[s, d]),
            scores=int(counts[s, d]),
        )
        for s, system in enumerate(runs.system.names)
        for d, dataset in enumerate(runs.dataset.names)
    )


def _weight(fits: RankFits, block: RandomBlock) -> float:
    """Return how much of each level of a random term enters the effect of its system and dataset, 0 for none."""
    runs, variables = fits.runs, set(block.group.variables)
    cell = {runs.system_name, runs.dataset_name}
    if not cell <= variables or [column.name for column in block.columns] != ["(Intercept)"]:
        return 0.0
    if variables == cell:
        return 1.0
    settings = {t.name for t in fits.form.treatments if t.treated == "fixed"}
    extra = variables - cell
    if not fits.form.averages or not extra <= settings:
        return 0.0
    return 1.0 / float(np.prod([runs.factors[name].count for name in extra]))


def _predict(fits: RankFits, parts: list[tuple[RandomBlock, float]]) -> tuple[Floats, Floats]:
    """Return the effects and their standard deviations given the rows, shape (systems, datasets).

    The engine has the effects of a cell side by side, as columns of one level of some factor, and knows their joint
    covariance. Were they in several factors, they would be taken as independent, which makes limits too wide.
    """
    runs, model = fits.runs, fits.variances.model()
    predicted = predict_effects(model.engine)
    count = runs.system.count * runs.dataset.count
    effect, variance, empty = np.zeros(count), np.zeros(count), 0.0
    chosen = [np.zeros((count, values.shape[1])) for values in predicted.values]
    at = [np.zeros(count, np.int64) for _ in predicted.values]
    for block, weight in parts:
        cells = _cells(fits, block)
        empty += weight * model.engine_sigma**2 * float(block.factor(model.engine.optimum.theta)[0, 0]) ** 2
        for levels, number, host, (column,) in find_hosts(model.design, block):
            chosen[number][cells[levels], column] += weight
            at[number][cells[levels]] = host
    for values, covariance, weights, level in zip(predicted.values, predicted.covariances, chosen, at, strict=True):
        effect += (weights * values[level]).sum(axis=1)
        variance += np.einsum("ci,cij,cj->c", weights, covariance[level], weights)
    shape = (runs.system.count, runs.dataset.count)
    spread = np.sqrt(np.maximum(variance, 0.0)).reshape(shape)
    return effect.reshape(shape), np.where(runs.cells() > 0, spread, np.sqrt(empty))


def _cells(fits: RankFits, block: RandomBlock) -> Ints:
    """Return the cell, system by dataset, of each level of a term."""
    runs, shown = fits.runs, block.group.shown
    return np.asarray(runs.system.codes[shown].astype(np.int64) * runs.dataset.count + runs.dataset.codes[shown])


def predict_configuration(fits: RankFits, configuration: Mapping[str, str]) -> tuple[PredictionPart, ...]:
    """Return what each term adds to the score of a configuration, by the fit in which systems are random.

    A system, dataset or level that the fit has not seen counts as an average one.
    """
    row = _row(fits, configuration)
    model = fits.variances.model()
    coded = code_rows(model.design, row)
    parts: list[PredictionPart] = []
    for effect, value in zip(find_effects(fits), coded.fixed[0, model.engine.kept], strict=True):
        if value != 0:
            adds = float(value) * effect.estimate
            parts.append(PredictionPart(term=effect.name, kind="fixed", value=adds, known=True))
    for columns, levels, effects in zip(coded.columns, coded.levels, random_effects(fits.variances), strict=True):
        level = int(levels[0])
        for i, term in enumerate(effects.terms):
            weight = float(columns[0, i])
            if weight == 0:
                continue
            value = float(effects.values[level, i]) * weight if level >= 0 else 0.0
            shown = ", ".join(_shown(row, effects.variables))
            name = shown if term == "(Intercept)" else f"{term} of {shown}"
            parts.append(PredictionPart(term=name, kind="random", value=value, known=level >= 0))
    return tuple(parts)


def _shown(row: pa.Table, variables: tuple[str, ...]) -> Iterator[str]:
    for name in variables:
        yield f"{name} {row[name][0].as_py()}"


def _row(fits: RankFits, configuration: Mapping[str, str]) -> pa.Table:
    """Return the configuration as a table of one row, with the columns that the fit needs."""
    form = fits.form
    given = _given(fits, configuration)
    columns: dict[str, pa.Array] = {}
    for name, value in given.items():
        number = parse_number(value) if name in form.numeric else None
        if name in form.numeric and number is None:
            raise ScoresError(f"--predict {name}={value}: {name!r} is a number in this form")
        columns[name] = pa.array([value]).dictionary_encode() if number is None else pa.array([number])
    for name, factor in form.logs.items():
        amount = parse_number(given[factor])
        if amount is None or amount <= 0:
            raise ScoresError(f"--predict {factor}={given[factor]}: {factor!r} is a positive number in this form")
        columns[name] = pa.array([math.log10(amount)])
    for name, indicator in form.indicators.items():
        value, levels = given[indicator.factor], fits.runs.factors[indicator.factor].names
        if value not in levels:
            raise ScoresError(f"--predict {indicator.factor}={value}: the fit knows {list_names(levels)} only")
        columns[name] = pa.array([float(value == indicator.level)])
    return pa.table(columns)


def _given(fits: RankFits, configuration: Mapping[str, str]) -> dict[str, str]:
    """Return a value for every column of the form; 1e-5 is the level that the table calls 1e-05."""
    runs = fits.runs
    roles = {"system": runs.system_name, "dataset": runs.dataset_name}
    used = [t.name for t in fits.form.treatments if t.treated != "left out"]
    needed = (runs.system_name, runs.dataset_name, *used)
    named = [name if name in needed else roles.get(name, name) for name in configuration]
    if twice := [name for name in named if named.count(name) > 1]:
        raise ScoresError(f"--predict: there are two values of {twice[0]!r}: give one")
    given = dict(zip(named, configuration.values(), strict=True))
    unknown = [name for name in given if name not in (*needed, *runs.factors)]
    lacking = [name for name in needed if name not in given]
    if unknown or lacking:
        what = f"{list_names(unknown)} is no part of it" if unknown else f"there is no value of {list_names(lacking)}"
        raise ScoresError(f"--predict: {what}; give a value for each of {list_names(needed)}")
    return {name: _level(runs.factors[name].names, given[name]) if name in used else given[name] for name in needed}


def _level(levels: Sequence[str], value: str) -> str:
    """Return the level that a value is, by its text or as a number; the value itself if it is none."""
    number = parse_number(value)
    if value in levels or number is None:
        return value
    return next((level for level in levels if parse_number(level) == number), value)
