"""`Decomposition`: the answer of `decompose_variance`, and its tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from holdsup.rendering import Answer, Cell, Interval, Percent, PValue, Table
from holdsup.rendering.numbers import format_number
from holdsup.results import Method
from holdsup.verdict.items import tabulate_dead, tabulate_notable
from holdsup.verdict.phrases import join_names, say_level, say_threshold
from holdsup.verdict.variance.records import (
    PAPER,
    DecompositionNumbers,
    FacetByProperty,
    Reliability,
    StudyPlan,
    VarianceComponent,
    name_of,
)
from holdsup.verdict.variance.reliability import reaches
from holdsup.verdict.variance.words import describe_method, write_answer

UNMEASURED = "Nothing is detectable where runs are too few to measure their spread (one df or less)."


@dataclass(frozen=True, slots=True, kw_only=True)
class Decomposition(DecompositionNumbers):
    """The variance of each system's scores, decomposed."""

    def answer(self) -> Answer:
        """Return whether a single score is reliable, and where the variance comes from."""
        return write_answer(self)

    def tables(self) -> tuple[Table, ...]:
        """Return the components, reliability, and what was planned from them."""
        return (
            _tabulate_components(self),
            *_tabulate_reliability(self),
            *_tabulate_latent(self),
            *tabulate_dead(self.dead),
            *tabulate_notable(self.items),
            *_tabulate_study(self),
            *_tabulate_properties(self),
            *_tabulate_lines(self),
            *_tabulate_differences(self),
        )

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        return describe_method(self)


def _name(row: VarianceComponent | Reliability | StudyPlan | FacetByProperty) -> str:
    return name_of(row.system, row.metric)


def _tabulate_components(found: DecompositionNumbers) -> Table:
    """Return where the variance of each system's scores comes from."""
    methods = ", ".join(dict.fromkeys(c.method for c in found.components))
    models = dict.fromkeys(s.model for s in found.systems)
    return Table(
        name="components",
        title="Where the variance comes from",
        columns=("system", "source", "levels", "variance", "share", f"{say_level(found.level)} CI of the variance"),
        rows=tuple(
            (_name(c), c.name, c.levels, c.variance, Percent(c.percent), Interval(c.low, c.high, drawn=False))
            for c in found.components
        ),
        notes=(*(f"Model: {model} (REML)" for model in models), f"CI by {methods}."),
    )


def _tabulate_reliability(found: DecompositionNumbers) -> Iterator[Table]:
    """Yield how reliable a single score of each system is, where there are items."""
    if not found.reliabilities:
        return
    around = [f"{name}s" for name in found.list_objects()[1:]]
    included = f", including the variance between their {' and '.join(around)}" if around else ""
    yield Table(
        name="reliabilities",
        title="Reliability of a single score",
        columns=(
            "system",
            "phi",
            f"{say_level(found.level)} CI",
            "band",
            f"above {say_threshold(found.threshold)}",
        ),
        rows=tuple(
            (_name(r), r.phi, Interval(r.low, r.high, drawn=False), r.band, reaches(r.low, r.high, found.threshold))
            for r in found.reliabilities
        ),
        notes=(
            f"phi: the share of the variance that is between items{included}. Bands by Koo and Li, for the whole CI.",
        ),
    )


def _tabulate_latent(found: DecompositionNumbers) -> Iterator[Table]:
    """Yield the components of right and wrong on the scale of log-odds."""
    if found.latent:
        yield Table(
            name="latent",
            title="Right and wrong on the scale of log-odds",
            columns=("system", "phi", "SD in logits"),
            rows=tuple(
                (name_of(e.system, e.metric), e.phi, ", ".join(f"{n} {format_number(sd)}" for n, sd in e.sd.items()))
                for e in found.latent
            ),
            notes=("phi: the noise of this scale is fixed at pi^2/3, whatever the accuracy.",),
        )


