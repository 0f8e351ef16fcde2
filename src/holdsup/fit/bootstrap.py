"""The parametric bootstrap: responses drawn from a fit, and the tests and intervals that fits of these give.

Responses are drawn as cross-products (`numerics.drawing`), so that a draw costs the same whatever the number of
rows. Where the smaller of two fits cannot be written within the larger one, rows are drawn instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from holdsup.arguments import check_level
from holdsup.errors import FitError, NotNested, Separation, list_names
from holdsup.fit.contrasts import effect_weights
from holdsup.fit.fitting import fit_by
from holdsup.fit.glmm_result import GlmmFit
from holdsup.fit.likelihood import LikelihoodRatioTest, embed, likelihood_ratio_test
from holdsup.fit.prediction import covariance, covariances, refit, simulate
from holdsup.fit.result import LmmFit, Model
from holdsup.fit.words import say_method
from holdsup.numerics.drawing import Truth
from holdsup.numerics.layout import Floats
from holdsup.numerics.refits import Refits
from holdsup.numerics.restriction import Restriction
from holdsup.numerics.simulation import Competitor, Simulation, simulate_fits
from holdsup.progress import Progress, no_progress
from holdsup.rendering import Estimate, Interval, PValue, Table
from holdsup.rendering.numbers import format_count
from holdsup.rendering.text import render_text

LEAST_START = 0.05  # relative standard deviation from which the search for an additional variance starts
ROUNDING = 1e-6  # by how much the larger model's criterion may exceed the smaller one's
RESIDUAL = ("Residual", "")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BootstrapTest:
    """A likelihood-ratio test whose reference is simulated from the smaller fit."""

    analytic: LikelihoodRatioTest  # the same test with its chi-square reference
    statistic: float  # difference of the criteria
    p: float  # (1 + draws that reach the statistic, failed ones among them) / (draws + 1)
    draws: int  # responses drawn
    failed: int  # draws for which a fit did not converge; they count as if they reached the statistic
    rows_drawn: bool  # whether rows were drawn, not cross-products
    seed: int  # of the random numbers
    statistics: Floats  # the difference of the criteria in each draw, NaN where it failed

    def table(self) -> Table:
        """Return the cells that all renderings show."""
        test = self.analytic
        columns = ("null", "alternative", "statistic", "df", "bootstrap p", "chi-square p", "draws", "failed")
        row = (
            test.null, test.alternative, self.statistic, test.df, PValue(self.p),
            PValue(test.p), format_count(self.draws), format_count(self.failed),
        )  # fmt: skip
        return Table(title=f"Bootstrap likelihood-ratio test ({say_method(test.method)})", columns=columns, rows=(row,))

    def __str__(self) -> str:
        return render_text(self.table())


def bootstrap_test(
    small: LmmFit,
    large: LmmFit,
    draws: int = 1000,
    *,
    seed: int = 0,
    processes: int | None = None,
    progress: Progress = no_progress,
) -> BootstrapTest:
    """Return the likelihood-ratio test of `small` against `large`, with a reference simulated from `small`.

    It needs no chi-square and no mixture of them: it holds for fixed effects with few levels, and for
    variances, whose null lies on the boundary. 1,000 draws cannot give a p below .001.

    Parameters
    ----------
    draws : how many responses to draw
    seed : of the random numbers; the result does not depend on `processes`
    processes : how many processes share the work; by default one, or all cores if it is dear

    Raises
    ------
    NotNested : the fits differ in their rows or response, or the larger does not contain the smaller

    Notes
    -----
    A script that asks for `processes` must stand under ``if __name__ == "__main__":``, as for multiprocessing.
    """
    check_draws(draws, seed, processes)
    analytic = likelihood_ratio_test(small, large)
    if not analytic.df:
        raise NotNested(f"{small.formula!r} and {large.formula!r} have the same parameters: there is nothing to test")
    within = None
    if not isinstance(large, GlmmFit):
        small, large = fit_by(small, analytic.method), fit_by(large, analytic.method)
        within = embed(small.model(), large.model())
    if within is None:
        statistics = _by_rows(small, large, draws, seed, progress)
    else:
        simulation = _simulation(small.model(), large.model(), within, analytic.method, draws, seed)
        statistics = _by_moments(simulation, processes, progress)
    failed = int(np.isnan(statistics).sum())
    reached = int((statistics >= analytic.statistic).sum()) + failed
    return BootstrapTest(
        analytic=analytic,
        statistic=analytic.statistic,
        p=(1 + reached) / (draws + 1),
        draws=draws,
        failed=failed,
        rows_drawn=within is None,
        seed=seed,
        statistics=statistics,
    )


def check_draws(draws: int, seed: int, processes: int | None) -> None:
    """Raise unless these are numbers that a bootstrap can work with."""
    if not _is_whole(draws, 1):
        raise FitError(f"{draws!r} draws were asked for: give a whole number, at least 1 (1000 is usual)")
    if not _is_whole(seed, 0):
        raise FitError(f"the seed is {seed!r}: give a whole number, at least 0")
    if processes is not None and not _is_whole(processes, 1):
        raise FitError(f"{processes!r} processes were asked for: give a whole number, at least 1")


def _is_whole(number: object, least: int) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool) and int(number) >= least


def truth_of(model: Model, within: Restriction, parameters: int) -> Truth:
    """Return the estimates of a fit as parameters of the model that it lies within."""
    theta = np.zeros(parameters)
    theta[within.parameters] = model.engine.optimum.theta
    return Truth(theta, within.fixed @ model.engine.solution.beta, model.engine_sigma)


def _simulation(small: Model, large: Model, within: Restriction, method: str, draws: int, seed: int) -> Simulation:
    moments, reml = large.engine.moments, method == "reml"
    truth = truth_of(small, within, len(moments.lower))
    # At zero every variance is stationary: one that only the larger fit has starts off it.
    start = np.where(moments.lower == 0, np.maximum(large.engine.optimum.theta, LEAST_START), 0.0)
    start[within.parameters] = truth.theta[within.parameters]
    null = Competitor(within, reml, small.engine.optimum.theta)
    alternative = Competitor(Restriction.none(moments), reml, start, inner=0)
    return Simulation(moments, truth, (null, alternative), draws, seed)


def _by_moments(simulation: Simulation, processes: int | None, progress: Progress) -> Floats:
    """Return the statistic of each draw, from drawn cross-products; NaN where a fit failed."""
    null, alternative = simulate_fits(simulation, processes=processes, progress=progress)
    statistics = null.values - alternative.values
    sound = null.converged & alternative.converged & (statistics > -ROUNDING)
    return np.where(sound, np.maximum(statistics, 0.0), np.nan)


def _by_rows(small: LmmFit, large: LmmFit, draws: int, seed: int, progress: Progress) -> Floats:
    """Return the statistic of each draw, from drawn rows."""
    statistics = np.full(draws, np.nan)
    for d in range(draws):
        progress(d, draws, "bootstrap fits, row by row")
        state = np.random.SeedSequence(seed, spawn_key=(d,)).generate_state(1)
        (response,) = simulate(small, seed=int(state[0]))
        try:
            null, alternative = refit(small, response), refit(large, response)
        except Separation:
            continue
        difference = null.criterion - alternative.criterion
        if null.converged and alternative.converged and difference > -ROUNDING:
            statistics[d] = max(0.0, difference)
    progress(draws, draws, "bootstrap fits, row by row")
    return statistics


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """An estimate with a CI from refits of drawn responses."""

    name: str  # what is estimated
    estimate: float  # by the fit
    se: float  # standard deviation of the refits
    low: float  # lower end of the CI
    high: float  # its upper end


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BootstrapFits:
    """A model fitted to responses drawn from its own fit."""

    fit: LmmFit  # the fit that responses were drawn from
    draws: int  # how many were drawn
    failed: int  # how many of them had no certain optimum; these are in no limit below
    seed: int  # of the random numbers
    level: float  # coverage of the CIs
    covariances: tuple[Floats, ...]  # of each random term, shape (d, k, k), d the draws that did not fail
    sigma2: Floats  # residual variance, shape (d,)
    effects: Floats  # fixed effects, shape (d, p)
    errors: Floats  # their covariances, shape (d, p, p)

    def variances(self) -> dict[tuple[str, str], Floats]:
        """Return the variance of each group and term in each draw, the residual's last."""
        found = {
            (block.group.label, column.name): drawn[:, i, i]
            for block, drawn in zip(self.fit.model().design.random, self.covariances, strict=True)
            for i, column in enumerate(block.columns)
        }
        return {**found, RESIDUAL: self.sigma2}

    def components(self) -> tuple[BootstrapInterval, ...]:
        """Return percentile CIs of every standard deviation, the residual's last."""
        drawn = self.variances()
        return tuple(
            self._percentiles(f"sd {c.group} {c.term}".strip(), c.sd, np.sqrt(drawn[c.group, c.term]))
            for c in self.fit.random
        )

    def correlations(self) -> tuple[BootstrapInterval, ...]:
        """Return percentile CIs of every correlation; draws in which it is not defined count as zero."""
        return tuple(self._percentiles(*part) for part in self._correlations())

    def _correlations(self) -> Iterator[tuple[str, float, Floats]]:
        estimates = {(c.group, c.term): c.corr for c in self.fit.random}
        for block, drawn in zip(self.fit.model().design.random, self.covariances, strict=True):
            names = [column.name for column in block.columns]
            for i, j in zip(*np.tril_indices(len(names), -1), strict=True) if block.correlated else ():
                size = np.sqrt(drawn[:, i, i] * drawn[:, j, j])
                values = np.where(size > 0, drawn[:, i, j] / np.where(size > 0, size, 1.0), 0.0)
                estimate = estimates[block.group.label, names[i]][names[j]]
                yield f"corr {block.group.label} {names[j]}, {names[i]}", estimate, values

    def share(self, *groups: str, of: Sequence[str] | None = None) -> BootstrapInterval:
        """Return percentile CIs of the share of some groups in the variance of others, by default of all.

        ``share("item")`` of a fit with random intercepts is the reliability coefficient phi.
        """
        drawn = self.variances()
        everything = list(dict.fromkeys(group for group, _ in drawn))
        below = list(of) if of is not None else everything
        for group in (*groups, *below):
            if group not in everything:
                raise FitError(f"the fit has no group {group!r}; it has {list_names(everything)}")
        estimates = {(c.group, c.term): np.array([c.variance]) for c in self.fit.random}

        def ratio(variances: Mapping[tuple[str, str], Floats]) -> Floats:
            part = sum(v for (group, _), v in variances.items() if group in groups)
            return np.asarray(part / sum(v for (group, _), v in variances.items() if group in below))

        name = f"share of {', '.join(groups)}" + (f" in {', '.join(below)}" if of is not None else "")
        return self._percentiles(name, float(ratio(estimates)[0]), ratio(drawn))

    def contrast(self, weights: Mapping[str, float] | Sequence[float], *, name: str = "contrast") -> BootstrapInterval:
        """Return the bootstrap-t CI of a combination of fixed effects: each draw by its own standard error."""
        w = effect_weights(self.fit, weights)
        model = self.fit.model()
        estimate, se = float(w @ model.beta), float(np.sqrt(w @ model.covariance @ w))
        drawn = self.effects @ w
        t = (drawn - estimate) / np.sqrt(np.einsum("i,dij,j->d", w, self.errors, w))
        low, high = np.quantile(t, [(1 - self.level) / 2, (1 + self.level) / 2])
        return BootstrapInterval(name, estimate, float(drawn.std(ddof=1)), estimate - high * se, estimate - low * se)

    def _percentiles(self, name: str, estimate: float, drawn: Floats) -> BootstrapInterval:
        low, high = np.quantile(drawn, [(1 - self.level) / 2, (1 + self.level) / 2])
        return BootstrapInterval(name, estimate, float(drawn.std(ddof=1)), float(low), float(high))

    def table(self) -> Table:
        """Return the cells that all renderings show."""
        fixed = [self.contrast({e.name: 1.0}, name=e.name) for e in self.fit.fixed]
        drawn = [e for e in fixed if e.name != "(Intercept)"]  # what is on one scale, zero being in question
        percent = f"{100 * self.level:g}%"
        failed = f"; {self.failed:,} had no certain optimum and are left out" if self.failed else ", none failed"
        return Table(
            title=f"Bootstrap of {self.fit.formula} ({say_method(self.fit.method)})",
            columns=("", "estimate", "se", f"{percent} CI"),
            rows=tuple(
                (
                    r.name,
                    Estimate(r.estimate, r.se),
                    Estimate(r.se, r.se),
                    Interval(r.low, r.high, r.estimate, drawn=r in drawn),
                )
                for r in (*fixed, *self.components(), *self.correlations())
            ),
            notes=(
                f"{self.draws:,} draws{failed}; seed {self.seed}.",
                "Fixed effects: bootstrap-t; standard deviations and correlations: percentiles.",
            ),
        )

    def __str__(self) -> str:
        return render_text(self.table())


