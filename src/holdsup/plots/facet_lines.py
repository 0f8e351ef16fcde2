"""The levels of a facet along a property of the items (Hagmann et al. 2023, Figure 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.errors import ResultError
from holdsup.plots.labels import short
from holdsup.plots.style import (
    COLOURS,
    MARKS,
    add_legend,
    figure_of,
    in_style,
    legend_height,
    new_axes,
    say_estimate,
    tell,
)
from holdsup.results import find_scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Decomposition
    from holdsup.verdict.variance.records import FacetByProperty

__all__ = ["height_of_facet_lines", "plot_facet_lines"]

TALL = 2.2  # inches, with the title of the legend
MOST_LINES = 12


def height_of_facet_lines(result: Decomposition) -> float:
    """Return the inches that the picture takes."""
    return TALL + legend_height(_levels(_strongest(result)))


@in_style
def plot_facet_lines(result: Decomposition, which: int | None = None, *, ax: Axes | None = None) -> Figure:
    """Draw the predicted score of each level against a property, with limits given the mean line; the first 12 levels.

    `which` is a place in `result.properties`; by default the one with the smallest p.
    """
    if not result.properties:
        raise ResultError("there is no property in this result: ask for one with --by")
    crossed = _strongest(result) if which is None else result.properties[which]
    ax = ax or new_axes(TALL + legend_height(_levels(crossed)))
    values = list(dict.fromkeys(p.value for p in crossed.points))
    classes = [value for value in values if isinstance(value, str)]
    places = {value: float(i) if isinstance(value, str) else value for i, value in enumerate(values)}
    for number, level in enumerate(_levels(crossed)):
        own = [p for p in crossed.points if p.level == level]
        at, colour = [places[p.value] for p in own], COLOURS[number % len(COLOURS)]
        ax.fill_between(at, [p.low for p in own], [p.high for p in own], color=colour, alpha=0.15, linewidth=0)
        mark = MARKS[number % len(MARKS)]
        (line,) = ax.plot(at, [p.mean for p in own], color=colour, marker=mark, label=short(level))
        named = [f"{crossed.facet} {level}, {crossed.property} {p.value}: " for p in own]
        tell(line, [f"{name}{say_estimate(p.mean, p.low, p.high)}" for name, p in zip(named, own, strict=True)])
    if classes:
        ax.set_xticks(range(len(classes)), [short(name) for name in classes])
    ax.set_xlabel(short(crossed.property))
    ax.set_ylabel(f"predicted {short(find_scored(result).name(crossed.metric))} of\n{short(crossed.system)}")
    add_legend(ax, title=short(crossed.facet))
    return figure_of(ax)


def _strongest(result: Decomposition) -> FacetByProperty:
    return min(result.properties, key=lambda f: f.log10_p)


def _levels(crossed: FacetByProperty) -> list[str]:
    return list(dict.fromkeys(p.level for p in crossed.points))[:MOST_LINES]
