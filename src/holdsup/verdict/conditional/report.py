"""What was found along properties, as tables and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from holdsup.rendering import Estimate, Percent, PValue, Table
from holdsup.rendering.numbers import format_number, format_percent
from holdsup.rendering.table import Cell
from holdsup.verdict.comparison.records import PAPER, SystemContrast
from holdsup.verdict.conditional.records import Conditional, ConditionalTest, PaperConditional, Where
from holdsup.verdict.phrases import NO_LIMITS, say_p, show_limits

__all__ = ["describe_conditions", "tabulate_conditions"]

HOLM = (
    "p adjusted: by Holm's method over all properties and metrics asked for. Where differences hold is said only if "
    "the adjusted p of any difference is small enough."
)


def tabulate_conditions(
    found: Sequence[Conditional], papers: Sequence[tuple[str | None, PaperConditional]], *, level: float
) -> Iterator[Table]:
    """Yield the tests, the trends and the ranges of each property; a paper's test comes with its metric."""
    for each in found:
        own = [paper for metric, paper in papers if (metric, paper.property) == (each.metric, each.property)]
        yield _tests(each, own, adjusted=len(found) > 1)
        yield _classes(each, level) if each.classes else _slopes(each, level)
        if not each.classes and each.significant_where:
            yield _ranges(each)


def _title(each: Conditional) -> str:
    return f"By {each.property}" + (f" ({each.metric})" if each.metric else "")


def _tests(each: Conditional, papers: Sequence[PaperConditional], *, adjusted: bool) -> Table:
    rows = [*_ours("any difference", each.joint), *_ours("differences change", each.interaction)]
    if each.given_others is not None:
        rows += _ours("  given the other properties", each.given_others)
    for p in papers:
        rows += [
            (f"{PAPER}, eqs. 6-7", p.statistic, p.df, PValue(p.p, p.log10_p), None, "chi-square"),
            (f"{PAPER}, interaction alone", p.interaction_statistic, p.interaction_df,
             PValue(p.interaction_p, p.interaction_log10_p), None, "chi-square"),
        ]  # fmt: skip
    notes = [HOLM] if adjusted else []
    notes += [f"holdsup: {each.model}"] if each.model else []
    notes += [f"{PAPER}: {p.alternative}" for p in papers]
    columns = ("test", "statistic", "df", "p", "p adjusted", "by")
    shown = [i for i, column in enumerate(columns) if adjusted or column != "p adjusted"]
    return Table(
        title=f"{_title(each)}: tests ({' and '.join(dict.fromkeys(d.claim for d in each.differences))})",
        columns=tuple(columns[i] for i in shown),
        rows=tuple(tuple(row[i] for i in shown) for row in rows),
        notes=tuple(notes),
    )


def _ours(name: str, test: ConditionalTest) -> list[tuple[Cell, ...]]:
    holm = PValue(test.p_adjusted, test.log10_p_adjusted)
    rows: list[tuple[Cell, ...]] = [(name, None, None, PValue(test.p, test.log10_p), holm, test.p_method)]
    if test.p_chi2 is not None:
        rows.append(("  its likelihood ratio", test.statistic, test.df, PValue(test.p_chi2), None, "chi-square"))
    return rows


def _slopes(each: Conditional, level: float) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (s.system, s.claim, Estimate(s.slope, s.se), show_limits(s.low, s.high, s.slope), None) for s in each.slopes
    ]
    rows += [
        (f"{d.left} - {d.right}", d.claim, Estimate(d.slope, d.se), show_limits(d.low, d.high, d.slope),
         PValue(d.p_interaction, d.log10_p_interaction))
        for d in each.differences
    ]  # fmt: skip
    columns = ("", "claim", "slope", "limits", "p")
    shown = [i for i, name in enumerate(columns) if name != "claim" or len({row[i] for row in rows}) > 1]
    return Table(
        title=f"{_title(each)}: change of the score with one unit, {level:.0%} limits",
        columns=tuple(columns[i] for i in shown),
        rows=tuple(tuple(row[i] for i in shown) for row in rows),
        notes=("p and limits are for each row alone.",),
    )


def _classes(each: Conditional, level: float) -> Table:
    rows: list[tuple[Cell, ...]] = []
    notes = [_simultaneous(each)]
    for d in each.differences:
        for place, value, low, high in zip(d.line.at, d.line.value, d.line.low, d.line.high, strict=True):
            size = each.sizes[int(place)]
            shown = Estimate(value, min(abs(value), (high - low) / 2))  # two digits, however wide the limits are
            rows.append(
                (f"{d.left} - {d.right}", each.classes[int(place)], shown, show_limits(low, high, value), size,
                 Percent(100 * size / each.items))
            )  # fmt: skip
    if any(not math.isfinite(low) for d in each.differences for low in d.line.low):
        notes.append(NO_LIMITS)
    return Table(
        title=f"{_title(each)}: differences, {level:.0%} limits",
        columns=("", each.property, "difference", "limits", "items", "share"),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _ranges(each: Conditional) -> Table:
    return Table(
        title=f"{_title(each)}: where differences hold",
        columns=("", "better", "from", "to", "items", "share"),
        rows=tuple(
            (f"{w.left} - {w.right}", w.better, w.low, w.high, w.items, Percent(w.percent))
            for w in each.significant_where
        ),
        notes=(_simultaneous(each),),
    )


def _simultaneous(each: Conditional) -> str:
    values = "classes" if each.classes else "values"
    pairs = " and pairs" if len(each.differences) > 1 else ""
    return f"It holds for all {values}{pairs} at once: {each.limits}."


def describe_conditions(found: Sequence[Conditional], contrasts: Sequence[SystemContrast], *, level: float) -> str:
    """Return a sentence for each property, to stand after the verdict on `contrasts`, which may claim more."""
    said = []
    for each in found:
        sentence = _sentence(each, level)
        more = any(c.claim == "new-settings" for c in contrasts if c.metric == each.metric)
        said.append(f" Claiming new-runs only, {sentence[0].lower()}{sentence[1:]}" if more else f" {sentence}")
    return "".join(said)


def _sentence(each: Conditional, level: float) -> str:
    by = f" by {each.metric}" if each.metric else ""
    test = each.interaction
    p = say_p(test.p_adjusted, test.log10_p_adjusted)
    depends = test.p_adjusted <= 1 - level
    if len(each.differences) > 1:
        if not depends:
            return f"There is no evidence that differences depend on {each.property}{by} ({p})."
        pairs = dict.fromkeys((w.left, w.right) for w in each.significant_where)
        count = f"of {len(each.differences)} pairs {len(pairs)} differ somewhere along it"
        return f"Differences depend on {each.property}{by} ({p}); {count}."
    pair = each.differences[0]
    where = _places(each.significant_where)
    if depends:
        ending = f": {where}" if where else ", but at no value of it can they be told apart"
        return f"The difference between {pair.left} and {pair.right}{by} depends on {each.property} ({p}){ending}."
    ending = f"; {where}" if where else ""
    return f"There is no evidence that it depends on {each.property}{by} ({p}){ending}."


def _places(where: Sequence[Where]) -> str:
    """Return who is better where, in words."""
    said = []
    for w in where:
        place = f"for {w.level}" if w.level is not None else f"from {format_number(w.low)} to {format_number(w.high)}"
        said.append(f"{w.better} is better {place} ({format_percent(w.percent)} of items)")
    return ", ".join(said)