def bootstrap_fit(
    fit: LmmFit,
    draws: int = 1000,
    *,
    seed: int = 0,
    level: float | None = None,
    processes: int | None = None,
    progress: Progress = no_progress,
) -> BootstrapFits:
    """Return the model of a fit, fitted to responses drawn from it by the fit's own method.

    Parameters
    ----------
    draws : how many responses to draw
    seed : of the random numbers; the result does not depend on `processes`
    level : coverage of the CIs, by default the fit's
    processes : how many processes share the work; by default one, or all cores if it is dear
    """
    check_draws(draws, seed, processes)
    if draws < 2:
        raise FitError("1 draw was asked for, and CIs need at least 2 (1000 is usual)")
    if level is not None:
        check_level(level, FitError)
    if isinstance(fit, GlmmFit):
        return _refit_outcomes(fit, draws, seed, fit.level if level is None else level, progress)
    engine = fit.model().engine
    theta = engine.optimum.theta
    truth = Truth(theta, engine.solution.beta, fit.model().engine_sigma)
    alone = Competitor(Restriction.none(engine.moments), fit.method == "reml", theta, effects=True)
    simulation = Simulation(engine.moments, truth, (alone,), draws, seed)
    (refits,) = simulate_fits(simulation, processes=processes, progress=progress)
    return _collect(fit, refits, seed, fit.level if level is None else level)


