"""A contest: the estimators over partitions, how often the same system wins, and learning curves (Xue et al. 2023)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from holdsup.errors import ResultError
from holdsup.numerics.contests import normal_share, share_bound
from holdsup.plots.panels import Panel
from holdsup.plots.style import (
    COLOURS,
    COLUMN,
    MARK,
    MUTED,
    add_legend,
    figure_of,
    in_style,
    legend_height,
    line_looks,
    new_axes,
    rasterize_many,
    short,
    tell,
)
from holdsup.rendering.numbers import format_interval, format_number
from holdsup.verdict.contest.records import PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.contest import Contest
    from holdsup.verdict.contest.records import EstimatorRow

BOX, FRAME = 0.3, 0.8  # inches a box, and beside the boxes
TALL = 3.0  # inches of the boxes with their names
MOST_BOXES = 40
LONGEST = 14  # letters of a name at the axis
FEWEST = 5  # values that a box needs
LOW = 2.0  # inches of the pictures below
MOST_LINES = 12
STEPS = 100  # of a curve
ESTIMATORS = dict(zip(("averaged", "holdout", "vote", "symmetric"), COLOURS, strict=False)) | {"mixture": MUTED}
SPLITS = {"blocked": "o", "repeated": "s", "kfold": "^", "holdout": "D"}


def panels_of_contest(result: Contest) -> Iterator[Panel]:
    """Yield the estimators, and reproducibility and learning curve where there are any."""
    yield Panel(
        name="estimators",
        shows="Each estimator of the difference on every partition of the corpus, as dots and boxes; grey: the "
        f"mixture of {PAPER}.",
        beside="estimators",
        draw=partial(plot_estimators, result),
    )
    if any(row.reproducibility is not None for row in result.estimators):
        yield Panel(
            name="reproducibility",
            shows="The share of partitions with the same winner against the signal to noise ratio, with exact CI.",
            beside="signs",
            draw=partial(plot_stability, result),
        )
    if result.curve:
        yield Panel(
            name="learning-curve",
            shows=f"The mean {result.metric} of each system against the number of items it was trained on.",
            beside="curve_checks",
            draw=partial(plot_learning_curve, result),
        )


@in_style
def plot_estimators(result: Contest, *, ax: Axes | None = None) -> Figure:
    """Draw the values of each estimator as a box and as dots, side by side; grey is the paper's mixture."""
    rows = result.estimators[:MOST_BOXES]
    ax = ax or new_axes(TALL, width=_width(result))
    names = [_name(row, several=len(result.conclusions) > 1) for row in rows]
    for place, (row, name) in enumerate(zip(rows, names, strict=True)):
        colour = MUTED if row.paper else MARK
        if len(row.values) >= FEWEST:
            line = {"color": colour, "linewidth": 0.8}
            ax.boxplot(
                [row.values], positions=[place], widths=0.6, showfliers=False, manage_ticks=False, boxprops=line,
                whiskerprops=line, capprops=line, medianprops={**line, "linewidth": 2},
            )  # fmt: skip
        (dots,) = ax.plot([place] * len(row.values), row.values, "o", color=colour, markersize=2.5, alpha=0.4)
        rasterize_many(dots, len(row.values))
        tell(dots, [f"{name}, partition {i}: {format_number(v)}" for i, v in enumerate(row.values, start=1)])
    ax.axhline(0, color=MUTED, linewidth=0.6, linestyle=":", zorder=0)
    ax.set_xticks(range(len(rows)), [short(name, 60) for name in names], rotation=45, ha="right")
    for tick in ax.get_xticklabels():
        tick.set_rotation_mode("anchor")
    ax.set_xlim(-0.6, len(rows) - 0.4)
    first = result.conclusions[0]
    sides = (first.left, first.right) if len(result.conclusions) == 1 else ("first", "second")
    ahead = short(sides[result.lower_is_better], LONGEST)
    ax.set_ylabel(f"difference in {short(result.metric, LONGEST)}\nabove 0:\n{ahead} better")
    if len(result.estimators) > MOST_BOXES:
        ax.set_xlabel(f"the first {MOST_BOXES} of {len(result.estimators)}")
    return figure_of(ax)


def _width(result: Contest) -> float:
    return max(COLUMN, BOX * min(len(result.estimators), MOST_BOXES) + FRAME)


