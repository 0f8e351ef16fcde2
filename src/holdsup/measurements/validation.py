"""`validate`: everything that is missing or odd in measurements, with what to do about it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from holdsup.errors import ColumnError, list_names
from holdsup.measurements.drafts import Draft, Fault, read_draft
from holdsup.measurements.fields import near_field
from holdsup.measurements.oddities import find_repeats, find_words_for_nothing
from holdsup.measurements.record import CONDITIONS, Measurement
from holdsup.measurements.rows import Row
from holdsup.measurements.scales import is_open, may_be_ratings
from holdsup.measurements.units import conversion_notes, group_measurements
from holdsup.results.findings import EXAMPLES, Finding, Severity

__all__ = ["explain_columns", "find_oddities", "validate"]

APPROXIMATE = "\N{ALMOST EQUAL TO}"
FAULTS = {
    "no-object": "without an object",
    "no-measurand": "without a measurand",
    "no-value": "without a value",
    "bad-value": "whose value is not a number",
    "bad-scale-minimum": "whose scale minimum is not a number",
    "bad-unit": "whose unit does not go with its value",
    "clash": "for which two columns give the same thing",
    "units": "in units that do not go together",
    "below-scale-minimum": "below the minimum of the scale",
    "scale-minima": "of one thing on scales with different minima",
}


def validate(source: Any) -> tuple[Finding, ...]:
    """Return what is missing or odd in measurements, the errors first; none where all is well.

    An error is what `read_measurements` refuses. `source` is what it takes; a file that is no table is still an error
    that is raised.
    """
    try:
        return find_oddities(read_draft(source))
    except ColumnError as error:
        return (explain_columns(error),)


def explain_columns(error: ColumnError) -> Finding:
    """Return the finding that no measurement can be read because of the columns."""
    return _finding(
        "columns", "error", f"The columns cannot be used: {error}", (), count=1, effect="Nothing can be read.",
        advice="Name the columns as holdsup qra --init FILE.csv does.",
    )  # fmt: skip


def find_oddities(draft: Draft) -> tuple[Finding, ...]:
    """Return what is missing or odd in measurements that were read."""
    return (
        *_faults(draft.faults),
        *_lone(draft),
        *_repeated(draft),
        *_scales(draft),
        *_unreported(draft),
        *_words_for_nothing(draft),
        *_misnamed(draft),
        *_alike(draft),
        *_converted(draft),
        *_approximate(draft),
    )


def _finding(
    code: str, severity: Severity, message: str, examples: Iterable[str], *, count: int, effect: str, advice: str
) -> Finding:
    shown = tuple(example for example, _ in zip(examples, range(EXAMPLES), strict=False))
    return Finding(
        code=code, severity=severity, message=message, count=count, examples=shown, effect=effect, advice=advice
    )


def _rows(count: int) -> str:
    return "1 measurement" if count == 1 else f"{count:,} measurements"


def _places(rows: Iterable[Row]) -> Iterator[str]:
    return (row.where for row in rows)


def _faults(faults: tuple[Fault, ...]) -> Iterator[Finding]:
    for code, words in FAULTS.items():
        those = [fault for fault in faults if fault.code == code]
        if those:
            yield _finding(
                code, "error", f"{_rows(len(those))} {words}.", map(str, those), count=len(those),
                effect="The measurements are refused.", advice="Correct these rows.",
            )  # fmt: skip


def _lone(draft: Draft) -> Iterator[Finding]:
    lone = [members[0] for members in group_measurements(draft.measurements).values() if len(members) == 1]
    if lone:
        yield _finding(
            "single", "warning", f"{_rows(len(lone))} without another of the same object and measurand.",
            (f"{_thing(draft.measurements[i])} ({draft.rows[i].where})" for i in lone), count=len(lone),
            effect="One value has no spread: it cannot be assessed.",
            advice="Add the original measurement or a reproduction, or write object and measurand in the same words.",
        )  # fmt: skip


def _thing(one: Measurement) -> str:
    return f"{one.measurand} of {one.object}"


def _repeated(draft: Draft) -> Iterator[Finding]:
    if again := find_repeats(draft.measurements):
        yield _finding(
            "repeated", "warning", f"{_rows(len(again))} equal to another in all that is reported.",
            (f"{draft.rows[i].where} repeats {draft.rows[j].where}" for i, j in again), count=len(again),
            effect="A value that is counted twice makes results look more alike than they are.",
            advice="Delete the copy, or tell the two apart by a condition, source or time.",
        )  # fmt: skip


def _scales(draft: Draft) -> Iterator[Finding]:
    asked = []
    for members in group_measurements(draft.measurements).values():
        those = [draft.measurements[i] for i in members]
        unstated = all(is_open(one) or one.scale_from == "guess" for one in those)
        if unstated and may_be_ratings([one.value for one in those]):
            asked.append(_thing(those[0]))
    if asked:
        yield _finding(
            "scale-minimum", "warning", f"Values between 1 and 7 without a scale minimum: {list_names(asked, most=3)}.",
            asked, count=len(asked), effect="CV* of ratings from 1 is too small on a scale taken to start at 0.",
            advice="Fill in scale_minimum: 1 for ratings from 1, 0 for a scale that starts there.",
        )  # fmt: skip


def _unreported(draft: Draft) -> Iterator[Finding]:
    for name, condition in CONDITIONS.items():
        without = [i for i, one in enumerate(draft.measurements) if name not in one.conditions]
        if without:
            those, count = len(without), len(draft.measurements)
            said = (
                "reported for no measurement"
                if those == count
                else f"not reported for {those:,} of {count:,} measurements"
            )
            yield _finding(
                "not-reported", "warning", f"{condition.title} ({name}) is {said}.",
                _places(draft.rows[i] for i in without), count=len(without),
                effect="Nobody can tell whether it was the same in all measurements.",
                advice=f"Fill in {name}: {condition.explanation}.",
            )  # fmt: skip


def _words_for_nothing(draft: Draft) -> Iterator[Finding]:
    if words := find_words_for_nothing(draft.measurements):
        yield _finding(
            "words-for-nothing", "warning", f"{len(words):,} cells of conditions say that nothing is known.",
            (f"{draft.rows[i].where}: {name} is {text!r}" for i, name, text in words), count=len(words),
            effect="The condition is taken as not reported.",
            advice="Leave a cell empty where a condition is not reported.",
        )  # fmt: skip


def _misnamed(draft: Draft) -> Iterator[Finding]:
    extra = Counter(name for one in draft.measurements for name in one.conditions if name not in CONDITIONS)
    near = {name: meant for name in extra if (meant := near_field(name))}
    if near:
        yield _finding(
            "misnamed", "warning", f"Taken for further conditions: {list_names(near)}.",
            (f"{name}: did you mean {meant}?" for name, meant in near.items()), count=len(near),
            effect="They count as conditions of their own.", advice="Rename the columns if they are misspelt.",
        )  # fmt: skip


def _alike(draft: Draft) -> Iterator[Finding]:
    columns = {
        "object": Counter(one.object for one in draft.measurements),
        "measurand": Counter(one.measurand for one in draft.measurements),
    }
    for one in draft.measurements:
        for name, text in one.conditions.items():
            columns.setdefault(name, Counter())[text] += 1
    pairs = [(name, *pair) for name, texts in columns.items() for pair in _written_alike(texts)]
    if pairs:
        yield _finding(
            "written-alike", "warning", f"{len(pairs):,} names that differ only in case, blanks, points or dashes.",
            (f"{name}: {one!r} and {other!r}" for name, one, other in pairs), count=len(pairs),
            effect="They count as different.", advice="Write what is the same in the same way.",
        )  # fmt: skip


def _written_alike(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    seen: dict[str, str] = {}
    for text in texts:
        dashed = re.sub("[\u2010-\u2015\u2212]", "-", unicodedata.normalize("NFKC", text).casefold())
        first = seen.setdefault(re.sub(r"[\s.,]", "", dashed), text)
        if first != text:
            yield first, text


def _converted(draft: Draft) -> Iterator[Finding]:
    notes = list(conversion_notes(draft.measurements))
    if notes:
        yield _finding(
            "converted", "note", "Proportions beside percentages were read as percentages.", notes, count=len(notes),
            effect="All values of one object and measurand are in percent.", advice="Check that this is what they are.",
        )  # fmt: skip


def _approximate(draft: Draft) -> Iterator[Finding]:
    found = Counter(
        text for one in draft.measurements for text in one.conditions.values() if text.startswith(APPROXIMATE)
    )
    if found:
        yield _finding(
            "approximate", "note", f"{found.total():,} conditions are nearly those of others ({APPROXIMATE}).",
            found, count=found.total(), effect="Nearly the same counts as different.",
            advice="Write it without the sign if it was the same.",
        )  # fmt: skip
