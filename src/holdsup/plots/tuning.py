"""Candidates of a tuning: scores on partitions, means, and how probable it is that each is the best."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from holdsup.plots.labels import short, short_apart
from holdsup.plots.panels import Panel
from holdsup.plots.style import (
    COLOURS,
    FRAME,
    MARK,
    MUTED,
    ROW,
    explain_axis,
    figure_of,
    in_style,
    new_axes,
    tell,
)
from holdsup.rendering.numbers import format_number
from holdsup.results import find_scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.tuning import Tuning
    from holdsup.verdict.tuning.records import CandidateRow

__all__ = ["panels_of_tuning", "plot_tuning"]

NEAR = {"pick": COLOURS[1], "alike": MARK}
MOST_LINES = 30


def panels_of_tuning(result: Tuning) -> list[Panel]:
    """Return the candidates."""
    return [
        Panel(
            name="candidates",
            shows="Each candidate's score on every partition, its mean and standard error, and the probability that it "
            "is the best; orange: the pick, blue: cannot be told from it.",
            beside="Candidates by",
            draw=partial(plot_tuning, result),
            height=_height(result),
        )
    ]


@in_style
def plot_tuning(result: Tuning, *, ax: Axes | None = None) -> Figure:
    """Draw a line a candidate, the best on top: a dot for each partition, the mean with its standard error.

    At the right stands the probability of being the best over all partitions. The axis shows where the candidates lie
    that cannot be told from the pick; an arrow stands for one beyond it. Candidates that failed are left out, and of
    more than 30 the worst; the axis says so.
    """
    rows = _drawn(result)
    ax = ax or new_axes(_height(result))
    low, high = _range(rows)
    ax.set_xlim(low, high)
    for place, row in enumerate(rows):
        colour = NEAR.get(row.status, MUTED)
        if not low <= row.mean <= high:
            edge = low if row.mean < low else high
            ax.plot(edge, place, "<" if edge == low else ">", color=colour, clip_on=False)
        ax.plot(row.scores, [place] * len(row.scores), "o", color=colour, alpha=0.3, markersize=2.5)
        mean = ax.errorbar(row.mean, place, xerr=row.se, fmt="D", color=colour, linewidth=1.6)
        chance = f"{row.p_best:.2f}" if row.p_best == row.p_best else "-"
        tell(mean.lines[0], [f"{row.name}: {format_number(row.mean, uncertainty=row.se)}, P(best) {chance}"])
        ax.annotate(chance, (1.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=7)
    ax.annotate("P(best)", (1.02, -0.9), xycoords=("axes fraction", "data"), va="center", fontsize=7)
    ax.set_yticks(range(len(rows)), short_apart(row.name for row in rows))
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.locator_params(axis="x", nbins=4)
    left_out = f"; the first {len(rows)} of {len(result.different)}" if len(rows) < len(result.different) else ""
    plan = f"{result.partitions} partitions of {result.k} folds"
    lower = f"; {said}" if (said := find_scored(result).say_lower()) else ""
    explain_axis(ax, f"{short(result.metric)}, mean and se{lower}", f"{plan}{left_out}")
    return figure_of(ax)


def _drawn(result: Tuning) -> list[CandidateRow]:
    return [row for row in result.ranked() if row.status not in ("failed", "same")][:MOST_LINES]


def _height(result: Tuning) -> float:
    return ROW * len(_drawn(result)) + FRAME + 0.3


def _range(rows: Sequence[CandidateRow]) -> tuple[float, float]:
    """Return the scores of the best, those that cannot be told apart and one more, with some room around them."""
    near = [row for row in rows if row.status in NEAR]
    near += [row for row in rows if row.status not in NEAR][:1]
    scores = [score for row in near for score in row.scores if score == score]
    room = 0.1 * (max(scores) - min(scores)) or 0.01 * abs(max(scores)) or 1.0
    return min(scores) - room, max(scores) + room
