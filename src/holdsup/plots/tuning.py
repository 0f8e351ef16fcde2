"""Candidates of a tuning: scores on partitions, means, and how probable it is that each is the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdsup.rendering.table import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.tuning import Tuning
    from holdsup.verdict.tuning.records import CandidateRow

__all__ = ["plot_tuning"]

COLOURS = {"pick": "#D55E00", "alike": "#0072B2"}
OTHERS = "#8C8C8C"
MOST_LINES = 30


def plot_tuning(result: Tuning, *, ax: Axes | None = None) -> Figure:
    """Draw a line a candidate, the best on top: a dot for each partition, the mean with its standard error.

    At the right stands the probability of being the best over all partitions. The axis shows where the candidates lie
    that cannot be told from the pick; an arrow stands for one beyond it. Candidates that failed are left out, and of
    more than 30 the worst; the axis says so.
    """
    from matplotlib.figure import Figure as NewFigure

    ranked = [row for row in result.ranked() if row.status != "failed"]
    rows = ranked[:MOST_LINES]
    if ax is None:
        ax = NewFigure(figsize=(6.5, 0.28 * len(rows) + 1.2), layout="constrained").add_subplot()
    low, high = _range(rows)
    ax.set_xlim(low, high)
    for place, row in enumerate(rows):
        colour = COLOURS.get(row.status, OTHERS)
        if not low <= row.mean <= high:
            edge = low if row.mean < low else high
            ax.plot(edge, place, "<" if edge == low else ">", color=colour, clip_on=False)
        ax.plot(row.scores, [place] * len(row.scores), "o", color=colour, alpha=0.3, markersize=3)
        ax.errorbar(row.mean, place, xerr=row.se, fmt="D", color=colour, markersize=5, linewidth=2)
        label = f"{row.p_best:.2f}" if row.p_best == row.p_best else "-"
        ax.annotate(label, (1.01, place), xycoords=("axes fraction", "data"), va="center", fontsize=8)
    ax.annotate("P(best)", (1.01, -0.9), xycoords=("axes fraction", "data"), va="center", fontsize=8)
    ax.set_yticks(range(len(rows)), [_text(row.name) for row in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    left_out = f"; the first {len(rows)} of {len(result.candidates)}" if len(rows) < len(result.candidates) else ""
    ax.set_xlabel(
        f"{_text(result.metric)} on {result.partitions} partitions of {result.k} folds, mean and se{left_out}"
    )
    ax.spines[["top", "right"]].set_visible(False)
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure


def _range(rows: Sequence[CandidateRow]) -> tuple[float, float]:
    """Return the scores of the best, those that cannot be told apart and one more, with some room around them."""
    near = [row for row in rows if row.status in COLOURS]
    near += [row for row in rows if row.status not in COLOURS][:1]
    scores = [score for row in near for score in row.scores if score == score]
    room = 0.1 * (max(scores) - min(scores)) or 0.01 * abs(max(scores)) or 1.0
    return min(scores) - room, max(scores) + room


def _text(name: str) -> str:
    """Return a label that cannot be read as mathematics and leaves room for the lines."""
    shown = visible(name).replace("$", r"\$")
    return shown if len(shown) <= 40 else f"{shown[:39]}…"
