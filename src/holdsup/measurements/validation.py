"""Everything that is missing or odd in measurements, with what to do about it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any

from holdsup.errors import ColumnError, list_names
from holdsup.measurements.reading import Draft, Fault, read_draft
from holdsup.measurements.record import CONDITIONS, Measurement
from holdsup.measurements.rows import near_field
from holdsup.measurements.units import (
    HIGHEST,
    LOWEST,
    group_measurements,
    is_open,
    list_conversions,
    may_be_ratings,
)
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import EXAMPLES, Caution, Severity

APPROXIMATE = "\N{ALMOST EQUAL TO}"
FAULTS = {
    "no-object": "without an object",
    "no-measurand": "without a measurand",
    "no-value": "without a value",
    "bad-value": "whose value is not a number",
    "bad-scale-minimum": "whose scale minimum is not a number",
    "bad-unit": "whose unit does not fit its value",
    "clash": "for which two columns give the same field",
    "units": "in units that do not match",
    "below-scale-minimum": "below the minimum of the scale",
    "scale-minima": "of one thing on scales that start at different values",
}


def validate(source: Any) -> tuple[Caution, ...]:
    """Return what is missing or odd in measurements, the errors first; nothing where all is well.

    An error is what `read_measurements` refuses. `source` is what it takes; a file that is no table still raises.
    """
    try:
        return find_oddities(read_draft(source))
    except ColumnError as error:
        return (explain_columns(error),)


def explain_columns(error: ColumnError) -> Caution:
    """Return the finding that no measurement can be read because of the columns."""
    return _finding(
        "columns", "error", f"The columns can't be used: {error}", (), count=1, effect="Nothing can be read.",
        advice="Name the columns as holdsup qra --init FILE.csv does.",
    )  # fmt: skip


def find_oddities(draft: Draft) -> tuple[Caution, ...]:
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


def _finding(code: str, severity: Severity, message: str, examples: Iterable[str], **more: Any) -> Caution:
    shown = tuple(islice(examples, EXAMPLES))  # those that are not shown are not looked up
    return Caution(about="data", code=code, severity=severity, message=message, examples=shown, **more)


def _counted(those: Sized) -> str:
    return format_counted(len(those), "measurement")


def _faults(faults: tuple[Fault, ...]) -> Iterator[Caution]:
    for code, words in FAULTS.items():
        those = [fault for fault in faults if fault.code == code]
        if those:
            yield _finding(
                code, "error", f"{_counted(those)} {words}.", map(str, those), count=len(those),
                effect="The measurements can't be assessed.", advice="Correct these rows.",
            )  # fmt: skip


def _lone(draft: Draft) -> Iterator[Caution]:
    lone = [members[0] for members in group_measurements(draft.measurements).values() if len(members) == 1]
    if lone:
        yield _finding(
            "single", "warning", f"{_counted(lone)} without a second one of the same object and measurand.",
            (f"{_thing(draft.measurements[i])} ({draft.rows[i].where})" for i in lone), count=len(lone),
            effect="One value has no spread: it is left out.",
            advice="Add the original or a reproduction, or spell object and measurand the same way.",
        )  # fmt: skip


def _thing(one: Measurement) -> str:
    return f"{one.measurand} of {one.object}"


def _repeated(draft: Draft) -> Iterator[Caution]:
    if again := find_repeats(draft.measurements):
        yield _finding(
            "repeated", "warning", f"{_counted(again)} identical to another.",
            (f"{draft.rows[i].where} repeats {draft.rows[j].where}" for i, j in again), count=len(again),
            effect="A value counted twice makes results look closer than they are.",
            advice="Delete the copy, or say how the two differ: a condition, source or time.",
        )  # fmt: skip


def _scales(draft: Draft) -> Iterator[Caution]:
    asked = []
    for members in group_measurements(draft.measurements).values():
        those = [draft.measurements[i] for i in members]
        unstated = all(is_open(one) or one.scale_from == "guess" for one in those)
        if unstated and may_be_ratings([one.value for one in those]):
            asked.append(_thing(those[0]))
    if asked:
        yield _finding(
            "scale-minimum", "warning", f"Values from 1 to 7 without a scale minimum: {list_names(asked, most=3)}.",
            asked, count=len(asked), effect="If they are ratings from 1, CV* counted from 0 is too small.",
            advice="Fill in scale_minimum: 1 for ratings from 1, else 0.",
        )  # fmt: skip


def _unreported(draft: Draft) -> Iterator[Caution]:
    for name, condition in CONDITIONS.items():
        without = [i for i, one in enumerate(draft.measurements) if name not in one.conditions]
        if without:
            count = len(draft.measurements)
            partly = f"not reported for {len(without):,} of {count:,} measurements"
            said = "reported for no measurement" if len(without) == count else partly
            yield _finding(
                "not-reported", "warning", f"{condition.title} ({name}) is {said}.",
                (draft.rows[i].where for i in without), count=len(without),
                effect="Whether it was the same in all measurements is unknown.",
                advice=f"Fill in {name}: {condition.explanation}.",
            )  # fmt: skip


def _words_for_nothing(draft: Draft) -> Iterator[Caution]:
    if words := find_words_for_nothing(draft.measurements):
        yield _finding(
            "words-for-nothing", "warning", f"{_cells(words)} that a condition is unknown.",
            (f"{draft.rows[i].where}: {name} is {text!r}" for i, name, text in words), count=len(words),
            effect="The condition counts as not reported.",
            advice="Leave a cell empty where a condition is not reported.",
        )  # fmt: skip


def _misnamed(draft: Draft) -> Iterator[Caution]:
    extra = Counter(name for one in draft.measurements for name in one.conditions if name not in CONDITIONS)
    near = {name: meant for name in extra if (meant := near_field(name))}
    if near:
        yield _finding(
            "misnamed", "warning", f"Read as further conditions: {list_names(near)}.",
            (f"{name}: did you mean {meant}?" for name, meant in near.items()), count=len(near),
            effect="They count as conditions of their own.", advice="Rename the columns if they are misspelt.",
        )  # fmt: skip


def _alike(draft: Draft) -> Iterator[Caution]:
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
            "written-alike", "warning", f"{len(pairs):,} names that differ only in case, spaces or punctuation.",
            (f"{name}: {one!r} and {other!r}" for name, one, other in pairs), count=len(pairs),
            effect="They count as different.", advice="Spell the same name the same way.",
        )  # fmt: skip


def _written_alike(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    seen: dict[str, str] = {}
    for text in texts:
        dashed = re.sub("[\u2010-\u2015\u2212]", "-", unicodedata.normalize("NFKC", text).casefold())
        first = seen.setdefault(re.sub(r"[\s.,]", "", dashed), text)
        if first != text:
            yield first, text


def _converted(draft: Draft) -> Iterator[Caution]:
    if notes := list(list_conversions(draft.measurements)):
        yield _finding(
            "converted", "note", "Proportions next to percentages were read as percentages.", notes, count=len(notes),
            effect="All values of one object and measurand are in percent.", advice="Check that they are proportions.",
        )  # fmt: skip


def _approximate(draft: Draft) -> Iterator[Caution]:
    found = Counter(
        text for one in draft.measurements for text in one.conditions.values() if text.startswith(APPROXIMATE)
    )
    if found:
        yield _finding(
            "approximate", "note", f"{found.total():,} conditions are marked as nearly the same ({APPROXIMATE}).",
            found, count=found.total(), effect="Nearly the same counts as different.",
            advice="Write it without the sign if it was the same.",
        )  # fmt: skip


def find_repeats(measurements: Sequence[Measurement]) -> list[tuple[int, int]]:
    """Return the measurements, by number, that equal an earlier one in all that is reported, each with that one."""
    first: dict[Any, int] = {}
    again = []
    for i, one in enumerate(measurements):
        key = (one.object, one.measurand, one.value, frozenset(one.conditions.items()), one.source, one.time)
        if first.setdefault(key, i) != i:
            again.append((i, first[key]))
    return again


def find_words_for_nothing(measurements: Sequence[Measurement]) -> list[tuple[int, str, str]]:
    """Return the cells that say that a condition is not known: the measurement, the condition and the word."""
    return [
        (i, name, text)
        for i, one in enumerate(measurements)
        for name, text in one.conditions.items()
        if name not in one.known
    ]


def caution_reading(measurements: Sequence[Measurement]) -> Iterator[Caution]:
    """Yield what an answer must say about how measurements were read."""
    if converted := list(list_conversions(measurements)):
        yield _finding(
            "converted", "note", f"Read as percentages, like the other values: {'; '.join(converted[:EXAMPLES])}.",
            (), count=len(converted), advice="Check that they are proportions.",
        )  # fmt: skip
    if guessed := list(dict.fromkeys(one.measurand for one in measurements if one.scale_from == "guess")):
        yield _finding(
            "scale-guessed", "warning",
            f"{list_names(guessed, most=3)}: whole numbers from {LOWEST} to {HIGHEST}, read as ratings that start at "
            f"{LOWEST}.",
            (), count=len(guessed), advice="If the scale starts at 0, say so: --scale-minimum 0 (scale_minimum=0).",
        )  # fmt: skip
    if repeats := find_repeats(measurements):
        first = measurements[repeats[0][0]]
        yield _finding(
            "repeated", "warning", f"{_counted(repeats)} identical to another: {first.value:g}, {_thing(first)}.", (),
            count=len(repeats), effect="A value counted twice makes results look closer than they are.",
            advice="Delete it if it is a copy.",
        )  # fmt: skip
    if words := find_words_for_nothing(measurements):
        listed = list_names(dict.fromkeys(text for _, _, text in words), most=3)
        yield _finding(
            "words-for-nothing", "note", f"{_cells(words)} that a condition is unknown ({listed}): it counts as not "
            "reported.", (), count=len(words),
        )  # fmt: skip


def _cells(those: Sized) -> str:
    return "1 cell says" if len(those) == 1 else f"{len(those):,} cells say"
