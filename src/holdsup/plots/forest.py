"""Fixed effects with their limits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from holdsup.plots.labels import short, short_apart
from holdsup.plots.panels import Panel
from holdsup.plots.style import (
    FRAME,
    MARK,
    MUTED,
    ROW,
    draw_intervals,
    explain_axis,
    figure_of,
    in_style,
    new_axes,
    say_estimate,
)
from holdsup.results import find_scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.fit import LmmFit
    from holdsup.fit.records import Contrast

__all__ = ["panels_of_fit", "plot_effects"]

MOST_LINES = 60


def panels_of_fit(fit: LmmFit) -> list[Panel]:
    """Return the fixed effects."""
    return [
        Panel(
            name="effects",
            shows=f"The fixed effects with {fit.level:.0%} limits.",
            beside="Fixed effects",
            draw=partial(plot_effects, fit),
            height=_height(fit),
        )
    ]


@in_style
def plot_effects(fit: LmmFit, *, ax: Axes | None = None) -> Figure:
    """Draw the fixed effects with their limits; the intercept, which has another scale, only if it is alone.

    Of more than 60 effects the first are drawn, and the axis says so.
    """
    ax = ax or new_axes(_height(fit))
    effects = _drawn(fit)[:MOST_LINES]
    draw_intervals(
        ax,
        short_apart(e.name for e in effects),
        [(e.low, e.estimate, e.high) for e in effects],
        [MARK] * len(effects),
        [f"{e.name}: {say_estimate(e.estimate, e.low, e.high)}" for e in effects],
    )
    ax.axvline(0, color=MUTED, linewidth=0.6, zorder=0)
    more = f"the first {len(effects)} of {len(_drawn(fit))}" if len(effects) < len(_drawn(fit)) else ""
    of = "".join(f" on {short(name)}" for name in find_scored(fit).names)
    explain_axis(ax, f"fixed effect{of}, {100 * fit.level:g}% limits", more)
    return figure_of(ax)


def _drawn(fit: LmmFit) -> list[Contrast]:
    return [e for e in fit.fixed if e.name != "(Intercept)"] or list(fit.fixed)


def _height(fit: LmmFit) -> float:
    return ROW * min(len(_drawn(fit)), MOST_LINES) + FRAME
