"""How tuning and estimates move with the partition (Moss, Leslie & Rayson 2018, Figures 1 to 6)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from holdsup.errors import ResultError
from holdsup.plots.labels import short
from holdsup.plots.panels import Panel
from holdsup.plots.style import COLOURS, INK, MARKS, add_legend, figure_of, in_style, new_axes, tell
from holdsup.rendering.numbers import format_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.studies.tuning import EstimateStudy, TuningStudy

__all__ = ["panels_of_estimates", "panels_of_study", "plot_choices", "plot_estimates", "plot_returns"]

TALL = 2.6  # inches
MOST_BARS = 40
WIDE = 30  # letters of all labels that fit side by side


def panels_of_study(study: TuningStudy) -> list[Panel]:
    """Return how often candidates are chosen, and what more partitions are worth."""
    return [
        Panel(
            name="choices",
            shows="How often each candidate is chosen when the tuning is repeated on other partitions.",
            beside="Tuning repeated",
            draw=partial(plot_choices, study),
            height=TALL,
        ),
        Panel(
            name="returns",
            shows="The standard deviation of the tuned candidate's estimate against the number of partitions.",
            beside="Parameters chosen",
            draw=partial(plot_returns, study),
            height=TALL,
        ),
    ]


def panels_of_estimates(study: EstimateStudy) -> list[Panel]:
    """Return the boxes of estimates, if there are any."""
    if not study.estimates:
        return []
    return [
        Panel(
            name="estimates",
            shows="Estimates on other partitions of the same items: single splits beside K-fold means.",
            beside="",
            draw=partial(plot_estimates, study),
            height=TALL,
        )
    ]


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
    width = 0.8 / len(plans)
    for number, (j, k) in enumerate(plans):
        places = [place + (number - (len(plans) - 1) / 2) * width for place in range(len(names))]
        heights = [100 * share.get((j, k, name), 0.0) for name in names]
        bars = ax.bar(places, heights, width, color=COLOURS[number % len(COLOURS)], label=f"{j}-{k}-fold")
        for bar, name, height in zip(bars, names, heights, strict=True):
            tell(bar, [f"{name}, {j}-{k}-fold: {height:.1f}%"])
    ax.set_xticks(range(len(names)), [short(name) for name in names])
    if sum(map(len, names)) > WIDE:
        ax.tick_params(axis="x", labelrotation=90)
    more = "" if len(names) == len(largest) else f", the commonest {len(names)} of {len(largest)}"
    ax.set_xlabel(f"chosen candidate{more}")
    ax.set_ylabel("re-tunings, percent")
    add_legend(ax)
    return figure_of(ax)


@in_style
def plot_returns(study: TuningStudy, *, ax: Axes | None = None) -> Figure:
    """Draw the standard deviation of the tuned candidate's estimate against J, a line for each K (Figure 3)."""
    ax = ax or new_axes(TALL)
    for number, k in enumerate(dict.fromkeys(procedure.k for procedure in study.procedures)):
        own = sorted((p for p in study.procedures if p.k == k), key=lambda p: p.j)
        colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
        (line,) = ax.plot([p.j for p in own], [p.sd_estimate for p in own], color=colour, marker=mark, label=f"K={k}")
        tell(line, [f"J={p.j}, K={p.k}: sd {format_number(p.sd_estimate)}" for p in own])
    ax.set_ylim(bottom=0)
    ax.set_xlabel("partitions, J")
    ax.set_ylabel(f"sd of the estimated {short(study.metric)}")
    add_legend(ax)
    return figure_of(ax)


@in_style
def plot_estimates(study: EstimateStudy, *, ax: Axes | None = None) -> Figure:
    """Draw boxes of estimates on other partitions: single splits beside K-fold means, for each K (Figures 1 and 4)."""
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
        colour = COLOURS[number % len(COLOURS)]
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
