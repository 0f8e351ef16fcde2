"""A ranking: adjusted means, the leader's gaps, and the pictures of the other answers below them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from holdsup.plots.critical_difference import plot_ranks, ranks_height
from holdsup.plots.heatmap import heatmap_height, heatmap_width, plot_interactions
from holdsup.plots.labels import short, short_apart
from holdsup.plots.panels import Panel
from holdsup.plots.quantiles import draw_quantiles, plot_quantiles, quantiles_height
from holdsup.plots.style import (
    COLUMN,
    INK,
    MARK,
    MUTED,
    SMALL,
    UNSURE,
    draw_intervals,
    figure_of,
    in_style,
    new_axes,
    say_estimate,
    system_colours,
)
from holdsup.plots.terms import plot_terms, terms_height
from holdsup.plots.waterfall import plot_waterfall, waterfall_height
from holdsup.results import find_scored
from holdsup.verdict.phrases import say_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.ranking import Ranking
    from holdsup.verdict.ranking.system_records import RankContrast
    from holdsup.verdict.ranking.term_records import Contribution, NuisanceEffect

__all__ = ["panels_of_ranking", "plot_contributions", "plot_leads", "plot_means", "plot_nuisance", "plot_ranking"]

ROW, FRAME = 0.22, 0.85  # inches a line, and around the lines
MOST_LINES = 40
LONGEST = 22  # letters of a name in a column
WIDTH = 6.5  # inches of all pictures together
ACROSS = 4  # Q-Q plots beside each other


def panels_of_ranking(result: Ranking) -> list[Panel]:
    """Return all answers, each beside its table."""
    drawn: list[tuple[str, str, str, Callable[..., Figure], float, float]] = [
        ("means", f"Adjusted means with {say_level(result.level)} limits, the best on top; ticks: raw means. At the "
         "right: the places that contrasts leave a system, and the share of draws in which it is the best.",
         "Systems by adjusted mean", plot_means, _height(len(result.systems)), COLUMN),
        ("leads", "The leader's gap to every other system with its limits, thin: of all pairs at once; grey: cannot be "
         "told from none.", "Contrasts,", plot_leads, _height(len(result.systems) - 1), COLUMN),
        ("terms", "The share of each random term in the variance; grey: not told from none, or the residual.",
         "Random terms", plot_terms, terms_height(result), COLUMN),
    ]  # fmt: skip
    if _nuisance(result):
        drawn.append(("nuisance", "Effects of nuisance factors with limits; grey: cannot be told from none.",
                      "Fixed effects of nuisance", plot_nuisance, _height(len(_nuisance(result))), COLUMN))  # fmt: skip
    if result.contributions:
        drawn.append(("contributions", "What each ingredient adds, with limits; grey: cannot be told from none.",
                      "Contributions", plot_contributions, _height(len(result.contributions)), COLUMN))  # fmt: skip
    if result.interactions:
        drawn.append(("interactions", "What each system does on each dataset beyond both their means.",
                      "Systems on datasets", plot_interactions, heatmap_height(result),
                      heatmap_width(result)))  # fmt: skip
    if result.waterfall:
        drawn.append(("waterfall", "From the raw gap of two systems to the isolated one, cause by cause.",
                      "From the raw gap", plot_waterfall, waterfall_height(result), COLUMN))  # fmt: skip
    if result.companion is not None:
        drawn.append(("ranks", "Average ranks over datasets; bars at the right join systems that are not told apart.",
                      "A classic companion", plot_ranks, ranks_height(result), COLUMN))  # fmt: skip
    if result.diagnostics:
        drawn.append(("quantiles", "Residuals against normal quantiles, which lie on the line where they are normal.",
                      "Quality of the fit", plot_quantiles, COLUMN, COLUMN))  # fmt: skip
    return [
        Panel(name=name, shows=shows, beside=beside, draw=partial(draw, result), height=height, width=width)
        for name, shows, beside, draw, height, width in drawn
    ]


@in_style
def plot_ranking(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw all answers, one below the other; on an Axes that is given, the adjusted means alone."""
    from holdsup.plots.notebook import NotebookFigure

    if ax is not None:
        return plot_means(result, ax=ax)
    panels: list[tuple[Callable[..., Figure], float]] = [
        (plot_means, _height(len(result.systems))),
        (plot_leads, _height(len(result.systems) - 1)),
    ]
    if _nuisance(result):
        panels.append((plot_nuisance, _height(len(_nuisance(result)))))
    if result.contributions:
        panels.append((plot_contributions, _height(len(result.contributions))))
    panels.append((plot_terms, terms_height(result)))
    if result.interactions:
        panels.append((plot_interactions, heatmap_height(result)))
    if result.waterfall:
        panels.append((plot_waterfall, waterfall_height(result)))
    if result.companion is not None:
        panels.append((plot_ranks, ranks_height(result)))
    heights = [height for _, height in panels]
    parts = [sum(heights), *([quantiles_height(result, across=ACROSS)] if result.diagnostics else [])]
    figure = NotebookFigure(figsize=(WIDTH, sum(parts)), layout="constrained")
    above, *below = figure.subfigures(len(parts), 1, height_ratios=parts, squeeze=False).ravel()
    for (draw, _), place in zip(panels, above.subplots(len(heights), 1, height_ratios=heights), strict=True):
        draw(result, ax=place)
    for part in below:
        draw_quantiles(result, part, across=ACROSS)
    return figure


