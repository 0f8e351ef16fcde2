"""Are residuals and random effects normal: Q-Q plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.plots.labels import short
from holdsup.plots.style import COLUMN, MARK, MUTED, SMALL, figure_of, in_style, new_axes, rasterize_many, tell
from holdsup.rendering.numbers import format_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

    from holdsup.verdict.ranking import Ranking
    from holdsup.verdict.ranking.quality_records import Quantiles

__all__ = ["draw_quantiles", "plot_all_quantiles", "plot_quantiles", "quantiles_height"]

PANEL = 1.5  # inches
ACROSS = 2  # panels in a column of a paper
LONGEST = 20
TOLD = 15  # points at each end that say what they are: there it shows what is not normal
MOST_DRAWN = 60  # points between them that are drawn one by one; more are one picture
QUARTILE = 0.6744897501960817  # of the standard normal distribution


@in_style
def plot_quantiles(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw the residuals against normal quantiles, with the line through their quartiles."""
    ax = ax or new_axes(COLUMN)
    _draw(ax, result.diagnostics[0])
    ax.set_xlabel("normal quantile", fontsize=SMALL)
    return figure_of(ax)


@in_style
def plot_all_quantiles(result: Ranking) -> Figure:
    """Draw residuals and the predicted effects of every random term, a panel each."""
    from holdsup.plots.notebook import NotebookFigure

    figure = NotebookFigure(figsize=(COLUMN, quantiles_height(result, across=ACROSS)), layout="constrained")
    draw_quantiles(result, figure, across=ACROSS)
    return figure


def draw_quantiles(result: Ranking, place: FigureBase, *, across: int) -> None:
    """Draw all panels on a figure or a part of one."""
    axes = place.subplots(_rows(result, across), across, squeeze=False).ravel()
    for ax in axes[len(result.diagnostics) :]:
        ax.set_visible(False)
    for quantiles, ax in zip(result.diagnostics, axes, strict=False):
        _draw(ax, quantiles)
    place.supxlabel("normal quantile", fontsize=SMALL)


def quantiles_height(result: Ranking, *, across: int) -> float:
    """Return the inches that the panels need."""
    return PANEL * _rows(result, across) + 0.3


def _rows(result: Ranking, across: int) -> int:
    return -(-len(result.diagnostics) // across)


def _draw(ax: Axes, quantiles: Quantiles) -> None:
    points = list(zip(quantiles.normal, quantiles.observed, strict=True))  # in order
    inner = points[TOLD:-TOLD]
    ends = points[:TOLD] + points[max(TOLD, len(points) - TOLD) :]
    for shown in (inner, ends):
        (dots,) = ax.plot(*zip(*shown, strict=True), "o", color=MARK, markersize=2.5) if shown else ax.plot([], [])
        if shown is ends:
            tell(dots, [f"{quantiles.name}: {format_number(value)}" for _, value in ends])
        else:
            rasterize_many(dots, len(inner), most=MOST_DRAWN)
    low, high = (_at(quantiles, end * QUARTILE) for end in (-1, 1))
    ax.axline((-QUARTILE, low), (QUARTILE, high), color=MUTED, linewidth=0.8, zorder=0)
    ax.set_title(short(quantiles.name, LONGEST), fontsize=SMALL, loc="left")
    ax.tick_params(labelsize=SMALL - 1)


def _at(quantiles: Quantiles, normal: float) -> float:
    """Return the value at a normal quantile, between the two points next to it."""
    import numpy as np

    return float(np.interp(normal, quantiles.normal, quantiles.observed))
