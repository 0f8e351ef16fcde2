"""Power along the number of items, for some numbers of runs; reliability along the number of runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from holdsup.plots.panels import Panel
from holdsup.plots.style import (
    FAINT,
    INK,
    SMALL,
    add_legend,
    figure_of,
    in_style,
    legend_height,
    line_looks,
    new_axes,
    tell,
)
from holdsup.rendering.numbers import format_count, format_counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import EvaluationPlan

TALL = 2.0  # inches of the curves
DECADES = 100  # times the fewest items, below which numbers between powers of ten are marked


def panels_of_plan(result: EvaluationPlan) -> Iterator[Panel]:
    """Yield the curves, where there are any."""
    if result.curves:
        what = "phi of an item's average" if result.goal == "reliability" else "The power"
        along = f"the number of {result.unit}, for some numbers of runs" if _is_along_units(result) else "the runs"
        yield Panel(
            name="power", shows=f"{what} along {along}.", beside="designs", draw=partial(plot_power, result)
        )  # fmt: skip


def _is_along_units(result: EvaluationPlan) -> bool:
    return result.curves[0].units is not None


@in_style
def plot_power(result: EvaluationPlan, *, ax: Axes | None = None) -> Figure:
    """Draw a curve for each number of runs, what is wanted as a line, and a ring around the cheapest design."""
    along = _is_along_units(result)
    counts = list(dict.fromkeys(point.runs for point in result.curves)) if along else [0]
    names = [f"{format_counted(runs, 'run')} each" for runs in counts] if along else []
    ax = ax or new_axes(TALL + legend_height(names))
    word, noun = "phi" if result.goal == "reliability" else "power", (result.unit or "") if along else "runs each"
    for place, (runs, look) in enumerate(zip(counts, line_looks(len(counts)), strict=True)):
        points = [point for point in result.curves if not along or point.runs == runs]
        at = [point.units or 0 if along else point.runs for point in points]
        name = names[place] if along else None
        (line,) = ax.plot(at, [p.power for p in points], label=name, **(look | {"markersize": 2.5}))
        tell(line, [f"{format_count(x)} {noun}: {word} {p.power:.2f}" for x, p in zip(at, points, strict=True)])
    wanted = result.target if result.goal == "reliability" else result.power
    ax.axhline(wanted, color=FAINT, linewidth=0.8, zorder=0)
    ax.annotate(
        "wanted", (1.0, wanted), (2, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
        va="center", fontsize=SMALL - 1, annotation_clip=False,
    )  # fmt: skip
    if result.reachable:
        best = result.designs[0]
        x, y = best.items or best.datasets or 0, best.reliability or best.power or 0.0
        (ring,) = ax.plot(x if along else best.runs, y, "o", mfc="none", mec=INK, markersize=8, zorder=5)
        tell(ring, ["the cheapest design that does"])
    if along:
        ax.set_xscale("log")
        low, high = result.curves[0].units or 1, result.curves[-1].units or 1
        steps = (1, 2, 5) if high < DECADES * low else (1,)
        marks = [step * 10**power for power in range(10) for step in steps if low <= step * 10**power <= high]
        ax.set_xticks(marks, [format_count(mark) for mark in marks])
        ax.minorticks_off()
    ax.set_ylim(0, 1)
    ax.set_xlabel(result.unit if along and result.unit else "runs of each system")
    ax.set_ylabel("reliability, phi" if result.goal == "reliability" else "power")
    add_legend(ax)
    return figure_of(ax)
