"""Estimates with their limits, a line each, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FRAME", "MARK", "ROW", "UNSURE", "draw_intervals", "figure_of"]

MARK, UNSURE = "#0072B2", "#8C8C8C"
ROW, FRAME = 0.3, 0.9  # inches a line, and around the lines


def draw_intervals(
    labels: Sequence[str], limits: Sequence[tuple[float, float, float]], colours: Sequence[str], ax: Axes | None
) -> Axes:
    """Draw (low, middle, high) of each label, the first on top; on a new figure unless there is an Axes."""
    from matplotlib.figure import Figure as NewFigure

    if ax is None:
        ax = NewFigure(figsize=(6.5, ROW * len(labels) + FRAME), layout="constrained").add_subplot()
    for place, ((low, middle, high), colour) in enumerate(zip(limits, colours, strict=True)):
        ax.plot([low, high], [place, place], color=colour, linewidth=2, solid_capstyle="butt")
        ax.plot(middle, place, "o", color=colour)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def figure_of(ax: Axes) -> Figure:
    """Return the figure that an Axes sits on."""
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure
