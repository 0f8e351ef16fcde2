"""What people read instead of log-odds: probabilities of a logistic fit, their differences, ratios of odds."""

from __future__ import annotations

from dataclasses import dataclass

from holdsup.fit.glmm_result import GlmmFit
from holdsup.fit.logistic_records import Rate, RateDifference
from holdsup.fit.margins import list_averages, make_difference, make_rate
from holdsup.fit.words import odds_of


@dataclass(frozen=True, slots=True)
class OddsRatio:
    """A fixed effect as a ratio of odds, given the random effects."""

    name: str  # the effect
    estimate: float  # e to the power of the effect
    low: float  # lower end of the CI
    high: float  # its upper end
    p: float  # two-sided p-value of the effect


def odds_ratios(fit: GlmmFit) -> tuple[OddsRatio, ...]:
    """Return the fixed effects beside the intercept as ratios of odds, for the same item and run."""
    return tuple(
        OddsRatio(e.name, odds_of(e.estimate), odds_of(e.low), odds_of(e.high), e.p)
        for e in fit.fixed
        if e.name != "(Intercept)"
    )


def marginal_probabilities(fit: GlmmFit, factor: str | None = None) -> tuple[Rate, ...]:
    """Return the probability of success at each level of a factor, or overall.

    Every row counts as if it had that level, with its other fixed effects as they are; random effects are averaged
    over their normal distributions, not set to zero. These are the rates to expect on new items and runs.
    """
    model = fit.model()
    return tuple(make_rate(model, *pair, fit.level) for pair in list_averages(model, factor))


def marginal_differences(fit: GlmmFit, factor: str) -> tuple[RateDifference, ...]:
    """Return the differences of the probabilities of all pairs of levels, the later one minus the earlier one."""
    model = fit.model()
    found = list(list_averages(model, factor))
    return tuple(
        make_difference(model, later, earlier, fit.level) for i, earlier in enumerate(found) for later in found[i + 1 :]
    )
