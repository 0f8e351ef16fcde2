"""Systems and their differences, with limits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from holdsup.plots.interaction import height_of_conditional, plot_conditional
from holdsup.plots.labels import short, short_apart, short_pair
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
from holdsup.results import find_scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Comparison
    from holdsup.verdict.comparison.records import SystemContrast
    from holdsup.verdict.conditional.records import Conditional

__all__ = ["panels_of_comparison", "plot_comparison", "plot_contrasts", "plot_systems"]

MOST_LINES, MOST_PANELS, MOST_METRICS = 60, 8, 6
TALL_ROW, LABEL_LINE = 0.3, 0.12  # inches of a row whose label has two lines, and of a line below the axes
LINE = 52  # letters below the axes that fit a column


def panels_of_comparison(result: Comparison) -> list[Panel]:
    """Return the means of the systems and their differences by each metric, and a panel for each property asked for."""
    metrics = [test.metric for test in result.tests]
    shown = metrics[:MOST_METRICS]
    more = "" if shown == metrics else f" Drawn are the first {len(shown)} of {len(metrics)} metrics."
    by_metric = [_of_metric(result, metric, place, more) for place, metric in enumerate(shown, start=1)]
    return [
        *(means for means, _ in by_metric),
        *(differences for _, differences in by_metric),
        *(_along(result, each, place) for place, each in enumerate(result.conditional[:MOST_PANELS], start=1)),
    ]


def _of_metric(result: Comparison, metric: str | None, place: int, more: str) -> tuple[Panel, Panel]:
    """Return the means and the differences by one metric: each has a scale of its own."""
    scored, number = find_scored(result), f"-{place}" if len(result.tests) > 1 else ""
    score, lower = scored.name(metric), f"; {said}" if (said := scored.say_lower(metric)) else ""
    named = LABEL_LINE if scored.names else 0.0  # what is drawn has a line of its own below the axes
    systems = Panel(
        name=f"systems{number}",
        shows=f"The mean {score} of each system with {result.level:.0%} limits, the best on top{lower}.{more}",
        beside="Systems,",
        draw=partial(plot_systems, result, metric=metric),
        height=_height([s.name for s in result.systems if s.metric == metric]) + named,
    )
    differences = Panel(
        name=f"differences{number}",
        shows=f"Differences of {score} between systems with {result.level:.0%} limits{lower}; grey: cannot be told "
        f"from none.{more}",
        beside="Differences,",
        draw=partial(plot_contrasts, result, metric=metric),
        height=_height(_pairs(_contrasts(result, metric))) + named,
    )
    return systems, differences


def _along(result: Comparison, each: Conditional, place: int) -> Panel:
    score = find_scored(result).name(each.metric)
    return Panel(
        name=f"property-{place}",
        shows=f"The mean {score} of each system by {each.property}, with {result.level:.0%} limits."
        + (" Bars below: where which system is better." if each.significant_where else ""),
        beside=f"By {each.property}" + (f" ({each.metric})" if each.metric else ""),
        draw=partial(plot_conditional, result, each.property, metric=each.metric),
        height=height_of_conditional(each),
    )


def plot_comparison(result: Comparison, *, ax: Axes | None = None) -> Figure:
    """Draw the means of the systems, their differences below, and then a panel for each property asked for.

    On an Axes that is given, the differences alone, of several metrics by the first.
    """
    return stack(panels_of_comparison(result)) if ax is None else plot_contrasts(result, ax=ax)


@in_style
def plot_systems(result: Comparison, *, ax: Axes | None = None, metric: str | None = None) -> Figure:
    """Draw the mean of each system with its limits, the best on top, by one metric: the first, unless one is named."""
    metric = metric or result.tests[0].metric
    systems = [s for s in result.ordered() if s.metric == metric][:MOST_LINES]
    names = [s.name for s in systems]
    ax = ax or new_axes(_height(names))
    colours = system_colours(s.name for s in result.systems)
    draw_intervals(
        ax,
        short_apart(names),
        [(s.low, s.mean, s.high) for s in systems],
        [colours[s.name] for s in systems],
        [f"{s.name}: {say_estimate(s.mean, s.low, s.high)}{f' (no CI: {s.note})' if s.note else ''}" for s in systems],
    )
    claims, scored = " and ".join(dict.fromkeys(s.claim for s in systems)), find_scored(result)
    limits = f"{result.level:.0%} limits ({claims})"
    explain_axis(ax, *_measured(f"mean {short(scored.name(metric))}", limits), scored.say_lower(metric))
    return figure_of(ax)


@in_style
def plot_contrasts(result: Comparison, *, ax: Axes | None = None, metric: str | None = None) -> Figure:
    """Draw the differences with their limits, of several also those at once; grey are those not told from none.

    They are by one metric: the first, unless one is named.
    """
    metric = metric or result.tests[0].metric
    every = _contrasts(result, metric)
    contrasts, labels = every[:MOST_LINES], _pairs(every)[:MOST_LINES]
    ax = ax or new_axes(_height(labels))
    colours = [MARK if c.p_adjusted <= 1 - result.level else UNSURE for c in contrasts]
    draw_intervals(
        ax,
        labels,
        [(c.low, c.difference, c.high) for c in contrasts],
        colours,
        [f"{c.left} - {c.right}: {say_estimate(c.difference, c.low, c.high)}" for c in contrasts],
    )
    several, scored = len(result.contrasts) > 1, find_scored(result)
    if several:
        ends = [(c.low_simultaneous, c.high_simultaneous) for c in contrasts]
        ax.hlines(range(len(ends)), *zip(*ends, strict=True), color=colours, linewidth=0.6)
    ax.axvline(0, color=MUTED, linewidth=0.6, zorder=0)
    more = f"the first {MOST_LINES} of {len(every)}" if len(every) > MOST_LINES else ""
    of = f" of {short(scored.name(metric))}" if scored.names else ""
    limits = f"{result.level:.0%} limits{' of each, thin: of all at once' if several else ''}"
    grey = "; ".join(part for part in ("grey: cannot be told from none", scored.say_lower(metric)) if part)
    explain_axis(ax, *_measured(f"difference{of}", limits), grey, more)
    return figure_of(ax)


def _contrasts(result: Comparison, metric: str | None) -> list[SystemContrast]:
    return [c for c in result.contrasts if c.metric == metric]


def _pairs(contrasts: Sequence[SystemContrast]) -> list[str]:
    return [short_pair(c.left, c.right) for c in contrasts]


def _measured(what: str, limits: str) -> list[str]:
    """Return what is drawn and its limits, on one line where there is room."""
    return [f"{what}, {limits}"] if len(what) + len(limits) <= LINE else [f"{what},", limits]


def _height(labels: Sequence[str]) -> float:
    """Return the inches that lines of these labels need; a label may be of two lines."""
    row = TALL_ROW if any("\n" in label for label in labels[:MOST_LINES]) else ROW
    return row * min(len(labels), MOST_LINES) + FRAME