@in_style
def plot_means(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw the adjusted mean of each system with its limits, the best on top, beside a tick at its raw mean.

    At the right stand the places that the contrasts leave it, and the share of draws in which it is the best.
    """
    systems = result.systems[:MOST_LINES]
    colour = system_colours(system.name for system in result.systems)
    limits = [(s.low, s.mean, s.high) for s in systems]
    names = short_apart((s.name for s in systems), LONGEST)
    ax = _lines(names, limits, [colour[s.name] for s in systems], ax)
    ax.plot([s.raw_mean for s in systems], range(len(systems)), "|", color=INK, markersize=9, zorder=3)
    for place, s in enumerate(systems):
        places = f"{s.rank_low}" if s.rank_low == s.rank_high else f"{s.rank_low}–{s.rank_high}"
        _beside(ax, place, f"{places:<7}{'–' if math.isnan(s.p_best) else f'{s.p_best:.2f}'}")
    _beside(ax, -0.95, "places best")
    more = f"\nthe first {len(systems)} of {len(result.systems)}" if len(systems) < len(result.systems) else ""
    scored = find_scored(result)
    of = f" of {short(scored.names[0], LONGEST)}" if scored.names else ""
    lower = "; lower is better" if result.lower_is_better else ""
    words = f"adjusted mean{of} (tick: raw mean)\n{say_level(result.level)} limits for {result.scope}{lower}{more}"
    ax.set_xlabel(words, fontsize=SMALL, loc="right")
    return figure_of(ax)


@in_style
def plot_leads(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw the leader's gap to every other system with its limits, thin those of all pairs at once.

    Grey are those that cannot be told from none by Holm's p.
    """
    leader = result.systems[0].name
    gaps = {_other(c, leader): c for c in result.contrasts if leader in (c.left, c.right)}
    shown = [gaps[system.name] for system in result.systems[1 : MOST_LINES + 1] if system.name in gaps]
    colours = [MARK if c.p_adjusted <= 1 - result.level else UNSURE for c in shown]
    signs = [1 if c.left == leader else -1 for c in shown]
    limits = [(s * c.low, s * c.difference, s * c.high) for s, c in zip(signs, shown, strict=True)]
    ax = _lines(short_apart((_other(c, leader) for c in shown), LONGEST), limits, colours, ax)
    for place, (s, c, colour) in enumerate(zip(signs, shown, colours, strict=True)):
        ends = (s * c.low_simultaneous, s * c.high_simultaneous)
        ax.plot(ends, [place, place], color=colour, linewidth=0.8, zorder=1)
    ax.axvline(0, color=MUTED, linewidth=0.6, zorder=0)
    thin = " (thin: all pairs at once)" if len(result.contrasts) > 1 else ""
    lower = " (lower is better)" if result.lower_is_better else ""
    words = (
        f"{short(leader, LONGEST)} minus each{lower}\n{say_level(result.level)} limits{thin}\ngrey: not told from none"
    )
    ax.set_xlabel(words, fontsize=SMALL, loc="right")
    return figure_of(ax)


@in_style
def plot_nuisance(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw the fixed effects of nuisance factors with their limits; grey are those not told from none."""
    return _plot_effects(_nuisance(result), result.level, "effect of a nuisance factor", ax)


@in_style
def plot_contributions(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw what each ingredient adds, with its limits; grey are those not told from none."""
    return _plot_effects(result.contributions, result.level, "contribution of an ingredient", ax)


def _plot_effects(
    effects: tuple[NuisanceEffect, ...] | tuple[Contribution, ...], level: float, what: str, ax: Axes | None
) -> Figure:
    shown = effects[:MOST_LINES]
    colours = [MARK if e.p <= 1 - level else UNSURE for e in shown]
    limits = [(e.low, e.estimate, e.high) for e in shown]
    ax = _lines(short_apart((e.name for e in shown), LONGEST), limits, colours, ax)
    ax.axvline(0, color=MUTED, linewidth=0.6, zorder=0)
    more = f"; the first {len(shown)} of {len(effects)}" if len(shown) < len(effects) else ""
    ax.set_xlabel(f"{what}, {say_level(level)} limits{more}\ngrey: not told from none", fontsize=SMALL, loc="right")
    return figure_of(ax)


def _nuisance(result: Ranking) -> tuple[NuisanceEffect, ...]:
    return tuple(effect for effect in result.fixed if effect.factor is not None)


def _other(contrast: RankContrast, name: str) -> str:
    return contrast.right if contrast.left == name else contrast.left


def _height(lines: int) -> float:
    return ROW * min(lines, MOST_LINES) + FRAME


def _lines(labels: list[str], limits: list[tuple[float, float, float]], colours: list[str], ax: Axes | None) -> Axes:
    """Draw intervals, each of which says what it is."""
    ax = ax or new_axes(_height(len(labels)))
    says = [f"{label}: {say_estimate(m, low, high)}" for label, (low, m, high) in zip(labels, limits, strict=True)]
    draw_intervals(ax, labels, limits, colours, says)
    return ax


def _beside(ax: Axes, place: float, words: str) -> None:
    """Write at the right of a line."""
    ax.annotate(
        words, (1.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=SMALL - 1, family="monospace",
        annotation_clip=False,
    )  # fmt: skip
