"""`Panel`: one picture of a result, and which table it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One picture of a result."""

    name: str  # what users call it, and the name of its file
    shows: str  # what is drawn, in words
    beside: str  # the name of the table that it belongs to
    draw: Callable[..., Figure]  # draws it, on the Axes that `ax` gives or on a figure of its own