def _tabulate_study(found: DecompositionNumbers) -> Iterator[Table]:
    """Yield what averages over other numbers of levels would give."""
    if not found.study:
        return
    most = max(plan.repeats for plan in found.study)
    repeats = f"An item keeps its {format_number(most)} scores (at most, on average) at each combination of levels."
    objects = join_names([f"{name}s" for name in found.list_objects()])
    yield Table(
        name="study",
        title="Decision study: scores averaged over other numbers of levels",
        columns=("system", "average over", "phi", "SE of an item", "SE of the mean"),
        rows=tuple((_name(plan), _say_levels(plan), plan.phi, plan.se, plan.se_mean) for plan in found.study),
        notes=(
            f"phi does not depend on the number of items. The SE of the mean is for the {objects} in this table.",
            *([repeats] if most > 1 else []),
        ),
    )


def _say_levels(plan: StudyPlan) -> str:
    """Return what is averaged over, in words."""
    several = [f"{count} levels of {facet}" for facet, count in plan.counts.items() if count > 1]
    return f"{'now: ' if plan.current else ''}{', '.join(several) or 'one of each'}"


def _tabulate_properties(found: DecompositionNumbers) -> Iterator[Table]:
    """Yield how the effects of facets change with properties of the items."""
    if found.properties:
        heads = (
            "system",
            "facet",
            "property",
            "variance of the interaction",
            "share",
            "mean slope",
            "p",
            "p published",
        )
        yield Table(
            name="properties",
            title="Does the effect of a facet depend on a property of the items?",
            columns=heads,
            rows=tuple(
                (_name(f), f.facet, f.property, f.variance, Percent(f.percent), f.slope, PValue(f.p),
                 None if f.paper is None else PValue(f.paper.p))
                for f in found.properties
            ),
            notes=(
                "p: likelihood ratio of the interaction, mixture of chi-squares.",
                f"p published: {PAPER}, section 4. It counts runs on one item as independent, and is too small with "
                "several runs per level.",
            ),
        )  # fmt: skip


def _tabulate_lines(found: DecompositionNumbers) -> Iterator[Table]:
    """Yield the predicted scores of the levels of each facet whose effect depends on a property."""
    for f in found.properties:
        if f.p > 1 - found.level:  # lines that can't be told apart are in the JSON
            continue
        yield Table(
            name="points",
            title=f"{_name(f)}: predicted score by {f.facet} and {f.property}",
            columns=(f.facet, f.property, "score", f"{say_level(found.level)} CI"),
            rows=tuple((p.level, p.value, p.mean, Interval(p.low, p.high, p.mean)) for p in f.points),
            notes=("CI: how far a level is from the average of the levels.",),
        )


def _tabulate_differences(found: DecompositionNumbers) -> Iterator[Table]:
    """Yield what other numbers of items, runs and settings would tell about differences of systems."""
    if not found.differences:
        return
    settled = any(d.claim == "new-settings" for d in found.differences)
    rows: list[tuple[Cell, ...]] = [
        (name_of(f"{d.left} - {d.right}", d.metric), d.claim, d.items, _both(d.left_runs, d.right_runs),
         _both(d.left_settings, d.right_settings), d.se, d.detectable if math.isfinite(d.detectable) else None,
         "now" if d.current else "")
        for d in found.differences
    ]  # fmt: skip
    yield Table(
        name="differences",
        title="The difference of two systems with more items, runs or settings",
        columns=("", "claim", "items", "runs", "settings", "SE", "detectable", " "),
        rows=tuple(rows),
        notes=(
            "Detectable: with 80% power by the two-sided test of compare at 5%.",
            *(["More settings: more levels of each facet."] if settled else []),
            *([UNMEASURED] if not all(math.isfinite(d.detectable) for d in found.differences) else []),
            *found.next,
        ),
    )


def _both(left: int, right: int) -> str:
    return f"{left:,} each" if left == right else f"{left:,} and {right:,}"
