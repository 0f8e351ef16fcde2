"""What a reproduction says in words, made from its numbers, and what to align next."""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics
from collections.abc import Iterator, Sequence

from holdsup.rendering import Answer, State, Table
from holdsup.rendering.numbers import format_counted, format_interval, format_percent
from holdsup.results import Caution, Method, write_caveats
from holdsup.verdict.phrases import join_names, say_count, say_level
from holdsup.verdict.reproduction.groups import Agreement
from holdsup.verdict.reproduction.records import (
    MOST_CROSSED,
    Assessment,
    ConditionSpread,
    Part,
    show_condition,
)
from holdsup.verdict.reproduction.tables import (
    cut_table,
    tabulate_closeness,
    tabulate_matrix,
)

MOST_LINES, MOST_LINES_SEVERAL = 20, 24  # of a short answer, signature included
MOST_NAMED = 4  # conditions in a sentence; tables and the JSON have all
CONVINCING = 0.05  # share of random groups that explain as much
MORE = ("--full (precision, conditions, spread)", "--card card.html")


def answer_one(
    part: Part, cautions: Sequence[Caution], *, level: float, within: float | None, signature: str
) -> Answer:
    """Return how closely one result was reproduced."""
    a = part.assessment
    own = f"How closely was this result {'repeated' if a.repeatability else 'reproduced'}?"
    answer = Answer(
        question=own if within is None else f"Did it reproduce within {within:g}%?",
        state=find_state([a], within),
        headline=_headline(a, level, within),
        foot=(
            (f"{say_level(level)} CI", f"CV* {_interval(a)}; next measurement likely {_next(a)}"),
            ("differs", _differs(a)),
            ("next step", a.align_next),
            ("holds for", _covers(a.repeatability)),
        ),
        more=MORE,
        signature=signature,
        names=(
            *(a.object, a.measurand, *(m.label for m in part.measurements)),
            *(name for row in part.conditions for name in (show_condition(row.condition), *filter(None, row.values))),
        ),
        most_lines=MOST_LINES,
    )
    matrix = tabulate_matrix([part])
    return _fit(answer, [cut_table(matrix, most) for most in (6, 5, 4, 3, 2)], cautions, MOST_LINES)


def answer_several(
    assessments: Sequence[Assessment],
    cautions: Sequence[Caution],
    *,
    level: float,
    within: float | None,
    signature: str,
) -> Answer:
    """Return how closely several results were reproduced: the closest and the least close of them."""
    count, worst = f"{len(assessments):,}", assessments[-1]
    kinds = [name_precision(a.repeatability) for a in assessments]
    repeated = all(a.repeatability for a in assessments)
    own = f"How closely were these {count} results {'repeated' if repeated else 'reproduced'}?"
    answer = Answer(
        question=own if within is None else f"Did all {count} results reproduce within {within:g}%?",
        state=find_state(assessments, within),
        headline=_headline_several(assessments, level, within),
        foot=(
            ("assessed", ", ".join(f"{kinds.count(kind):,} for {kind}" for kind in dict.fromkeys(kinds))),
            ("next step", f"{_name(worst)}: {worst.align_next}"),
            ("holds for", _covers(repeated)),
        ),
        more=MORE,
        signature=signature,
        names=tuple(name for a in assessments for name in (a.object, a.measurand, *map(show_condition, a.differing))),
        most_lines=MOST_LINES_SEVERAL,
    )
    tables = [tabulate_closeness(assessments, level, most=most) for most in (10, 8, 6, 4)]
    return _fit(answer, tables, cautions, MOST_LINES_SEVERAL)


def _fit(answer: Answer, tables: Sequence[Table], cautions: Sequence[Caution], most: int) -> Answer:
    """Return an answer with the first of some tables, the largest first, that leaves it short enough."""
    for caveats, table in itertools.product((2, 1), tables):
        foot = (*answer.foot, *write_caveats(cautions, most=caveats))
        found = dataclasses.replace(answer, parts=(table,), foot=foot)
        if len(found.text().splitlines()) <= most:
            break
    return found


def find_state(assessments: Sequence[Assessment], within: float | None) -> State | None:
    """Return yes if every CI of CV* is at or below `within` percent, no if one is above it, else unclear."""
    if within is None:
        return None
    known = [a for a in assessments if a.sd > 0]  # equal values have a CI without width, which shows nothing
    if any(a.cv_low > within for a in known):
        return "no"
    return "yes" if len(known) == len(assessments) and all(a.cv_high <= within for a in known) else "unclear"


