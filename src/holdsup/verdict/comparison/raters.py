"""Systems compared by what several raters, or judges, say of them: adjusted for who rated what.

How the numbers are made: `numerics.ratings`. New raters are spoken of where two systems have three raters in common or
more, and how much these disagree can be measured; else the answer is about these raters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns.crossing import cross
from holdsup.errors import ScoresError, list_names
from holdsup.numerics.decisions import Criterion, Difference, decide
from holdsup.numerics.differences import new_runs_test, these_runs_test
from holdsup.numerics.distributions import t_quantile
from holdsup.numerics.ratings import FEWEST_RATERS, Ratings
from holdsup.numerics.spread import Spread
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results import Caution
from holdsup.results.extras import find_extra
from holdsup.scores import Scores
from holdsup.verdict.claims import Pair, Rule
from holdsup.verdict.comparison.adjusted import find_adjusted
from holdsup.verdict.comparison.findings import CompareQuestion, Found
from holdsup.verdict.comparison.records import RatedContrast, Rater, Raters, SystemMean
from holdsup.verdict.evaluation import Evaluation
from holdsup.verdict.phrases import join_names

NEW, THESE = "new-raters", "these-raters"
CLAIMS = (NEW, THESE)
MOST_CELLS = 10_000_000  # ratings times means of systems by raters: beyond, new raters are not spoken of
EVEN = 1.0  # variance of items over that of a rating of one where it can't be fitted


def find_rated(evaluation: Evaluation, question: CompareQuestion, said: list[Caution]) -> Found:
    """Return what one metric says, adjusted for raters; `said` gets what is missing beside it."""
    return find_adjusted(evaluation, question, lambda: _Panel.of(evaluation, said))


@dataclass(frozen=True, eq=False)
class _Panel:
    """The ratings of one metric, and what a mixed model says of them."""

    evaluation: Evaluation
    ratings: Ratings
    names: tuple[str, ...]  # of the raters
    model: str  # the mixed model of all ratings
    variances: dict[str, float]  # its components; empty where there is no fit

    @classmethod
    def of(cls, evaluation: Evaluation, said: list[Caution]) -> _Panel:
        scores = evaluation.scores
        assert scores.rater is not None
        there = cross(scores.rater)
        names = tuple(scores.rater.names[scores.rater.codes[row]] for row in there.first)
        model, variances = find_extra(
            "the variances of raters and items", lambda: _fit_variances(scores, evaluation.item), said,
            ("", dict[str, float]()),
        )  # fmt: skip
        of_rating = variances.get("Residual", 0.0) + variances.get("system:item", 0.0)
        clusters = np.arange(evaluation.items) if evaluation.clusters is None else evaluation.clusters
        ratings = Ratings(
            scores.score, scores.system.codes.astype(np.int64), there.codes, evaluation.item, clusters[evaluation.item],
            variances["item"] / of_rating if of_rating > 0 else EVEN,
        )  # fmt: skip
        panel = cls(evaluation, ratings, names, model, variances)
        panel.check()
        return panel

    def check(self) -> None:
        """Refuse raters who have no systems in common: systems can't be told from who rated them."""
        column, systems = self.evaluation.scores.roles.rater, self.evaluation.systems
        group = self.ratings.connected()
        groups = [[s.name for s, own in zip(systems, group, strict=True) if own == g] for g in np.unique(group)]
        if len(groups) == len(systems):
            raise ScoresError(
                f"no {column} rated two systems, so systems can't be told from who rated them: have some rate several "
                "systems, or give --rater - to take ratings as they are"
            )
        if len(groups) > 1:
            least = min(groups, key=len)
            raise ScoresError(
                f"no {column} rated both {list_names(least)} and another system: choose systems that share raters with "
                "--where, or give --rater - to take ratings as they are"
            )

    @cached_property
    def moderated(self) -> tuple[float, float, float] | None:
        """What all pairs say of how much raters disagree."""
        count = len(self.evaluation.systems)
        able = [(a, b) for a in range(count) for b in range(a) if len(self.ratings.common(a, b)) >= FEWEST_RATERS]
        return self.ratings.moderate(able)

    def compare(self, left: int, right: int, question: CompareQuestion) -> tuple[Pair, list[RatedContrast]]:
        """Return the pair, for new raters where that is asked for or possible, and the difference for the others."""
        systems, level = self.evaluation.systems, question.level
        weights = np.zeros(len(systems))
        weights[[left, right]] = 1.0, -1.0
        a, b = systems[left], systems[right]
        if not (both := int((a.has & b.has).sum())):
            raise ScoresError(f"{a.name!r} and {b.name!r} have no {self.evaluation.noun} in common")
        common = len(self.ratings.common(left, right))
        tests: dict[str, tuple[Spread, Difference]] = {}
        pooled = None
        spread = self.ratings.these(weights)
        tests[THESE] = spread, self._decide(spread, 0.0, level)
        note = ""
        if self._reaches_new(common):
            spread = self.ratings.new(left, right, None)
            pooled = self.ratings.new(left, right, self.moderated) if self.moderated else None
            found = self._decide(spread, 0.0, level)
            if math.isfinite(found.low):
                tests[NEW] = spread, found
            else:
                note = "how much raters disagree is barely known"
        else:
            note = f"{format_counted(common, 'rater')} in common say too little about new ones"
        made = NEW if NEW in tests and question.claim not in (THESE, "these-runs") else THESE
        spread, found = tests[made]
        unit = "clusters" if self.evaluation.clusters is not None else self.evaluation.noun
        over = f"{unit} and raters" if made == NEW else unit
        pair = Pair(
            a, b, made, Rule.RATERS, f"t-test adjusted for raters ({over}, conservative df)", both,
            self.evaluation.unit, np.ones(self.evaluation.items, bool), found,
            lambda up, level, spread=spread: self._decide(spread, up, level), None, None,  # type: ignore[misc]
            note if made == THESE and question.claim not in (THESE, "these-runs") else "",
            None if pooled is None or made == THESE else lambda up, level: self._decide(pooled, up, level),
        )  # fmt: skip
        others = [
            RatedContrast(left=a.name, right=b.name, claim=claim, difference=d.estimate, low=d.low, high=d.high, p=d.p,
                          raters=common)
            for claim, (_, d) in tests.items() if claim != made
        ]  # fmt: skip
        return pair, others

    def _reaches_new(self, common: int) -> bool:
        cells = int(self.ratings.crossing.sum())
        return common >= FEWEST_RATERS and cells * len(self.ratings.score) <= MOST_CELLS

    def _decide(self, spread: Spread, up: float, level: float) -> Difference:
        spread = replace(spread, estimate=spread.estimate + up)
        scale = float(np.abs(self.ratings.score).max()) + abs(up)
        tests: list[Criterion] = [these_runs_test([spread])]
        if spread.runs:
            tests.insert(0, new_runs_test([spread]))
        try:
            return decide(float(spread.estimate), tests, scale, level)
        except ValueError as error:
            raise ScoresError(f"ratings adjusted for raters can't be compared: {str(error).rstrip('.')}") from error

    def mean(self, place: int, pairs: Sequence[Pair], level: float) -> SystemMean:
        """Return a system's mean as these raters would rate it, each with the same weight."""
        system, weights = self.evaluation.systems[place], np.zeros(len(self.evaluation.systems))
        weights[place] = 1.0
        spread = self.ratings.these(weights)
        if all(pair.claim == NEW for pair in pairs):
            spread = replace(spread, estimate=self.ratings.drawn[0][place] @ self.ratings.cells[0].beta)
        mean, se = float(spread.estimate), math.sqrt(spread.these)
        half = t_quantile((1 + level) / 2, spread.item_df) * se
        row = SystemMean(
            name=system.name, metric=self.evaluation.metric, claim=THESE, mean=mean, se=se, df=spread.item_df,
            low=mean - half, high=mean + half, runs=len(system.runs), items=int(system.has.sum()),
        )  # fmt: skip
        return self.evaluation.scale.limit(row)

    def describe(self, beside: Sequence[RatedContrast]) -> dict[str, Any]:
        """Return how much raters disagree, and how severe each is."""
        total, found = sum(self.variances.values()), self.variances
        X = self.ratings.additive.beta[self.ratings.systems :]
        effects = [*X.tolist(), -float(X.sum())]
        counts = np.bincount(self.ratings.rater)
        systems = self.ratings.crossing.sum(axis=0)
        several = "system:item" in found
        agreed = found.get("item", 0.0) + found.get("system:item", 0.0)
        raters = Raters(
            metric=self.evaluation.metric, column=str(self.evaluation.scores.roles.rater), count=len(self.names),
            model=self.model,
            percent=100 * found["rater"] / total if total > 0 else None,
            percent_interaction=100 * found["system:rater"] / total if total > 0 else None,
            icc=agreed / total if several and total > 0 else None, other=tuple(beside),
            raters=tuple(
                Rater(name=name, effect=effect, scores=int(n), systems=int(s))
                for name, effect, n, s in zip(self.names, effects, counts, systems, strict=True)
            ),
        )  # fmt: skip
        return {"raters": raters, "untold": "raters are adjusted for, and the test of systems is pair by pair"}


