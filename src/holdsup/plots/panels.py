"""`Panel`: one picture of a result, and which table it stands beside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdsup.plots.style import COLUMN, in_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Panel", "stack"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One picture of a result.

    Attributes
    ----------
    name : for the name of a file
    shows : what is drawn, in words
    beside : how the title of the table begins that it belongs to
    draw : draws it, on the Axes that `ax` gives or on a figure of its own
    height : inches
    width : inches
    """

    name: str
    shows: str
    beside: str
    draw: Callable[..., Figure]
    height: float
    width: float = COLUMN


@in_style
def stack(panels: Sequence[Panel]) -> Figure:
    """Draw all panels of a result on one figure, one below the other."""
    if len(panels) == 1:
        return panels[0].draw()
    from holdsup.plots.notebook import NotebookFigure

    heights = [panel.height for panel in panels]
    figure = NotebookFigure(figsize=(max(panel.width for panel in panels), sum(heights)), layout="constrained")
    for panel, ax in zip(panels, figure.subplots(len(panels), 1, height_ratios=heights), strict=True):
        panel.draw(ax=ax)
    return figure
