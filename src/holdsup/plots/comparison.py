"""Systems and their differences, with limits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from holdsup.plots.interaction import height_of_conditional, plot_conditional
from holdsup.plots.labels import short_apart, short_pair
from holdsup.plots.panels import Panel, stack
from holdsup.plots.style import (
    FRAME,
    MARK,
    MUTED,
    ROW,
    UNSURE,
    draw_intervals,
    explain_axis,
    figure_of,
    in_style,
    new_axes,
    say_estimate,
    system_colours,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Comparison
    from holdsup.verdict.conditional.records import Conditional

__all__ = ["panels_of_comparison", "plot_comparison", "plot_contrasts", "plot_systems"]

MOST_LINES, MOST_PANELS = 60, 8


def panels_of_comparison(result: Comparison) -> list[Panel]:
    """Return the means of the systems, their differences, and a panel for each property asked for."""
    return [
        Panel(
            name="systems",
            shows=f"The mean score of each system with {result.level:.0%} limits, the best on top.",
            beside="Systems,",
            draw=partial(plot_systems, result),
            height=_height(len(result.systems)),
        ),
        Panel(
            name="differences",
            shows=f"Differences between systems with {result.level:.0%} limits; grey: cannot be told from none.",
            beside="Differences,",
            draw=partial(plot_contrasts, result),
            height=_height(len(result.contrasts)),
        ),
        *(_along(result, each, place) for place, each in enumerate(result.conditional[:MOST_PANELS], start=1)),
    ]


def _along(result: Comparison, each: Conditional, place: int) -> Panel:
    return Panel(
        name=f"property-{place}",
        shows=f"The mean score of each system by {each.property}, with {result.level:.0%} limits."
        + (" Bars below: where which system is better." if each.significant_where else ""),
        beside=f"By {each.property}" + (f" ({each.metric})" if each.metric else ""),
        draw=partial(plot_conditional, result, each.property, metric=each.metric),
        height=height_of_conditional(each),
    )


def plot_comparison(result: Comparison, *, ax: Axes | None = None) -> Figure:
    """Draw the means of the systems, their differences below, and then a panel for each property asked for.

    On an Axes that is given, the differences alone.
    """
    return stack(panels_of_comparison(result)) if ax is None else plot_contrasts(result, ax=ax)


@in_style
def plot_systems(result: Comparison, *, ax: Axes | None = None) -> Figure:
    """Draw the mean of each system with its limits, the best on top."""
    systems = result.ordered()[:MOST_LINES]
    names = [f"{s.name}, {s.metric}" if len(result.tests) > 1 else s.name for s in systems]
    ax = ax or new_axes(_height(len(result.systems)))
    colours = system_colours(s.name for s in result.systems)
    draw_intervals(
        ax,
        short_apart(names),
        [(s.low, s.mean, s.high) for s in systems],
        [colours[s.name] for s in systems],
        [f"{name}: {say_estimate(s.mean, s.low, s.high)}" for name, s in zip(names, systems, strict=True)],
    )
    claims = " and ".join(dict.fromkeys(s.claim for s in systems))
    explain_axis(ax, f"mean score, {result.level:.0%} limits ({claims})")
    return figure_of(ax)


@in_style
def plot_contrasts(result: Comparison, *, ax: Axes | None = None) -> Figure:
    """Draw the differences with their limits, of several also those at once; grey are those not told from none."""
    contrasts = result.contrasts[:MOST_LINES]
    ax = ax or new_axes(_height(len(result.contrasts)))
    metrics = [f", {c.metric}" if len(result.tests) > 1 else "" for c in contrasts]
    named = list(zip(contrasts, metrics, strict=True))
    colours = [MARK if c.p_adjusted <= 1 - result.level else UNSURE for c in contrasts]
    draw_intervals(
        ax,
        [short_pair(c.left, c.right, after=metric) for c, metric in named],
        [(c.low, c.difference, c.high) for c in contrasts],
        colours,
        [f"{c.left} - {c.right}{metric}: {say_estimate(c.difference, c.low, c.high)}" for c, metric in named],
    )
    several = len(result.contrasts) > 1
    if several:
        ends = [(c.low_simultaneous, c.high_simultaneous) for c in contrasts]
        ax.hlines(range(len(ends)), *zip(*ends, strict=True), color=colours, linewidth=0.6)
    ax.axvline(0, color=MUTED, linewidth=0.6, zorder=0)
    more = f"the first {MOST_LINES} of {len(result.contrasts)}" if len(result.contrasts) > MOST_LINES else ""
    limits = "limits of each, thin: of all at once" if several else "limits"
    explain_axis(ax, f"difference, {result.level:.0%} {limits}", "grey: cannot be told from none", more)
    return figure_of(ax)


def _height(lines: int) -> float:
    return ROW * min(lines, MOST_LINES) + FRAME
