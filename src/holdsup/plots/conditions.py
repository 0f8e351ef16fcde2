"""The conditions matrix as a picture: which conditions of measurement agree, for one object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.plots.labels import short
from holdsup.verdict.reproduction.parts import split_result
from holdsup.verdict.reproduction.sentences import show_condition

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Reproduction

__all__ = ["CELL", "plot_conditions"]

# Okabe and Ito's colours, and a sign in each cell for those who see none.
SAME, OTHER, UNKNOWN = ("#56B4E9", "="), ("#E69F00", "≠"), ("#EEEEEE", "?")
CELL = 0.38  # inches
MOST_COLUMNS = 40


def plot_conditions(result: Reproduction, *, ax: Axes | None = None, assessment: int = 0) -> Figure:
    """Draw a cell for each condition and measurement: as in the first measurement, otherwise, or not reported.

    `assessment` is the number of the assessment in the result. Of more than 40 measurements the first are drawn.
    """
    from matplotlib.figure import Figure as NewFigure
    from matplotlib.patches import Rectangle

    shown = split_result(result)[assessment]
    rows, measured = shown.conditions, shown.measurements[:MOST_COLUMNS]
    if ax is None:
        size = (2.2 + CELL * len(measured), 2.0 + CELL * len(rows))
        ax = NewFigure(figsize=size, layout="constrained").add_subplot()
    for y, row in enumerate(rows):
        for x, same in enumerate(row.same_as_first[: len(measured)]):
            colour, sign = UNKNOWN if same is None else SAME if same else OTHER
            ax.add_patch(Rectangle((x - 0.48, y - 0.48), 0.96, 0.96, color=colour))
            ax.text(x, y, sign, ha="center", va="center", fontsize=9)
    ax.set_xlim(-0.5, len(measured) - 0.5)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xticks(range(len(measured)), [short(m.label) for m in measured], rotation=40, ha="right", fontsize=8)
    ax.set_yticks(range(len(rows)), [short(show_condition(row.condition)) for row in rows], fontsize=8)
    ax.tick_params(length=0)
    ax.set_aspect("equal")
    for side in ax.spines.values():
        side.set_visible(False)
    ax.set_title("conditions: = as in the first, ≠ otherwise, ? not reported", fontsize=9, loc="left")
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure
