"""What a ranking rests on: shares of the variance, from the raw gap to the isolated one, and whether it is normal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdsup.plots.style import (
    COLOURS,
    INK,
    MARK,
    MUTED,
    SMALL,
    UNSURE,
    explain_axis,
    figure_of,
    in_style,
    new_axes,
    rasterize_many,
    short,
    short_apart,
    tell,
)
from holdsup.rendering.numbers import format_number, format_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.ranking import Ranking
    from holdsup.verdict.ranking.records import Quantiles, TermVariance


BAR, FRAME = 0.26, 0.85  # inches a bar, and around the bars
LONGEST = 24  # letters of a name
GAP, MORE, LESS = COLOURS[0], COLOURS[2], COLOURS[4]
SHRINKAGE = "shrinkage"
SIDE = 2.4  # inches of a Q-Q plot
TOLD = 15  # points at each end that say what they are: there it shows what is not normal
MOST_DRAWN = 60  # points between them that are drawn one by one; more are one picture
QUARTILE = 0.6744897501960817  # of the standard normal distribution


@in_style
def plot_terms(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw the share of each random term, slopes weighed by their regressors; a tick where the paper's share differs.

    Grey are terms whose variance can't be told from zero, and the residual, which has no test.
    """
    ax = ax or new_axes(BAR * len(result.random) + FRAME)
    terms = result.random
    shares = [term.percent_exact for term in terms]
    told = [term.p is not None and term.p <= 1 - result.level for term in terms]
    bars = ax.barh(range(len(terms)), shares, height=0.7, color=[MARK if sure else UNSURE for sure in told])
    for place, (term, bar) in enumerate(zip(terms, bars, strict=True)):
        tell(bar, [f"{_name(term)}: {format_percent(term.percent_exact)} of the variance"])
        end = (max(term.percent, term.percent_exact), place)
        words = format_percent(term.percent_exact)
        ax.annotate(words, end, (4, 0), textcoords="offset points", va="center", fontsize=SMALL - 1)
    differ = [i for i, term in enumerate(terms) if abs(term.percent - term.percent_exact) > 0.05]
    ax.plot([terms[i].percent for i in differ], differ, "|", color=INK, markersize=9)
    ax.set_yticks(range(len(terms)), short_apart(map(_name, terms), LONGEST))
    ax.set_ylim(len(terms) - 0.4, -0.6)
    ax.set_xlim(0, 1.2 * max(1.0, *shares, *(term.percent for term in terms)))  # room for the numbers
    tick = "\n(tick: approximate share, as published)" if differ else ""
    explain_axis(ax, f"share of the variance, percent{tick}", "grey: can't be told from zero, or the residual")
    return figure_of(ax)


def _name(term: TermVariance) -> str:
    return term.group if term.term in ("", "(Intercept)") else f"{term.term} by {term.group}"


class _Bar(NamedTuple):
    """A bar from one gap to another; a whole gap starts at zero."""

    name: str
    start: float
    end: float
    whole: bool


@in_style
def plot_waterfall(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw the gaps as bars from zero, and between them what each isolated cause adds or takes."""
    bars = _bars(result)
    ax = ax or new_axes(BAR * len(bars) + FRAME)
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
    explain_axis(ax, f"{short(first.left, LONGEST)} minus", short(first.right, LONGEST))
    return figure_of(ax)


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


@in_style
def plot_quantiles(result: Ranking, which: int = 0, *, ax: Axes | None = None) -> Figure:
    """Draw residuals, or the predicted effects of a random term, against normal quantiles, with the line of these."""
    ax = ax or new_axes(SIDE)
    _draw(ax, result.diagnostics[which])
    explain_axis(ax, "normal quantile")
    return figure_of(ax)


def _draw(ax: Axes, quantiles: Quantiles) -> None:
    points = list(zip(quantiles.normal, quantiles.observed, strict=True))  # in order
    inner = points[TOLD:-TOLD]
    ends = points[:TOLD] + points[max(TOLD, len(points) - TOLD) :]
    for shown in (inner, ends):
        (dots,) = ax.plot(*zip(*shown, strict=True), "o", color=MARK, markersize=2.5) if shown else ax.plot([], [])
        if shown is ends:
            tell(dots, [f"{quantiles.name}: {format_number(value)}" for _, value in ends])
        else:
            rasterize_many(dots, len(inner), most=MOST_DRAWN)
    low, high = (_at(quantiles, end * QUARTILE) for end in (-1, 1))
    ax.axline((-QUARTILE, low), (QUARTILE, high), color=MUTED, linewidth=0.8, zorder=0)
    ax.set_title(short(quantiles.name, LONGEST), fontsize=SMALL, loc="left")
    ax.tick_params(labelsize=SMALL - 1)


def _at(quantiles: Quantiles, normal: float) -> float:
    """Return the value at a normal quantile, between the two points next to it."""
    import numpy as np

    return float(np.interp(normal, quantiles.normal, quantiles.observed))
