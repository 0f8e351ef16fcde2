"""Learning curves of the systems of a contest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.errors import ResultError
from holdsup.rendering.table import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.contest import Contest

__all__ = ["plot_learning_curve"]

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
MARKS = ("o", "s", "^", "D", "v", "P")
MOST_LINES = 12


def plot_learning_curve(result: Contest, *, ax: Axes | None = None) -> Figure:
    """Draw the mean score of each system against the number of items trained on; half of the corpus is marked."""
    from matplotlib.figure import Figure as NewFigure

    if not result.curve:
        raise ResultError("there is no learning curve in this result: ask for one when the contest is run")
    if ax is None:
        ax = NewFigure(figsize=(6.5, 3.2), layout="constrained").add_subplot()
    for number, system in enumerate(list(dict.fromkeys(point.system for point in result.curve))[:MOST_LINES]):
        own = [point for point in result.curve if point.system == system]
        sizes, means = [point.size for point in own], [point.mean for point in own]
        errors = [point.se if point.repeats > 1 else 0.0 for point in own]
        name = visible(system).replace("$", r"\$")
        ax.errorbar(
            sizes, means, yerr=errors, color=COLOURS[number % len(COLOURS)], marker=MARKS[number % len(MARKS)],
            markersize=4, capsize=2, label=f" {name}" if name.startswith("_") else name,
        )  # fmt: skip
    if result.items is not None:
        ax.axvline(result.items / 2, color="0.6", linewidth=1, linestyle=":", zorder=0)
    ax.set_xlabel("items trained on; dotted: half of the corpus" if result.items else "items trained on")
    ax.set_ylabel(visible(f"{result.metric}, with standard errors").replace("$", r"\$"))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure
