"""A ranking: adjusted means, the leader's gaps, effects of nuisance factors and ingredients, and average ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from holdsup.errors import ResultError
from holdsup.plots.heatmap import plot_interactions
from holdsup.plots.panels import Panel
from holdsup.plots.ranking_fit import plot_quantiles, plot_terms, plot_waterfall
from holdsup.plots.style import (
    FAINT,
    INK,
    MARK,
    MUTED,
    ROW,
    SMALL,
    UNSURE,
    draw_intervals,
    explain_axis,
    figure_of,
    in_style,
    new_axes,
    say_estimate,
    short,
    short_apart,
    system_colours,
    tell,
    write_beside,
)
from holdsup.results import find_scored
from holdsup.verdict.phrases import say_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.ranking import Ranking
    from holdsup.verdict.ranking.records import Contribution, NuisanceEffect, RankContrast

__all__ = ["panels_of_ranking", "plot_contributions", "plot_leads", "plot_means", "plot_nuisance", "plot_ranks"]

FRAME = 0.85  # inches around the lines
MOST_LINES = 40
LONGEST = 22  # letters of a name in a column
CLIQUE = "#666666"
ASIDE = 0.4  # of the axis of ranks: room for the bars of groups


def panels_of_ranking(result: Ranking) -> list[Panel]:
    """Return the places, and then each other answer beside its table."""
    return [
        Panel(name=name, shows=shows, beside=beside, draw=partial(draw, result))
        for name, shows, beside, draw in _list_pictures(result)
    ]


def _list_pictures(result: Ranking) -> Iterator[tuple[str, str, str, Callable[..., Figure]]]:
    """Yield the name, the caption and the table of each picture, and what draws it."""
    ci = f"{say_level(result.level)} CI"
    places = (
        f"Adjusted mean of each system with its {ci}, the best first; ticks: raw means. At the right: the places that "
        "it may have, and the chance that it is the best."
    )
    yield "systems", places, "systems", plot_means
    leads = (
        f"The leader's gap to every other system with its {ci}; thin: adjusted for all pairs; grey: can't tell apart."
    )
    yield "leads", leads, "contrasts", plot_leads
    shares = "Share of each random term in the variance; grey: can't be told from zero, or the residual."
    yield "variance", shares, "random", plot_terms
    unsure = f"with {ci}; grey: can't be told from zero."
    if _nuisance(result):
        yield "nuisance", f"Effects of nuisance factors {unsure}", "fixed", plot_nuisance
    if result.contributions:
        yield "contributions", f"What each ingredient adds, {unsure}", "contributions", plot_contributions
    if result.interactions:
        beyond = "What each system does on each dataset beyond both their means."
        yield "interactions", beyond, "interactions", plot_interactions
    if result.waterfall:
        causes = "From the raw gap of two systems to the isolated one, cause by cause."
        yield "waterfall", causes, "waterfall", plot_waterfall
    if result.companion is not None:
        ranks = "Average ranks over datasets; bars at the right join systems that can't be told apart."
        yield "ranks", ranks, "companion", plot_ranks
    for place, each in enumerate(result.diagnostics):
        name = f"quantiles-{place + 1}" if place else "quantiles"
        shows = f"Normal quantiles: {each.name} lie on the line where they are normal."
        yield name, shows, "r2", partial(plot_quantiles, which=place)


@in_style
def plot_means(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw the adjusted mean of each system with its CI, the best on top, and a tick at its raw mean.

    At the right are the places that it may have, and the chance that it is the best. Of more than 40 systems the first
    are drawn.
    """
    systems = result.systems[:MOST_LINES]
    colour = system_colours((system.name for system in result.systems), first=systems[0].name)
    names = short_apart((s.name for s in systems), LONGEST)
    ax = _lines(names, [(s.low, s.mean, s.high) for s in systems], [colour[s.name] for s in systems], ax)
    ax.plot([s.raw_mean for s in systems], range(len(systems)), "|", color=INK, markersize=9, zorder=3)
    for place, s in enumerate(systems):
        places = f"{s.rank_low}" if s.rank_low == s.rank_high else f"{s.rank_low}–{s.rank_high}"
        chance = "–" if math.isnan(s.p_best) else f"{s.p_best:.2f}"
        write_beside(ax, place, f"{places:<7}{chance}", family="monospace")
    write_beside(ax, -0.95, "places best", family="monospace")
    more = f"the first {len(systems)} of {len(result.systems)}" if len(systems) < len(result.systems) else ""
    scored = find_scored(result)
    of = f" {short(scored.names[0], LONGEST)}" if scored.names else ""
    lower = "; lower is better" if result.lower_is_better else ""
    ci = f"{say_level(result.level)} CI for {result.scope}{lower}"
    explain_axis(ax, f"adjusted mean{of} (tick: raw mean)", ci, more)
    return figure_of(ax)


