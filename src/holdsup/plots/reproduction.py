"""How reproducible each object is: CV* in order, with limits, beside the paper's results."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from holdsup.plots.conditions import plot_conditions, size_of_conditions
from holdsup.plots.labels import short
from holdsup.plots.panels import Panel, stack
from holdsup.plots.style import FRAME, MARK, ROW, draw_intervals, explain_axis, figure_of, in_style, new_axes
from holdsup.rendering.numbers import format_interval, format_number
from holdsup.verdict.reproduction.parts import split_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Reproduction
    from holdsup.verdict.reproduction.records import Assessment

__all__ = ["panels_of_reproduction", "plot_precision", "plot_reproduction"]

REFERENCE = "#999999"
MOST_DOTS = 60
BEYOND = 3.0  # times the largest CV*: limits farther out end in an arrow


def panels_of_reproduction(result: Reproduction) -> list[Panel]:
    """Return CV* in order, and the conditions matrix where there is one for all."""
    panels = [
        Panel(
            name="precision",
            shows=f"CV* of each object and measurand, with {result.level:.0%} limits of stdev/mean"
            + ("; ticks: CV* of the results of Belz et al. (2022)." if result.reference else "."),
            beside="Precision as published",
            draw=partial(plot_precision, result),
            height=_height(result),
        )
    ]
    matrices = {tuple((row.condition, row.values) for row in part.conditions) for part in split_result(result)}
    if len(matrices) == 1 and matrices.pop():
        width, height = size_of_conditions(result)
        panels.append(
            Panel(
                name="conditions",
                shows="Which conditions of measurement are as in the first measurement, otherwise, or not reported.",
                beside="Conditions",
                draw=partial(plot_conditions, result),
                height=height,
                width=width,
            )
        )
    return panels


def plot_reproduction(result: Reproduction, *, ax: Axes | None = None) -> Figure:
    """Draw CV* in order; on a figure of its own, the conditions matrix below it where there is one for all."""
    return stack(panels_of_reproduction(result)) if ax is None else plot_precision(result, ax=ax)


@in_style
def plot_precision(result: Reproduction, *, ax: Axes | None = None) -> Figure:
    """Draw a dot for CV* of each assessment, a line for the limits of stdev/mean, and the paper's CV* as ticks.

    Of more than 60 assessments those with the largest CV* are drawn.
    """
    ax = ax or new_axes(_height(result))
    shown = result.assessments[-MOST_DOTS:]
    top = BEYOND * max([*(a.cv for a in shown), *result.reference]) or 1.0
    cut = [not a.cv_high <= top for a in shown]  # also where there is no upper limit
    draw_intervals(
        ax,
        [f"{short(f'{a.object}, {a.measurand}')} (n = {a.n})" for a in shown],
        [(a.cv_low, a.cv, top if beyond else a.cv_high) for a, beyond in zip(shown, cut, strict=True)],
        [MARK] * len(shown),
        [_say(a) for a in shown],
    )
    for place in (place for place, beyond in enumerate(cut) if beyond):
        ax.plot(top, place, ">", color=MARK, clip_on=False)
    for cv in result.reference:
        ax.axvline(cv, ymax=0.02 + 0.3 / (len(shown) + 1), color=REFERENCE, linewidth=0.8, zorder=0)
    ax.set_ylim(len(shown) - 0.2, -0.6)
    ax.set_xlim(0, top if math.isfinite(top) else None)
    ticks = "ticks: CV* of Belz et al. (2022)" if result.reference else ""
    explain_axis(ax, f"CV*, percent; lines: {result.level:.0%} limits of stdev/mean", ticks)
    if len(shown) < len(result.assessments):
        ax.set_title(f"the {len(shown)} largest of {len(result.assessments):,}", loc="left")
    return figure_of(ax)


def _say(a: Assessment) -> str:
    limits = format_interval(a.cv_low, a.cv_high) if math.isfinite(a.cv_high) else "no upper limit"
    return f"{a.object}, {a.measurand}: CV* {format_number(a.cv)}%, limits {limits}, n = {a.n}"


def _height(result: Reproduction) -> float:
    return ROW * min(len(result.assessments), MOST_DOTS) + FRAME + (0.25 if result.reference else 0.0)
