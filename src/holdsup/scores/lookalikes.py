"""Labels that may mean the same: they differ in blanks, capitals, or the way a number is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

import pyarrow.compute as pc

from holdsup.columns import Labels
from holdsup.rendering.numbers import format_counted
from holdsup.scores.findings import labelled_roles
from holdsup.scores.table import Scores

__all__ = ["caution_lookalikes", "find_lookalikes"]

PLAIN = r"^([a-z][!-~]*|[1-9][0-9]{0,39})$"  # in lower case
NUMERAL = re.compile(r"[-+]?\d{1,40}(\.\d{0,40})?")


def find_lookalikes(scores: Scores) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each role or facet that has such labels, and the groups of them."""
    for role, labels in labelled_roles(scores):
        if _are_plainly_different(labels):
            continue
        plain: dict[str, list[str]] = {}
        for name in labels.names:
            plain.setdefault(_plain(name), []).append(name)
        alike = [names for names in plain.values() if len(names) > 1]
        if alike:
            yield role, alike


def caution_lookalikes(scores: Scores) -> Iterator[str]:
    """Yield a line for each role or facet that has such labels."""
    for role, alike in find_lookalikes(scores):
        shown = " and ".join(map(repr, alike[0][:3]))
        more = f", and {format_counted(len(alike) - 1, 'group')} more" if len(alike) > 1 else ""
        yield f"The {role} labels {shown} may mean the same{more}. They count as different: if so, write them alike."


def _are_plainly_different(labels: Labels) -> bool:
    """Return whether all labels are plain words or plain numbers, and differ in more than capitals: most ids do."""
    lower = pc.utf8_lower(labels.levels)
    plain = pc.all(pc.match_substring_regex(lower, PLAIN)).as_py()
    return bool(plain is not False and pc.count_distinct(lower).as_py() == labels.count)


def _plain(label: str) -> str:
    """Return what labels share that differ only in blanks, capitals or the way a number is written."""
    plain = " ".join(label.split()).casefold()
    return f"{Decimal(plain).normalize() + 0:f}" if NUMERAL.fullmatch(plain) and plain.isascii() else plain