@in_style
def plot_leads(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw the leader's gap to every other system with its CI, thin: adjusted for all pairs; grey: can't tell."""
    leader = result.systems[0].name
    gaps = {_other(c, leader): c for c in result.contrasts if leader in (c.left, c.right)}
    shown = [gaps[system.name] for system in result.systems[1 : MOST_LINES + 1] if system.name in gaps]
    colours = [MARK if c.p_adjusted <= 1 - result.level else UNSURE for c in shown]
    signs = [1 if c.left == leader else -1 for c in shown]
    ends = [(s * c.low, s * c.difference, s * c.high) for s, c in zip(signs, shown, strict=True)]
    ax = _lines(short_apart((_other(c, leader) for c in shown), LONGEST), ends, colours, ax)
    for place, (s, c, colour) in enumerate(zip(signs, shown, colours, strict=True)):
        both = (s * c.low_simultaneous, s * c.high_simultaneous)
        ax.plot(both, [place, place], color=colour, linewidth=0.8, zorder=1)
    ax.axvline(0, color=MUTED, linewidth=0.8, zorder=0)
    thin = ", thin: adjusted for all pairs" if len(result.contrasts) > 1 else ""
    lower = " (lower is better)" if result.lower_is_better else ""
    ci = f"{say_level(result.level)} CI{thin}"
    explain_axis(ax, f"{short(leader, LONGEST)} minus each{lower}", ci, "grey: can't tell apart")
    return figure_of(ax)


@in_style
def plot_nuisance(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw the fixed effects of nuisance factors with their CI; grey are those that can't be told from zero."""
    return _plot_effects(_nuisance(result), result.level, "effect of a nuisance factor", ax)


@in_style
def plot_contributions(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw what each ingredient adds, with its CI; grey are those that can't be told from zero."""
    return _plot_effects(result.contributions, result.level, "contribution of an ingredient", ax)


def _plot_effects(
    effects: Sequence[NuisanceEffect] | Sequence[Contribution], level: float, what: str, ax: Axes | None
) -> Figure:
    shown = effects[:MOST_LINES]
    colours = [MARK if e.p <= 1 - level else UNSURE for e in shown]
    ends = [(e.low, e.estimate, e.high) for e in shown]
    ax = _lines(short_apart((e.name for e in shown), LONGEST), ends, colours, ax)
    ax.axvline(0, color=MUTED, linewidth=0.8, zorder=0)
    more = f"; the first {len(shown)} of {len(effects)}" if len(shown) < len(effects) else ""
    explain_axis(ax, f"{what}, {say_level(level)} CI", f"grey: can't be told from zero{more}")
    return figure_of(ax)


@in_style
def plot_ranks(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw average ranks, the best on top, and the critical difference (Demsar 2006, Figure 1, turned on its side).

    Bars at the right join groups that Nemenyi's test does not tell apart. Demsar hangs names below one axis; a line for
    each system has room for long names and for many of them.
    """
    from matplotlib.ticker import MaxNLocator

    companion = result.companion
    if companion is None:
        raise ResultError("this ranking has no average ranks: fewer than two datasets have a score of every system")
    ranks = companion.ranks[:MOST_LINES]
    ax = ax or new_axes(ROW * (2 + len(ranks)) + FRAME)
    colour = system_colours((row.system for row in companion.ranks), first=ranks[0].system)
    place = {row.system: i for i, row in enumerate(ranks)}
    worst = float(len(companion.ranks))
    for row in ranks:
        y = place[row.system]
        ax.plot([1, row.average_rank], [y, y], color=FAINT, linewidth=0.8, zorder=0)
        (dot,) = ax.plot(row.average_rank, y, "o", color=colour[row.system], markersize=5)
        tell(dot, [f"{row.system}: average rank {row.average_rank:.2f}"])
    drawn = [[system for system in clique if system in place] for clique in companion.cliques]
    cliques = [clique for clique in drawn if len(clique) > 1]
    apart = (worst - 1) * min(0.06, ASIDE / max(1, len(cliques)))
    for number, clique in enumerate(cliques, start=1):
        x = worst + number * apart
        ax.plot([x, x], [place[clique[0]] - 0.25, place[clique[-1]] + 0.25], color=CLIQUE, linewidth=2)
    length = min(companion.critical_difference, worst - 1)
    ax.plot([1, 1 + length], [-1.1, -1.1], "|-", color=INK, linewidth=1.2)
    ax.text(1, -1.6, f"critical difference {companion.critical_difference:.2f}", va="bottom", fontsize=SMALL - 1)
    ax.set_xlim(1 - 0.03 * (worst - 1), worst + (len(cliques) + 1) * apart)
    ax.spines["bottom"].set_bounds(1, worst)
    near = 0.08 * (worst - 1)  # where a number would touch that of an end
    between = [tick for tick in MaxNLocator(6, integer=True).tick_values(1, worst) if 1 + near < tick < worst - near]
    ax.set_xticks([1, *between, worst])
    ax.set_ylim(len(place) - 0.5, -2.6)
    ax.set_yticks(range(len(place)), short_apart(place, LONGEST))
    more = f"; the first {len(ranks)} of {len(companion.ranks)}" if len(ranks) < len(companion.ranks) else ""
    explain_axis(ax, f"average rank on {companion.datasets} datasets", f"bars at the right: can't tell apart{more}")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return figure_of(ax)


def _nuisance(result: Ranking) -> tuple[NuisanceEffect, ...]:
    return tuple(effect for effect in result.fixed if effect.factor is not None)


def _other(contrast: RankContrast, name: str) -> str:
    return contrast.right if contrast.left == name else contrast.left


def _lines(labels: list[str], ends: list[tuple[float, float, float]], colours: list[str], ax: Axes | None) -> Axes:
    """Draw intervals, each of which says what it is."""
    ax = ax or new_axes(ROW * len(labels) + FRAME)
    says = [f"{label}: {say_estimate(m, low, high)}" for label, (low, m, high) in zip(labels, ends, strict=True)]
    draw_intervals(ax, labels, ends, colours, says)
    return ax
