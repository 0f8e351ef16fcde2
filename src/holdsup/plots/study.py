"""The decision study as curves: what averages over more levels of a facet would be worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.rendering.table import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Decomposition
    from holdsup.verdict.variance.records import StudyPlan

__all__ = ["plot_study"]

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
MARKS, LINES = ("o", "s", "^", "D", "v", "P"), ("-", "--", ":", "-.")
THRESHOLDS = ((0.5, "moderate", "-"), (0.75, "good", "-"), (0.8, "Jiang's .80", ":"), (0.9, "excellent", "-"))
MOST_CURVES = 12


def plot_study(result: Decomposition, *, ax: Axes | None = None) -> Figure:
    """Draw phi against the number of levels of each facet, the others at one level; the first 12 curves."""
    from matplotlib.figure import Figure as NewFigure

    if ax is None:
        ax = NewFigure(figsize=(6.5, 3.2), layout="constrained").add_subplot()
    several = len(result.reliabilities) > 1
    facets = list(dict.fromkeys(facet for plan in result.study for facet in plan.counts))
    owners = list(dict.fromkeys((plan.system, plan.metric) for plan in result.study))
    curves = {(owner, facet): _curve(result, owner, facet) for owner in owners for facet in facets}
    drawn = {key: points for key, points in curves.items() if points}
    for (owner, facet), points in list(drawn.items())[:MOST_CURVES]:
        counts, phi = zip(*points, strict=True)
        place, colour = owners.index(owner), COLOURS[facets.index(facet) % len(COLOURS)]
        whose = f"{owner[0]}: " if several else ""
        ax.plot(
            counts, phi, color=colour, marker=MARKS[facets.index(facet) % len(MARKS)], markersize=4,
            linestyle=LINES[place % len(LINES)], label=visible(f"{whose}{facet}").replace("$", r"\$").lstrip("_"),
        )  # fmt: skip
    for threshold, name, line in THRESHOLDS:
        ax.axhline(threshold, color="0.8", linewidth=1, linestyle=line, zorder=0)
        ax.annotate(
            name, (1.0, threshold), xycoords=("axes fraction", "data"), xytext=(3, 0), textcoords="offset points",
            va="center", fontsize=8, color="0.4", annotation_clip=False,
        )  # fmt: skip
    ax.set_ylim(0, 1)
    ax.set_xlabel("levels that scores are averaged over")
    ax.set_ylabel("reliability, phi")
    ax.spines[["top", "right"]].set_visible(False)
    if drawn:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, frameon=False, borderaxespad=0.2, fontsize=8)
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure


def _curve(result: Decomposition, owner: tuple[str, str | None], facet: str) -> list[tuple[int, float]]:
    """Return the points of one facet's curve: of the plans with one number of its levels, the cheapest."""
    plans = [p for p in result.study if (p.system, p.metric) == owner and facet in p.counts]
    planned = [p for p in plans if not p.current or len(p.counts) == 1]
    cheapest: dict[int, StudyPlan] = {}
    for plan in sorted(planned, key=lambda p: sum(p.counts.values())):
        cheapest.setdefault(plan.counts[facet], plan)
    return [(count, cheapest[count].phi) for count in sorted(cheapest)]
