"""How reproducible each object is: CV* in order, with limits, beside the paper's results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from holdsup.plots.conditions import CELL, plot_conditions
from holdsup.plots.labels import short
from holdsup.verdict.reproduction.parts import split_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Reproduction

__all__ = ["plot_precision", "plot_reproduction"]

MARK, REFERENCE = "#0072B2", "#999999"
MOST_DOTS = 60
BEYOND = 3.0  # times the largest CV*: limits farther out end in an arrow


def plot_reproduction(result: Reproduction, *, ax: Axes | None = None) -> Figure:
    """Draw CV* in order; on a figure of its own, the conditions matrix below it where there is one for all."""
    from matplotlib.figure import Figure as NewFigure

    matrices = {tuple((row.condition, row.values) for row in part.conditions) for part in split_result(result)}
    rows = matrices.pop()
    if ax is not None or matrices or not rows:
        return plot_precision(result, ax=ax)
    heights = [_height(result), 2.0 + CELL * len(rows)]
    figure = NewFigure(figsize=(6.5, sum(heights)), layout="constrained")
    above, below = figure.subplots(2, 1, height_ratios=heights)
    plot_precision(result, ax=above)
    return plot_conditions(result, ax=below)


def plot_precision(result: Reproduction, *, ax: Axes | None = None) -> Figure:
    """Draw a dot for CV* of each assessment, a line for the limits of stdev/mean, and the paper's CV* as ticks.

    Of more than 60 assessments those with the largest CV* are drawn.
    """
    from matplotlib.figure import Figure as NewFigure

    if ax is None:
        ax = NewFigure(figsize=(6.5, _height(result)), layout="constrained").add_subplot()
    shown = result.assessments[-MOST_DOTS:]
    top = BEYOND * max([*(a.cv for a in shown), *result.reference]) or 1.0
    for place, a in enumerate(shown):
        cut = not a.cv_high <= top  # also where there is no upper limit
        end = top if cut else a.cv_high
        ax.plot([a.cv_low, end], [place, place], color=MARK, linewidth=2, solid_capstyle="butt")
        if cut:
            ax.plot(end, place, ">", color=MARK, markersize=5, clip_on=False)
        ax.plot(a.cv, place, "o" if a.repeatability is not True else "s", color=MARK)
    for cv in result.reference:
        ax.axvline(cv, ymax=0.02 + 0.3 / (len(shown) + 1), color=REFERENCE, linewidth=1, zorder=0)
    ax.set_yticks(range(len(shown)), [f"{short(f'{a.object}, {a.measurand}')} (n = {a.n})" for a in shown])
    ax.set_ylim(len(shown) - 0.2, -0.6)
    ax.set_xlim(0, top if math.isfinite(top) else None)
    ticks = "\nticks: CV* of Belz et al. (2022)" if result.reference else ""
    ax.set_xlabel(f"CV*, percent; lines: {result.level:.0%} limits of stdev/mean{ticks}", fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    if len(shown) < len(result.assessments):
        ax.set_title(f"the {len(shown)} largest of {len(result.assessments):,}", fontsize="medium", loc="left")
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure


def _height(result: Reproduction) -> float:
    return 0.3 * min(len(result.assessments), MOST_DOTS) + 1.2
