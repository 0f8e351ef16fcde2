"""Systems compared: their places, the difference of two, all pairs as lines and as a matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from holdsup.plots import style
from holdsup.plots.interaction import plot_conditional
from holdsup.plots.panels import Panel
from holdsup.rendering.numbers import format_number
from holdsup.results import find_scored
from holdsup.verdict.comparison.standings import better_of, is_told
from holdsup.verdict.phrases import say_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Comparison
    from holdsup.verdict.comparison.conditional_records import Conditional
    from holdsup.verdict.comparison.records import SystemContrast, SystemMean

MOST_LINES = 40  # that fit a page
MOST_PANELS, MOST_METRICS = 8, 6
TALL_ROW, WORDS_ROW = 0.3, 0.2  # inches of a row whose label has two lines, and of words above or below the axes
GAUGE = 1.25  # inches of the picture of one difference
STAIRS = 10  # letters that have a column each; of more, the first and the last are written
STAIR = 5.0  # points from one letter to the next
UNCLEAR = style.STATES["unclear"][1]
TINTS = {style.WORSE: "#FCF3EF", style.BETTER: "#F0F4FA"}  # of the two halves beside zero
WORDS = 48  # letters that fit a line above the axes
LEAST = 0.25  # of one half, how much there is to see of the other
NUMBERED = 8  # systems up to which a cell of the matrix has room for its number


def panels_of_comparison(result: Comparison) -> list[Panel]:
    """Return what answers the question by each metric, then the other pictures, then one for each property asked for.

    Two systems have their difference; several their places, or what each is ahead of the baseline.
    """
    metrics = [test.metric for test in result.tests]
    shown = metrics[:MOST_METRICS]
    more = "" if shown == metrics else f" Only the first {len(shown)} of {len(metrics)} metrics are drawn."
    of_metrics = [_of_metric(result, metric, place, more) for place, metric in enumerate(shown, start=1)]
    return [
        *(own[place] for place in range(len(of_metrics[0])) for own in of_metrics if place < len(own)),
        *(_along(result, each, place) for place, each in enumerate(result.conditional[:MOST_PANELS], start=1)),
    ]


def _of_metric(result: Comparison, metric: str | None, place: int, more: str) -> list[Panel]:
    """Return the pictures by one metric, which has a scale of its own; the one that answers the question first."""
    scored, number = find_scored(result), f"-{place}" if len(result.tests) > 1 else ""
    score, lower = scored.name(metric), f"; {said}" if (said := scored.say_lower(metric)) else ""
    ci, own = f"{say_level(result.level)} CI", _contrasts(result, metric)
    cut = f"; the first {MOST_LINES}" if len(own) > MOST_LINES else ""
    systems = Panel(
        name=f"systems{number}",
        shows=f"Mean {score} of each system with its {ci}, the best first{lower}."
        + (" Systems that share a letter can't be told apart." if _lettered(result) else "")
        + more,
        beside="systems",
        draw=partial(plot_systems, result, metric=metric),
    )
    if len(own) == 1:
        difference = Panel(
            name=f"difference{number}",
            shows=f"Difference in {score}, {own[0].left} minus {own[0].right}, with its {ci}{lower}.{more}",
            beside="contrasts",
            draw=partial(plot_difference, result, metric=metric),
        )
        return [difference, systems]
    pairs = Panel(
        name=f"pairs{number}",
        shows=f"Differences in {score} with their {ci}{lower}; thin lines: adjusted for all pairs; grey: can't tell "
        f"apart{cut}.{more}",
        beside="contrasts",
        draw=partial(plot_pairs, result, metric=metric),
    )
    if result.baseline is not None:
        return [pairs, systems]
    matrix = Panel(
        name=f"matrix{number}",
        shows=f"Who is better than whom in {score}: a filled cell says that the system of its column is better than "
        f"that of its row; an open one: can't tell apart.{more}",
        beside="contrasts",
        draw=partial(plot_matrix, result, metric=metric),
    )
    return [systems, matrix, pairs]


def _along(result: Comparison, each: Conditional, place: int) -> Panel:
    score = find_scored(result).name(each.metric)
    return Panel(
        name=f"property-{place}",
        shows=f"Mean {score} of each system by {each.property}, with {say_level(result.level)} CI."
        + (" Bars below: where one system is better." if each.significant_where else ""),
        beside="conditional",
        draw=partial(plot_conditional, result, each.property, metric=each.metric),
    )


@style.in_style
def plot_systems(result: Comparison, *, ax: Axes | None = None, metric: str | None = None) -> Figure:
    """Draw the mean of each system with its CI, the best on top, by one metric: the first, unless one is named.

    At the right are letters; two systems that share one can't be told apart. Of more than 40 the first are drawn.
    """
    metric = metric or result.tests[0].metric
    every = [s for s in result.ordered() if s.metric == metric]
    systems = every[:MOST_LINES]
    names = [s.name for s in systems]
    ax = ax or style.new_axes(_height(names))
    colours = style.system_colours((s.name for s in result.systems), first=names[0])
    style.draw_intervals(
        ax,
        style.short_apart(names),
        [(s.low, s.mean, s.high) for s in systems],
        [colours[s.name] for s in systems],
        [
            f"{s.name}: {style.say_estimate(s.mean, s.low, s.high)}{f' (no CI: {s.note})' if s.note else ''}"
            for s in systems
        ],
    )
    _write_letters(ax, systems)
    scored = find_scored(result)
    more = f"the first {len(systems)} of {len(every)}" if len(systems) < len(every) else ""
    shared = "same letter: can't tell apart" if _lettered(result) else ""
    ends = "; ".join(part for part in (shared, scored.say_lower(metric), more) if part)
    style.explain_axis(
        ax, *_measured(f"mean {style.short(scored.name(metric))}", f"{say_level(result.level)} CI"), ends
    )
    return style.figure_of(ax)


def _write_letters(ax: Axes, systems: Sequence[SystemMean]) -> None:
    """Write the letters of each system at the right, as a stair; of very many, the first and the last."""
    known = sorted({letter for s in systems for letter in s.letters}, key=lambda letter: (len(letter), letter))
    for place, s in enumerate(systems):
        if len(known) <= STAIRS:
            for letter in s.letters:
                style.write_beside(ax, place, letter, aside=STAIR * known.index(letter))
        elif s.letters:
            style.write_beside(ax, place, s.letters[0] if len(s.letters) == 1 else f"{s.letters[0]}–{s.letters[-1]}")


@style.in_style
def plot_difference(result: Comparison, *, ax: Axes | None = None, metric: str | None = None) -> Figure:
    """Draw the difference of two systems with its CI, zero as a line, and on which side of it who is better."""
    metric = metric or result.tests[0].metric
    (c,) = _contrasts(result, metric)
    ax = ax or style.new_axes(GAUGE)
    told, colour = is_told(c, result.level), _colour(c, result.level, UNCLEAR)
    (bar,) = ax.plot([c.low, c.high], [0, 0], color=colour, linewidth=3.5, solid_capstyle="round")
    (dot,) = ax.plot(
        c.difference, 0, "s" if colour == style.WORSE else "o", color=colour, markersize=8, markeredgewidth=1.8,
        markerfacecolor=colour if told else "white",
    )  # fmt: skip
    for artist in (bar, dot):
        style.tell(artist, [f"{c.left} - {c.right}: {style.say_estimate(c.difference, c.low, c.high)}"])
    first, second = ((f"{style.short(name)} better", name) for name in (c.left, c.right))
    _halve(ax, first, second, lower=c.lower_is_better, letters=WORDS)
    half = (c.high - c.low) / 2
    ends = [(c.difference, 9, "bottom", "bold"), (c.low, -7, "top", "normal"), (c.high, -7, "top", "normal")]
    for value, offset, above, weight in ends if math.isfinite(half) else ends[:1]:
        words = format_number(value, uncertainty=half if math.isfinite(half) else None)
        ax.annotate(
            f"+{words}" if value > 0 and words.strip("0.") else words, (value, 0), (0, offset), ha="center", va=above,
            textcoords="offset points", fontsize=style.SMALL, fontweight=weight,
        )  # fmt: skip
    ax.set_ylim(-1, 1)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    scored = find_scored(result)
    what = f"difference in {style.short(scored.name(metric))}"
    style.explain_axis(ax, *_measured(what, f"{say_level(result.level)} CI"), scored.say_lower(metric))
    return style.figure_of(ax)


def _colour(c: SystemContrast, level: float, unsure: str) -> str:
    """Return blue where the first of two systems is better, red where it is worse."""
    return (style.BETTER if better_of(c)[0] == c.left else style.WORSE) if is_told(c, level) else unsure


def _halve(ax: Axes, first: tuple[str, str], second: tuple[str, str], *, lower: bool, letters: int) -> None:
    """Draw the zero line of first minus second, tint both sides, and say above them who is better there.

    Each has long words and short ones; so many letters fit above the axes, and the left ones may stand above labels.
    """
    low, high = ax.get_xlim()
    low, high = min(low, -LEAST * high), max(high, -LEAST * low)
    low, high = low - 0.06 * (high - low), high + 0.06 * (high - low)
    ax.set_xlim(low, high)
    ax.axvline(0, color=style.MUTED, linewidth=0.8, zorder=-1)
    share = -low / (high - low)
    left, right = (first, second) if lower else (second, first)
    sides = ((low, left, share * letters + WORDS - letters, "right"), (high, right, (1 - share) * letters, "left"))
    for end, (words, brief), room, flush in sides:
        colour = style.BETTER if (words, brief) == first else style.WORSE
        ax.axvspan(0, end, color=TINTS[colour], zorder=-2, linewidth=0)
        said = words if len(words) + 2 <= room else style.short(brief, max(round(room) - 2, 3))
        ax.annotate(
            f"← {said}" if flush == "right" else f"{said} →", (0, 1), (-4 if flush == "right" else 4, 2), va="bottom",
            xycoords=("data", "axes fraction"), textcoords="offset points", ha=flush, fontsize=style.SMALL,
            color=colour,
        )  # fmt: skip


@style.in_style
def plot_pairs(result: Comparison, *, ax: Axes | None = None, metric: str | None = None) -> Figure:
    """Draw differences with their CI, thin lines adjusted for all pairs; grey are those that can't be told apart.

    They are by one metric: the first, unless one is named. Of more than 40 the first are drawn.
    """
    metric = metric or result.tests[0].metric
    every = _contrasts(result, metric)
    contrasts, labels = every[:MOST_LINES], _label_pairs(result, every)
    ax = ax or style.new_axes(_height(labels) + WORDS_ROW)
    colours = [_colour(c, result.level, style.UNSURE) for c in contrasts]
    style.draw_intervals(
        ax,
        labels,
        [(c.low, c.difference, c.high) for c in contrasts],
        colours,
        [f"{c.left} - {c.right}: {style.say_estimate(c.difference, c.low, c.high)}" for c in contrasts],
    )
    first, second = ("first better", "first"), ("second better", "second")
    if result.baseline is not None:
        first, second = ("better", "better"), ("worse", "worse")
    _halve(ax, first, second, lower=contrasts[0].lower_is_better, letters=WORDS - max(map(len, labels)))
    several, scored = len(result.contrasts) > 1, find_scored(result)
    if several:  # far ends are cut: few runs make them so wide that nothing else could be seen
        ax.set_autoscalex_on(False)
        ends = [(c.low_simultaneous, c.high_simultaneous) for c in contrasts]
        ax.hlines(range(len(ends)), *zip(*ends, strict=True), color=colours, linewidth=0.6, zorder=1)
    more = f"the first {MOST_LINES} of {len(every)}" if len(every) > MOST_LINES else ""
    of = f" in {style.short(scored.name(metric))}" if scored.names else ""
    of += f" from {style.short(result.baseline)}" if result.baseline is not None else ""
    ci = f"{say_level(result.level)} CI{', thin: adjusted for all pairs' if several else ''}"
    grey = "; ".join(part for part in ("grey: can't tell apart", scored.say_lower(metric), more) if part)
    style.explain_axis(ax, *_measured(f"difference{of}", ci), grey)
    return style.figure_of(ax)


@style.in_style
def plot_matrix(result: Comparison, *, ax: Axes | None = None, metric: str | None = None) -> Figure:
    """Draw a cell for each pair, systems by rank: filled where the one of the column is better, open where unclear.

    Up to 8 systems have their lead in the cell. Of more than 40 systems the first are drawn.
    """
    from matplotlib.patches import Rectangle

    metric = metric or result.tests[0].metric
    every = [s.name for s in result.ordered() if s.metric == metric]
    names = every[:MOST_LINES]
    ax = ax or style.new_axes((style.ROW if len(names) <= NUMBERED else 0.16) * len(names) + style.FRAME + WORDS_ROW)
    place = {name: i for i, name in enumerate(names)}
    for c in _contrasts(result, metric):
        best, other = better_of(c)
        if best not in place or other not in place:
            continue
        column, row = sorted((place[best], place[other]))
        told = is_told(c, result.level)
        lead = format_number(abs(c.difference), uncertainty=c.se)
        cell = Rectangle(
            (column - 0.45, row - 0.45), 0.9, 0.9, facecolor=style.BETTER if told else "white", edgecolor=UNCLEAR,
            linewidth=0.0 if told else 0.5, linestyle=":",
        )  # fmt: skip
        style.tell(
            ax.add_patch(cell), [f"{best} {'better than' if told else 'can’t be told apart from'} {other}: {lead}"]
        )
        if len(names) <= NUMBERED:
            shown, ink = (lead, "white") if told else ("?", UNCLEAR)
            ax.text(column, row, shown, ha="center", va="center", fontsize=style.SMALL - 1, color=ink)
    ax.set_xlim(-0.6, len(names) - 1.4)
    ax.set_ylim(len(names) - 0.4, 0.4)
    ax.set_yticks(range(1, len(names)), [f"{n} {i}" for i, n in enumerate(style.short_apart(names), start=1)][1:])
    step = 1 if len(names) <= 12 else 5
    ticks = [i for i in range(len(names) - 1) if step == 1 or (i + 1) % step == 0 or i == 0]
    ax.set_xticks(ticks, [str(i + 1) for i in ticks])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    more = f"; the first {len(names)} of {len(every)}" if len(names) < len(every) else ""
    lead = ", its lead" if len(names) <= NUMBERED else ""
    style.explain_axis(
        ax,
        f"rank; 1 is {style.short(names[0])}",
        f"filled: the upper rank is better{lead}",
        f"open: can't tell apart{more}",
    )
    return style.figure_of(ax)


def _contrasts(result: Comparison, metric: str | None) -> list[SystemContrast]:
    return [c for c in result.contrasts if c.metric == metric]


def _label_pairs(result: Comparison, contrasts: Sequence[SystemContrast]) -> list[str]:
    """Return what the first lines are called: pairs, or those that are compared with the baseline."""
    if result.baseline is not None:
        return style.short_apart([c.left for c in contrasts[:MOST_LINES]])
    return [style.short_pair(c.left, c.right) for c in contrasts[:MOST_LINES]]


def _lettered(result: Comparison) -> bool:
    return any(s.letters for s in result.systems)


def _measured(what: str, ci: str) -> list[str]:
    """Return what is drawn and its CI, on one line where there is room."""
    return [f"{what}, {ci}"] if len(what) + len(ci) <= style.LINE else [f"{what},", ci]


def _height(labels: Sequence[str]) -> float:
    """Return the inches that lines of these labels need; a label may be of two lines."""
    row = TALL_ROW if any("\n" in label for label in labels[:MOST_LINES]) else style.ROW
    return row * min(len(labels), MOST_LINES) + style.FRAME + WORDS_ROW
