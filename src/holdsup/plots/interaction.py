"""Systems along a property of the items: a line each, and a strip that shows where the difference holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdsup.errors import ResultError, list_names
from holdsup.plots import style
from holdsup.rendering.numbers import format_number
from holdsup.results import find_scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Comparison
    from holdsup.verdict.comparison.conditional_records import Conditional

Looks = dict[str, dict[str, Any]]  # of each system

TALL = 2.3  # inches
MOST_LINES = 12  # systems; nobody can follow more lines
MOST_STRIPS, ROOMY = 6, 3  # pairs below the lines; up to so many have names of two lines
STRIP = 0.045  # height of a pair's strip, as a share of the axes


@style.in_style
def plot_conditional(
    comparison: Comparison, along: str, *, metric: str | None = None, ax: Axes | None = None
) -> Figure:
    """Draw each system's mean along a property, with its CI; below, where which system is better.

    A number gives lines with bands, classes give points with CI. Of several metrics the first is drawn, unless
    one is named. Of more than 12 systems the first are drawn, and the axis says so.
    """
    there = (each for each in comparison.conditional if each.property == along)
    found = next((each for each in there if metric in (None, each.metric)), None)
    if found is None:
        asked = dict.fromkeys(each.property for each in comparison.conditional)
        raise ResultError(
            f"nothing was asked about {along!r}; compare with by={along!r} (choose from {list_names(asked)})"
        )
    ax = ax or style.new_axes(TALL + style.legend_height(trend.system for trend in found.slopes[:MOST_LINES]))
    names = sorted(dict.fromkeys(s.name for s in comparison.systems))
    looks = dict(zip(names, style.line_looks(len(names)), strict=True))
    draw = _draw_classes if found.classes else _draw_line
    drawn = min(len(found.slopes), MOST_LINES)
    for i in range(drawn):
        draw(ax, found, i, looks)
    _draw_strips(ax, found, looks)
    more = f"\nthe first {drawn} of {len(found.slopes)} systems" if drawn < len(found.slopes) else ""
    ax.set_xlabel(f"{style.short(along)}{more}")
    claims = " and ".join(dict.fromkeys(trend.claim for trend in found.slopes))
    scored = find_scored(comparison)
    lower = f", {scored.say_lower(found.metric)}" if scored.say_lower(found.metric) else ""
    ax.set_ylabel(f"{style.short(scored.name(found.metric))}, {100 * comparison.level:g}% CI\n({claims}{lower})")
    style.add_legend(ax)
    return style.figure_of(ax)


def _draw_line(ax: Axes, found: Conditional, i: int, looks: Looks) -> None:
    trend = found.slopes[i]
    line, look = trend.line, looks[trend.system]
    colour = look["color"]
    (drawn,) = ax.plot(line.at, line.value, look["linestyle"], color=colour, label=style.short(trend.system))
    style.tell(
        drawn, [f"{trend.system}: {format_number(trend.slope, uncertainty=trend.se)} for each unit of {found.property}"]
    )
    ax.fill_between(line.at, line.low, line.high, color=colour, alpha=0.15, linewidth=0)


def _draw_classes(ax: Axes, found: Conditional, i: int, looks: Looks) -> None:
    trend = found.slopes[i]
    line, look = trend.line, looks[trend.system]
    colour = look["color"]
    aside = 0.5 * (
        (i + 0.5) / min(len(found.slopes), MOST_LINES) - 0.5
    )  # systems beside each other, within half a place
    places = [at + aside for at in line.at]
    ax.vlines(places, line.low, line.high, color=colour, linewidth=1.6)
    (dots,) = ax.plot(places, line.value, look["marker"], linestyle="", color=colour, label=style.short(trend.system))
    points = zip(line.at, line.value, line.low, line.high, strict=True)
    style.tell(
        dots,
        [
            f"{trend.system}, {found.classes[int(at)]}: {style.say_estimate(v, low, high)}"
            for at, v, low, high in points
        ],
    )
    style.name_places(ax, found.classes)


def _draw_strips(ax: Axes, found: Conditional, looks: Looks) -> None:
    """Draw, below the lines, a bar for each pair that differs somewhere, in the colour of the one that is better."""
    told = {(where.left, where.right) for where in found.significant_where}
    pairs = [(each.left, each.right) for each in found.differences if (each.left, each.right) in told][:MOST_STRIPS]
    low, high = ax.get_ylim()
    height = STRIP * (high - low)
    for row, pair in enumerate(pairs, start=1):
        bottom = low - row * 1.6 * height
        for where in found.significant_where:
            if (where.left, where.right) != pair:
                continue
            start, end = _extent(found, where.low, where.high, where.level)
            bar = ax.broken_barh([(start, end - start)], (bottom, height), color=looks[where.better]["color"])
            style.tell(bar, [f"{pair[0]} - {pair[1]}: {where.better} is better here"])
        name = style.short_pair(*pair)
        ax.annotate(
            name if len(pairs) <= ROOMY else name.replace("\n", " "),
            (1.0, bottom + height / 2),
            xycoords=("axes fraction", "data"),
            xytext=(2, 0),
            textcoords="offset points",
            fontsize=6,
            va="center",
        )
    if pairs:
        ax.set_ylim(low - (len(pairs) + 0.5) * 1.6 * height, high)


def _extent(found: Conditional, low: float | None, high: float | None, level: str | None) -> tuple[float, float]:
    if low is not None and high is not None:
        return low, high
    assert level is not None
    place = found.classes.index(level)
    return place - 0.3, place + 0.3
