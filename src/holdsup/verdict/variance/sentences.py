"""What a decomposition says in words, by rule from its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from holdsup.rendering.numbers import format_interval, format_number, format_percent
from holdsup.verdict.phrases import join_names
from holdsup.verdict.variance.records import Reliability, VarianceComponent

__all__ = ["list_objects", "name_of", "write_variance_verdict"]

OBJECTS = ("item", "cluster", "dataset")  # what is measured, items first

ABOVE = {"yes": "and above", "no": "and below", "unsure": "and cannot be told to lie above or below"}


def write_variance_verdict(
    components: Sequence[VarianceComponent], reliabilities: Sequence[Reliability], *, level: float
) -> str:
    """Return the sentence that stands above the tables: claim, evidence, how sure, what is not covered."""
    owners = list(dict.fromkeys((c.system, c.metric) for c in components))
    known = {(r.system, r.metric): r for r in reliabilities}
    said = []
    for owner in owners[:3]:
        own = [c for c in components if (c.system, c.metric) == owner]
        said.append(_about(own, known.get(owner), level))
    more = f" {len(owners) - 3} more {'is' if len(owners) == 4 else 'are'} in the tables." if len(owners) > 3 else ""
    inside = "".join(f" of a new {name}" for name in list_objects(components)[1:])
    covers = f"a single score of a new item{inside} in a new run, its facets drawn anew"
    covers = covers if reliabilities else "runs like these"
    return f"{' '.join(said)}{more} This is about {covers}; nothing is said about which system is better."


def list_objects(components: Sequence[VarianceComponent]) -> list[str]:
    """Return which of the components are what is measured, the items first."""
    names = dict.fromkeys(c.name for c in components)
    return [name for name in OBJECTS if name in names]


def name_of(system: str, metric: str | None) -> str:
    """Return the name of a system, with the metric where there are several."""
    return system if metric is None else f"{system} ({metric})"


def _about(own: Sequence[VarianceComponent], reliability: Reliability | None, level: float) -> str:
    name = name_of(own[0].system, own[0].metric)
    objects = list_objects(own) if reliability else []
    besides = join_names([*(f"{name}s" for name in objects), "the residual"])
    blame = _blame([c for c in own if c.name not in (*objects, "Residual")], besides)
    if reliability is None:
        return f"{name}: {blame} There are no items, so there is no reliability coefficient."
    limits = format_interval(reliability.low, reliability.high)
    return (
        f"{name}: reliability is {reliability.band}, phi = {format_number(reliability.phi, uncertainty=0.01)} "
        f"({level:.0%} limits {limits}), {ABOVE[reliability.above_80]} .80. {blame}"
    )


def _blame(facets: Sequence[VarianceComponent], besides: str) -> str:
    """Return which facet or interaction matters most."""
    if not facets:
        return "No facet has two levels, so that only chance stands beside the items."
    most = max(facets, key=lambda c: c.percent)
    if most.percent == 0:
        return "No facet adds any variance that can be seen."
    return f"Besides {besides}, {most.name} has the largest share ({format_percent(most.percent)})."
