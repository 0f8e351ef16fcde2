"""How reproducible each object is: CV* in order, with its CI, and which conditions of measurement agree."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from holdsup.plots import style
from holdsup.plots.panels import Panel
from holdsup.rendering.numbers import format_interval, format_number
from holdsup.verdict.phrases import say_level
from holdsup.verdict.reproduction.records import show_condition

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Reproduction
    from holdsup.verdict.reproduction.records import Assessment

REFERENCE = "#999999"
MOST_DOTS = 40
BEYOND = 3.0  # times the largest CV*: CIs that reach farther end in an arrow

# Okabe and Ito's colours, and a sign in each cell for those who see none.
SAME, OTHER, UNKNOWN = ("#56B4E9", "="), ("#E69F00", "≠"), ("#DDDDDD", "?")
SAYS = {"=": "as in the first measurement", "≠": "not as in the first measurement", "?": "not reported"}
CELL = 0.22  # inches
MOST_COLUMNS = 40
LONGEST_TURNED = 34  # letters of a measurement's label, which is turned and has room


def panels_of_reproduction(result: Reproduction) -> Iterator[Panel]:
    """Yield CV* in order, and the conditions matrix where there is one for all."""
    yield Panel(
        name="precision",
        shows=f"CV* of each object and measurand, with its {say_level(result.level)} CI"
        + ("; ticks: CV* of the results of Belz et al. (2022)." if result.reference else "."),
        beside="assessments",
        draw=partial(plot_precision, result),
    )
    matrices = {tuple((row.condition, row.values) for row in part.conditions) for part in result.parts()}
    if len(matrices) == 1 and matrices.pop():
        yield Panel(
            name="conditions",
            shows="Which conditions of measurement are as in the first measurement, otherwise, or not reported.",
            beside="conditions",
            draw=partial(plot_conditions, result),
        )


@style.in_style
def plot_precision(result: Reproduction, *, ax: Axes | None = None) -> Figure:
    """Draw a dot for CV* of each assessment, a line for its exact CI, and the paper's CV* as ticks.

    Of more than 40 assessments those with the largest CV* are drawn.
    """
    ax = ax or style.new_axes(_height(result))
    shown = result.assessments[-MOST_DOTS:]
    top = BEYOND * max([*(a.cv for a in shown), *result.reference]) or 1.0
    cut = [not a.cv_high <= top for a in shown]  # also where it has no upper end
    style.draw_intervals(
        ax,
        [f"{style.short(f'{a.object}, {a.measurand}')} (n = {a.n})" for a in shown],
        [(a.cv_low, a.cv, top if beyond else a.cv_high) for a, beyond in zip(shown, cut, strict=True)],
        [style.MARK] * len(shown),
        [_say(a) for a in shown],
    )
    for place in (place for place, beyond in enumerate(cut) if beyond):
        ax.plot(top, place, ">", color=style.MARK, clip_on=False)
    for cv in result.reference:
        ax.axvline(cv, ymax=0.02 + 0.3 / (len(shown) + 1), color=REFERENCE, linewidth=0.8, zorder=0)
    ax.set_ylim(len(shown) - 0.2, -0.6)
    ax.set_xlim(0, top if math.isfinite(top) else None)
    ticks = "ticks: CV* of Belz et al. (2022)" if result.reference else ""
    style.explain_axis(ax, f"CV*, percent; lines: {say_level(result.level)} CI", ticks)
    if len(shown) < len(result.assessments):
        ax.set_title(f"the {len(shown)} largest of {len(result.assessments):,}", loc="left")
    return style.figure_of(ax)


def _say(a: Assessment) -> str:
    ci = format_interval(a.cv_low, a.cv_high) if math.isfinite(a.cv_high) else f"above {format_number(a.cv_low)}"
    return f"{a.object}, {a.measurand}: CV* {format_number(a.cv)}%, CI {ci}, n = {a.n}"


def _height(result: Reproduction) -> float:
    return style.ROW * min(len(result.assessments), MOST_DOTS) + style.FRAME + (0.25 if result.reference else 0.0)


@style.in_style
def plot_conditions(result: Reproduction, *, ax: Axes | None = None, assessment: int = 0) -> Figure:
    """Draw a cell for each condition and measurement: as in the first measurement, otherwise, or not reported.

    `assessment` is the number of the assessment in the result. Of more than 40 measurements the first are drawn.
    """
    from matplotlib.patches import Rectangle

    shown = result.parts()[assessment]
    rows, measured = shown.conditions, shown.measurements[:MOST_COLUMNS]
    ax = ax or style.new_axes(1.7 + CELL * len(rows), width=max(style.COLUMN, 1.6 + CELL * len(measured)))
    for y, row in enumerate(rows):
        for x, same in enumerate(row.same_as_first[: len(measured)]):
            colour, sign = UNKNOWN if same is None else SAME if same else OTHER
            cell = ax.add_patch(Rectangle((x - 0.47, y - 0.47), 0.94, 0.94, color=colour, linewidth=0))
            value = row.values[x] or "-"
            style.tell(cell, [f"{show_condition(row.condition)}, {measured[x].label}: {value} ({SAYS[sign]})"])
            ax.text(x, y, sign, ha="center", va="center", fontsize=7, color="black")
    ax.set_xlim(-0.5, len(measured) - 0.5)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    names = style.short_apart((m.label for m in measured), LONGEST_TURNED)
    ax.set_xticks(range(len(measured)), names, rotation=40, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(rows)), [style.short(show_condition(row.condition)) for row in rows])
    ax.tick_params(length=0)
    ax.set_aspect("equal")
    for side in ax.spines.values():
        side.set_visible(False)
    ax.set_title("conditions: = as in the first, ≠ otherwise, ? not reported", fontsize=7, loc="right")
    return style.figure_of(ax)