def _fit_variances(scores: Scores, item: NDArray[np.int64]) -> tuple[str, dict[str, float]]:
    """Return the mixed model of all ratings, and its variance components; outputs rated twice have one."""
    from holdsup.fit import fit_lmm

    assert scores.rater is not None
    twice = cross(scores.system, item, scores.rater).count > cross(scores.system, item).count
    formula = "score ~ system + (1 | item) + (1 | rater) + (1 | system:rater)" + " + (1 | system:item)" * twice
    columns: dict[str, Any] = {"system": scores.system.codes, "item": item, "rater": scores.rater.codes}
    table = {name: pa.array([f"{code}" for code in codes.tolist()]) for name, codes in columns.items()}
    fit = fit_lmm(formula, pa.table({"score": scores.score, **table}))
    return formula, {each.group: each.variance for each in fit.random}


def caution_raters(found: Found) -> Iterator[Caution]:
    """Yield which raters say nothing about differences, and that no new ones are spoken of."""
    assert found.raters is not None
    column = found.raters.column
    idle = [each for each in found.raters.raters if each.systems == 1]
    if idle:
        have = f"rated one system only: {'its' if len(idle) == 1 else 'their'}"
        yield Caution(
            code="rater-of-one-system", severity="note", about="data",
            message=f"{join_names([each.name for each in idle])} {have} {format_count(sum(e.scores for e in idle))} "
            "scores say nothing about differences.",
        )  # fmt: skip
    notes = list(dict.fromkeys(pair.note for pair in found.pairs if pair.note))
    if notes:
        whose = "" if all(pair.note for pair in found.pairs) else "Of some pairs, "
        yield Caution(
            code="these-raters",
            about="claim",
            message=f"{whose}{join_names(notes)}: the answer is about these {column}s.",
            advice="Have three raters or more rate both systems.",
        )
