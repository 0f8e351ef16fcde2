"""`Ranking`: the answer of `rank_systems`, and its tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from holdsup.fit.quality import RSquared
from holdsup.rendering import Table
from holdsup.results import Result
from holdsup.verdict.ranking.quality_records import Companion, CrossValidation, Influence, Quantiles
from holdsup.verdict.ranking.quality_tables import tabulate_companion, tabulate_influence, tabulate_quality
from holdsup.verdict.ranking.system_records import Answer, RankContrast, RankedSystem, WaterfallStep
from holdsup.verdict.ranking.system_tables import tabulate_contrasts, tabulate_systems, tabulate_waterfall
from holdsup.verdict.ranking.term_records import (
    Contribution,
    InteractionEffect,
    NuisanceEffect,
    PredictionPart,
    TermVariance,
    Treatment,
)
from holdsup.verdict.ranking.term_tables import (
    tabulate_contributions,
    tabulate_effects,
    tabulate_interactions,
    tabulate_prediction,
    tabulate_terms,
    tabulate_treatments,
)

__all__ = ["Ranking"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(Result):
    """Systems ranked over datasets, with nuisance factors isolated.

    Attributes
    ----------
    level : coverage of limits
    lower_is_better : whether the lowest mean is the best
    score : the column of the scores
    form : "default", "paper" or "formula"
    means_formula : the model that gives means and contrasts, systems fixed
    formula : the model that gives shares of variance, systems random
    datasets : number of datasets
    scope : what limits of means are for: "new datasets" like these or, by some formulas, "these datasets" alone
    systems : the systems from best to worst
    contrasts : all pairs
    fixed : effects of nuisance factors
    contributions : what ingredients of systems add
    random : the random terms, the residual last
    interactions : what each system does on each dataset beyond both their means
    waterfall : from the raw gap of two systems to the isolated one
    answers : the questions, answered in words
    r2 : shares of the variance that the fit with random systems explains
    cv : its cross-validated error, rows held out; null where none was asked for
    forms : cross-validated errors of all forms that were compared
    treatments : what is made of nuisance columns
    influence : the ranking without each dataset and without each system
    companion : average ranks with Friedman's and Nemenyi's tests; null where too few datasets have all systems
    prediction : the score of one configuration, term by term; empty unless asked for
    diagnostics : points of normal Q-Q plots
    nested_runs : whether each dataset has training runs of its own, or runs are one training each, evaluated on all
    """

    kind: ClassVar[str] = "rank"

    level: float
    lower_is_better: bool
    score: str
    form: str
    means_formula: str
    formula: str
    datasets: int
    scope: str
    systems: tuple[RankedSystem, ...]
    contrasts: tuple[RankContrast, ...]
    fixed: tuple[NuisanceEffect, ...]
    contributions: tuple[Contribution, ...]
    random: tuple[TermVariance, ...]
    interactions: tuple[InteractionEffect, ...]
    waterfall: tuple[WaterfallStep, ...]
    answers: tuple[Answer, ...]
    r2: RSquared
    cv: CrossValidation | None
    forms: tuple[CrossValidation, ...]
    treatments: tuple[Treatment, ...]
    influence: tuple[Influence, ...]
    companion: Companion | None
    prediction: tuple[PredictionPart, ...]
    diagnostics: tuple[Quantiles, ...]
    nested_runs: bool = False

    def tables(self) -> tuple[Table, ...]:
        """Return the ranking first, then what it is made of, then how far to trust it."""
        return tuple(self._tables())

    def _tables(self) -> Iterator[Table]:
        said = {answer.question: answer.answer for answer in self.answers}
        yield tabulate_systems(self.systems, level=self.level, scope=self.scope)
        yield tabulate_contrasts(self.contrasts, datasets=self.datasets, level=self.level)
        yield tabulate_waterfall(self.waterfall)
        yield tabulate_effects(self.fixed, said, level=self.level)
        if self.contributions:
            yield tabulate_contributions(self.contributions, said, level=self.level)
        yield tabulate_terms(self.random, said)
        if self.interactions:
            yield tabulate_interactions(self.interactions, said, level=self.level)
        if self.prediction:
            yield tabulate_prediction(self.prediction)
        yield tabulate_quality(self.r2, self.forms)
        if self.companion is not None:
            yield tabulate_companion(self.companion, self.systems, level=self.level)
        if self.influence:
            yield tabulate_influence(self.influence, tuple(s.name for s in self.systems))
        yield tabulate_treatments(self.treatments, means=self.means_formula, variances=self.formula)