def _collect(fit: LmmFit, refits: Refits, seed: int, level: float) -> BootstrapFits:
    """Return refits in the terms of the formula."""
    model, kept = fit.model(), np.flatnonzero(refits.converged)
    if len(kept) < 2:
        raise FitError(f"{len(refits.values) - len(kept):,} of {len(refits.values):,} draws had no certain optimum")
    theta, sigma2 = refits.theta[kept], refits.sigma2[kept]
    T = model.transform
    return BootstrapFits(
        fit=fit,
        draws=len(refits.values),
        failed=len(refits.values) - len(kept),
        seed=seed,
        level=level,
        covariances=tuple(
            np.stack([covariance(block, t, s) for t, s in zip(theta, np.sqrt(sigma2), strict=True)])
            for block in model.design.random
        ),
        sigma2=sigma2 * model.design.weight_unit,
        effects=refits.beta[kept] @ T.T + model.design.shift_of(model.engine.kept),
        errors=T @ refits.covariance[kept] @ T.T,
    )


def _refit_outcomes(fit: GlmmFit, draws: int, seed: int, level: float, progress: Progress) -> BootstrapFits:
    """Return a logistic model fitted to outcomes that were drawn row by row."""
    found: list[LmmFit] = []
    for d in range(draws):
        progress(d, draws, "bootstrap fits, row by row")
        state = np.random.SeedSequence(seed, spawn_key=(d,)).generate_state(1)
        try:
            drawn = refit(fit, simulate(fit, seed=int(state[0]))[0])
        except Separation:
            continue
        if drawn.converged:
            found.append(drawn)
    progress(draws, draws, "bootstrap fits, row by row")
    if len(found) < 2:
        raise FitError(f"{draws - len(found):,} of {draws:,} draws had no certain optimum")
    models = [each.model() for each in found]
    return BootstrapFits(
        fit=fit, draws=draws, failed=draws - len(found), seed=seed, level=level,
        covariances=tuple(map(np.stack, zip(*(covariances(each) for each in found), strict=True))),
        sigma2=np.full(len(found), fit.sigma**2),
        effects=np.stack([model.beta for model in models]),
        errors=np.stack([model.covariance for model in models]),
    )  # fmt: skip
