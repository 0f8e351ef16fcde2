"""Learning curves of the systems of a contest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.errors import ResultError
from holdsup.plots.labels import short
from holdsup.plots.style import (
    MARKS,
    MUTED,
    add_legend,
    figure_of,
    in_style,
    legend_height,
    new_axes,
    system_colours,
    tell,
)
from holdsup.rendering.numbers import format_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.contest import Contest

__all__ = ["height_of_curve", "plot_learning_curve"]

TALL = 2.0  # inches
MOST_LINES = 12


def height_of_curve(result: Contest) -> float:
    """Return the inches that the learning curve takes."""
    return TALL + legend_height(_systems(result))


@in_style
def plot_learning_curve(result: Contest, *, ax: Axes | None = None) -> Figure:
    """Draw the mean score of each system against the number of items trained on; half of the corpus is marked."""
    if not result.curve:
        raise ResultError("there is no learning curve in this result: ask for one when the contest is run")
    ax = ax or new_axes(height_of_curve(result))
    colours = system_colours((point.system for point in result.curve), repeat=True)
    for number, system in enumerate(_systems(result)):
        own = [point for point in result.curve if point.system == system]
        errors = [point.se if point.repeats > 1 else 0.0 for point in own]
        drawn = ax.errorbar(
            [point.size for point in own], [point.mean for point in own], yerr=errors, color=colours[system],
            marker=MARKS[number % len(MARKS)], label=short(system),
        )  # fmt: skip
        scores = [format_number(p.mean, uncertainty=error) for p, error in zip(own, errors, strict=True)]
        tell(drawn.lines[0], [f"{system}, {p.size:,} items: {s}" for p, s in zip(own, scores, strict=True)])
    if result.items is not None:
        ax.axvline(result.items / 2, color=MUTED, linewidth=0.6, linestyle=":", zorder=0)
    ax.set_xlabel("items trained on; dotted: half of the corpus" if result.items else "items trained on")
    lower = "\nlower is better" if result.lower_is_better else ""
    ax.set_ylabel(f"{short(result.metric)}, with standard errors{lower}")
    add_legend(ax)
    return figure_of(ax)


def _systems(result: Contest) -> list[str]:
    return list(dict.fromkeys(point.system for point in result.curve))[:MOST_LINES]
