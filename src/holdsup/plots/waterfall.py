"""From the raw gap of two systems to the isolated one: a waterfall."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdsup.plots.labels import short
from holdsup.plots.style import MUTED, SMALL, figure_of, in_style, new_axes, tell
from holdsup.rendering.numbers import format_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.ranking import Ranking

__all__ = ["plot_waterfall", "waterfall_height"]

GAP, MORE, LESS = "#0072B2", "#009E73", "#E69F00"
ROW, FRAME = 0.26, 0.75  # inches a bar, and around the bars
LONGEST = 24
SHRINKAGE = "shrinkage"


class _Bar(NamedTuple):
    """A bar from one gap to another; a whole gap starts at zero."""

    name: str
    start: float
    end: float
    whole: bool


@in_style
def plot_waterfall(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw the gaps as bars from zero, and between them what each isolated cause adds or takes."""
    ax = ax or new_axes(waterfall_height(result))
    bars = _bars(result)
    size = max(abs(end) for bar in bars for end in bar[1:3]) or 1.0
    for place, bar in enumerate(bars):
        colour = GAP if bar.whole else MORE if bar.end >= bar.start else LESS
        change = format_number(bar.end - bar.start, uncertainty=size / 10)
        (drawn,) = ax.barh(place, bar.end - bar.start, left=bar.start, height=0.7, color=colour)
        tell(drawn, [f"{bar.name}: {change}"])
        rises = not bar.whole and bar.end > bar.start and change.strip("0.")  # as far as the digits show
        words = f"+{change}" if rises else change
        right = max(bar.start, bar.end, 0.0)
        ax.annotate(words, (right, place), (3, 0), textcoords="offset points", va="center", fontsize=SMALL - 1)
        if place + 1 < len(bars):
            ax.plot([bar.end, bar.end], [place - 0.35, place + 1.35], color=MUTED, linewidth=0.6, zorder=0)
    ax.axvline(0, color=MUTED, linewidth=0.6, zorder=0)
    low, high = ax.get_xlim()
    ax.set_xlim(low, high + 0.12 * (high - low))  # room for the numbers
    ax.set_yticks(range(len(bars)), [short(bar.name, LONGEST) for bar in bars])
    ax.set_ylim(len(bars) - 0.4, -0.6)
    first = result.waterfall[0]
    ax.set_xlabel(f"{short(first.left, LONGEST)} minus\n{short(first.right, LONGEST)}", fontsize=SMALL, loc="right")
    return figure_of(ax)


def waterfall_height(result: Ranking) -> float:
    """Return the inches that the bars need."""
    return ROW * len(_bars(result)) + FRAME


def _bars(result: Ranking) -> list[_Bar]:
    """Return the steps, with the isolated gap before its shrinkage, and the shrunken one at the end."""
    first, *steps = result.waterfall
    bars, gap = [_Bar(first.step, 0.0, first.gap, True)], first.gap
    isolated = False
    for step in steps:
        if step.step == SHRINKAGE:
            bars.append(_Bar("isolated gap", 0.0, gap, True))
            isolated = True
        bars.append(_Bar(step.step, gap, step.gap, False))
        gap = step.gap
    return [*bars, _Bar("shrunken gap" if isolated else "isolated gap", 0.0, gap, True)]
