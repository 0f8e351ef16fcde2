"""Bootstrap intervals: of variances, correlations, shares of variance, fixed effects and their combinations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from holdsup.arguments import check_level
from holdsup.errors import FitError, list_names
from holdsup.fit.bootstrap import check_draws
from holdsup.fit.contrasts import effect_weights
from holdsup.fit.quality import covariance
from holdsup.fit.result import LmmFit
from holdsup.numerics.drawing import Truth
from holdsup.numerics.layout import Floats
from holdsup.numerics.refitting import Refits
from holdsup.numerics.restriction import Restriction
from holdsup.numerics.simulation import Competitor, Simulation, simulate_fits
from holdsup.progress import Progress, no_progress
from holdsup.rendering import Estimate, Interval, Table
from holdsup.rendering.text import render_text

__all__ = ["BootstrapFits", "BootstrapInterval", "bootstrap_fit"]

RESIDUAL = ("Residual", "")


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """An estimate with limits from refits of drawn responses.

    Attributes
    ----------
    name : what is estimated
    estimate : by the fit
    se : standard deviation of the refits
    low : lower limit
    high : upper limit
    """

    name: str
    estimate: float
    se: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BootstrapFits:
    """A model fitted to responses drawn from its own fit.

    Attributes
    ----------
    fit : the fit that responses were drawn from
    draws : how many were drawn
    failed : how many of them had no certain optimum; these are in no limit below
    seed : of the random numbers
    level : coverage of the limits
    covariances : of each random term, shape (d, k, k), d the draws that did not fail
    sigma2 : residual variance, shape (d,)
    effects : fixed effects, shape (d, p)
    errors : their covariances, shape (d, p, p)
    """

    fit: LmmFit
    draws: int
    failed: int
    seed: int
    level: float
    covariances: tuple[Floats, ...]
    sigma2: Floats
    effects: Floats
    errors: Floats

    def variances(self) -> dict[tuple[str, str], Floats]:
        """Return the variance of each group and term in each draw, the residual's last."""
        found = {
            (block.group.label, column.name): drawn[:, i, i]
            for block, drawn in zip(self.fit.model().design.random, self.covariances, strict=True)
            for i, column in enumerate(block.columns)
        }
        return {**found, RESIDUAL: self.sigma2}

    def components(self) -> tuple[BootstrapInterval, ...]:
        """Return percentile limits of every standard deviation, the residual's last."""
        drawn = self.variances()
        return tuple(
            self._percentiles(f"sd {c.group} {c.term}".strip(), c.sd, np.sqrt(drawn[c.group, c.term]))
            for c in self.fit.random
        )

    def correlations(self) -> tuple[BootstrapInterval, ...]:
        """Return percentile limits of every correlation; draws in which it is not defined count as zero."""
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
        """Return percentile limits of the share of some groups in the variance of others, by default of all.

        ``share("item")`` of a fit with random intercepts is the reliability coefficient phi.
        """
        drawn = self.variances()
        everything = list(dict.fromkeys(group for group, _ in drawn))
        below = list(of) if of is not None else everything
        for group in (*groups, *below):
            if group not in everything:
                raise FitError(f"{group!r} is no group of the fit; there are {list_names(everything)}")
        estimates = {(c.group, c.term): np.array([c.variance]) for c in self.fit.random}

        def ratio(variances: Mapping[tuple[str, str], Floats]) -> Floats:
            part = sum(v for (group, _), v in variances.items() if group in groups)
            return np.asarray(part / sum(v for (group, _), v in variances.items() if group in below))

        name = f"share of {', '.join(groups)}" + (f" in {', '.join(below)}" if of is not None else "")
        return self._percentiles(name, float(ratio(estimates)[0]), ratio(drawn))

    def contrast(self, weights: Mapping[str, float] | Sequence[float], *, name: str = "contrast") -> BootstrapInterval:
        """Return bootstrap-t limits of a combination of fixed effects: each draw by its own standard error."""
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
            title=f"Bootstrap of {self.fit.formula} ({self.fit.method.upper()})",
            columns=("", "estimate", "se", f"{percent} limits"),
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
    level : coverage of the limits, by default the fit's
    processes : how many processes share the work; by default one, or all cores if it is dear
    """
    check_draws(draws, seed, processes)
    if draws < 2:
        raise FitError("1 draw was asked for, and limits need at least 2 (1000 is usual)")
    if level is not None:
        check_level(level, FitError)
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
