"""The rows of a fit's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Contrast", "OptimizerRecord", "RandomComponent"]


@dataclass(frozen=True, slots=True)
class Contrast:
    """A fixed effect, or a combination of some, with Satterthwaite's t-test.

    Attributes
    ----------
    name : the effect, named as in lme4, or what the combination is called
    estimate : its value
    se : its standard error
    df : Satterthwaite's degrees of freedom
    t : estimate / se
    p : two-sided p-value
    log10_p : its decimal logarithm
    low : lower confidence limit
    high : upper confidence limit
    """

    name: str
    estimate: float
    se: float
    df: float
    t: float
    p: float
    log10_p: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RandomComponent:
    """One variance component.

    Attributes
    ----------
    group : the grouping factor, "Residual" for the last
    term : what varies between its levels
    variance : its variance
    sd : its standard deviation
    corr : correlation with each earlier term of the same random term; null where a variance is zero
    """

    group: str
    term: str
    variance: float
    sd: float
    corr: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class OptimizerRecord:
    """How the optimum was found.

    Attributes
    ----------
    evaluations : evaluations of the criterion, with or without gradient
    steps : Newton steps
    reason : why the search ended
    gradient : largest component of the gradient, each scaled by its curvature
    decrease : decrease of the criterion that another step would bring
    theta : the optimum, relative covariance factors as in lme4
    """

    evaluations: int
    steps: int
    reason: str
    gradient: float
    decrease: float
    theta: tuple[float, ...]
