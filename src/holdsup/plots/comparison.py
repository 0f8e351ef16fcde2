"""Systems and their differences, with limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdsup.plots.interaction import plot_conditional
from holdsup.rendering.table import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Comparison

__all__ = ["plot_comparison", "plot_contrasts", "plot_systems"]

MARK, UNSURE = "#0072B2", "#8C8C8C"
ROW, FRAME = 0.3, 0.9  # inches a line, and around the lines
PANEL = 4.2  # inches of a property
MOST_LINES, MOST_PANELS = 60, 8


def plot_comparison(result: Comparison, *, ax: Axes | None = None) -> Figure:
    """Draw the means of the systems, their differences below, and then a panel for each property asked for.

    On an Axes that is given, the differences alone.
    """
    from matplotlib.figure import Figure as NewFigure

    if ax is not None:
        return plot_contrasts(result, ax=ax)
    along = result.conditional[:MOST_PANELS]
    heights = [ROW * min(len(rows), MOST_LINES) + FRAME for rows in (result.systems, result.contrasts)]
    heights += [PANEL] * len(along)
    figure = NewFigure(figsize=(6.5, sum(heights)), layout="constrained")
    means, differences, *panels = figure.subplots(len(heights), 1, height_ratios=heights)
    plot_systems(result, ax=means)
    for each, panel in zip(along, panels, strict=True):
        plot_conditional(result, each.property, metric=each.metric, ax=panel)
    return plot_contrasts(result, ax=differences)


def plot_systems(result: Comparison, *, ax: Axes | None = None) -> Figure:
    """Draw the mean of each system with its limits, the best on top."""
    systems = result.ordered()[:MOST_LINES]
    names = [f"{s.name}, {s.metric}" if len(result.tests) > 1 else s.name for s in systems]
    ax = _lines(names, [(s.low, s.mean, s.high) for s in systems], [MARK] * len(systems), ax)
    claims = " and ".join(dict.fromkeys(s.claim for s in systems))
    ax.set_xlabel(f"mean score, {result.level:.0%} limits ({claims})")
    return _figure(ax)


def plot_contrasts(result: Comparison, *, ax: Axes | None = None) -> Figure:
    """Draw the differences with their limits, of several also those at once; grey are those not told from none."""
    contrasts = result.contrasts[:MOST_LINES]
    names = [f"{c.left} - {c.right}" + (f", {c.metric}" if len(result.tests) > 1 else "") for c in contrasts]
    colours = [MARK if c.p_adjusted <= 1 - result.level else UNSURE for c in contrasts]
    ax = _lines(names, [(c.low, c.difference, c.high) for c in contrasts], colours, ax)
    several = len(result.contrasts) > 1
    if several:
        ends = [(c.low_simultaneous, c.high_simultaneous) for c in contrasts]
        ax.hlines(range(len(ends)), *zip(*ends, strict=True), color=colours, linewidth=0.8)
    ax.axvline(0, color="0.6", linewidth=1, zorder=0)
    more = f", the first {MOST_LINES} of {len(result.contrasts)}" if len(result.contrasts) > MOST_LINES else ""
    limits = "limits of each, thin: of all at once" if several else "limits"
    ax.set_xlabel(f"difference, {result.level:.0%} {limits}{more}; grey: cannot be told from none")
    return _figure(ax)


def _lines(
    names: Sequence[str], limits: Sequence[tuple[float, float, float]], colours: Sequence[str], ax: Axes | None
) -> Axes:
    from matplotlib.figure import Figure as NewFigure

    if ax is None:
        ax = NewFigure(figsize=(6.5, ROW * len(names) + FRAME), layout="constrained").add_subplot()
    for place, ((low, middle, high), colour) in enumerate(zip(limits, colours, strict=True)):
        ax.plot([low, high], [place, place], color=colour, linewidth=2, solid_capstyle="butt")
        ax.plot(middle, place, "o", color=colour)
    ax.set_yticks(range(len(names)), [visible(name).replace("$", r"\$") for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _figure(ax: Axes) -> Figure:
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure
