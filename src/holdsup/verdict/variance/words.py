"""What a decomposition says in words, made from its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from holdsup.rendering import Answer, Cell, Interval, Percent, State, Table
from holdsup.rendering.numbers import format_interval, format_number
from holdsup.results import Asked, Caution, Method, write_caveats
from holdsup.verdict.phrases import join_names, name_items, say_level
from holdsup.verdict.variance.records import (
    Reliability,
    StudyPlan,
    SystemScores,
    VarianceComponent,
    list_objects,
    name_of,
)

__all__ = ["describe_method", "find_state", "write_answer"]

MOST_SYSTEMS = 10  # rows of the short answer
MOST_SOURCES = 4  # columns of shares; of more, the largest
NOISE = "noise"  # the residual, in a word


def write_answer(
    components: Sequence[VarianceComponent],
    reliabilities: Sequence[Reliability],
    study: Sequence[StudyPlan],
    cautions: Sequence[Caution],
    *,
    asked: Asked,
    level: float,
    threshold: float,
    signature: str,
) -> Answer:
    """Return whether a single score is reliable, and where the variance comes from."""
    column = asked.roles.get("item")
    items = name_items(column if isinstance(column, str) else None, "items" if column else "datasets")
    known = f" (phi at least {_threshold(threshold)})"
    inside = "".join(f" of new {name}s" for name in list_objects(components)[1:])
    covers = f"single scores of new {items}{inside} like these in new runs; not which system is better"
    return Answer(
        question=f"Is one score of this evaluation reliable{known}?"
        if reliabilities
        else "Where does the variance come from?",
        state=find_state(reliabilities, threshold) if reliabilities else None,
        headline=_headline(components, reliabilities, items, level=level, threshold=threshold),
        parts=(_shares(components, reliabilities, items, level=level),),
        foot=(
            ("holds for", covers if reliabilities else "runs like these; not which system is better"),
            *_settle(study, reliabilities, threshold),
            *write_caveats(cautions),
        ),
        more=("--full (CIs, decision study, plans)", "holdsup report", "--plot figure.svg"),
        signature=signature,
    )


def _threshold(threshold: float) -> str:
    return f"{threshold:.2f}".removeprefix("0")


def find_state(reliabilities: Sequence[Reliability], threshold: float) -> State:
    """Return yes if every system's interval is above the threshold, no if one is below it, else unclear."""
    if any(r.high < threshold for r in reliabilities):
        return "no"
    return "yes" if all(r.low >= threshold for r in reliabilities) else "unclear"


def _headline(
    components: Sequence[VarianceComponent],
    reliabilities: Sequence[Reliability],
    items: str,
    *,
    level: float,
    threshold: float,
) -> str:
    if not reliabilities:
        most = max(components, key=lambda c: c.percent)
        whose = name_of(most.system, most.metric)
        return (
            f"{most.percent:.0f}% of the variance of {whose}'s scores is {_source(most, items)}. "
            "Without items there is no reliability."
        )
    state = find_state(reliabilities, threshold)
    cut = _threshold(threshold)
    # The system that decides: the worst where the answer is yes or no, one that spans the threshold where it's unclear.
    spanning = [r for r in reliabilities if r.low < threshold <= r.high] if state == "unclear" else reliabilities
    worst = min(spanning, key=lambda r: r.high if state == "no" else r.low)
    whose = "" if len(reliabilities) == 1 else f" for {name_of(worst.system, worst.metric)}"
    interval = f"{say_level(level)} CI {format_interval(worst.low, worst.high)}"
    phi = f"phi is {format_number(worst.phi, uncertainty=0.1)}{whose} ({interval})"
    return {
        "yes": f"Single scores mostly tell {items} apart: {phi}, all above {cut}.",
        "no": f"Single scores say too little about their {items}: {phi}, below {cut}.",
        "unclear": f"Too uncertain to tell whether single scores reach {cut}: {phi}.",
    }[state]


def _source(c: VarianceComponent, items: str) -> str:
    """Return a source of variance as the end of a sentence."""
    if c.name == "Residual":
        return NOISE
    if c.name == "item":
        return f"between {items}"
    return f"between {c.name}s" if c.name in ("cluster", "dataset") else f"due to {c.name}"


