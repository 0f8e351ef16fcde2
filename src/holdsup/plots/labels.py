"""Names as labels in a picture."""

from __future__ import annotations

from holdsup.rendering.table import visible

__all__ = ["short"]

LONGEST = 32


def short(name: str) -> str:
    """Return a label that cannot be read as mathematics and leaves room for the picture."""
    shown = visible(name)
    return (shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…").replace("$", r"\$")
