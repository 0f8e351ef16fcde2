"""Fixed effects with their CI."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from holdsup.plots import style
from holdsup.plots.panels import Panel
from holdsup.results import find_scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.fit import LmmFit
    from holdsup.fit.records import Contrast

MOST_LINES = 40


def panels_of_fit(fit: LmmFit) -> Iterator[Panel]:
    """Yield the fixed effects."""
    yield Panel(
        name="effects",
        shows=f"The fixed effects with {100 * fit.level:g}% CI.",
        beside="fixed",
        draw=partial(plot_effects, fit),
    )


@style.in_style
def plot_effects(fit: LmmFit, *, ax: Axes | None = None) -> Figure:
    """Draw the fixed effects with their CI; the intercept, which has another scale, only if it is alone.

    Of more than 40 effects the first are drawn, and the axis says so.
    """
    effects = _drawn(fit)[:MOST_LINES]
    ax = ax or style.new_axes(style.ROW * len(effects) + style.FRAME)
    style.draw_intervals(
        ax,
        style.short_apart(e.name for e in effects),
        [(e.low, e.estimate, e.high) for e in effects],
        [style.MARK] * len(effects),
        [f"{e.name}: {style.say_estimate(e.estimate, e.low, e.high)}" for e in effects],
    )
    ax.axvline(0, color=style.MUTED, linewidth=0.6, zorder=0)
    more = f"the first {len(effects)} of {len(_drawn(fit))}" if len(effects) < len(_drawn(fit)) else ""
    of = "".join(f" on {style.short(name)}" for name in find_scored(fit).names)
    style.explain_axis(ax, f"fixed effect{of}, {100 * fit.level:g}% CI", more)
    return style.figure_of(ax)


def _drawn(fit: LmmFit) -> list[Contrast]:
    return [e for e in fit.fixed if e.name != "(Intercept)"] or list(fit.fixed)
