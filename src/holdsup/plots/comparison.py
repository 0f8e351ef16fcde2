"""Systems and their differences, with limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.plots.interaction import plot_conditional
from holdsup.plots.intervals import FRAME, MARK, ROW, UNSURE, draw_intervals, figure_of
from holdsup.plots.labels import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Comparison

__all__ = ["plot_comparison", "plot_contrasts", "plot_systems"]

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
    ax = draw_intervals(
        [plain(name) for name in names], [(s.low, s.mean, s.high) for s in systems], [MARK] * len(systems), ax
    )
    claims = " and ".join(dict.fromkeys(s.claim for s in systems))
    ax.set_xlabel(f"mean score, {result.level:.0%} limits ({claims})")
    return figure_of(ax)


def plot_contrasts(result: Comparison, *, ax: Axes | None = None) -> Figure:
    """Draw the differences with their limits, of several also those at once; grey are those not told from none."""
    contrasts = result.contrasts[:MOST_LINES]
    names = [f"{c.left} - {c.right}" + (f", {c.metric}" if len(result.tests) > 1 else "") for c in contrasts]
    colours = [MARK if c.p_adjusted <= 1 - result.level else UNSURE for c in contrasts]
    ax = draw_intervals(
        [plain(name) for name in names], [(c.low, c.difference, c.high) for c in contrasts], colours, ax
    )
    several = len(result.contrasts) > 1
    if several:
        ends = [(c.low_simultaneous, c.high_simultaneous) for c in contrasts]
        ax.hlines(range(len(ends)), *zip(*ends, strict=True), color=colours, linewidth=0.8)
    ax.axvline(0, color="0.6", linewidth=1, zorder=0)
    more = f", the first {MOST_LINES} of {len(result.contrasts)}" if len(result.contrasts) > MOST_LINES else ""
    limits = "limits of each, thin: of all at once" if several else "limits"
    ax.set_xlabel(f"difference, {result.level:.0%} {limits}{more}; grey: cannot be told from none")
    return figure_of(ax)
