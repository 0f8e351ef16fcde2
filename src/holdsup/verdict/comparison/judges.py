"""Systems compared by human labels of some items and a judge's scores of all: `--human COL`.

The score is the judge's, the column has the labels. How the numbers are made: `numerics.prediction_powered`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels, Numbers
from holdsup.columns.values import parse_number
from holdsup.errors import ColumnError, ScoresError, list_names
from holdsup.numerics.decisions import Criterion, Difference, decide
from holdsup.numerics.layout import Floats
from holdsup.numerics.prediction_powered import FEWEST_LABELS, Corrected, Labelled
from holdsup.rendering.numbers import format_count, format_number
from holdsup.results import Caution
from holdsup.scores import Scores
from holdsup.verdict.claims import Pair, Rule
from holdsup.verdict.comparison.adjusted import find_adjusted
from holdsup.verdict.comparison.findings import CompareQuestion, Found
from holdsup.verdict.comparison.records import HumanLabels, SystemMean
from holdsup.verdict.evaluation import Evaluation

UNLIKELY = 3.5  # standard errors by which labelled items differ from others, if they are a random sample
UNLIKE = 1.5  # times the range of a judge's scores that labels may have, or the other way round


def find_judged(evaluation: Evaluation, question: CompareQuestion) -> Found:
    """Return what one metric says, corrected by human labels."""
    return find_adjusted(evaluation, question, lambda: _Labels.of(evaluation, question))


@dataclass(frozen=True, slots=True, eq=False)
class _Labels:
    """A judge's scores and human labels, shape (systems, items), NaN where there is none; weights of items."""

    evaluation: Evaluation
    column: str
    judge: Floats
    human: Floats
    weight: Floats
    cluster: NDArray[np.integer]

    @classmethod
    def of(cls, evaluation: Evaluation, question: CompareQuestion) -> _Labels:
        column, weight = str(question.human), question.human_weight
        scores, shape = evaluation.scores, (len(evaluation.systems), evaluation.items)
        if evaluation.unit != "items":
            raise ScoresError(
                f"--human {column}: labels correct a judge item by item, and there are no items: give --item"
            )
        values = _read(scores, column, "--human")
        place = scores.system.codes.astype(np.int64) * evaluation.items + evaluation.item
        human = _means(values, place, shape[0] * shape[1]).reshape(shape)
        lacking = [s.name for s, own in zip(evaluation.systems, human, strict=True) if np.isnan(own).all()]
        if lacking:
            raise ScoresError(
                f"--human {column}: {list_names(lacking)} {'has' if len(lacking) == 1 else 'have'} no labels, and a "
                f"difference needs those of both systems: label the same {evaluation.noun} of each, or leave a system "
                "out with --where"
            )
        weights = np.ones(evaluation.items)
        if weight is not None:
            given = _read(scores, weight, "--human-weight")
            weights = _means(given, evaluation.item, evaluation.items)
            needed = ~np.isnan(human).all(axis=0)
            if not (weights[needed] > 0).all():
                raise ScoresError(
                    f"--human-weight {weight}: each labelled item needs a weight above zero, how many items it stands "
                    "for: 1 over the chance that it was drawn"
                )
            weights = np.nan_to_num(weights)
        clusters = np.arange(evaluation.items) if evaluation.clusters is None else evaluation.clusters
        judge = _means(scores.score, place, shape[0] * shape[1]).reshape(shape)
        return cls(evaluation, column, judge, human, weights, clusters)

    def _take(self, label: Floats, judge: Floats) -> Labelled:
        at = ~np.isnan(judge)
        return Labelled(label[at], judge[at], self.weight[at], self.cluster[at])

    def compare(self, left: int, right: int, question: CompareQuestion) -> tuple[Pair, tuple[HumanLabels]]:
        """Return a pair of systems, and what the judge adds to the labels."""
        a, b = (self.evaluation.systems[place] for place in (left, right))
        joint = self._take(self.human[left] - self.human[right], self.judge[left] - self.judge[right])
        labels, noun = int(joint.has.sum()), self.evaluation.noun
        if labels < FEWEST_LABELS or len(np.unique(joint.cluster[joint.has])) < 3:
            raise ScoresError(
                f"--human {self.column}: {labels} {noun} have labels of both {a.name!r} and {b.name!r}, and at least "
                f"{FEWEST_LABELS} are needed: label more of the same {noun} of both"
            )
        corrected, alone = joint.correct(), joint.correct(tuned=False)
        found, by_labels = (self._decide(each, 0.0, question.level) for each in (corrected, alone))
        unit = "clusters" if self.evaluation.clusters is not None else noun
        pair = Pair(
            a, b, "these-runs", Rule.JUDGE, f"judge-corrected t-test ({unit}; prediction-powered, tuned)",
            len(joint.judge), self.evaluation.unit, np.ones(self.evaluation.items, bool), found,
            lambda up, level: self._decide(corrected, up, level), None, None, "",
        )  # fmt: skip
        said = HumanLabels(
            metric=self.evaluation.metric, left=a.name, right=b.name, column=self.column, labels=labels,
            items=len(joint.judge), tuning=corrected.tuning, alone=by_labels.estimate, low_alone=by_labels.low,
            high_alone=by_labels.high, judge=float(joint.judge.mean()),
        )  # fmt: skip
        return pair, (said,)

    def _decide(self, found: Corrected, up: float, level: float) -> Difference:
        try:
            test = Criterion("these-runs", found.se, lambda _: found.df)
            return decide(found.estimate + up, [test], float(np.nanmax(np.abs(self.human))) + abs(up), level)
        except ValueError as error:
            raise ScoresError(f"--human {self.column}: {str(error).rstrip('.')}") from error

    def mean(self, place: int, pairs: Sequence[Pair], level: float) -> SystemMean:
        """Return a system's mean label over all items."""
        system, one = self.evaluation.systems[place], self._take(self.human[place], self.judge[place])
        some = int(one.has.sum()) >= FEWEST_LABELS
        found = one.correct() if some else Corrected(float(np.nanmean(self.human[place])), math.nan, math.nan, 0.0)
        low, high = math.nan, math.nan
        if some and found.se > 0:
            decided = self._decide(found, 0.0, level)
            low, high = decided.low, decided.high
        return SystemMean(
            name=system.name, metric=self.evaluation.metric, claim="these-runs", mean=found.estimate, se=found.se,
            df=found.df, low=low, high=high, runs=len(system.runs), items=len(one.judge),
            note="" if math.isfinite(low) else "too few labels, or labels that are all the same",
        )  # fmt: skip

    def describe(self, beside: Sequence[HumanLabels]) -> dict[str, Any]:
        """Return what the judge adds, pair by pair."""
        return {"human": tuple(beside), "untold": "human labels correct the judge pair by pair"}