def _name(row: EstimatorRow, *, several: bool) -> str:
    whose = f"{row.left} - {row.right}: " if several else ""
    estimator = f"{row.estimator} ({PAPER})" if row.paper else row.estimator
    return f"{whose}{row.strategy}, {estimator}, {row.trained}"


@in_style
def plot_stability(result: Contest, *, ax: Axes | None = None) -> Figure:
    """Draw the reproducibility of each estimator, with its CI, against its SNR, above the bound of eq. 3."""
    rows = [row for row in result.estimators if row.reproducibility is not None and abs(row.snr) < float("inf")]
    if not rows:
        raise ResultError("there is no reproducibility in this result: it needs 20 re-partitions of the corpus or more")
    ax = ax or new_axes(LOW + legend_height([*dict.fromkeys(map(_label, rows)), "", ""]))
    low, high = min(0.0, *(row.snr for row in rows)), max(1.0, *(row.snr for row in rows))
    at = [low + (high - low) * step / STEPS for step in range(STEPS + 1)]
    ax.plot(at, [normal_share(snr) for snr in at], color=MUTED, linewidth=0.8, linestyle="--", label="Phi(SNR)")
    ax.plot(at, [share_bound(snr) for snr in at], color=MUTED, linewidth=0.8, label="bound, eq. 3")
    labelled: set[str] = set()
    for row in rows:
        name = _label(row)
        _draw_share(ax, row, name, labelled=name in labelled)
        labelled.add(name)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("signal to noise ratio")
    ax.set_ylabel("reproducibility")
    add_legend(ax)
    return figure_of(ax)


def _draw_share(ax: Axes, row: EstimatorRow, name: str, *, labelled: bool) -> None:
    colour = ESTIMATORS[row.estimator]
    assert row.low is not None  # rows with a reproducibility have a CI
    assert row.high is not None
    assert row.reproducibility is not None
    ax.plot([row.snr, row.snr], [row.low, row.high], color=colour, linewidth=0.8, alpha=0.5)
    (dot,) = ax.plot(row.snr, row.reproducibility, SPLITS[row.strategy], color=colour, label=None if labelled else name)
    says = f"{row.left} - {row.right}, {name}: reproducibility {row.reproducibility:.2f}"
    tell(dot, [f"{says} ({format_interval(row.low, row.high)}), SNR {row.snr:.2f}"])
    if row.strategy == "repeated":  # the paper's Figure 1 tells repetitions by their number
        ax.annotate(
            str(row.trained), (row.snr, row.reproducibility), xytext=(3, -6), textcoords="offset points", fontsize=6
        )


@in_style
def plot_learning_curve(result: Contest, *, ax: Axes | None = None) -> Figure:
    """Draw the mean score of each system against the number of items trained on; half of the corpus is marked."""
    if not result.curve:
        raise ResultError("there is no learning curve in this result: ask for one when the contest is run")
    ax = ax or new_axes(LOW + legend_height(_systems(result)))
    systems = _systems(result)
    for system, look in zip(systems, line_looks(len(systems)), strict=True):
        own = [point for point in result.curve if point.system == system]
        errors = [point.se if point.repeats > 1 else 0.0 for point in own]
        drawn = ax.errorbar(
            [point.size for point in own], [point.mean for point in own], yerr=errors, label=short(system), **look,
        )  # fmt: skip
        scores = [format_number(p.mean, uncertainty=error) for p, error in zip(own, errors, strict=True)]
        tell(drawn.lines[0], [f"{system}, {p.size:,} items: {s}" for p, s in zip(own, scores, strict=True)])
    if result.items is not None:
        ax.axvline(result.items / 2, color=MUTED, linewidth=0.6, linestyle=":", zorder=0)
    ax.set_xlabel("items trained on; dotted: half of the corpus" if result.items else "items trained on")
    lower = "\nlower is better" if result.lower_is_better else ""
    ax.set_ylabel(f"{short(result.metric)}, with standard errors{lower}")
    add_legend(ax)
    return figure_of(ax)


def _label(row: EstimatorRow) -> str:
    return f"{row.strategy}, {row.estimator}"


def _systems(result: Contest) -> list[str]:
    return list(dict.fromkeys(point.system for point in result.curve))[:MOST_LINES]
