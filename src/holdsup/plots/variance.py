"""Where the variance comes from: the shares of the components, and what more levels would be worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.plots.facet_lines import plot_facet_lines
from holdsup.plots.study import plot_study
from holdsup.rendering.numbers import format_percent
from holdsup.rendering.table import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Decomposition

__all__ = ["plot_shares", "plot_variance"]

# Okabe and Ito's colours, told apart with any kind of colour vision; items first, the residual always grey.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
HATCHES = ("", "//", "..", "xx")  # when the colours are used up
DARK = ("#0072B2", "#D55E00")  # on which numbers are white
RESIDUAL = "#BDBDBD"
LABELLED = 8.0  # percent that a bar needs to have room for its number
MOST_BARS = 40
PANEL = 3.2  # inches


def plot_variance(result: Decomposition, *, ax: Axes | None = None) -> Figure:
    """Draw the shares; on a figure of its own, the decision study and the levels along a property below them."""
    from matplotlib.figure import Figure as NewFigure

    below = [*([plot_study] if result.study else []), *([plot_facet_lines] if result.properties else [])]
    if ax is not None or not below:
        return plot_shares(result, ax=ax)
    heights = [_height(result), *(PANEL for _ in below)]
    figure = NewFigure(figsize=(6.5, sum(heights)), layout="constrained")
    places = figure.subplots(len(heights), 1, height_ratios=heights)
    for draw, place in zip((plot_shares, *below), places, strict=True):
        draw(result, ax=place)
    return figure


def plot_shares(result: Decomposition, *, ax: Axes | None = None) -> Figure:
    """Draw one stacked bar for each system: the share of each component; of more than 40 systems, the first."""
    from matplotlib.figure import Figure as NewFigure

    if ax is None:
        ax = NewFigure(figsize=(6.5, _height(result)), layout="constrained").add_subplot()
    names = list(dict.fromkeys(c.name for c in result.components))
    owners = [(s.system, s.metric) for s in result.systems][:MOST_BARS]
    ends = dict.fromkeys(owners, 0.0)
    for i, name in enumerate(sorted(names, key="Residual".__eq__)):
        shares = {(c.system, c.metric): c.percent for c in result.components if c.name == name}
        widths = [shares.get(owner, 0.0) for owner in owners]
        colour = RESIDUAL if name == "Residual" else COLOURS[i % len(COLOURS)]
        ink = "white" if colour in DARK else "black"
        hatch = "" if name == "Residual" else HATCHES[i // len(COLOURS) % len(HATCHES)]
        bars = ax.barh(
            range(len(owners)), widths, left=[ends[owner] for owner in owners], color=colour, hatch=hatch,
            edgecolor="white", label=_text(name),
        )  # fmt: skip
        shown = [format_percent(width) if width >= LABELLED else "" for width in widths]
        ax.bar_label(bars, shown, label_type="center", fontsize=8, color=ink)
        for owner, width in zip(owners, widths, strict=True):
            ends[owner] += width
    ax.set_yticks(range(len(owners)), [_text(s if m is None else f"{s}, {m}") for s, m in owners])
    ax.set_ylim(len(owners) - 0.4, -0.6)  # the first on top
    ax.set_xlim(0, 100)
    ax.set_xlabel("share of the variance, percent")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, frameon=False, borderaxespad=0.2, fontsize=8)
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure


def _height(result: Decomposition) -> float:
    legend = -(-len({c.name for c in result.components}) // 3)
    return 0.35 * min(len(result.systems), MOST_BARS) + 0.2 * legend + 1.0


def _text(name: str) -> str:
    """Return a label that cannot be read as mathematics and leaves room for the bars."""
    shown = visible(name).replace("$", r"\$")
    shown = shown if len(shown) <= 32 else f"{shown[:31]}…"
    return f" {shown}" if shown.startswith("_") else shown  # matplotlib leaves labels that begin so out of a legend
