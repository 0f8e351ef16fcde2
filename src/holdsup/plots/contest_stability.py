"""Signal to noise against reproducibility (Xue et al. 2023, Figure 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.errors import ResultError
from holdsup.numerics.contests import normal_share, share_bound
from holdsup.rendering.table import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.contest import Contest

__all__ = ["plot_stability"]

COLOURS = {"holdout": "#E69F00", "averaged": "#0072B2", "vote": "#009E73", "mixture": "#8C8C8C", "symmetric": "#CC79A7"}
MARKS = {"blocked": "o", "repeated": "s", "kfold": "^", "holdout": "D"}
STEPS = 100  # of a curve


def plot_stability(result: Contest, *, ax: Axes | None = None) -> Figure:
    """Draw the reproducibility of each estimator, with its limits, against its SNR, above the bound of eq. 3."""
    from matplotlib.figure import Figure as NewFigure

    rows = [row for row in result.estimators if row.reproducibility is not None and abs(row.snr) < float("inf")]
    if not rows:
        raise ResultError("there is no reproducibility in this result: it needs 20 re-partitions of the corpus or more")
    if ax is None:
        ax = NewFigure(figsize=(6.5, 3.2), layout="constrained").add_subplot()
    low, high = min(0.0, *(row.snr for row in rows)), max(1.0, *(row.snr for row in rows))
    at = [low + (high - low) * step / STEPS for step in range(STEPS + 1)]
    ax.plot(at, [normal_share(snr) for snr in at], color="0.6", linewidth=1, linestyle="--", label="Phi(SNR)")
    ax.plot(at, [share_bound(snr) for snr in at], color="0.6", linewidth=1, label="bound, eq. 3")
    labelled: set[str] = set()
    for row in rows:
        colour, name = COLOURS[row.estimator], f"{row.strategy}, {row.estimator}"
        assert row.low is not None  # rows with a reproducibility have limits
        assert row.high is not None
        assert row.reproducibility is not None
        ax.plot([row.snr, row.snr], [row.low, row.high], color=colour, linewidth=1, alpha=0.5)
        ax.plot(
            row.snr, row.reproducibility, MARKS[row.strategy], color=colour, markersize=5,
            label=visible(name) if name not in labelled else None,
        )  # fmt: skip
        if row.strategy == "repeated":  # the paper's Figure 1 tells repetitions by their number
            ax.annotate(
                str(row.trained), (row.snr, row.reproducibility), xytext=(4, -8), textcoords="offset points", fontsize=7
            )
        labelled.add(name)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("signal to noise ratio")
    ax.set_ylabel("reproducibility")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure
