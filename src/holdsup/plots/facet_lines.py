"""The levels of a facet along a property of the items (Hagmann et al. 2023, Figure 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.errors import ResultError
from holdsup.rendering.table import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Decomposition

__all__ = ["plot_facet_lines"]

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
MARKS = ("o", "s", "^", "D", "v", "P")
MOST_LINES = 12


def plot_facet_lines(result: Decomposition, which: int | None = None, *, ax: Axes | None = None) -> Figure:
    """Draw the predicted score of each level against a property, with limits given the mean line; the first 12 levels.

    `which` is a place in `result.properties`; by default the one with the smallest p.
    """
    from matplotlib.figure import Figure as NewFigure

    if not result.properties:
        raise ResultError("there is no property in this result: ask for one with --by")
    crossed = min(result.properties, key=lambda f: f.log10_p) if which is None else result.properties[which]
    if ax is None:
        ax = NewFigure(figsize=(6.5, 3.2), layout="constrained").add_subplot()
    values = list(dict.fromkeys(p.value for p in crossed.points))
    classes = [value for value in values if isinstance(value, str)]
    places = {value: float(i) if isinstance(value, str) else value for i, value in enumerate(values)}
    for number, level in enumerate(list(dict.fromkeys(p.level for p in crossed.points))[:MOST_LINES]):
        own = [p for p in crossed.points if p.level == level]
        at, colour = [places[p.value] for p in own], COLOURS[number % len(COLOURS)]
        ax.fill_between(at, [p.low for p in own], [p.high for p in own], color=colour, alpha=0.15, linewidth=0)
        ax.plot(at, [p.mean for p in own], color=colour, marker=MARKS[number % len(MARKS)], label=_text(level))
    if classes:
        ax.set_xticks(range(len(classes)), [_text(name) for name in classes])
    ax.set_xlabel(_text(crossed.property))
    ax.set_ylabel(f"predicted score of {_text(crossed.system)}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(
        title=_text(crossed.facet), loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8,
        title_fontsize=8,
    )  # fmt: skip
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure


def _text(name: str) -> str:
    """Return a label that cannot be read as mathematics; one that begins with "_" would be left out of a legend."""
    shown = visible(name).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown
