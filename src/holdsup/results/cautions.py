"""`Caution`: what limits an answer, as data: faults of the table, assumptions, what is missing.

A caution names what it is about, and every rendering puts it there. No code reads its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from holdsup.rendering import Table
from holdsup.rendering.answer import CAVEAT
from holdsup.rendering.numbers import format_count

EXAMPLES = 3
IDENTIFIER = re.compile(r"['\"`]|\S*[_\d/]")  # a name of the user's at the beginning: it keeps its letters
Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
# They decide who is better, or which scores there are to tell: the answer is read wrongly without them.
TURNING = (
    "less-claimed",
    "different-settings",
    "direction-against-name",
    "direction-assumed",
    "mixed-metrics",
    "mixed-scales",
    "infinite-scores",
    "lookalike-labels",
    "different-items",
    "copied-runs",
    "runs-across-datasets",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caution:
    """One thing that limits an answer."""

    code: str  # its name, for programs
    severity: Severity = "warning"  # "error" (results would be wrong), "warning" (they mean less) or "note"
    # what it limits: claim, data, or something by name: table:contrasts, system:A, pair:A - B, metric:bleu
    about: str = "claim"
    message: str  # what was found, a sentence
    advice: str = ""  # what to do about it, a sentence; empty where nothing can be done
    effect: str = ""  # for a fault of the data, what it does to the analyses
    count: int = 1  # how many times it was found
    examples: tuple[str, ...] = ()  # up to three of them

    def sentence(self) -> str:
        """Return the caution as it stands in running text.

        >>> Caution(code="few-runs", message="Two runs say little.", advice="Train more.").sentence()
        'Two runs say little. Train more.'
        >>> Caution(code="direction", message="mqm_avg: assumed that higher is better").sentence()
        'mqm_avg: assumed that higher is better.'
        """
        parts = (part if part.endswith((".", "?", "!")) else f"{part}." for part in self._parts())
        return " ".join(part if IDENTIFIER.match(part) else f"{part[:1].upper()}{part[1:]}" for part in parts)

    def _parts(self) -> list[str]:
        return [part for part in (self.message, self.effect, self.advice) if part]

    def tables(self) -> tuple[str, ...]:
        """Return the names of the tables that it may stand at, the nearest first; none where it limits the whole."""
        what, _, name = self.about.partition(":")
        return {"table": (name,), "system": ("systems",), "pair": ("contrasts", "systems")}.get(what, ())


def tabulate_findings(found: Iterable[Caution]) -> Table:
    """Return faults of the data as a table: how bad each is, what was found, what to do."""
    return Table(
        name="findings",
        title="Findings",
        columns=("", "what was found", "what it does, and what to do"),
        rows=tuple((each.severity, show_finding(each), f"{each.effect} {each.advice}") for each in found),
    )


def show_finding(caution: Caution) -> str:
    """Return what was found, with examples."""
    if not caution.examples:
        return caution.message
    more = ("...",) if caution.count > len(caution.examples) == EXAMPLES else ()
    return f"{caution.message.removesuffix('.')}: {'; '.join((*caution.examples, *more))}"


def order_cautions(cautions: Iterable[Caution]) -> tuple[Caution, ...]:
    """Return each caution once, the gravest first, and of equals those that may turn the answer round."""
    turning = {code: place for place, code in enumerate(TURNING)}
    return tuple(
        sorted(
            dict.fromkeys(cautions),
            key=lambda each: (SEVERITIES.index(each.severity), turning.get(each.code, len(turning))),
        )
    )


def write_caveats(cautions: Iterable[Caution], *, most: int = 2, counted: bool = True) -> tuple[tuple[str, str], ...]:
    """Return the lines at the foot of a short answer: the gravest cautions and, if `counted`, how many more there are.

    >>> few = [Caution(code=f"c{i}", message=f"Caution {i}.") for i in range(4)]
    >>> write_caveats(few)
    (('caveat', 'Caution 0'), ('caveat', 'Caution 1 (2 more: --full)'))
    """
    grave = find_grave(cautions)
    shown = [each.message.removesuffix(".") for each in grave[:most]]
    if shown and counted and len(grave) > most:
        shown[-1] += f" ({format_count(len(grave) - most)} more: --full)"
    return tuple((CAVEAT, message) for message in shown)


def find_grave(cautions: Iterable[Caution]) -> list[Caution]:
    """Return the cautions that limit the answer, the gravest first; notes are for `--full`."""
    return [each for each in order_cautions(cautions) if each.severity != "note"]


def place_cautions(
    cautions: Sequence[Caution], tables: Sequence[Table]
) -> tuple[tuple[Caution, ...], dict[int, tuple[Caution, ...]]]:
    """Return the cautions that limit the whole answer, and those of single tables, by the number of the table."""
    named = {table.name: place for place, table in reversed(list(enumerate(tables))) if table.name}
    whole: list[Caution] = []
    beside: dict[int, list[Caution]] = {}
    for caution in cautions:
        place = next((named[name] for name in caution.tables() if name in named), None)
        (whole if place is None else beside.setdefault(place, [])).append(caution)
    return tuple(whole), {place: tuple(own) for place, own in beside.items()}