def _headline(a: Assessment, level: float, within: float | None) -> str:
    count = say_count(a.n)
    if a.sd == 0:
        return f"All {count} measurements of {_name(a)} are equal, which says little about the next one."
    said = f"{count.capitalize()} measurements of {_name(a)} differ by a CV* of {_cv(a.cv)}"
    ci = f"its {say_level(level)} CI"
    return {
        None: f"{said}; {compare_published(a)}." if a.of else f"{said}.",
        "yes": f"{said}; {ci} ends at {_cv(a.cv_high)}, within {within or 0:g}%.",
        "no": f"{said}; {ci} starts at {_cv(a.cv_low)}, above {within or 0:g}%.",
        "unclear": f"{said}; {ci}, {_interval(a)}, includes {within or 0:g}%.",
    }[find_state([a], within)]


def _headline_several(assessments: Sequence[Assessment], level: float, within: float | None) -> str:
    count, best, worst = f"{len(assessments):,}", assessments[0], assessments[-1]
    if within is None:
        half = f"; the median is {_cv(statistics.median(a.cv for a in assessments))}"
        ends = f"from {_cv(best.cv)} ({_name(best)}) to {_cv(worst.cv)} ({_name(worst)})"
        return f"CV* ranges {ends}{half if len(assessments) > 3 else ''}."
    states = [find_state([a], within) for a in assessments]
    if "no" in states:
        above = f"above {within:g}% in {states.count('no'):,} of {count} results"
        return f"CV* is {above}; {_name(worst)} is worst, with {_cv(worst.cv)}."
    if "unclear" in states:
        sure = f"{states.count('yes'):,} of {count} results reproduced within {within:g}%"
        return f"{sure}; for the others the {say_level(level)} CI of CV* is too wide."
    return f"All {count} results reproduced within {within:g}%: each {say_level(level)} CI of CV* is below it."


def compare_published(a: Assessment) -> str:
    """Return how a result compares with the published ones, a clause; empty if that was not asked for."""
    if a.more_reproducible_than is None or a.of is None:
        return ""
    count, how = a.more_reproducible_than, "less reproducible"
    if 2 * count <= a.of:
        count, how = a.of - count, "at least as reproducible"
    which = f"all {a.of}" if count == a.of else f"{count} of {a.of}"
    return f"{which} published results were {how}"


def _name(a: Assessment) -> str:
    return f"{a.object} {a.measurand}"


def _cv(cv: float) -> str:
    return f"{cv:.3g}%" if cv < 1000 else f"{cv:,.0f}%"


def _interval(a: Assessment) -> str:
    if a.sd == 0:
        return "unknown: all values are equal"
    if math.isfinite(a.cv_high):
        return f"{format_interval(a.cv_low, a.cv_high)}%"
    return f"above {_cv(a.cv_low)}, no upper end"


def _next(a: Assessment) -> str:
    return "unknown" if a.sd == 0 else format_interval(a.next_low, a.next_high)


def _differs(a: Assessment) -> str:
    if a.repeatability is None:
        return "unknown: no condition is reported for all measurements"
    if a.repeatability:
        return "nothing that is reported (repeatability)"
    return f"{show_conditions(a.differing)} (reproducibility)"


def _covers(repeatability: bool | None) -> str:
    if repeatability:
        return "new runs under the same conditions; others may be further off"
    return "new measurements made in similar ways; it doesn't say who is right"


def show_conditions(names: Sequence[str]) -> str:
    """Return the names of conditions in a sentence.

    >>> show_conditions(["code", "test_set", "performed_by"])
    'code, test set and performed by'
    """
    return join_names([show_condition(name) for name in names], most=MOST_NAMED)


def name_precision(repeatability: bool | None) -> str:
    """Return what precision is called under these conditions."""
    if repeatability is None:
        return "precision under unknown conditions"
    return "repeatability" if repeatability else "reproducibility"


