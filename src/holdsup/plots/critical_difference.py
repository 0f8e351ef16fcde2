"""Average ranks over datasets with the critical difference (Demsar 2006, Figure 1), turned on its side.

Demsar hangs names below one axis. A line for each system has room for long names and for thirty of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.errors import ResultError
from holdsup.plots.labels import short_apart
from holdsup.plots.style import FAINT, INK, SMALL, figure_of, in_style, new_axes, system_colours, tell

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.ranking import Ranking

__all__ = ["plot_ranks", "ranks_height"]

ROW, FRAME = 0.2, 0.95  # inches a line, and around the lines
LONGEST = 22
CLIQUE = "#666666"
ASIDE = 0.4  # of the axis: room for the bars of groups


@in_style
def plot_ranks(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw the average rank of each system, the best on top; bars join groups that Nemenyi's test does not tell apart.

    The bar above the lines is as long as the critical difference.
    """
    from matplotlib.ticker import MaxNLocator

    companion = result.companion
    if companion is None:
        raise ResultError("this ranking has no average ranks: fewer than two datasets have a score of every system")
    ax = ax or new_axes(ranks_height(result))
    colour = system_colours(row.system for row in companion.ranks)
    place = {row.system: i for i, row in enumerate(companion.ranks)}
    worst = float(len(companion.ranks))
    for row in companion.ranks:
        y = place[row.system]
        ax.plot([1, row.average_rank], [y, y], color=FAINT, linewidth=0.8, zorder=0)
        (dot,) = ax.plot(row.average_rank, y, "o", color=colour[row.system], markersize=5)
        tell(dot, [f"{row.system}: average rank {row.average_rank:.2f}"])
    apart = (worst - 1) * min(0.06, ASIDE / max(1, len(companion.cliques)))
    for number, clique in enumerate(companion.cliques, start=1):
        x = worst + number * apart
        ax.plot([x, x], [place[clique[0]] - 0.25, place[clique[-1]] + 0.25], color=CLIQUE, linewidth=2)
    length = min(companion.critical_difference, worst - 1)
    ax.plot([1, 1 + length], [-1.1, -1.1], "|-", color=INK, linewidth=1.2)
    ax.text(1, -1.6, f"critical difference {companion.critical_difference:.2f}", va="bottom", fontsize=SMALL - 1)
    ax.set_xlim(1 - 0.03 * (worst - 1), worst + (len(companion.cliques) + 1) * apart)
    ax.spines["bottom"].set_bounds(1, worst)
    near = 0.08 * (worst - 1)  # where a number would touch that of an end
    between = [tick for tick in MaxNLocator(6, integer=True).tick_values(1, worst) if 1 + near < tick < worst - near]
    ax.set_xticks([1, *between, worst])
    ax.set_ylim(len(place) - 0.5, -2.6)
    ax.set_yticks(range(len(place)), short_apart(place, LONGEST))
    ax.set_xlabel(
        f"average rank on {companion.datasets} datasets\n(bars at the right: not told apart)",
        fontsize=SMALL,
        loc="right",
    )
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return figure_of(ax)


def ranks_height(result: Ranking) -> float:
    """Return the inches that the lines need."""
    return ROW * (2 + len(result.companion.ranks if result.companion else ())) + FRAME
