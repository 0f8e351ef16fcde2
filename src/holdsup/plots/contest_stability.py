"""Signal to noise against reproducibility (Xue et al. 2023, Figure 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.errors import ResultError
from holdsup.numerics.contests import normal_share, share_bound
from holdsup.plots.style import COLOURS, MUTED, add_legend, figure_of, in_style, legend_height, new_axes, tell
from holdsup.rendering.numbers import format_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.contest import Contest
    from holdsup.verdict.contest.records import EstimatorRow

__all__ = ["height_of_stability", "plot_stability"]

ESTIMATORS = dict(zip(("averaged", "holdout", "vote", "symmetric"), COLOURS, strict=False)) | {"mixture": MUTED}
SPLITS = {"blocked": "o", "repeated": "s", "kfold": "^", "holdout": "D"}
TALL = 2.0  # inches
STEPS = 100  # of a curve


def height_of_stability(result: Contest) -> float:
    """Return the inches that the picture takes."""
    return TALL + legend_height([*dict.fromkeys(f"{r.strategy}, {r.estimator}" for r in result.estimators), "", ""])


@in_style
def plot_stability(result: Contest, *, ax: Axes | None = None) -> Figure:
    """Draw the reproducibility of each estimator, with its limits, against its SNR, above the bound of eq. 3."""
    rows = [row for row in result.estimators if row.reproducibility is not None and abs(row.snr) < float("inf")]
    if not rows:
        raise ResultError("there is no reproducibility in this result: it needs 20 re-partitions of the corpus or more")
    ax = ax or new_axes(height_of_stability(result))
    low, high = min(0.0, *(row.snr for row in rows)), max(1.0, *(row.snr for row in rows))
    at = [low + (high - low) * step / STEPS for step in range(STEPS + 1)]
    ax.plot(at, [normal_share(snr) for snr in at], color=MUTED, linewidth=0.8, linestyle="--", label="Phi(SNR)")
    ax.plot(at, [share_bound(snr) for snr in at], color=MUTED, linewidth=0.8, label="bound, eq. 3")
    labelled: set[str] = set()
    for row in rows:
        name = f"{row.strategy}, {row.estimator}"
        _draw(ax, row, name, labelled=name in labelled)
        labelled.add(name)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("signal to noise ratio")
    ax.set_ylabel("reproducibility")
    add_legend(ax)
    return figure_of(ax)


def _draw(ax: Axes, row: EstimatorRow, name: str, *, labelled: bool) -> None:
    colour = ESTIMATORS[row.estimator]
    assert row.low is not None  # rows with a reproducibility have limits
    assert row.high is not None
    assert row.reproducibility is not None
    ax.plot([row.snr, row.snr], [row.low, row.high], color=colour, linewidth=0.8, alpha=0.5)
    (dot,) = ax.plot(row.snr, row.reproducibility, SPLITS[row.strategy], color=colour, label=None if labelled else name)
    says = f"{row.left} - {row.right}, {name}: reproducibility {row.reproducibility:.2f}"
    tell(dot, [f"{says} {format_interval(row.low, row.high)}, SNR {row.snr:.2f}"])
    if row.strategy == "repeated":  # the paper's Figure 1 tells repetitions by their number
        ax.annotate(
            str(row.trained), (row.snr, row.reproducibility), xytext=(3, -6), textcoords="offset points", fontsize=6
        )
