"""A ranking: adjusted means, the leader's gaps, effects of nuisance factors and ingredients, and average ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from holdsup.errors import ResultError
from holdsup.plots.heatmap import plot_interactions
from holdsup.plots.panels import Panel
from holdsup.plots.style import (
    COLOURS,
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
    rasterize_many,
    say_estimate,
    short,
    short_apart,
    system_colours,
    tell,
    write_beside,
)
from holdsup.rendering.numbers import format_number, format_percent
from holdsup.results import find_scored
from holdsup.verdict.phrases import say_level
from holdsup.verdict.ranking.words import name_places, name_term

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.ranking import Ranking
    from holdsup.verdict.ranking.records import Contribution, NuisanceEffect, Quantiles, RankContrast


FRAME = 0.85  # inches around the lines
MOST_LINES = 40
LONGEST = 24  # letters of a name in a column
CLIQUE = "#666666"
ASIDE = 0.4  # of the axis of ranks: room for the bars of groups
BAR = 0.26  # inches a bar
GAP, MORE, LESS = COLOURS[0], COLOURS[2], COLOURS[4]
SHRINKAGE = "shrinkage"
SIDE = 2.4  # inches of a Q-Q plot
TOLD = 15  # points at each end that say what they are: there it shows what is not normal
MOST_DRAWN = 60  # points between them that are drawn one by one; more are one picture
QUARTILE = 0.6744897501960817  # of the standard normal distribution


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
    shares = "Share of each random term in the variance; grey: may be zero, or the residual."
    yield "variance", shares, "random", plot_terms
    unsure = f"with {ci}; grey: may be zero."
    if _nuisance(result):
        yield "nuisance", f"Effects of nuisance factors {unsure}", "fixed", plot_nuisance
    if result.contributions:
        yield "contributions", f"What each ingredient adds, {unsure}", "contributions", plot_contributions
    if result.interactions:
        beyond = "How far each score is from what the means of its system and dataset suggest."
        yield "interactions", beyond, "interactions", plot_interactions
    if result.waterfall:
        causes = "From the raw gap of two systems to the isolated one, step by step."
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
        places = name_places(s)
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
    explain_axis(ax, f"{what}, {say_level(level)} CI", f"grey: may be zero{more}")
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


@in_style
def plot_terms(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw the share of each random term, slopes weighed by their regressors; a tick where the paper's share differs.

    Grey are terms whose variance can't be told from zero, and the residual, which has no test.
    """
    ax = ax or new_axes(BAR * len(result.random) + FRAME)
    terms = result.random
    shares = [term.percent_exact for term in terms]
    told = [term.p is not None and term.p <= 1 - result.level for term in terms]
    bars = ax.barh(range(len(terms)), shares, height=0.7, color=[MARK if sure else UNSURE for sure in told])
    for place, (term, bar) in enumerate(zip(terms, bars, strict=True)):
        tell(bar, [f"{name_term(term)}: {format_percent(term.percent_exact)} of the variance"])
        end = (max(term.percent, term.percent_exact), place)
        words = format_percent(term.percent_exact)
        ax.annotate(words, end, (4, 0), textcoords="offset points", va="center", fontsize=SMALL - 1)
    differ = [i for i, term in enumerate(terms) if abs(term.percent - term.percent_exact) > 0.05]
    ax.plot([terms[i].percent for i in differ], differ, "|", color=INK, markersize=9)
    ax.set_yticks(range(len(terms)), short_apart(map(name_term, terms), LONGEST))
    ax.set_ylim(len(terms) - 0.4, -0.6)
    ax.set_xlim(0, 1.2 * max(1.0, *shares, *(term.percent for term in terms)))  # room for the numbers
    tick = "\n(tick: approximate share, as published)" if differ else ""
    explain_axis(ax, f"share of the variance, percent{tick}", "grey: may be zero, or the residual")
    return figure_of(ax)


class _Bar(NamedTuple):
    """A bar from one gap to another; a whole gap starts at zero."""

    name: str
    start: float
    end: float
    whole: bool


@in_style
def plot_waterfall(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw the gaps as bars from zero, and between them what each isolated cause adds or takes."""
    bars = _bars(result)
    ax = ax or new_axes(BAR * len(bars) + FRAME)
    size = max(abs(end) for bar in bars for end in bar[1:3]) or 1.0
    for place, bar in enumerate(bars):
        colour = GAP if bar.whole else MORE if bar.end >= bar.start else LESS
        change = format_number(bar.end - bar.start, uncertainty=size / 10)
        (drawn,) = ax.barh(place, bar.end - bar.start, left=bar.start, height=0.7, color=colour)
        tell(drawn, [f"{bar.name}: {change}"])
        rises = not bar.whole and bar.end > bar.start and change.strip("0.")  # as far as the digits show
        words = f"+{change}" if rises else change
        right = max(bar.start, bar.end, 0.0)
        ax.annotate(words, (right, place), (3, 0), textcoords="offset points", va="center", fontsize=SMALL - 1)
        if place + 1 < len(bars):
            ax.plot([bar.end, bar.end], [place - 0.35, place + 1.35], color=MUTED, linewidth=0.6, zorder=0)
    ax.axvline(0, color=MUTED, linewidth=0.6, zorder=0)
    low, high = ax.get_xlim()
    ax.set_xlim(low, high + 0.12 * (high - low))  # room for the numbers
    ax.set_yticks(range(len(bars)), [short(bar.name, LONGEST) for bar in bars])
    ax.set_ylim(len(bars) - 0.4, -0.6)
    first = result.waterfall[0]
    explain_axis(ax, f"{short(first.left, LONGEST)} minus", short(first.right, LONGEST))
    return figure_of(ax)


def _bars(result: Ranking) -> list[_Bar]:
    """Return the steps, with the isolated gap before its shrinkage, and the shrunken one at the end."""
    first, *steps = result.waterfall
    bars, gap = [_Bar(first.step, 0.0, first.gap, True)], first.gap
    isolated = False
    for step in steps:
        if step.step == SHRINKAGE:
            bars.append(_Bar("isolated gap", 0.0, gap, True))
            isolated = True
        bars.append(_Bar(step.step, gap, step.gap, False))
        gap = step.gap
    return [*bars, _Bar("shrunken gap" if isolated else "isolated gap", 0.0, gap, True)]


@in_style
def plot_quantiles(result: Ranking, which: int = 0, *, ax: Axes | None = None) -> Figure:
    """Draw residuals, or the predicted effects of a random term, against normal quantiles, with the line of these."""
    ax = ax or new_axes(SIDE)
    _draw(ax, result.diagnostics[which])
    explain_axis(ax, "normal quantile")
    return figure_of(ax)


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
