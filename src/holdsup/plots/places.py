"""Places by votes or by an aggregate, and the performance profiles behind an aggregate."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from holdsup.plots import style
from holdsup.plots.panels import Panel
from holdsup.results import find_scored
from holdsup.verdict.phrases import say_level
from holdsup.verdict.places.aggregates import NAMES, NEW, RunRanking
from holdsup.verdict.places.places import Places, name_places

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LINES, MOST_CURVES = 40, 7
HEIGHT = 2.4  # inches, of the profiles
NEARLY_ALL = 0.98  # of the thresholds are drawn: a few far scores would leave the others no room


def panels_of_places(result: Places) -> Iterator[Panel]:
    """Yield the places, and of an aggregate the performance profiles."""
    what = (
        f"Each system with its {say_level(result.level)} CI, the best first; at the right the places that it may have."
    )
    yield Panel(name="systems", shows=what, beside="systems", draw=partial(plot_places, result))
    if isinstance(result, RunRanking):
        shows = "The share of runs above each score; bands: CI of each point by itself."
        yield Panel(name="profile", shows=shows, beside="systems", draw=partial(plot_profiles, result))


@style.in_style
def plot_places(result: Places, *, ax: Axes | None = None) -> Figure:
    """Draw the estimate of each system with its CI, the best on top; of more than 40 the first."""
    shown = result.placed[:MOST_LINES]
    scale = 1.0 if isinstance(result, RunRanking) else 100.0
    ax = ax or style.new_axes(style.ROW * len(shown) + style.FRAME)
    colours = style.system_colours((s.name for s in result.placed), first=shown[0].name)
    ends = [
        tuple(scale * v if math.isfinite(v) else scale * s.estimate for v in (s.low, s.estimate, s.high)) for s in shown
    ]
    names = style.short_apart((s.name for s in shown), style.LONGEST)
    says = [f"{s.name}: {style.say_estimate(m, low, high)}" for s, (low, m, high) in zip(shown, ends, strict=True)]
    style.draw_intervals(ax, names, ends, [colours[s.name] for s in shown], says)
    for place, s in enumerate(shown):
        style.write_beside(ax, place, name_places(s))
    more = f"the first {len(shown)} of {len(result.placed)}" if len(shown) < len(result.placed) else ""
    ci = f"{say_level(result.level)} CI; at the right: possible places"
    if isinstance(result, RunRanking):
        kind = "new" if result.claim == NEW else "these"
        lower = ", lower is better" if result.lower_is_better else ""
        style.explain_axis(ax, f"{NAMES[result.estimate]}{lower}, {kind} {result.items}", ci, more)
    else:
        style.explain_axis(ax, "percent of votes won against another system", ci, more)
    return style.figure_of(ax)


@style.in_style
def plot_profiles(result: RunRanking, *, ax: Axes | None = None) -> Figure:
    """Draw the performance profile of each system: how many of its runs score above a threshold, with bands."""
    shown = result.profiles[:MOST_CURVES]
    if ax is None:
        ax = style.new_axes(HEIGHT + style.legend_height(p.system for p in shown))
    for look, p in zip(style.line_looks(len(shown)), shown, strict=True):
        last = max(2, math.ceil(NEARLY_ALL * len(p.thresholds)))
        x, y = p.thresholds[:last], p.shares[:last]
        ax.fill_between(x, p.low[:last], p.high[:last], step="post", color=look["color"], alpha=0.15, linewidth=0)
        (line,) = ax.step(
            x, y, where="post", color=look["color"], linestyle=look["linestyle"], label=style.short(p.system)
        )
        style.tell(line, [f"{p.system}: {share:.2f} of runs above {at:.3g}" for at, share in zip(x, y, strict=True)])
    ax.set_ylim(0, 1)
    style.add_legend(ax)
    more = f"the first {len(shown)} of {len(result.profiles)} systems" if len(shown) < len(result.profiles) else ""
    kind = "new" if result.claim == NEW else "these"
    band = f"band: {say_level(result.level)} CI of each point, {kind} {result.items}"
    style.explain_axis(ax, f"{find_scored(result).name()}: share of runs above it", band, more)
    return style.figure_of(ax)
