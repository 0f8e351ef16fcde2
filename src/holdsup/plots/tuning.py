"""Candidates of a tuning, and how tuning and estimates move with the partition (Moss, Leslie & Rayson 2018)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from holdsup.errors import ResultError
from holdsup.plots.panels import Panel
from holdsup.plots.style import (
    COLOURS,
    FRAME,
    INK,
    MARK,
    MUTED,
    ROW,
    add_legend,
    explain_axis,
    figure_of,
    in_style,
    line_looks,
    name_places,
    new_axes,
    short,
    short_apart,
    tell,
    write_beside,
)
from holdsup.rendering.numbers import format_number
from holdsup.results import find_scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.studies.tuning import EstimateStudy, TuningStudy
    from holdsup.verdict.tuning import Tuning
    from holdsup.verdict.tuning.candidates import CandidateRow

NEAR = {"pick": COLOURS[1], "alike": MARK}
MOST_LINES = 30
TALL = 2.6  # inches of the pictures of a study
MOST_BARS = 40


def panels_of_tuning(result: Tuning) -> Iterator[Panel]:
    """Yield the candidates."""
    yield Panel(
        name="candidates",
        shows="Each candidate's score on every partition, its mean and standard error, and the probability that it "
        "is the best; orange: the pick, blue: can't be told apart from it.",
        beside="candidates",
        draw=partial(plot_tuning, result),
    )


@in_style
def plot_tuning(result: Tuning, *, ax: Axes | None = None) -> Figure:
    """Draw a line a candidate, the best on top: a dot for each partition, the mean with its standard error.

    At the right is the probability of being the best over all partitions. The axis shows candidates that can't be told
    apart from the pick; an arrow marks one beyond it. Left out are those that failed and, of more than 30, the worst.
    """
    rows = [row for row in result.ranked() if row.status not in ("failed", "same")][:MOST_LINES]
    ax = ax or new_axes(ROW * len(rows) + FRAME + 0.3)
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
        write_beside(ax, place, chance)
    write_beside(ax, -0.9, "P(best)")
    ax.set_yticks(range(len(rows)), short_apart(row.name for row in rows))
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.locator_params(axis="x", nbins=4)
    left_out = f"; the first {len(rows)} of {len(result.different)}" if len(rows) < len(result.different) else ""
    plan = f"{result.partitions} partitions of {result.k} folds"
    lower = f"; {said}" if (said := find_scored(result).say_lower()) else ""
    explain_axis(ax, f"{short(result.metric)}, mean and se{lower}", f"{plan}{left_out}")
    return figure_of(ax)


def _range(rows: Sequence[CandidateRow]) -> tuple[float, float]:
    """Return the scores of the best, those that can't be told apart and one more, with some room around them."""
    near = [row for row in rows if row.status in NEAR]
    near += [row for row in rows if row.status not in NEAR][:1]
    scores = [score for row in near for score in row.scores if score == score]
    room = 0.1 * (max(scores) - min(scores)) or 0.01 * abs(max(scores)) or 1.0
    return min(scores) - room, max(scores) + room


def panels_of_study(study: TuningStudy) -> Iterator[Panel]:
    """Yield how often candidates are chosen, and what more partitions are worth."""
    yield Panel(
        name="choices",
        shows="How often each candidate is chosen when the tuning is repeated on other partitions.",
        beside="choices",
        draw=partial(plot_choices, study),
    )
    yield Panel(
        name="returns",
        shows="The standard deviation of the tuned candidate's estimate against the number of partitions.",
        beside="procedures",
        draw=partial(plot_returns, study),
    )


def panels_of_estimates(study: EstimateStudy) -> Iterator[Panel]:
    """Yield the boxes of estimates, if there are any."""
    if not study.estimates:
        return
    yield Panel(
        name="estimates",
        shows="Estimates on other partitions of the same items: single splits and K-fold means.",
        beside="estimates",
        draw=partial(plot_estimates, study),
    )


