"""Names as labels in a picture."""

from __future__ import annotations

from collections.abc import Iterable

from holdsup.rendering.table import visible

__all__ = ["plain", "short", "short_apart", "short_pair"]

LONGEST = 26


def plain(name: str) -> str:
    r"""Return a label that is not read as mathematics, and not left out of a legend because of its first letter.

    >>> plain("_b$")
    ' _b\\$'
    """
    shown = visible(name).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def short(name: str, longest: int = LONGEST) -> str:
    """Return a label that leaves room for the picture."""
    shown = visible(name)
    return plain(shown if len(shown) <= longest else f"{shown[: longest - 1]}…")


def short_apart(names: Iterable[str], longest: int = LONGEST) -> list[str]:
    """Return labels of several names; where the same beginning would make two alike, the middle is left out instead.

    >>> short_apart(["questions-on-law", "word"], 12), short_apart(["questions-on-law", "questions-on-art"], 12)
    (['questions-o…', 'word'], ['questi…n-law', 'questi…n-art'])
    """
    known = list(names)
    cut = [short(name, longest) for name in known]
    if len(set(cut)) == len(set(known)):
        return cut
    tail = (longest - 1) // 2
    shown = [visible(name) for name in known]
    return [plain(s if len(s) <= longest else f"{s[: longest - 1 - tail]}…{s[-tail:]}") for s in shown]


def short_pair(left: str, right: str) -> str:
    r"""Return "left - right", on two lines where one is too short for it.

    >>> short_pair("A", "B"), short_pair("a" * 20, "b" * 10)
    ('A - B', 'aaaaaaaaaaaaaaaaaaaa\n- bbbbbbbbbb')
    """
    gap = " - " if len(left) + len(right) <= LONGEST else "\n- "
    return f"{short(left)}{gap}{short(right)}"