def _shares(
    components: Sequence[VarianceComponent], reliabilities: Sequence[Reliability], items: str, *, level: float
) -> Table:
    """Return the sources of one system's variance, or the shares of several systems side by side."""
    owners = list(dict.fromkeys((c.system, c.metric) for c in components))
    if len(owners) == 1:
        return Table(
            name="components",
            title=f"Where the variance of {name_of(*owners[0])}'s scores comes from",
            columns=("source", "levels", "share", "variance", f"{say_level(level)} CI"),
            rows=tuple(
                (_name_source(c.name, items), None if c.name == "Residual" else c.levels, Percent(c.percent),
                 c.variance, Interval(c.low, c.high, drawn=False))
                for c in components
            ),
        )  # fmt: skip
    known = {(r.system, r.metric): r for r in reliabilities}
    total = {
        name: sum(c.percent for c in components if c.name == name) for name in dict.fromkeys(c.name for c in components)
    }
    largest = sorted(total, key=lambda name: -total[name])[:MOST_SOURCES]
    shown = [name for name in total if name in largest]
    percent = {(c.system, c.metric, c.name): c.percent for c in components}
    rows: list[tuple[Cell, ...]] = []
    for owner in owners[:MOST_SYSTEMS]:
        r = known.get(owner)
        reliability: tuple[Cell, ...] = (
            (round(r.phi, 2), Interval(r.low, r.high, r.phi, written=False)) if r is not None else (None, None)
        )
        shares = (Percent(percent.get((*owner, name))) for name in shown)
        rows.append((name_of(*owner), *(reliability if known else ()), *shares))
    more = len(owners) - MOST_SYSTEMS
    return Table(
        name="components",
        title="Reliability, and where the variance comes from",
        columns=(
            "system",
            *(("phi", f" | {say_level(level)} CI | ") if known else ()),
            *(_name_source(name, items) for name in shown),
        ),
        rows=tuple(rows),
        notes=(f"{more} more: --full",) if more > 0 else (),
    )


def _name_source(name: str, items: str) -> str:
    return {"item": items, "Residual": NOISE}.get(name, name)


def _settle(
    study: Sequence[StudyPlan], reliabilities: Sequence[Reliability], threshold: float
) -> list[tuple[Literal["settle it"], str]]:
    """Return the cheapest average that would be reliable, for the least reliable system that has plans."""
    short = [r for r in reliabilities if r.phi < threshold]
    for r in sorted(short, key=lambda r: r.phi):
        plans = [p for p in study if (p.system, p.metric) == (r.system, r.metric) and not p.current]
        enough = [p for p in plans if p.phi >= threshold]
        whose = "" if len(reliabilities) == 1 else f" of {name_of(r.system, r.metric)}"
        if enough:
            least = min(enough, key=lambda p: (sum(p.counts.values()), -p.phi))
            over = join_names([f"{count} levels of {facet}" for facet, count in least.counts.items() if count > 1])
            return [("settle it", f"average scores{whose} over {over or 'one of each'}: phi {least.phi:.2f}")]
        if plans:
            best = max(plans, key=lambda p: p.phi)
            over = join_names([f"{count} levels of {facet}" for facet, count in best.counts.items() if count > 1])
            return [("settle it", f"even averages{whose} over {over} reach phi {best.phi:.2f} only")]
    return []


def describe_method(
    systems: Sequence[SystemScores], components: Sequence[VarianceComponent], reliabilities: Sequence[Reliability]
) -> Method:
    """Return what was done, for a paper."""
    models = join_names(list(dict.fromkeys(s.model for s in systems)))
    intervals = join_names(list(dict.fromkeys(c.method for c in components)))
    sentences = [f"The variance of single scores was decomposed by REML fits of {models}; CIs are by {intervals}."]
    if reliabilities:
        objects = " and ".join(f"{name}s" for name in list_objects(components))
        sentences.append(
            f"Reliability phi is the share of the variance between {objects}; its words are Koo and Li's, for every "
            "value in the CI."
        )
    citations = ("hagmann2023", *(["koo2016"] if reliabilities else []), "bates2015")
    return Method(
        question="Where does the variance come from, and how reliable is this evaluation?",
        sentences=tuple(sentences),
        citations=citations,
    )
