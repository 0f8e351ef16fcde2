"""How tuning and estimates move with the partition (Moss, Leslie & Rayson 2018, Figures 1 to 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.errors import ResultError
from holdsup.rendering.table import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.studies.tuning import EstimateStudy, TuningStudy

__all__ = ["plot_choices", "plot_estimates", "plot_returns"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKS = ("o", "s", "^", "D", "v", "P")
MOST_BARS = 40
WIDE = 60  # letters of all labels that fit side by side


def plot_choices(study: TuningStudy, *, ax: Axes | None = None) -> Figure:
    """Draw how often each candidate is chosen, side by side for each J and K (Figures 2, 5 and 6).

    Tuning that does not depend on luck is one tall bar. Of more than 40 chosen candidates the commonest are drawn.
    """
    ax = _axes(ax, width=7.5)
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
        ax.bar(places, heights, width, color=COLOURS[number % len(COLOURS)], label=f"{j}-{k}-fold")
    ax.set_xticks(range(len(names)), [_text(name) for name in names])
    if sum(map(len, names)) > WIDE:
        ax.tick_params(axis="x", labelrotation=90, labelsize=7)
    more = "" if len(names) == len(largest) else f", the commonest {len(names)} of {len(largest)}"
    ax.set_xlabel(f"chosen candidate{more}")
    ax.set_ylabel("share of re-tunings, percent")
    return _finish(ax)


def plot_returns(study: TuningStudy, *, ax: Axes | None = None) -> Figure:
    """Draw the standard deviation of the tuned candidate's estimate against J, a line for each K (Figure 3)."""
    ax = _axes(ax, width=6.5)
    for number, k in enumerate(dict.fromkeys(procedure.k for procedure in study.procedures)):
        own = sorted((p for p in study.procedures if p.k == k), key=lambda p: p.j)
        colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
        ax.plot([p.j for p in own], [p.sd_estimate for p in own], color=colour, marker=mark, label=f"K={k}")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("partitions, J")
    ax.set_ylabel(f"sd of the estimated {_text(study.metric)}")
    return _finish(ax)


def plot_estimates(study: EstimateStudy, *, ax: Axes | None = None) -> Figure:
    """Draw boxes of estimates on other partitions: single splits beside K-fold means, for each K (Figures 1 and 4)."""
    if not study.estimates:
        raise ResultError("this study has no estimates to draw")
    ax = _axes(ax, width=6.5)
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
            boxprops={"facecolor": colour, "alpha": 0.4}, medianprops={"color": "black"},
            flierprops={"marker": ".", "markersize": 3},
        )  # fmt: skip
        ax.plot([], [], "s", color=colour, alpha=0.4, label=names[scheme])
    ax.set_xticks(range(len(sizes)), [str(size) for size in sizes])
    ax.set_xlabel("K")
    ax.set_ylabel(f"estimated {_text(study.metric)}")
    return _finish(ax)


def _axes(ax: Axes | None, *, width: float) -> Axes:
    from matplotlib.figure import Figure as NewFigure

    return NewFigure(figsize=(width, 3.6), layout="constrained").add_subplot() if ax is None else ax


def _finish(ax: Axes) -> Figure:
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, frameon=False, borderaxespad=0.2, fontsize=8)
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure


def _text(name: str) -> str:
    """Return a label that cannot be read as mathematics and leaves room for the bars."""
    shown = visible(name).replace("$", r"\$")
    return shown if len(shown) <= 32 else f"{shown[:31]}…"
