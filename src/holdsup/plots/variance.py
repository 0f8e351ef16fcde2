"""Where the variance comes from: the shares of the components, and what more levels would be worth."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from holdsup.plots.facet_lines import height_of_facet_lines, plot_facet_lines
from holdsup.plots.labels import short, short_apart
from holdsup.plots.panels import Panel, stack
from holdsup.plots.study import height_of_study, plot_study
from holdsup.plots.style import (
    COLOURS,
    FAINT,
    FRAME,
    INK,
    ROW,
    add_legend,
    explain_axis,
    figure_of,
    in_style,
    legend_height,
    new_axes,
    tell,
)
from holdsup.rendering.numbers import format_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Decomposition

__all__ = ["panels_of_variance", "plot_shares", "plot_variance"]

HATCHES = ("", "//", "..", "xx")  # when the colours are used up
DARK = ("#0072B2", "#D55E00", "#009E73", INK)  # on which numbers are white
LABELLED = 12.0  # percent that a bar needs to have room for its number
MOST_BARS = 40


def panels_of_variance(result: Decomposition) -> list[Panel]:
    """Return the shares, and the decision study and the levels along a property where there are any."""
    panels = [
        Panel(
            name="shares",
            shows="The share of each source in the variance of a system's scores.",
            beside="Where the variance comes from",
            draw=partial(plot_shares, result),
            height=_height(result),
        )
    ]
    if result.study:
        panels.append(
            Panel(
                name="study",
                shows="The reliability phi of averages over more levels of a facet.",
                beside="Decision study",
                draw=partial(plot_study, result),
                height=height_of_study(result),
            )
        )
    if result.properties:
        panels.append(
            Panel(
                name="property",
                shows="The predicted score of each level of a facet along a property of the items, with limits.",
                beside="Facets by properties",
                draw=partial(plot_facet_lines, result),
                height=height_of_facet_lines(result),
            )
        )
    return panels


def plot_variance(result: Decomposition, *, ax: Axes | None = None) -> Figure:
    """Draw the shares; on a figure of its own, the decision study and the levels along a property below them."""
    return stack(panels_of_variance(result)) if ax is None else plot_shares(result, ax=ax)


@in_style
def plot_shares(result: Decomposition, *, ax: Axes | None = None) -> Figure:
    """Draw one stacked bar for each system: the share of each component; of more than 40 systems, the first."""
    ax = ax or new_axes(_height(result))
    owners = [(s.system, s.metric) for s in result.systems][:MOST_BARS]
    ends = dict.fromkeys(owners, 0.0)
    for i, name in enumerate(_names(result)):
        shares = {(c.system, c.metric): c.percent for c in result.components if c.name == name}
        widths = [shares.get(owner, 0.0) for owner in owners]
        colour = FAINT if name == "Residual" else COLOURS[i % len(COLOURS)]
        hatch = "" if name == "Residual" else HATCHES[i // len(COLOURS) % len(HATCHES)]
        bars = ax.barh(
            range(len(owners)), widths, left=[ends[owner] for owner in owners], color=colour, hatch=hatch,
            edgecolor="white", linewidth=0.6, label=short(name),
        )  # fmt: skip
        shown = [format_percent(width) if width >= LABELLED else "" for width in widths]
        ax.bar_label(bars, shown, label_type="center", fontsize=7, color="white" if colour in DARK else "black")
        for bar, owner, width in zip(bars, owners, widths, strict=True):
            tell(bar, [f"{owner[0]}, {name}: {format_percent(width)}"])
            ends[owner] += width
    ax.set_yticks(range(len(owners)), short_apart(s if m is None else f"{s}, {m}" for s, m in owners))
    ax.set_ylim(len(owners) - 0.4, -0.6)  # the first on top
    ax.set_xlim(0, 100)
    explain_axis(ax, "share of the variance, percent")
    add_legend(ax, flush="right")
    return figure_of(ax)


def _names(result: Decomposition) -> list[str]:
    """Return the components, the residual last."""
    return sorted(dict.fromkeys(c.name for c in result.components), key="Residual".__eq__)


def _height(result: Decomposition) -> float:
    return ROW * min(len(result.systems), MOST_BARS) + legend_height(_names(result)) + FRAME
