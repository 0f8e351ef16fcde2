"""The conditions matrix as a picture: which conditions of measurement agree, for one object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.plots.labels import short, short_apart
from holdsup.plots.style import COLUMN, figure_of, in_style, new_axes, tell
from holdsup.verdict.reproduction.parts import split_result
from holdsup.verdict.reproduction.sentences import show_condition

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Reproduction

__all__ = ["plot_conditions", "size_of_conditions"]

# Okabe and Ito's colours, and a sign in each cell for those who see none.
SAME, OTHER, UNKNOWN = ("#56B4E9", "="), ("#E69F00", "≠"), ("#DDDDDD", "?")
SAYS = {"=": "as in the first measurement", "≠": "not as in the first measurement", "?": "not reported"}
CELL = 0.22  # inches
MOST_COLUMNS = 40
LONGEST = 34  # letters of a measurement's label, which is turned and has room


def size_of_conditions(result: Reproduction, assessment: int = 0) -> tuple[float, float]:
    """Return the inches, width and height, that the conditions matrix takes."""
    shown = split_result(result)[assessment]
    columns = min(len(shown.measurements), MOST_COLUMNS)
    return max(COLUMN, 1.6 + CELL * columns), 1.7 + CELL * len(shown.conditions)


@in_style
def plot_conditions(result: Reproduction, *, ax: Axes | None = None, assessment: int = 0) -> Figure:
    """Draw a cell for each condition and measurement: as in the first measurement, otherwise, or not reported.

    `assessment` is the number of the assessment in the result. Of more than 40 measurements the first are drawn.
    """
    from matplotlib.patches import Rectangle

    shown = split_result(result)[assessment]
    rows, measured = shown.conditions, shown.measurements[:MOST_COLUMNS]
    if ax is None:
        width, height = size_of_conditions(result, assessment)
        ax = new_axes(height, width=width)
    for y, row in enumerate(rows):
        for x, same in enumerate(row.same_as_first[: len(measured)]):
            colour, sign = UNKNOWN if same is None else SAME if same else OTHER
            cell = ax.add_patch(Rectangle((x - 0.47, y - 0.47), 0.94, 0.94, color=colour, linewidth=0))
            value = row.values[x] or "-"
            tell(cell, [f"{show_condition(row.condition)}, {measured[x].label}: {value} ({SAYS[sign]})"])
            ax.text(x, y, sign, ha="center", va="center", fontsize=7, color="black")
    ax.set_xlim(-0.5, len(measured) - 0.5)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    names = short_apart((m.label for m in measured), LONGEST)
    ax.set_xticks(range(len(measured)), names, rotation=40, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(rows)), [short(show_condition(row.condition)) for row in rows])
    ax.tick_params(length=0)
    ax.set_aspect("equal")
    for side in ax.spines.values():
        side.set_visible(False)
    ax.set_title("conditions: = as in the first, ≠ otherwise, ? not reported", fontsize=7, loc="right")
    return figure_of(ax)
