"""A gate as a picture: each difference with its CI, zero and the drop as lines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from holdsup.plots import style
from holdsup.plots.panels import Panel
from holdsup.results import find_scored
from holdsup.verdict.phrases import say_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.gate import Gate

MOST_LINES = 40
COLOURS = {"pass": style.BETTER, "fail": style.WORSE, "inconclusive": style.STATES["unclear"][1]}


def panels_of_gate(result: Gate) -> Iterator[Panel]:
    """Yield the differences."""
    yield Panel(
        name="differences",
        shows=f"Candidate minus baseline with its {say_level(2 * result.level - 1)} CI; right is better. Dashed: how "
        "much worse the candidate may be.",
        beside="contrasts",
        draw=partial(plot_gate, result),
    )


@style.in_style
def plot_gate(result: Gate, *, ax: Axes | None = None) -> Figure:
    """Draw how much better the candidate is by each metric on each task, with its CI, zero and the drop.

    Where drops differ, each difference is drawn in units of its own drop.
    """
    rows = sorted(result.contrasts, key=lambda c: ("fail", "inconclusive", "pass").index(c.outcome))[:MOST_LINES]
    ax = ax or style.new_axes(style.ROW * len(rows) + style.FRAME)
    alike = len({(c.drop, c.lower_is_better) for c in rows}) == 1
    drop = rows[0].drop if alike else 1.0
    limits, says = [], []
    for c in rows:
        unit = (1.0 if alike else c.drop or 1.0) * (-1 if c.lower_is_better else 1)
        ends = (math.nan, math.nan) if c.low is None or c.high is None else (c.low, c.high)
        low, high = sorted(end / unit for end in ends)
        limits.append((low, c.difference / unit, high))
        says.append(f"{c.name or 'difference'}: {c.outcome.upper()}, {style.say_estimate(c.difference, *ends)}")
    style.draw_intervals(ax, style.short_apart(c.name or "difference" for c in rows), limits,
                         [COLOURS[c.outcome] for c in rows], says)  # fmt: skip
    ax.axvline(0, color=style.INK, linewidth=0.8, zorder=0)
    ax.axvline(-drop, color=style.MUTED, linewidth=0.8, linestyle="--", zorder=0)
    scored = find_scored(result)
    unit_of = style.short(scored.name(rows[0].metric)) if alike else "drops allowed"
    lower = "lower is better, so signs are turned" if alike and rows[0].lower_is_better else ""
    ci = f"{say_level(2 * result.level - 1)} CI; dashed: the drop"
    style.explain_axis(ax, "← baseline better | candidate better →", f"in {unit_of}", ci, lower)
    return style.figure_of(ax)
