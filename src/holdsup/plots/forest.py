"""Estimates with their intervals, one below the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.rendering.table import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.fit import LmmFit

__all__ = ["plot_effects"]

MARK = "#0072B2"


def plot_effects(fit: LmmFit, *, ax: Axes | None = None) -> Figure:
    """Draw the fixed effects with their limits; the intercept, which has another scale, only if it is alone."""
    from matplotlib.figure import Figure as NewFigure

    effects = [e for e in fit.fixed if e.name != "(Intercept)"] or list(fit.fixed)
    if ax is None:
        ax = NewFigure(figsize=(6.5, 0.35 * len(effects) + 1.2), layout="constrained").add_subplot()
    for place, effect in enumerate(effects):
        ax.plot([effect.low, effect.high], [place, place], color=MARK, linewidth=2, solid_capstyle="butt")
        ax.plot(effect.estimate, place, "o", color=MARK)
    ax.axvline(0, color="0.6", linewidth=1, zorder=0)
    ax.set_yticks(range(len(effects)), [visible(e.name).replace("$", r"\$") for e in effects])
    ax.invert_yaxis()
    ax.set_xlabel(f"fixed effect, {100 * fit.level:g}% limits")
    ax.spines[["top", "right"]].set_visible(False)
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure
