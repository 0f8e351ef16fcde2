"""`Reproduction`: the answer of `assess_reproduction`, and its tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from holdsup.rendering import Estimate, Interval, Percent, Table
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.rendering.table import Cell
from holdsup.results import Result
from holdsup.verdict.reproduction.matrix_tables import tabulate_conditions
from holdsup.verdict.reproduction.parts import split_result
from holdsup.verdict.reproduction.records import (
    Assessment,
    ConditionModel,
    ConditionRow,
    ConditionSpread,
    MeasuredValue,
    MeasurementPair,
)
from holdsup.verdict.reproduction.sentences import show_condition, show_conditions

__all__ = ["Reproduction", "tabulate_pairs", "tabulate_precision", "tabulate_spread"]

PRINTED = 0.01  # CV* is shown with three decimals, as the paper prints it
MOST_PAIRS = 36  # shown; all of them are in the JSON
MOST_SPREAD = 10
MOST_GROUPS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction(Result):
    """How closely repeated measurements agree, under which conditions.

    Attributes
    ----------
    level : coverage of the limits
    assessments : the precision of each measurand of each object, the smallest CV* first
    measurements : the measurements that were assessed, in the order of the assessments
    conditions : the conditions matrix: a row for each condition that is reported, in the order of the assessments
    pairs : how similar the conditions of each pair of measurements are
    spread : how much of the spread goes with each condition and each pair of conditions, the most first
    models : mixed models over conditions, for measurands with enough measurements
    reference : CV* of the paper's results, the smallest first; empty if not asked for
    """

    kind: ClassVar[str] = "qra"

    level: float
    assessments: tuple[Assessment, ...]
    measurements: tuple[MeasuredValue, ...]
    conditions: tuple[ConditionRow, ...]
    pairs: tuple[MeasurementPair, ...]
    spread: tuple[ConditionSpread, ...]
    models: tuple[ConditionModel, ...]
    reference: tuple[float, ...]

    def tables(self) -> tuple[Table, ...]:
        """Return precision, conditions and what goes with the spread; pairs of measurements if there is one object."""
        one = len(self.assessments) == 1
        return (
            *tabulate_precision(self.assessments, self.level),
            *tabulate_conditions(split_result(self)),
            *tabulate_spread(self.spread, each=one),
            *(tabulate_pairs(self.pairs) if one else ()),
            *(_model(model, self.level) for model in self.models),
        )


def tabulate_precision(assessments: tuple[Assessment, ...], level: float) -> Iterator[Table]:
    """Yield the precision as published, and what stands beside it."""
    yield Table(
        title=f"Precision as published, {level:.0%} limits of the standard deviation by Student's t",
        columns=("object", "measurand", "n", "mean", "stdev", "limits", "CV*"),
        rows=tuple(
            (a.object, a.measurand, a.n, a.mean, a.sd, Interval(a.sd_low, a.sd_high, drawn=False), _cv(a.cv))
            for a in assessments
        ),
        notes=(
            "Values are shifted to a scale that starts at zero; stdev is unbiased (s*); CV* in percent of the mean.",
        ),
    )
    placed = any(a.of is not None for a in assessments)
    yield Table(
        title=f"Beside it: corrected once, with exact limits for normal values, {level:.0%}",
        columns=(
            *("object", "measurand", "stdev/mean", "limits, %", "limits of stdev", "next value"),
            *(["better than"] if placed else []),
        ),
        rows=tuple(
            (
                a.object,
                a.measurand,
                Percent(a.cv_plain),
                _percent_limits(a),
                Interval(a.sd_low_chi2, a.sd_high_chi2, drawn=False),
                Interval(a.next_low, a.next_high, drawn=False),
                *([f"{a.more_reproducible_than} of {a.of}"] if placed else []),
            )
            for a in assessments
        ),
        notes=(
            "limits: stdev/mean by noncentral t, stdev by chi-square. next value: limits of the next measurement.",
            *(["better than: results of Belz et al. (2022) with a larger CV*."] if placed else []),
        ),
    )
    if any(a.measures for a in assessments):
        yield _measures(assessments)


def _measures(assessments: tuple[Assessment, ...]) -> Table:
    return Table(
        title="Other measures of precision",
        columns=("object", "measurand", "n", "s", "s/mean", "within 1 s", "within 2 s"),
        rows=tuple(
            (a.object, a.measurand, a.n, m.s, Percent(m.cv), Percent(m.within_1), Percent(m.within_2))
            for a in assessments
            if (m := a.measures) is not None
        ),
        notes=("s: divisor n - 1, uncorrected. Up to n = 5 all values lie within 2 s, whatever they are.",),
    )


def tabulate_spread(spread: tuple[ConditionSpread, ...], *, each: bool) -> Iterator[Table]:
    """Yield how much conditions explain: `each` division, or the first condition alone of every assessment."""
    if not spread:
        return
    rows = spread[:MOST_SPREAD] if each else _first_alone(spread)
    left = len(spread) - len(rows)
    yield Table(
        title="What goes with the spread: CV* among measurements that agree in a condition",
        columns=(
            *(() if each else ("object", "measurand")),
            *("agree in", "CV* of each group (n)", "within, %", "explained", "chance"),
        ),
        rows=tuple(
            (
                *(() if each else (s.object, s.measurand)),
                _agree_in(s),
                _groups(s),
                s.cv_within,
                Percent(max(0.0, s.explained)),
                Percent(100 * s.chance),
            )
            for s in rows
        ),
        notes=(
            "within: standard deviation within groups over the mean. explained: share of the variance between groups, "
            "adjusted for their number. chance: random divisions into such groups that explain as much. "
            "Conditions joined by = divide alike and cannot be told apart. Many divisions are tried: the first is "
            "first partly by chance.",
            *([f"In the JSON only: {format_counted(left, 'division')}."] if left else []),
        ),
    )


def _agree_in(row: ConditionSpread) -> str:
    first = " + ".join(map(show_condition, row.conditions))
    return " = ".join([first, *(show_condition(other) for other in row.same_groups)])


def _first_alone(spread: tuple[ConditionSpread, ...]) -> tuple[ConditionSpread, ...]:
    """Return the condition that explains most, of every assessment; pairs explain more because they divide more."""
    alone = [row for row in spread if len(row.conditions) == 1]
    first = {(row.object, row.measurand): row for row in reversed(alone)}
    return tuple(row for row in alone if row is first[row.object, row.measurand])


def _groups(row: ConditionSpread) -> str:
    """Return the groups with a spread, and how many measurements stand alone."""
    shown = [f"{' + '.join(g.values)}: {_cv(g.cv)} ({g.n})" for g in row.groups if g.cv is not None]
    alone, more = sum(g.n == 1 for g in row.groups), len(shown) - MOST_GROUPS
    tail = [*([format_counted(more, "more group")] if more > 0 else []), *([f"{alone} alone"] if alone else [])]
    return "; ".join([*shown[:MOST_GROUPS], *tail])


def tabulate_pairs(pairs: tuple[MeasurementPair, ...]) -> Iterator[Table]:
    """Yield how similar the conditions of pairs of measurements are, the most similar first."""
    if not 0 < len(pairs) <= MOST_PAIRS:
        return
    yield Table(
        title="Pairs of measurements",
        columns=("", " ", "conditions that agree", "difference", "% of their mean"),
        rows=tuple(
            (p.left, p.right, f"{p.agree} of {p.of}", p.difference, p.percent)
            for p in sorted(pairs, key=lambda p: -p.similarity)
        ),
    )


def _model(model: ConditionModel, level: float) -> Table:
    objects = format_counted(model.objects, "object")
    few = [c.condition for c in model.components if c.condition != "Residual" and c.levels < 5]
    return Table(
        title=f"{model.measurand}: mixed model of {model.n} measurements of {objects} over conditions",
        columns=("condition", "values", "stdev, % of the mean", "share", f"{level:.0%} limits of the stdev"),
        rows=tuple(
            (show_condition(c.condition), c.levels, c.cv, Percent(c.percent), Interval(c.low, c.high, drawn=False))
            for c in model.components
        ),
        notes=(
            f"{model.formula} (REML), values in percent of the mean of their object. Limits by {model.method}.",
            *([f"{show_conditions(few)}: a variance of so few values is barely known."] if few else []),
        ),
    )


def _percent_limits(a: Assessment) -> Cell:
    if math.isfinite(a.cv_high):
        return Interval(a.cv_low, a.cv_high, drawn=False)
    return f"above {format_number(a.cv_low, uncertainty=a.cv_low)}"  # the mean could as well be zero


def _cv(cv: float) -> Cell:
    return Estimate(cv, PRINTED)