def caution_labels(evaluation: Evaluation, question: CompareQuestion) -> Iterator[Caution]:
    """Yield what is odd about human labels: their scale, and which items have them."""
    labels = _Labels.of(evaluation, question)
    labelled = ~np.isnan(labels.human + labels.judge)
    both = [each[labelled] for each in (labels.human, labels.judge)]
    spans = [(float(each.min()), float(each.max())) for each in both]
    widths = [high - low for low, high in spans]
    if max(widths) > UNLIKE * min(widths) > 0:
        said = " and ".join(
            f"{whose} run from {format_number(low)} to {format_number(high)}"
            for whose, (low, high) in zip(("human labels", "the judge's scores"), spans, strict=True)
        )
        yield Caution(
            code="labels-on-another-scale", about="data",
            message=f"{said[0].upper()}{said[1:]}: the answer is on the scale of the labels.",
            advice="If they should be the same scale, rescale one of them.",
        )  # fmt: skip
    has = np.asarray(~np.isnan(labels.human).all(axis=0))
    if question.human_weight is None and 1 < has.sum() < len(has) - 1:
        mean = np.nanmean(labels.judge, axis=0)
        inside, outside = mean[has], mean[~has]
        error = math.sqrt(inside.var(ddof=1) / len(inside) + outside.var(ddof=1) / len(outside))
        if abs(inside.mean() - outside.mean()) > UNLIKELY * error > 0:
            means = f"{format_number(float(inside.mean()), uncertainty=error)} on labelled {evaluation.noun}"
            yield Caution(
                code="labels-not-random", about="claim",
                message=f"The judge's mean is {means} and "
                f"{format_number(float(outside.mean()), uncertainty=error)} on others: labels are no random sample.",
                advice="Draw items at random, or give the weights they were drawn with as --human-weight.",
            )  # fmt: skip
    if evaluation.scores.rater is not None:
        count = format_count(evaluation.scores.rater.count)
        message = f"The scores of {count} judges are averaged: the labels correct that average."
        yield Caution(code="judges-averaged", severity="note", about="claim", message=message)


def _read(scores: Scores, column: str, option: str) -> Floats:
    """Return a column as numbers, NaN where a cell is empty."""
    known: dict[str, Any] = {**scores.others, **scores.properties, **scores.facets}
    if column in scores.roles.columns() and column not in known:
        raise ScoresError(f"{option} {column}: this column holds the {scores.roles.columns()[column]}: give another")
    if column not in known:
        raise ColumnError.not_found(column, (*scores.roles.columns(), *known), where=scores.source)
    values = known[column]
    if isinstance(values, Numbers):
        return np.where(np.isfinite(values.values), values.values, np.nan)
    assert isinstance(values, Labels)
    numbers = [parse_number(name) for name in values.names]
    words = [name for name, number in zip(values.names, numbers, strict=True) if number is None]
    if words:
        raise ScoresError(
            f"{option} {column}: it holds {words[0]!r}, and numbers are needed; leave cells without empty"
        )
    return np.array([*(float(number or 0.0) for number in numbers), np.nan])[values.codes]


def _means(values: Floats, place: NDArray[np.integer], count: int) -> Floats:
    """Return the mean of the values at each place, NaN where there are none."""
    some = ~np.isnan(values)
    total = np.bincount(place[some], values[some], count)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / np.bincount(place[some], minlength=count))
