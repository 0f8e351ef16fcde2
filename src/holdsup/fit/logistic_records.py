"""The numbers of a logistic fit, which its words and tables are made from."""

from __future__ import annotations

from dataclasses import dataclass

from holdsup.fit.result import LmmFit


@dataclass(frozen=True, slots=True)
class Rate:
    """The probability of success at a level of a factor, averaged over random effects and rows."""

    name: str  # the factor and its level, "overall" without a factor
    estimate: float  # the probability
    se: float  # its standard error, by the delta method
    low: float  # lower end of the CI, made on the scale of log-odds
    high: float  # its upper end


@dataclass(frozen=True, slots=True)
class RateDifference:
    """A difference of two rates, by the delta method."""

    name: str  # which minus which
    estimate: float  # the difference of the probabilities
    se: float  # its standard error
    low: float  # lower end of the CI
    high: float  # its upper end
    p: float  # two-sided p-value
    log10_p: float  # its decimal logarithm


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticNumbers(LmmFit):
    """All that is saved of a logistic fit: what a linear one has, and what only it has."""

    family: str = "binomial"  # the distribution of the response
    link: str = "logit"  # of which the linear predictor is the value
    trials: float  # how many outcomes there are
    successes: float  # how many of them are successes
    nodes: int  # of the quadrature over the coarser factor; 0 for Laplace's approximation
    penalty: float | None = None  # standard deviation of the normal prior of fixed effects, null without
    # probability of success at each level of the first factor (or overall), averaged over random effects and rows
    rates: tuple[Rate, ...]
    difference: RateDifference | None = None  # of the two rates, where `pair` is known
