"""The verdict on a reproduction in words, by rule, and what to align next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from holdsup.measurements.scales import HIGHEST, LOWEST, is_open, may_be_ratings
from holdsup.numerics.precision import measure_precision
from holdsup.rendering.numbers import format_interval, format_number, format_percent
from holdsup.verdict.reproduction.groups import Group
from holdsup.verdict.reproduction.matrix import MOST_CROSSED, MOST_PAIRED, Agreement
from holdsup.verdict.reproduction.records import Assessment, ConditionSpread

__all__ = [
    "advise",
    "caution_scales",
    "find_cautions",
    "name_precision",
    "show_condition",
    "show_conditions",
    "write_reproduction_verdict",
]

MOST_NAMED = 8  # conditions in a sentence; tables and the JSON have all
CONVINCING = 0.05  # share of random divisions that explain as much
REFERENCE = "the {of} results of Belz et al. (2022)"


def show_condition(name: str) -> str:
    """Return a condition's name as people write it.

    >>> show_condition("performed_by")
    'performed by'
    """
    return name.replace("_", " ")


def show_conditions(names: Sequence[str]) -> str:
    """Return several names as people write them.

    >>> show_conditions(["code", "test_set", "performed_by"])
    'code, test set and performed by'
    """
    shown = [show_condition(name) for name in names]
    return " and ".join([*([", ".join(shown[:-1])] if len(shown) > 1 else []), *shown[-1:]])


def name_precision(repeatability: bool | None) -> str:
    """Return what precision is called under these conditions."""
    if repeatability is None:
        return "precision under unknown conditions"
    return "repeatability" if repeatability else "reproducibility"


def advise(agreement: Agreement, n: int, sd: float, spread: Sequence[ConditionSpread]) -> str:
    """Return what to align, or to find out, before the next measurement."""
    if sd == 0:
        return _praise(agreement)
    if agreement.repeatability is None:
        return "Report the conditions of measurement: without them nobody can say what the spread is due to."
    report = f" Report {show_conditions(agreement.not_reported)}." if agreement.not_reported else ""
    if not agreement.differing:
        return (
            "No reported condition differs: the spread comes from what is not recorded, such as seeds, versions or "
            f"hardware. Record these as further conditions.{report}"
        )
    if agreement.differing == ("performed_by",):
        return f"Only who measured differs, as far as it is reported: find out what they did differently.{report}"
    best = next((row for row in spread if len(row.conditions) == 1 and row.explained > 0), None)
    return _align_all(agreement, n) if best is None else _align_best(best)


def _praise(agreement: Agreement) -> str:
    """Return the advice where there is no spread that anything could go with."""
    if agreement.repeatability is None:
        return "Report the conditions of measurement: without them nobody can say under which the values agree."
    if not agreement.differing:
        return "No reported condition differs. Measure again under other conditions to learn whether the values hold."
    return f"There is nothing to align: the values agree although {_differ(agreement.differing)}."


def _differ(names: Sequence[str]) -> str:
    shown = [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED + 1 else names
    return f"{show_conditions(shown)} {'differs' if len(names) == 1 else 'differ'}"


def _align_all(agreement: Agreement, n: int) -> str:
    """Return the advice where nothing tells the conditions apart; who measured cannot be aligned."""
    names = show_conditions([name for name in agreement.differing if name != "performed_by"])
    few = "Two measurements" if n == 2 else "These measurements"
    which = f" {few} cannot tell which condition matters." if len(agreement.differing) > 1 else ""
    return f"Align {names}.{which}"


def _align_best(best: ConditionSpread) -> str:
    sure = (
        f"only {format_percent(100 * best.chance)} of random divisions do as well"
        if best.chance <= CONVINCING
        else f"but so do {format_percent(100 * best.chance)} of random divisions, so take it as a hint"
    )
    names = [best.conditions[0], *best.same_groups]
    with_it = f"with {format_percent(best.explained)} of the variance ({sure})."
    if names == ["performed_by"]:
        return f"Find out what those who measured did differently: who it was goes {with_it}"
    return f"Align {show_conditions(names)} first: {'it goes' if len(names) == 1 else 'they go'} {with_it}"


def write_reproduction_verdict(assessments: Sequence[Assessment], *, level: float) -> str:
    """Return the sentence that stands above the tables; `assessments` come in the order of their CV*."""
    if len(assessments) == 1:
        return f"{_about(assessments[0], level)} {assessments[0].align_next}"
    best, worst = assessments[0], assessments[-1]
    kinds = [name_precision(a.repeatability) for a in assessments]
    counted = ", ".join(f"{kinds.count(kind)} of {kind}" for kind in dict.fromkeys(kinds))
    fewest = min(a.n for a in assessments)
    caution = " Where there are two measurements, the spread is hardly known." if fewest == 2 else ""
    return (
        f"{len(assessments)} assessments ({counted}), from CV* = {_cv(best.cv)} ({_name(best)}) to {_cv(worst.cv)} "
        f"({_name(worst)}).{caution} {_about(worst, level)} {worst.align_next}"
    )


def _about(a: Assessment, level: float) -> str:
    differ = f"; {_differ(a.differing)}" if a.differing else ""
    if a.more_reproducible_than is None or a.of is None:
        rank = ""
    else:
        rank = f" It is more reproducible than {a.more_reproducible_than or 'none'} of {REFERENCE.format(of=a.of)}."
    return (
        f"{_name(a)}: {name_precision(a.repeatability)} CV* = {_cv(a.cv)} over {a.n} measurements{differ}. "
        f"{_how_sure(a, level)}{rank}"
    )


def _how_sure(a: Assessment, level: float) -> str:
    if a.sd == 0:
        return "All values are the same, which says little about how the next one would differ."
    if math.isinf(a.cv_high) or math.isnan(a.cv_high):
        limits = f"above {format_number(a.cv_low, uncertainty=a.cv_low)}% of the mean, without an upper limit"
    else:
        limits = f"in {format_interval(a.cv_low, a.cv_high)}% of the mean"
    little = ": two measurements say next to nothing about it" if a.n == 2 else ""
    return f"The standard deviation may be anything {limits} ({level:.0%} limits){little}."


def caution_scales(groups: Sequence[Group]) -> Iterator[str]:
    """Yield one line if values may be ratings from 1 on and nothing says so, with what that would change."""
    asked = [
        group
        for group in groups
        if all(map(is_open, group.measurements)) and may_be_ratings(group.values) and (group.values > LOWEST).any()
    ]
    if asked:
        first, more = asked[0], f" (and {len(asked) - 1} more)" if len(asked) > 1 else ""
        from_0, from_1 = (measure_precision(first.values - low, level=0.95).cv for low in (0, LOWEST))
        yield (
            f"{first.object}, {first.measurand}{more}: values between {LOWEST} and {HIGHEST}, and nothing says where "
            f"their scale starts. Counted from 0, CV* is {_cv(from_0)}; if they are ratings from 1, it is "
            f"{_cv(from_1)}: give scale_minimum, or --scale-minimum 1 (0 if it starts there)."
        )


def find_cautions(assessments: Sequence[Assessment]) -> Iterator[str]:
    """Yield what limits trust in assessments, each kind once."""
    if unknown := [a for a in assessments if a.repeatability is None]:
        yield (
            f"{_whose(unknown)}: no condition of measurement is reported for all measurements, so that nobody can tell "
            "repeatability from reproducibility."
        )
    partly: dict[tuple[str, ...], list[Assessment]] = {}
    for a in assessments:
        partly.setdefault(a.not_reported, []).append(a)
    for names, some in partly.items():
        if names and some[0].repeatability is not None:
            yield f"{_whose(some)}: not reported for all measurements: {', '.join(names)}."
    if pairs := [a for a in assessments if a.n == 2]:
        yield f"{_whose(pairs)}: with two measurements nothing can be said about which condition matters."
    if same := [a for a in assessments if a.sd == 0]:
        yield f"{_whose(same)}: all values are the same; limits of no width are no evidence of perfect agreement."
    if many := [a for a in assessments if a.differing and a.n > MOST_PAIRED]:
        yield f"{_whose(many)}: pairs are listed for up to {MOST_PAIRED} measurements only."
    if wide := [a for a in assessments if a.n > 2 and len({*a.differing} - {*a.not_reported}) > MOST_CROSSED]:
        yield (
            f"{_whose(wide)}: conditions are tried two by two among the {MOST_CROSSED} that explain most alone; two "
            "that matter only together may be missed."
        )


def _whose(some: Sequence[Assessment]) -> str:
    names = [_name(a) for a in some[:3]]
    more = f" and {len(some) - 3} more" if len(some) > 3 else ""
    return "; ".join(names) + more


def _name(a: Assessment) -> str:
    return f"{a.object}, {a.measurand}"


def _cv(cv: float) -> str:
    return format_number(cv, uncertainty=0.01)