@in_style
def plot_choices(study: TuningStudy, *, ax: Axes | None = None) -> Figure:
    """Draw how often each candidate is chosen, side by side for each J and K (Figures 2, 5 and 6).

    Tuning that does not depend on luck is one tall bar. Of more than 40 chosen candidates the commonest are drawn.
    """
    ax = ax or new_axes(TALL)
    plans = list(dict.fromkeys((choice.j, choice.k) for choice in study.choices))
    share = {(choice.j, choice.k, choice.candidate): choice.share for choice in study.choices}
    largest: dict[str, float] = {}
    for choice in study.choices:
        largest[choice.candidate] = max(choice.share, largest.get(choice.candidate, 0.0))
    names = sorted(largest, key=lambda name: -largest[name])[:MOST_BARS]
    names = [name for name in dict.fromkeys(choice.candidate for choice in study.choices) if name in names]
    width, looks = 0.8 / len(plans), line_looks(len(plans))
    for number, (j, k) in enumerate(plans):
        places = [place + (number - (len(plans) - 1) / 2) * width for place in range(len(names))]
        heights = [100 * share.get((j, k, name), 0.0) for name in names]
        bars = ax.bar(places, heights, width, color=looks[number]["color"], label=f"{j}-{k}-fold")
        for bar, name, height in zip(bars, names, heights, strict=True):
            tell(bar, [f"{name}, {j}-{k}-fold: {height:.1f}%"])
    name_places(ax, names)
    more = "" if len(names) == len(largest) else f", the commonest {len(names)} of {len(largest)}"
    ax.set_xlabel(f"chosen candidate{more}")
    ax.set_ylabel("re-tunings, percent")
    add_legend(ax)
    return figure_of(ax)


@in_style
def plot_returns(study: TuningStudy, *, ax: Axes | None = None) -> Figure:
    """Draw the standard deviation of the tuned candidate's estimate against J, a line for each K (Figure 3)."""
    ax = ax or new_axes(TALL)
    sizes = list(dict.fromkeys(procedure.k for procedure in study.procedures))
    for k, look in zip(sizes, line_looks(len(sizes)), strict=True):
        own = sorted((p for p in study.procedures if p.k == k), key=lambda p: p.j)
        (line,) = ax.plot([p.j for p in own], [p.sd_estimate for p in own], label=f"K={k}", **look)
        tell(line, [f"J={p.j}, K={p.k}: sd {format_number(p.sd_estimate)}" for p in own])
    ax.set_ylim(bottom=0)
    ax.set_xlabel("partitions, J")
    ax.set_ylabel(f"sd of the estimated {short(study.metric)}")
    add_legend(ax)
    return figure_of(ax)


@in_style
def plot_estimates(study: EstimateStudy, *, ax: Axes | None = None) -> Figure:
    """Draw boxes of estimates on other partitions: single splits and K-fold means, for each K (Figures 1 and 4)."""
    if not study.estimates:
        raise ResultError("this study has no estimates to draw")
    ax = ax or new_axes(TALL)
    sizes = sorted({estimate.k for estimate in study.estimates})
    schemes = list(dict.fromkeys(estimate.scheme for estimate in study.estimates))
    names = {"split": "single split, 1/K tested", "folds": "K folds"}
    width = 0.8 / len(schemes)
    for number, scheme in enumerate(schemes):
        own = [estimate for estimate in study.estimates if estimate.scheme == scheme]
        places = [sizes.index(e.k) + (number - (len(schemes) - 1) / 2) * width for e in own]
        colour = COLOURS[number]
        ax.boxplot(
            [e.values for e in own], positions=places, widths=0.9 * width, manage_ticks=False, patch_artist=True,
            boxprops={"facecolor": colour, "alpha": 0.5, "linewidth": 0.6}, medianprops={"color": INK},
            whiskerprops={"color": INK, "linewidth": 0.6}, capprops={"color": INK, "linewidth": 0.6},
            flierprops={"marker": ".", "markersize": 3, "markeredgecolor": INK},
        )  # fmt: skip
        ax.plot([], [], "s", color=colour, alpha=0.4, label=names[scheme])
    ax.set_xticks(range(len(sizes)), [str(size) for size in sizes])
    ax.set_xlabel("K")
    ax.set_ylabel(f"estimated {short(study.metric)}")
    add_legend(ax)
    return figure_of(ax)
