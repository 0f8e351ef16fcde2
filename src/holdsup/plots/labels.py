"""Names as labels in a picture."""

from __future__ import annotations

from collections.abc import Iterable

from holdsup.rendering.table import visible

__all__ = ["plain", "short", "short_apart"]

LONGEST = 32


def plain(name: str) -> str:
    """Return a label that cannot be read as mathematics."""
    return visible(name).replace("$", r"\$")


def short(name: str, longest: int = LONGEST) -> str:
    """Return a label that cannot be read as mathematics and leaves room for the picture."""
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
