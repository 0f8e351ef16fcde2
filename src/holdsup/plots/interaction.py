"""Systems along a property of the items: a line each, and a strip that shows where the difference holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.errors import ResultError, list_names
from holdsup.rendering.table import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Comparison
    from holdsup.verdict.conditional.records import Conditional

__all__ = ["plot_conditional"]

# Okabe and Ito's colours; lines also differ in their dashes, for print without colour.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":")
STRIP = 0.045  # height of a pair's strip, as a share of the axes


def plot_conditional(
    comparison: Comparison, along: str, *, metric: str | None = None, ax: Axes | None = None
) -> Figure:
    """Draw each system's mean along a property, with limits; below, where which system is better.

    A number gives lines with bands, classes give points with limits. Of several metrics the first is drawn, unless
    one is named.
    """
    from matplotlib.figure import Figure as NewFigure

    there = (each for each in comparison.conditional if each.property == along)
    found = next((each for each in there if metric in (None, each.metric)), None)
    if found is None:
        asked = dict.fromkeys(each.property for each in comparison.conditional)
        raise ResultError(f"nothing was asked of {along!r}; compare with by={along!r} (there is {list_names(asked)})")
    if ax is None:
        ax = NewFigure(figsize=(6.5, 4.2), layout="constrained").add_subplot()
    colours = {trend.system: COLOURS[i % len(COLOURS)] for i, trend in enumerate(found.slopes)}
    draw = _draw_classes if found.classes else _draw_line
    for i in range(len(found.slopes)):
        draw(ax, found, i, colours)
    _draw_strips(ax, found, colours)
    ax.set_xlabel(_plain(along))
    claims = " and ".join(dict.fromkeys(trend.claim for trend in found.slopes))
    ax.set_ylabel(f"{_plain(found.metric or 'score')}, {100 * comparison.level:g}% limits ({claims})")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, frameon=False, borderaxespad=0.2)
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure


def _draw_line(ax: Axes, found: Conditional, i: int, colours: dict[str, str]) -> None:
    trend = found.slopes[i]
    line, colour = trend.line, colours[trend.system]
    ax.plot(line.at, line.value, DASHES[i % len(DASHES)], color=colour, label=_plain(trend.system))
    ax.fill_between(line.at, line.low, line.high, color=colour, alpha=0.15, linewidth=0)


def _draw_classes(ax: Axes, found: Conditional, i: int, colours: dict[str, str]) -> None:
    trend = found.slopes[i]
    line, colour = trend.line, colours[trend.system]
    aside = 0.5 * ((i + 0.5) / len(found.slopes) - 0.5)  # systems beside each other, within half a place
    places = [at + aside for at in line.at]
    ax.vlines(places, line.low, line.high, color=colour)
    ax.plot(places, line.value, "o", color=colour, label=_plain(trend.system))
    ax.set_xticks(range(len(found.classes)), [_plain(name) for name in found.classes])


def _draw_strips(ax: Axes, found: Conditional, colours: dict[str, str]) -> None:
    """Draw, below the lines, a bar for each pair that differs somewhere, in the colour of the one that is better."""
    told = {(where.left, where.right) for where in found.significant_where}
    pairs = [(each.left, each.right) for each in found.differences if (each.left, each.right) in told]
    low, high = ax.get_ylim()
    height = STRIP * (high - low)
    for row, pair in enumerate(pairs, start=1):
        bottom = low - row * 1.6 * height
        for where in found.significant_where:
            if (where.left, where.right) != pair:
                continue
            start, end = _extent(found, where.low, where.high, where.level)
            ax.broken_barh([(start, end - start)], (bottom, height), color=colours[where.better])
        name = f"{_plain(pair[0])} - {_plain(pair[1])}"
        ax.annotate(
            name, (1.0, bottom + height / 2), xycoords=("axes fraction", "data"), fontsize="x-small", va="center"
        )
    if pairs:
        ax.set_ylim(low - (len(pairs) + 0.5) * 1.6 * height, high)


def _extent(found: Conditional, low: float | None, high: float | None, level: str | None) -> tuple[float, float]:
    if low is not None and high is not None:
        return low, high
    assert level is not None
    place = found.classes.index(level)
    return place - 0.3, place + 0.3


def _plain(name: str) -> str:
    """Return a label that cannot be read as mathematics."""
    return visible(name).replace("$", r"\$")
