"""The tables of a decomposition."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from holdsup.rendering import Cell, Interval, Percent, PValue, Table
from holdsup.rendering.numbers import format_number
from holdsup.verdict.phrases import join_names, say_level
from holdsup.verdict.variance.records import (
    PAPER,
    DifferencePlan,
    FacetByProperty,
    Reliability,
    StudyPlan,
    SystemScores,
    VarianceComponent,
    list_objects,
    name_of,
)

__all__ = [
    "tabulate_components", "tabulate_differences", "tabulate_lines", "tabulate_properties", "tabulate_reliability",
    "tabulate_study",
]  # fmt: skip

UNMEASURED = "Nothing is detectable where runs are too few to measure their spread (one df or less)."


def _whose(row: VarianceComponent | Reliability | StudyPlan | FacetByProperty, several: bool) -> tuple[str | None, ...]:
    return (row.system, row.metric) if several else (row.system,)


def _heads(several: bool) -> tuple[str, ...]:
    return ("system", "metric") if several else ("system",)


def tabulate_components(
    components: Sequence[VarianceComponent], systems: Sequence[SystemScores], *, level: float, several: bool
) -> Table:
    """Return where the variance of each system's scores comes from."""
    methods = ", ".join(dict.fromkeys(c.method for c in components))
    models = dict.fromkeys(s.model for s in systems)
    return Table(
        name="components",
        title="Where the variance comes from",
        columns=(*_heads(several), "source", "levels", "variance", "share", f"{say_level(level)} CI of the variance"),
        rows=tuple(
            (
                *_whose(c, several),
                c.name,
                c.levels,
                c.variance,
                Percent(c.percent),
                Interval(c.low, c.high, drawn=False),
            )
            for c in components
        ),
        notes=(*(f"Model: {model} (REML)" for model in models), f"CI by {methods}."),
    )


def tabulate_reliability(
    reliabilities: Sequence[Reliability], components: Sequence[VarianceComponent], *, level: float, several: bool
) -> Iterator[Table]:
    """Yield how reliable a single score of each system is, where there are items."""
    if not reliabilities:
        return
    around = [f"{name}s" for name in list_objects(components)[1:]]
    included = f", including the variance between their {' and '.join(around)}" if around else ""
    yield Table(
        name="reliabilities",
        title="Reliability of a single score",
        columns=(*_heads(several), "phi", f"{say_level(level)} CI", "band", "above .80"),
        rows=tuple(
            (*_whose(r, several), r.phi, Interval(r.low, r.high, drawn=False), r.band, r.above_80)
            for r in reliabilities
        ),
        notes=(
            f"phi: the share of the variance that is between items{included}. Bands by Koo and Li, for the whole CI.",
        ),
    )


def tabulate_study(
    study: Sequence[StudyPlan], components: Sequence[VarianceComponent], *, several: bool
) -> Iterator[Table]:
    """Yield what averages over other numbers of levels would give."""
    if not study:
        return
    most = max(plan.repeats for plan in study)
    repeats = (
        f"Each item keeps its scores at each combination of levels (up to {format_number(most)} on average); they are "
        "averaged, too."
    )
    yield Table(
        name="study",
        title="Decision study: scores averaged over other numbers of levels",
        columns=(*_heads(several), "average over", "phi", "SE of an item", "SE of the mean"),
        rows=tuple((*_whose(plan, several), _levels(plan), plan.phi, plan.se, plan.se_mean) for plan in study),
        notes=(
            "phi does not depend on the number of items. The SE of the mean is for the "
            f"{join_names([f'{name}s' for name in list_objects(components)])} in this table.",
            *([repeats] if most > 1 else []),
        ),
    )


def _levels(plan: StudyPlan) -> str:
    """Return what is averaged over, in words."""
    if plan.current:
        return f"now: {', '.join(f'{count} {facet}' for facet, count in plan.counts.items())}"
    return ", ".join(f"{count} {facet}" for facet, count in plan.counts.items() if count > 1) or "one of each"


def tabulate_properties(properties: Sequence[FacetByProperty], *, several: bool) -> Iterator[Table]:
    """Yield how the effects of facets change with properties of the items."""
    if properties:
        yield Table(
            name="properties",
            title="Does the effect of a facet depend on a property of the items?",
            columns=(
                *_heads(several), "facet", "property", "variance of the interaction", "share", "mean slope", "p",
                "p published",
            ),
            rows=tuple(
                (*_whose(f, several), f.facet, f.property, f.variance, Percent(f.percent), f.slope, PValue(f.p),
                 None if f.paper is None else PValue(f.paper.p))
                for f in properties
            ),
            notes=(
                "p: likelihood ratio of the interaction, mixture of chi-squares.",
                f"p published: {PAPER}, section 4. It counts runs on one item as independent, and is too small with "
                "several runs a level.",
            ),
        )  # fmt: skip


def tabulate_lines(properties: Sequence[FacetByProperty], *, level: float) -> Iterator[Table]:
    """Yield the predicted scores of the levels of each facet whose effect depends on a property."""
    for f in properties:
        if f.p > 1 - level:  # lines that can't be told apart are in the JSON
            continue
        yield Table(
            name="points",
            title=f"{name_of(f.system, f.metric)}: predicted score by {f.facet} and {f.property}",
            columns=(f.facet, f.property, "score", f"{say_level(level)} CI"),
            rows=tuple((p.level, p.value, p.mean, Interval(p.low, p.high, p.mean)) for p in f.points),
            notes=("CI: how far a level is from the average of the levels.",),
        )


def tabulate_differences(
    differences: Sequence[DifferencePlan], advice: Sequence[str], *, several: bool
) -> Iterator[Table]:
    """Yield what other numbers of items, runs and settings would tell about differences of systems."""
    if not differences:
        return
    settled = any(d.claim == "new-settings" for d in differences)
    notes = [
        "Detectable: with 80% power by the two-sided test of compare at 5%.",
        *(["More settings: more levels of each facet."] if settled else []),
        *([UNMEASURED] if not all(math.isfinite(d.detectable) for d in differences) else []),
        *advice,
    ]
    rows: list[tuple[Cell, ...]] = [
        (f"{d.left} - {d.right}", *([d.metric] if several else []), d.claim, d.items,
         _both(d.left_runs, d.right_runs), _both(d.left_settings, d.right_settings), d.se,
         d.detectable if math.isfinite(d.detectable) else None, "now" if d.current else "")
        for d in differences
    ]  # fmt: skip
    yield Table(
        name="differences",
        title="The difference of two systems with more items, runs or settings",
        columns=("", *(["metric"] if several else []), "claim", "items", "runs", "settings", "SE", "detectable", " "),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _both(left: int, right: int) -> str:
    return f"{left:,} each" if left == right else f"{left:,} and {right:,}"
