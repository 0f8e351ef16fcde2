"""The full tables of a reproduction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from holdsup.rendering import Cell, Estimate, Interval, Percent, Table
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.rendering.text import render_text
from holdsup.verdict.phrases import join_names, say_level
from holdsup.verdict.reproduction.records import (
    Assessment,
    ConditionModel,
    ConditionRow,
    ConditionSpread,
    Part,
    show_condition,
)

PRINTED = 0.01  # CV* is shown with three decimals, as the paper prints it
# Rows that are shown; all of them are in the JSON.
MOST_SHOWN = 6  # of a short table
MOST_SPREAD = 10
MOST_GROUPS = 8
MOST_ROWS = 40
MOST_NAMED = 3
FEW = 5  # values of a condition, below which its variance is barely known


def tabulate_precision(assessments: Sequence[Assessment], level: float) -> Iterator[Table]:
    """Yield the precision as published, and the exact intervals."""
    ci = f"{say_level(level)} CI"
    yield Table(
        name="assessments",
        title="Precision as published",
        columns=("object", "measurand", "n", "mean", "SD", f"{ci} of the SD", "CV*"),
        rows=tuple(
            (a.object, a.measurand, a.n, a.mean, a.sd, Interval(a.sd_low, a.sd_high, drawn=False), show_cv(a.cv))
            for a in assessments
        ),
        notes=(
            "Values are shifted so that their scale starts at zero. SD is unbiased (s*), its CI by Student's t. CV* is "
            "in percent of the mean.",
        ),
    )
    placed = any(a.of is not None for a in assessments)
    yield Table(
        name="assessments",
        title="Precision, exact for normal values",
        columns=(
            *("object", "measurand", "SD/mean", f"{ci}, %", f"{ci} of the SD", "next value"),
            *(["closer than"] if placed else []),
        ),
        rows=tuple(
            (
                a.object,
                a.measurand,
                Percent(a.cv_plain),
                show_cv_interval(a),
                Interval(a.sd_low_chi2, a.sd_high_chi2, drawn=False),
                Interval(a.next_low, a.next_high, drawn=False),
                *([f"{a.more_reproducible_than} of {a.of}"] if placed else []),
            )
            for a in assessments
        ),
        notes=(
            "SD/mean is corrected for small samples once, CV* twice. CIs by noncentral t and chi-square. Next value: "
            f"{say_level(level)} prediction interval of the next measurement.",
            *(["Closer than: how many results of Belz et al. (2022) have a larger CV*."] if placed else []),
        ),
    )


def tabulate_closeness(assessments: Sequence[Assessment], level: float, *, most: int) -> Table:
    """Return the smallest and the largest CV* of many, for a short answer."""
    half = most // 2
    shown = assessments if len(assessments) <= most else (*assessments[:half], *assessments[-half:])
    left = len(assessments) - len(shown)
    placed = any(a.of is not None for a in assessments)
    return Table(
        name="assessments",
        title="How closely results were reproduced",
        columns=(
            "object", "measurand", "n", "CV*", f"{say_level(level)} CI, %", *(["closer than"] if placed else []),
        ),
        rows=tuple(
            (a.object, a.measurand, a.n, show_cv(a.cv), show_cv_interval(a),
             *([f"{a.more_reproducible_than} of {a.of}"] if placed else []))
            for a in shown
        ),
        notes=(f"The {half} smallest and {half} largest CV*; {left:,} more: --full",) if left else (),
    )  # fmt: skip


def show_cv(cv: float | None) -> Estimate:
    """Return CV* as a cell."""
    return Estimate(cv, PRINTED)


def show_cv_interval(a: Assessment) -> Cell:
    """Return the exact CI of CV* as a cell; it has no upper end where the mean could as well be zero."""
    if math.isfinite(a.cv_high):
        return Interval(a.cv_low, a.cv_high, drawn=False)
    return f"above {format_number(a.cv_low, uncertainty=a.cv_low)}"


def tabulate_conditions(parts: Sequence[Part]) -> Iterator[Table]:
    """Yield a table for each matrix that occurs; of several assessments, only those in which something differs."""
    matrices: dict[tuple[object, ...], list[Part]] = {}
    for part in parts:
        rows = part.conditions
        if rows and (len(parts) == 1 or not all(row.agrees for row in rows)):
            labels = tuple(m.label for m in part.measurements)
            matrices.setdefault((labels, *((row.condition, row.values) for row in rows)), []).append(part)
    for several in matrices.values():
        yield tabulate_matrix(several)


def tabulate_matrix(several: Sequence[Part]) -> Table:
    """Return the matrix of assessments that have the same one: a row a measurement, a column a condition that differs.

    The values are in it if there is one assessment.
    """
    first = several[0]
    rows, measured = first.conditions, first.measurements
    shown = [row for row in rows if not row.agrees]
    known = {row.condition for row in rows}
    same = _agreeing(rows)
    unreported = ", ".join(show_condition(name) for name in first.assessment.not_reported if name not in known)
    one = len(several) == 1
    left = len(measured) - MOST_ROWS
    names = [f"{part.assessment.object} ({part.assessment.measurand})" for part in several]
    return Table(
        name="conditions",
        title=f"Conditions of measurement: {join_names(names, most=MOST_NAMED)}",
        columns=("measurement", *(["value"] if one else []), *(show_condition(row.condition) for row in shown)),
        rows=tuple(
            (m.label, *([m.value] if one else []), *(row.values[i] for row in shown))
            for i, m in enumerate(measured[:MOST_ROWS])
        ),
        notes=(
            *([f"{format_counted(left, 'more measurement')} in the JSON."] if left > 0 else []),
            *([f"The same in all: {same}"] if same else []),
            *([f"Not reported: {unreported}"] if unreported else []),
        ),
    )


def _agreeing(rows: Sequence[ConditionRow]) -> str:
    """Return the conditions that agree, those with the same value together."""
    by_value: dict[str | None, list[str]] = {}
    for row in rows:
        if row.agrees:
            by_value.setdefault(row.values[0], []).append(show_condition(row.condition))
    return "; ".join(f"{', '.join(names)}: {value}" for value, names in by_value.items())


def tabulate_spread(spread: Sequence[ConditionSpread], *, each: bool) -> Iterator[Table]:
    """Yield how much conditions explain: `each` division, or the first condition alone of every assessment."""
    if not spread:
        return
    rows = spread[:MOST_SPREAD] if each else _first_alone(spread)
    left = len(spread) - len(rows)
    yield Table(
        name="spread",
        title="What explains the spread: CV* of measurements that agree in a condition",
        columns=(
            *(() if each else ("object", "measurand")),
            *("agree in", "CV* of each group (n)", "within, %", "explained", "by chance"),
        ),
        rows=tuple(
            (
                *(() if each else (s.object, s.measurand)),
                " = ".join([" + ".join(map(show_condition, s.conditions)), *map(show_condition, s.same_groups)]),
                _groups(s),
                s.cv_within,
                Percent(max(0.0, s.explained)),
                Percent(100 * s.chance),
            )
            for s in rows
        ),
        notes=(
            "Within: SD within groups, in percent of the mean. Explained: share of the variance between groups, "
            "adjusted for their number. By chance: share of random groups of these sizes that explain as much.",
            "Conditions joined by = change together, so they can't be told apart. The first of many groupings is "
            "partly luck.",
            *([f"{format_counted(left, 'more grouping')} in the JSON."] if left else []),
        ),
    )


def _first_alone(spread: Sequence[ConditionSpread]) -> tuple[ConditionSpread, ...]:
    """Return the condition that explains most, of every assessment; pairs explain more because they divide more."""
    alone = [row for row in spread if len(row.conditions) == 1]
    first = {(row.object, row.measurand): row for row in reversed(alone)}
    return tuple(row for row in alone if row is first[row.object, row.measurand])


def _groups(row: ConditionSpread) -> str:
    """Return the groups with a spread, and how many measurements are alone in theirs."""
    shown = [f"{' + '.join(g.values)}: {show_cv(g.cv)} ({g.n})" for g in row.groups if g.cv is not None]
    alone, more = sum(g.n == 1 for g in row.groups), len(shown) - MOST_GROUPS
    tail = [*([format_counted(more, "more group")] if more > 0 else []), *([f"{alone} alone"] if alone else [])]
    return "; ".join([*shown[:MOST_GROUPS], *tail])


def tabulate_model(model: ConditionModel, level: float) -> Table:
    """Return the variances of a mixed model over conditions."""
    few = [show_condition(c.condition) for c in model.components if c.condition != "Residual" and c.levels < FEW]
    return Table(
        name="models",
        title=f"{model.measurand}: mixed model of {model.n} measurements of {format_counted(model.objects, 'object')}",
        columns=("condition", "values", "SD, % of the mean", "share", f"{say_level(level)} CI of the SD"),
        rows=tuple(
            (show_condition(c.condition), c.levels, c.cv, Percent(c.percent), Interval(c.low, c.high, drawn=False))
            for c in model.components
        ),
        notes=(
            f"{model.formula} (REML), values in percent of the mean of their object. CI by {model.method}.",
            *([f"{join_names(few)}: so few values say little about a variance."] if few else []),
        ),
    )


def cut_table(table: Table, most: int, *, width: int = 80) -> Table:
    """Return the first rows of a table, and as many columns as fit without a line break, for a short answer."""
    left = len(table.rows) - most
    notes = (f"{left:,} more: --full",) if left > 0 else ()
    for count in range(len(table.columns), 1, -1):
        rows = tuple(row[:count] for row in table.rows[:most])
        cut = replace(table, columns=table.columns[:count], rows=rows, notes=notes)
        if len(render_text(cut, width=width, compact=True).splitlines()) == 1 + len(rows) + len(notes):
            break
    return cut
