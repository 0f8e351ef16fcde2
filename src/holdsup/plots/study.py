"""The decision study as curves: what averages over more levels of a facet would be worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.plots.labels import short
from holdsup.plots.style import (
    COLOURS,
    DASHES,
    FAINT,
    MARKS,
    add_legend,
    figure_of,
    in_style,
    legend_height,
    new_axes,
    system_colours,
    tell,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Decomposition
    from holdsup.verdict.variance.records import StudyPlan

__all__ = ["height_of_study", "plot_study"]

THRESHOLDS = ((0.5, "moderate", "-"), (0.75, "good", "-"), (0.8, "Jiang's .80", ":"), (0.9, "excellent", "-"))
TALL = 2.0  # inches
MOST_CURVES = 12


def height_of_study(result: Decomposition) -> float:
    """Return the inches that the decision study takes."""
    return TALL + legend_height(name for _, name, _ in _curves(result))


@in_style
def plot_study(result: Decomposition, *, ax: Axes | None = None) -> Figure:
    """Draw phi against the number of levels of each facet, the others at one level; the first 12 curves.

    Of several systems, each has its colour, and facets differ in their dashes.
    """
    ax = ax or new_axes(height_of_study(result))
    facets = list(dict.fromkeys(facet for plan in result.study for facet in plan.counts))
    systems = system_colours((plan.system for plan in result.study), repeat=True)
    several = len({plan.system for plan in result.study}) > 1
    for (system, facet), name, points in _curves(result):
        counts, phi = zip(*points, strict=True)
        place = facets.index(facet)
        colour = systems[system] if several else COLOURS[place % len(COLOURS)]
        (line,) = ax.plot(
            counts, phi, color=colour, marker=MARKS[place % len(MARKS)], linestyle=DASHES[place % len(DASHES)],
            label=short(name),
        )  # fmt: skip
        tell(line, [f"{name}, {count} levels: phi {value:.2f}" for count, value in points])
    for threshold, name, dashes in THRESHOLDS:
        ax.axhline(threshold, color=FAINT, linewidth=0.6, linestyle=dashes, zorder=0)
        ax.annotate(
            name, (1.0, threshold), xycoords=("axes fraction", "data"), xytext=(2, 0), textcoords="offset points",
            va={0.75: "top", 0.8: "bottom"}.get(threshold, "center"), fontsize=6, annotation_clip=False,
        )  # fmt: skip
    ax.set_ylim(0, 1)
    ax.set_xlabel("levels that scores are averaged over")
    ax.set_ylabel("reliability, phi")
    add_legend(ax)
    return figure_of(ax)


def _curves(result: Decomposition) -> list[tuple[tuple[str, str], str, list[tuple[int, float]]]]:
    """Return the curves that are drawn: of which system and facet, what it is called, its points."""
    several = len(result.reliabilities) > 1
    facets = list(dict.fromkeys(facet for plan in result.study for facet in plan.counts))
    owners = list(dict.fromkeys((plan.system, plan.metric) for plan in result.study))
    curves = [
        ((system, facet), f"{system}: {facet}" if several else facet, _curve(result, (system, metric), facet))
        for system, metric in owners
        for facet in facets
    ]
    return [curve for curve in curves if curve[2]][:MOST_CURVES]


def _curve(result: Decomposition, owner: tuple[str, str | None], facet: str) -> list[tuple[int, float]]:
    """Return the points of one facet's curve: of the plans with one number of its levels, the cheapest."""
    plans = [p for p in result.study if (p.system, p.metric) == owner and facet in p.counts]
    planned = [p for p in plans if not p.current or len(p.counts) == 1]
    cheapest: dict[int, StudyPlan] = {}
    for plan in sorted(planned, key=lambda p: sum(p.counts.values())):
        cheapest.setdefault(plan.counts[facet], plan)
    return [(count, cheapest[count].phi) for count in sorted(cheapest)]
