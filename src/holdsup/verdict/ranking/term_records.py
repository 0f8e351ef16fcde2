"""The rows of tables about terms of the fit: nuisance columns, effects, variances, interactions, predictions."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Contribution", "InteractionEffect", "NuisanceEffect", "PredictionPart", "TermVariance", "Treatment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Treatment:
    """What the form makes of a nuisance column.

    Attributes
    ----------
    name : the column
    levels : number of its distinct values
    treated : "fixed", "random", "numeric", "log" or "left out"
    reference : the level that its effects are compared with; null where there is none
    why : the rule, or why it is left out
    """

    name: str
    levels: int
    treated: str
    reference: str | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NuisanceEffect:
    """A fixed effect of a nuisance factor, or the intercept.

    Attributes
    ----------
    name : the effect, such as "lr 1e-5", or "(Intercept)"
    factor : the column, null for the intercept
    level : its level, null for a number
    reference : the level that it is compared with, null for a number
    estimate : its value; of a number, per unit, of its logarithm, per tenfold
    se : standard error
    df : Satterthwaite's degrees of freedom
    t : estimate / se
    p : two-sided p
    log10_p : its decimal logarithm
    low : lower limit
    high : upper limit
    """

    name: str
    factor: str | None
    level: str | None
    reference: str | None
    estimate: float
    se: float
    df: float
    t: float
    p: float
    log10_p: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What an ingredient of some systems adds, as a fixed effect.

    Attributes
    ----------
    name : the column
    systems : the systems that have it
    estimate : points that it adds
    se : standard error
    df : degrees of freedom
    t : estimate / se
    p : two-sided p
    log10_p : its decimal logarithm
    low : lower limit
    high : upper limit
    saturated : whether the ingredients tell all systems apart, so that no variance of systems is left
    method : where these come from: "dataset differences" or "pooled"
    pooled_p : two-sided p by Satterthwaite's t of the fit
    """

    name: str
    systems: tuple[str, ...]
    estimate: float
    se: float
    df: float
    t: float
    p: float
    log10_p: float
    low: float
    high: float
    saturated: bool
    method: str
    pooled_p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TermVariance:
    """One random term of the fit in which systems are random.

    Attributes
    ----------
    group : what it varies between, such as "system:dataset", or "Residual"
    term : "(Intercept)", or the slope that varies
    levels : number of its levels; of the residual, of rows
    variance : its variance
    sd : the root of it
    percent : its share in the sum of all variances, 0-100, as the paper has it
    percent_exact : its share with slopes weighed by their regressors, 0-100
    lrt : how much the REML criterion rises without it; null for the residual
    df : number of variances taken out; null for the residual
    p : of this rise; null for the residual
    method : where it comes from: "simulated null and mixture" (the larger p), or "chi-square mixture" for many levels
    p_ranova : by chi-square, as lmerTest's ranova has it
    log10_p_ranova : its decimal logarithm
    p_at_most : whether `p` is the least that so many draws can give: it is that or smaller
    """

    group: str
    term: str
    levels: int
    variance: float
    sd: float
    percent: float
    percent_exact: float
    lrt: float | None
    df: int | None
    p: float | None
    method: str | None
    p_ranova: float | None
    log10_p_ranova: float | None
    p_at_most: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionEffect:
    """What a system does on a dataset beyond its own mean and the dataset's.

    Attributes
    ----------
    system : the system
    dataset : the dataset
    effect : the predicted effect
    sd : its standard deviation given the rows
    low : lower limit
    high : upper limit
    scores : rows of this system on this dataset; 0 where the effect is only the mean, zero
    """

    system: str
    dataset: str
    effect: float
    sd: float
    low: float
    high: float
    scores: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionPart:
    """One term of the predicted score of a configuration.

    Attributes
    ----------
    term : what adds to the score, such as "(Intercept)" or "seed 20 in system:dataset"
    kind : "fixed" or "random"
    value : what it adds
    known : whether the fit has seen this level; one that it has not seen adds its mean, zero
    """

    term: str
    kind: str
    value: float
    known: bool
