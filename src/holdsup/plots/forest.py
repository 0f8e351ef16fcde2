"""Fixed effects with their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.plots.intervals import MARK, draw_intervals, figure_of
from holdsup.plots.labels import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.fit import LmmFit

__all__ = ["plot_effects"]


def plot_effects(fit: LmmFit, *, ax: Axes | None = None) -> Figure:
    """Draw the fixed effects with their limits; the intercept, which has another scale, only if it is alone."""
    effects = [e for e in fit.fixed if e.name != "(Intercept)"] or list(fit.fixed)
    limits = [(effect.low, effect.estimate, effect.high) for effect in effects]
    ax = draw_intervals([plain(effect.name) for effect in effects], limits, [MARK] * len(effects), ax)
    ax.axvline(0, color="0.6", linewidth=1, zorder=0)
    ax.set_xlabel(f"fixed effect, {100 * fit.level:g}% limits")
    return figure_of(ax)
