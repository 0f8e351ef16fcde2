"""`RankingNumbers`: all that a ranking holds, and the rows that say how far to trust it."""

from __future__ import annotations

from dataclasses import dataclass

from holdsup.fit.prediction import RSquared
from holdsup.rendering import State
from holdsup.results import Result
from holdsup.verdict.phrases import name_items
from holdsup.verdict.ranking.records import (
    Contribution,
    InteractionEffect,
    NuisanceEffect,
    PredictionPart,
    RankContrast,
    RankedSystem,
    TermVariance,
    Treatment,
    WaterfallStep,
)

__all__ = [
    "AnsweredQuestion", "AverageRank", "Companion", "CrossValidation", "Influence", "Quantiles", "RankingNumbers",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuestion:
    """One of the questions behind a ranking, answered."""

    question: str  # what is asked
    state: State | None  # yes or unclear; null where the question has no yes or no
    answer: str  # a few words, by rule from the numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossValidation:
    """How well a form predicts rows that it was not fitted to."""

    form: str  # "default", "paper", "formula", "slopes by system" or "plain regression"
    formula: str  # its formula
    held_out: str  # "rows", or "datasets" where whole ones are held out
    folds: int  # number of parts, each held out once
    mae: float  # mean absolute error
    rmse: float  # root of the mean squared error


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """The ranking with one dataset or one system left out."""

    kind: str  # "dataset" or "system"
    left_out: str  # its name
    ranking: tuple[str, ...]  # the systems from best to worst by their adjusted means
    leader: str  # the first of them
    gap: float  # its lead over the second, by adjusted means
    p: float | None  # two-sided p of the two, unadjusted, as in the contrasts; null where it could not be tested
    changed: bool  # whether the order of the systems that stay is another one
    largest_shift: float  # the largest change of a contrast between systems that stay


@dataclass(frozen=True, slots=True, kw_only=True)
class AverageRank:
    """A system's rank, averaged over datasets."""

    system: str  # the system
    average_rank: float  # mean over datasets of its rank among the systems, 1 for the best
    wins: float  # datasets on which it is the best, a shared first place in parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """Friedman's test and Nemenyi's critical difference on the mean scores by dataset."""

    datasets: int  # datasets with a score of every system
    left_out: int  # datasets without
    ranks: tuple[AverageRank, ...]  # the average rank of each system, the best first
    chi2: float  # Friedman's statistic
    df: int  # its degrees of freedom
    p: float  # its p
    log10_p: float  # its decimal logarithm
    f: float  # Iman and Davenport's F
    df1: int  # its numerator degrees of freedom
    df2: int  # its denominator degrees of freedom
    p_f: float  # its p
    log10_p_f: float  # its decimal logarithm
    critical_difference: float  # average ranks that differ by this much differ by Nemenyi's test
    cliques: tuple[tuple[str, ...], ...]  # groups of systems that the test cannot tell apart
    parting: str  # where the ranking and the average ranks part, and why


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """The points of a normal Q-Q plot, thinned."""

    name: str  # "residuals", or the random term
    count: int  # how many values there are
    normal: tuple[float, ...]  # standard normal quantiles
    observed: tuple[float, ...]  # the values at these


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingNumbers(Result):
    """The numbers of a ranking."""

    level: float  # coverage of the intervals
    lower_is_better: bool  # whether the lowest mean is the best
    score: str  # the column of the scores
    form: str  # "default", "paper" or "formula"
    means_formula: str  # the model that gives means and contrasts, systems fixed
    formula: str  # the model that gives shares of variance, systems random
    datasets: int  # number of datasets
    scope: str  # what CIs of means are for: "new datasets" like these or, by some formulas, "these datasets" alone
    systems: tuple[RankedSystem, ...]  # the systems from best to worst
    contrasts: tuple[RankContrast, ...]  # all pairs
    fixed: tuple[NuisanceEffect, ...]  # effects of nuisance factors
    contributions: tuple[Contribution, ...]  # what ingredients of systems add
    random: tuple[TermVariance, ...]  # the random terms, the residual last
    interactions: tuple[InteractionEffect, ...]  # what each system does on each dataset beyond both their means
    waterfall: tuple[WaterfallStep, ...]  # from the raw gap of two systems to the adjusted one
    r2: RSquared  # shares of the variance that the fit with random systems explains
    cv: CrossValidation | None  # its cross-validated error, rows held out; null where none was asked for
    forms: tuple[CrossValidation, ...]  # cross-validated errors of all forms that were compared
    treatments: tuple[Treatment, ...]  # what is made of nuisance columns
    influence: tuple[Influence, ...]  # the ranking without each dataset and without each system
    # average ranks with Friedman's and Nemenyi's tests; null where too few datasets have all systems
    companion: Companion | None
    prediction: tuple[PredictionPart, ...]  # the score of one configuration, term by term; empty unless asked for
    diagnostics: tuple[Quantiles, ...]  # points of normal Q-Q plots
    # whether each dataset has training runs of its own, or runs are one training each, evaluated on all
    nested_runs: bool = False
    # what the tests generalise to: datasets, runs; empty where a formula lets them do neither
    covers: tuple[str, ...] = ("datasets",)

    @property
    def system_name(self) -> str:
        """The column of the systems, as terms of the fit name it."""
        return self._column("system")

    @property
    def dataset_name(self) -> str:
        """The column of the datasets."""
        return self._column("dataset")

    @property
    def items(self) -> str:
        """The user's own word for datasets."""
        return name_items(self.dataset_name, "datasets")

    def _column(self, role: str) -> str:
        column = self.asked.roles.get(role)
        return column if isinstance(column, str) else role

    def ahead(self, contrast: RankContrast) -> bool:
        """Return whether the left system of a pair is the better one where both were scored."""
        return (contrast.difference < 0) == self.lower_is_better and contrast.difference != 0

    def p_of_interval(self, contrast: RankContrast) -> float:
        """Return the p that belongs to the CI for all pairs, Bonferroni's: below 1 - level where that leaves out zero."""
        return min(1.0, len(self.contrasts) * contrast.p)

    def told(self, p: float | None) -> bool:
        """Return whether a p is small enough."""
        return p is not None and p <= 1 - self.level

    def find_cells(self) -> tuple[TermVariance, ...]:
        """Return the terms of systems on datasets: an intercept for each cell, or slopes of systems by dataset."""
        names = {self.system_name, self.dataset_name}
        return tuple(
            r
            for r in self.random
            if (set(r.group.split(":")) == names and r.term == "(Intercept)")
            or (r.group == self.dataset_name and r.term.startswith(self.system_name))
        )
