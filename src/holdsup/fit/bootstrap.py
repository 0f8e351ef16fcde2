"""The parametric bootstrap: responses drawn from a fit, and fits of these.

Responses are drawn as cross-products (`numerics.drawing`), so that a draw costs the same whatever the number of
rows. Where the smaller of two fits cannot be written within the larger one, rows are drawn instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdsup.errors import FitError, NotNested
from holdsup.fit.fitting import fit_by, fit_response
from holdsup.fit.likelihood import LikelihoodRatioTest, likelihood_ratio_test
from holdsup.fit.nesting import embed
from holdsup.fit.prediction import simulate
from holdsup.fit.result import LmmFit, Model
from holdsup.numerics.drawing import Truth
from holdsup.numerics.layout import Floats
from holdsup.numerics.restriction import Restriction
from holdsup.numerics.simulation import Competitor, Simulation, simulate_fits
from holdsup.progress import Progress, no_progress
from holdsup.rendering import PValue, Table
from holdsup.rendering.numbers import format_count
from holdsup.rendering.text import render_text

__all__ = ["BootstrapTest", "bootstrap_test"]

LEAST_START = 0.05  # relative standard deviation from which the search for an additional variance starts
ROUNDING = 1e-6  # by how much the larger model's criterion may exceed the smaller one's


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BootstrapTest:
    """A likelihood-ratio test whose reference is simulated from the smaller fit.

    Attributes
    ----------
    analytic : the same test with its chi-square reference
    statistic : difference of the criteria
    p : (1 + draws that reach the statistic, failed ones among them) / (draws + 1)
    draws : responses drawn
    failed : draws for which a fit did not converge; they count as if they reached the statistic
    rows_drawn : whether rows were drawn, not cross-products
    seed : of the random numbers
    statistics : the difference of the criteria in each draw, NaN where it failed
    """

    analytic: LikelihoodRatioTest
    statistic: float
    p: float
    draws: int
    failed: int
    rows_drawn: bool
    seed: int
    statistics: Floats

    def table(self) -> Table:
        """Return the cells that all renderings show."""
        test = self.analytic
        columns = ("null", "alternative", "statistic", "df", "bootstrap p", "chi-square p", "draws", "failed")
        row = (
            test.null, test.alternative, self.statistic, test.df, PValue(self.p),
            PValue(test.p, test.log10_p), format_count(self.draws), format_count(self.failed),
        )  # fmt: skip
        return Table(title=f"Bootstrap likelihood-ratio test ({test.method.upper()})", columns=columns, rows=(row,))

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
        null, alternative = fit_response(small, response), fit_response(large, response)
        difference = null.criterion - alternative.criterion
        if null.converged and alternative.converged and difference > -ROUNDING:
            statistics[d] = max(0.0, difference)
    progress(draws, draws, "bootstrap fits, row by row")
    return statistics
