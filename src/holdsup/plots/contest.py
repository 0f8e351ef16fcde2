"""A contest: the estimators over re-partitions (Xue et al. 2023, Figure 2), and what else there is to draw."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from holdsup.plots.contest_curve import height_of_curve, plot_learning_curve
from holdsup.plots.contest_stability import height_of_stability, plot_stability
from holdsup.plots.labels import short, short_pair
from holdsup.plots.panels import Panel, stack
from holdsup.plots.style import (
    COLUMN,
    MARK,
    MUTED,
    figure_of,
    in_style,
    new_axes,
    rasterize_many,
    tell,
)
from holdsup.rendering.numbers import format_number
from holdsup.verdict.contest.records import PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.contest import Contest
    from holdsup.verdict.contest.records import EstimatorRow

__all__ = ["panels_of_contest", "plot_contest", "plot_estimators"]

BOX, FRAME = 0.3, 0.8  # inches a box, and beside the boxes
TALL = 3.0  # inches of the boxes with their names
MOST_BOXES = 40
FEWEST = 5  # values that a box needs


def panels_of_contest(result: Contest) -> list[Panel]:
    """Return the estimators, and reproducibility and learning curve where there are any."""
    first = result.conclusions[0]
    several = len(result.conclusions) > 1
    panels = [
        Panel(
            name="estimators",
            shows="Each estimator of the difference on every partition of the corpus, as dots and boxes; grey: the "
            f"mixture of {PAPER}.",
            beside="Differences over" if several else f"{first.left} - {first.right} over",
            draw=partial(plot_estimators, result),
            height=TALL,
            width=_width(result),
        )
    ]
    if any(row.reproducibility is not None for row in result.estimators):
        panels.append(
            Panel(
                name="reproducibility",
                shows="The share of partitions with the same winner against the signal to noise ratio, with limits.",
                beside="Folds in which",
                draw=partial(plot_stability, result),
                height=height_of_stability(result),
            )
        )
    if result.curve:
        panels.append(
            Panel(
                name="learning-curve",
                shows=f"The mean {result.metric} of each system against the number of items it was trained on.",
                beside="Differences along the learning curve",
                draw=partial(plot_learning_curve, result),
                height=height_of_curve(result),
            )
        )
    return panels


def plot_contest(result: Contest, *, ax: Axes | None = None) -> Figure:
    """Draw the estimators; on a figure of its own, reproducibility and learning curve below them."""
    return stack(panels_of_contest(result)) if ax is None else plot_estimators(result, ax=ax)


@in_style
def plot_estimators(result: Contest, *, ax: Axes | None = None) -> Figure:
    """Draw the values of each estimator as a box and as dots, side by side; grey is the paper's mixture."""
    rows = result.estimators[:MOST_BOXES]
    ax = ax or new_axes(TALL, width=_width(result))
    names = [_name(row, several=len(result.conclusions) > 1) for row in rows]
    for place, (row, name) in enumerate(zip(rows, names, strict=True)):
        colour = MUTED if row.paper else MARK
        if len(row.values) >= FEWEST:
            line = {"color": colour, "linewidth": 0.8}
            ax.boxplot(
                [row.values], positions=[place], widths=0.6, showfliers=False, manage_ticks=False, boxprops=line,
                whiskerprops=line, capprops=line, medianprops={**line, "linewidth": 2},
            )  # fmt: skip
        (dots,) = ax.plot([place] * len(row.values), row.values, "o", color=colour, markersize=2.5, alpha=0.4)
        rasterize_many(dots, len(row.values))
        tell(dots, [f"{name}, partition {i}: {format_number(v)}" for i, v in enumerate(row.values, start=1)])
    ax.axhline(0, color=MUTED, linewidth=0.6, linestyle=":", zorder=0)
    ax.set_xticks(range(len(rows)), [short(name, 60) for name in names], rotation=45, ha="right")
    for tick in ax.get_xticklabels():
        tick.set_rotation_mode("anchor")
    ax.set_xlim(-0.6, len(rows) - 0.4)
    first = result.conclusions[0]
    of = short_pair(first.left, first.right) if len(result.conclusions) == 1 else "first - second"
    lower = " (lower is better)" if result.lower_is_better else ""
    ax.set_ylabel(f"difference in {short(result.metric)}{lower},\n{of}")
    if len(result.estimators) > MOST_BOXES:
        ax.set_xlabel(f"the first {MOST_BOXES} of {len(result.estimators)}")
    return figure_of(ax)


def _width(result: Contest) -> float:
    return max(COLUMN, BOX * min(len(result.estimators), MOST_BOXES) + FRAME)


def _name(row: EstimatorRow, *, several: bool) -> str:
    whose = f"{row.left} - {row.right}: " if several else ""
    estimator = f"{row.estimator} ({PAPER})" if row.paper else row.estimator
    return f"{whose}{row.strategy}, {estimator}, {row.trained}"