def advise(agreement: Agreement, n: int, sd: float, spread: Sequence[ConditionSpread]) -> str:
    """Return what to align, or to find out, before the next measurement."""
    if agreement.repeatability is None:
        return "Report the conditions of measurement: otherwise nobody knows what differed."
    if sd == 0 and not agreement.differing:
        return "Measure under other conditions to learn whether the values hold."
    if sd == 0:
        return f"Nothing to align: the values agree despite different {show_conditions(agreement.differing)}."
    report = f" Report {show_conditions(agreement.not_reported)}." if agreement.not_reported else ""
    if not agreement.differing:
        return (
            f"Record what varies, such as seed, versions or hardware: none of the reported conditions differs.{report}"
        )
    if agreement.differing == ("performed_by",):
        return f"Find out what the labs did differently: no other reported condition differs.{report}"
    best = next((row for row in spread if len(row.conditions) == 1 and row.explained > 0), None)
    if best is not None:
        return _align_best(best)
    names = [name for name in agreement.differing if name != "performed_by"]  # who measured can't be aligned
    several = len(agreement.differing) > 1
    which = f" {'Two' if n == 2 else 'These'} measurements can't tell which condition matters." if several else ""
    return f"Align {show_conditions(names)}.{which}"


def _align_best(best: ConditionSpread) -> str:
    chance = format_percent(100 * best.chance)
    hint = f"only a hint: {chance} of random groups do as well"
    sure = hint if best.chance > CONVINCING else f"by chance: {chance}"
    names = [best.conditions[0], *best.same_groups]
    share = f"{best.explained:.0f}%" if best.explained < 99.5 else ">99%"
    if names == ["performed_by"]:
        return f"Find out what the labs did differently: {share} of the variance is between labs ({sure})."
    explain = "it explains" if len(names) == 1 else "they explain"
    return f"Align {show_conditions(names)} first: {explain} {share} of the variance ({sure})."


def find_cautions(assessments: Sequence[Assessment]) -> Iterator[Caution]:
    """Yield what limits trust in assessments, each kind once."""
    if pairs := [a for a in assessments if a.n == 2]:
        yield Caution(
            code="two-measurements", about="table:assessments", count=len(pairs), advice="Add a third.",
            message=f"Two measurements say almost nothing about the spread or its causes: {_names(pairs)}.",
        )  # fmt: skip
    if unknown := [a for a in assessments if a.repeatability is None]:
        yield Caution(
            code="no-conditions", about="table:conditions", count=len(unknown),
            message=f"No condition is reported for all measurements of {_names(unknown)}.",
            advice="Fill in who measured, with whose code, on which data: is it repeatability or reproducibility?",
        )  # fmt: skip
    partly = [a for a in assessments if a.not_reported and a.repeatability is not None]
    for names, group in itertools.groupby(sorted(partly, key=lambda a: a.not_reported), lambda a: a.not_reported):
        own = list(group)
        yield Caution(
            code="not-reported", about="table:conditions", count=len(own),
            message=f"Not reported for all measurements of {_names(own)}: {show_conditions(names)}.",
            advice="Fill them in: one of them may have differed.",
        )  # fmt: skip
    if same := [a for a in assessments if a.sd == 0]:
        yield Caution(
            code="no-spread", about="table:assessments", count=len(same),
            message=f"All values of {_names(same)} are equal, so the CI has no width; that is no proof of agreement.",
        )  # fmt: skip
    if wide := [a for a in assessments if a.n > 2 and len({*a.differing} - {*a.not_reported}) > MOST_CROSSED]:
        tried = f"the {MOST_CROSSED} conditions that explain most alone"
        yield Caution(
            code="conditions-not-crossed", severity="note", about="table:spread", count=len(wide),
            message=f"Of {_names(wide)}, only {tried} are tried two by two.",
        )  # fmt: skip


def _names(those: Sequence[Assessment]) -> str:
    return join_names([_name(a) for a in those], most=2)


def describe_method(assessments: Sequence[Assessment]) -> Method:
    """Return what was done, for a paper."""
    measured = format_counted(sum(a.n for a in assessments), "measurement")
    several = f" of {len(assessments)} objects and measurands" if len(assessments) > 1 else ""
    return Method(
        question="How closely was this result reproduced?",
        sentences=(
            f"{measured}{several} were assessed by QRA: CV* is the coefficient of variation of values shifted to a "
            "scale that starts at zero, corrected for small samples, in percent.",
            "CIs as published are by Student's t; exact ones for normal values are by chi-square and noncentral t.",
        ),
        citations=("belz2022",),
    )
