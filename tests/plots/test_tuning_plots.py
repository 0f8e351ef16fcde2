"""Pictures of tunings: what they show is what the result holds."""

from __future__ import annotations

import numpy as np
import pytest

from holdsup.plots.tuning import plot_choices, plot_estimates, plot_returns, plot_tuning
from holdsup.results import Asked, Rows
from holdsup.studies.tuning import EstimateStudy, judge_pools
from holdsup.studies.tuning.estimates import Estimates
from holdsup.verdict.tuning import judge_tuning


def table(j: int, count: int) -> np.ndarray:
    return np.random.default_rng(3).normal(0.8, 0.01, (j, count)) + np.linspace(0, 0.02, count)


def test_each_candidate_has_a_line_the_pick_on_top_and_its_probability() -> None:
    found = judge_tuning(table(5, 6), [{"C": c} for c in range(6)], k=5, metric_name="accuracy")
    ax = plot_tuning(found).axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == [row.name for row in found.ranked()]
    assert ax.texts[0].get_text() == f"{found.probability:.2f}"


def test_candidates_beyond_the_axis_are_arrows() -> None:
    scores = np.hstack([table(5, 3), np.full((5, 1), 0.1), np.full((5, 1), 0.2)])
    found = judge_tuning(scores, [{"C": c} for c in range(5)], k=5, metric_name="accuracy")
    ax = plot_tuning(found).axes[0]
    assert sum(line.get_marker() == "<" for line in ax.lines) == 1  # the next one beyond those told apart is shown
    assert ax.get_xlim()[0] > 0.1


def test_one_partition_can_be_drawn() -> None:
    found = judge_tuning(table(1, 3), [{"C": c} for c in range(3)], k=5, metric_name="accuracy")
    assert plot_tuning(found).axes[0].texts[0].get_text() == "-"


def test_more_than_thirty_candidates_are_cut_and_the_axis_says_so() -> None:
    found = judge_tuning(table(4, 40), [{"C": c} for c in range(40)], k=5, metric_name="accuracy")
    ax = plot_tuning(found).axes[0]
    assert len(ax.get_yticks()) == 30
    assert "the first 30 of 40" in ax.get_xlabel()


def test_bars_are_the_shares_of_the_choices() -> None:
    study = judge_pools({5: table(40, 4)}, [{"C": c} for c in range(4)], j=[1, 4], metric="accuracy", retunings=None)
    ax = plot_choices(study).axes[0]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["1-5-fold", "4-5-fold"]
    heights = sorted(bar.get_height() for bar in ax.patches if bar.get_height() > 0)
    assert heights == pytest.approx(sorted(100 * choice.share for choice in study.choices))


def test_returns_of_j_are_a_line_for_each_k() -> None:
    pools = {5: table(40, 4), 10: table(40, 4)[::-1]}
    study = judge_pools(pools, [{"C": c} for c in range(4)], j=[1, 2, 4], metric="accuracy", retunings=None)
    lines = plot_returns(study).axes[0].lines
    assert [line.get_label() for line in lines] == ["K=5", "K=10"]
    assert list(lines[0].get_ydata()) == [p.sd_estimate for p in study.procedures if p.k == 5]


def test_estimates_are_boxes_for_splits_and_folds() -> None:
    values = tuple(float(v) for v in table(30, 1).ravel())
    rows = tuple(
        Estimates(scheme=scheme, k=k, fits=k, mean=0.8, sd=0.01, low=0.7, high=0.9, values=values)
        for scheme in ("split", "folds")
        for k in (2, 5)
    )
    study = EstimateStudy(
        asked=Asked.about("estimate-study"),
        seed=0,
        rows=Rows(1, 1),
        metric="accuracy",
        partitions=30,
        fits=9,
        estimates=rows,
    )
    ax = plot_estimates(study).axes[0]
    assert len(ax.patches) == 4
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2", "5"]
