"""The rows of a fit's tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from holdsup.numerics.distributions import t_quantile, t_tail
from holdsup.results import Result


@dataclass(frozen=True, slots=True)
class Contrast:
    """A fixed effect, or a combination of some, with Satterthwaite's t-test."""

    name: str  # the effect, named as in lme4, or what the combination is called
    estimate: float  # its value
    se: float  # its standard error
    df: float  # Satterthwaite's degrees of freedom
    t: float  # estimate / se
    p: float  # two-sided p-value
    log10_p: float  # its decimal logarithm
    low: float  # lower end of the CI
    high: float  # its upper end


@dataclass(frozen=True, slots=True)
class RandomComponent:
    """One variance component."""

    group: str  # the grouping factor, "Residual" for the last
    term: str  # what varies between its levels
    variance: float  # its variance
    sd: float  # its standard deviation
    # correlation with each earlier term of the same random term; null where a variance is zero
    corr: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class OptimizerRecord:
    """How the optimum was found."""

    evaluations: int  # evaluations of the criterion, with or without gradient
    steps: int  # Newton steps
    reason: str  # why the search ended
    gradient: float  # largest component of the gradient, each scaled by its curvature
    decrease: float  # decrease of the criterion that another step would bring
    theta: tuple[float, ...]  # the optimum, relative covariance factors as in lme4


@dataclass(frozen=True, slots=True)
class LevelPair:
    """Two levels of a factor that an effect compares."""

    response: str  # in what
    variable: str  # the factor
    level: str  # the level whose effect it is
    reference: str  # the level that it is compared with


@dataclass(frozen=True, slots=True, kw_only=True)
class FitNumbers(Result):
    """All that is saved of a fit, which its words and tables are made from."""

    formula: str  # the model
    n: int  # rows used
    method: str  # "ml" or "reml"
    criterion: float  # -2 log-likelihood (ML) or REML criterion at the optimum
    loglik: float  # log-likelihood (restricted, for REML)
    aic: float  # Akaike's criterion
    bic: float  # Bayesian information criterion
    npar: int  # number of parameters
    sigma: float  # residual standard deviation
    converged: bool  # whether the optimum is certified: no gradient, no direction that curves down
    singular: bool  # whether some variance is zero or some correlation is -1 or 1
    dropped: tuple[str, ...]  # fixed columns that are combinations of others
    levels: Mapping[str, int]  # number of levels of each grouping factor
    fixed: tuple[Contrast, ...]  # the fixed effects
    random: tuple[RandomComponent, ...]  # the variance components
    optimizer: OptimizerRecord  # how the optimum was found
    level: float = 0.95  # coverage of the CIs
    # the levels that the only effect beside the intercept compares; null where there are more, or numbers
    pair: LevelPair | None = None


def make_contrast(name: str, estimate: float, variance: float, degrees: Callable[[], float], level: float) -> Contrast:
    """Return a combination of fixed effects with its t-test; one that is known exactly has none."""
    se = math.sqrt(max(0.0, variance))
    if se == 0:
        return Contrast(name, estimate, 0.0, math.inf, math.nan, math.nan, math.nan, estimate, estimate)
    df = degrees()
    tail = t_tail(estimate / se, df)
    reach = t_quantile((1 + level) / 2, df) * se
    return Contrast(name, estimate, se, df, estimate / se, tail.p, tail.log10_p, estimate - reach, estimate + reach)
