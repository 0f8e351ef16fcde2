"""The rows of tables that tell how far to trust a ranking: errors, influence, ranks, quantiles."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AverageRank", "Companion", "CrossValidation", "Influence", "Quantiles"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossValidation:
    """How well a form predicts rows that it was not fitted to.

    Attributes
    ----------
    form : "default", "paper", "formula", "slopes by system" or "plain regression"
    formula : its formula
    held_out : "rows", or "datasets" where whole ones are held out
    folds : number of parts, each held out once
    mae : mean absolute error
    rmse : root of the mean squared error
    """

    form: str
    formula: str
    held_out: str
    folds: int
    mae: float
    rmse: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """The ranking with one dataset or one system left out.

    Attributes
    ----------
    kind : "dataset" or "system"
    left_out : its name
    ranking : the systems from best to worst by their adjusted means
    leader : the first of them
    gap : its lead over the second, by adjusted means
    p : two-sided p of the two, unadjusted, as in the contrasts; null where it could not be tested
    changed : whether the order of the systems that stay is another one
    largest_shift : the largest change of a contrast between systems that stay
    """

    kind: str
    left_out: str
    ranking: tuple[str, ...]
    leader: str
    gap: float
    p: float | None
    changed: bool
    largest_shift: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AverageRank:
    """A system's rank, averaged over datasets.

    Attributes
    ----------
    system : the system
    average_rank : mean over datasets of its rank among the systems, 1 for the best
    wins : datasets on which it is the best, a shared first place in parts
    """

    system: str
    average_rank: float
    wins: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """Friedman's test and Nemenyi's critical difference on the mean scores by dataset.

    Attributes
    ----------
    datasets : datasets with a score of every system
    left_out : datasets without
    ranks : the average rank of each system, the best first
    chi2 : Friedman's statistic
    df : its degrees of freedom
    p : its p
    log10_p : its decimal logarithm
    f : Iman and Davenport's F
    df1 : its numerator degrees of freedom
    df2 : its denominator degrees of freedom
    p_f : its p
    log10_p_f : its decimal logarithm
    critical_difference : average ranks that differ by this much differ by Nemenyi's test
    cliques : groups of systems that the test cannot tell apart
    parting : where the ranking and the average ranks part, and why
    """

    datasets: int
    left_out: int
    ranks: tuple[AverageRank, ...]
    chi2: float
    df: int
    p: float
    log10_p: float
    f: float
    df1: int
    df2: int
    p_f: float
    log10_p_f: float
    critical_difference: float
    cliques: tuple[tuple[str, ...], ...]
    parting: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """The points of a normal Q-Q plot, thinned.

    Attributes
    ----------
    name : "residuals", or the random term
    count : how many values there are
    normal : standard normal quantiles
    observed : the values at these
    """

    name: str
    count: int
    normal: tuple[float, ...]
    observed: tuple[float, ...]
