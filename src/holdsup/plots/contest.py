"""A contest: the estimators over re-partitions (Xue et al. 2023, Figure 2), and what else there is to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.plots.contest_curve import plot_learning_curve
from holdsup.plots.contest_stability import plot_stability
from holdsup.rendering.table import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.contest import Contest
    from holdsup.verdict.contest.records import EstimatorRow

__all__ = ["plot_contest", "plot_estimators"]

MARK, PAPER = "#0072B2", "#8C8C8C"
COLUMN, FRAME = 0.35, 1.5  # inches a box, and beside the boxes
TALL, PANEL = 4.2, 3.2  # inches of the boxes with their names, and of other panels
MOST_BOXES = 40
FEWEST = 5  # values that a box needs


def plot_contest(result: Contest, *, ax: Axes | None = None) -> Figure:
    """Draw the estimators; on a figure of its own, reproducibility and learning curve below them."""
    from matplotlib.figure import Figure as NewFigure

    has_shares = any(row.reproducibility is not None for row in result.estimators)
    below = [*([plot_stability] if has_shares else []), *([plot_learning_curve] if result.curve else [])]
    if ax is not None or not below:
        return plot_estimators(result, ax=ax)
    heights = [TALL, *(PANEL for _ in below)]
    figure = NewFigure(figsize=(_width(result), sum(heights)), layout="constrained")
    places = figure.subplots(len(heights), 1, height_ratios=heights)
    for draw, place in zip((plot_estimators, *below), places, strict=True):
        draw(result, ax=place)
    return figure


def plot_estimators(result: Contest, *, ax: Axes | None = None) -> Figure:
    """Draw the values of each estimator as a box and as dots, side by side; grey is the paper's mixture."""
    from matplotlib.figure import Figure as NewFigure

    rows = result.estimators[:MOST_BOXES]
    if ax is None:
        ax = NewFigure(figsize=(_width(result), TALL), layout="constrained").add_subplot()
    for place, row in enumerate(rows):
        colour = PAPER if row.paper else MARK
        if len(row.values) >= FEWEST:
            line = {"color": colour}
            ax.boxplot(
                [row.values], positions=[place], widths=0.6, showfliers=False, manage_ticks=False, boxprops=line,
                whiskerprops=line, capprops=line, medianprops={**line, "linewidth": 2},
            )  # fmt: skip
        ax.plot([place] * len(row.values), row.values, "o", color=colour, markersize=3, alpha=0.4)
    ax.axhline(0, color="0.6", linewidth=1, linestyle=":", zorder=0)
    names = [_name(row, several=len(result.conclusions) > 1) for row in rows]
    ax.set_xticks(range(len(rows)), names, rotation=45, ha="right", fontsize=8)
    ax.set_xlim(-0.6, len(rows) - 0.4)
    first = result.conclusions[0]
    of = f"{first.left} - {first.right}" if len(result.conclusions) == 1 else "first - second"
    ax.set_ylabel(_text(f"difference in {result.metric}, {of}"))
    if len(result.estimators) > MOST_BOXES:
        ax.set_xlabel(f"the first {MOST_BOXES} of {len(result.estimators)}")
    ax.spines[["top", "right"]].set_visible(False)
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure


def _width(result: Contest) -> float:
    return max(6.5, COLUMN * min(len(result.estimators), MOST_BOXES) + FRAME)


def _name(row: EstimatorRow, *, several: bool) -> str:
    whose = f"{row.left} - {row.right}: " if several else ""
    estimator = f"{row.estimator} (paper)" if row.paper else row.estimator
    return _text(f"{whose}{row.strategy}, {estimator}, {row.trained}")


def _text(words: str) -> str:
    """Return words that cannot be read as mathematics."""
    return visible(words).replace("$", r"\$")
