"""Agreement and correlation: published worked examples, scipy, laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from holdsup.numerics.agreement import correlation_interval, fleiss_kappa, krippendorff_alpha, pearson, rmse, spearman

NONE = math.nan
# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C: four observers, twelve units.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
    [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
]
# Fourteen raters, ten subjects, five categories: the example of Wikipedia's "Fleiss' kappa", 0.210.
COUNTS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


@pytest.mark.parametrize(("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_is_krippendorffs(scale: str, alpha: float) -> None:
    assert krippendorff_alpha(OBSERVERS, scale) == pytest.approx(alpha, abs=0.0005)


def test_kappa_is_fleiss() -> None:
    assert fleiss_kappa(COUNTS) == pytest.approx(0.210, abs=0.0005)


def test_perfect_agreement_is_one_and_a_single_label_says_nothing() -> None:
    assert krippendorff_alpha([[1, 2, 3], [1, 2, 3]]) == 1
    assert fleiss_kappa([[2, 0], [0, 2]]) == 1
    assert math.isnan(krippendorff_alpha([[1, 1], [1, 1]]))
    assert math.isnan(fleiss_kappa([[2], [2]]))


def test_alpha_of_independent_labels_is_about_zero() -> None:
    labels = np.random.default_rng(3).integers(0, 4, (3, 4000))
    assert krippendorff_alpha(labels) == pytest.approx(0, abs=0.03)


def test_alpha_of_complete_data_of_two_raters_is_pi_with_a_small_sample_correction() -> None:
    # Krippendorff (2011): with two observers and no missing data, alpha = 1 - (1 - pi) (2N - 1) / (2N), Scott's pi.
    labels = np.random.default_rng(4).integers(0, 3, (2, 30))
    labels[1, :20] = labels[0, :20]
    agreement = (labels[0] == labels[1]).mean()
    by_chance = (np.bincount(labels.ravel()) / 60 @ np.bincount(labels.ravel())) / 60
    pi = (agreement - by_chance) / (1 - by_chance)
    assert krippendorff_alpha(labels) == pytest.approx(1 - (1 - pi) * 59 / 60)
    counts = np.array([(labels == level).sum(axis=0) for level in range(3)]).T
    assert fleiss_kappa(counts) == pytest.approx(pi)  # Fleiss' kappa of two raters is Scott's pi


def test_interval_alpha_does_not_change_with_unit_or_origin() -> None:
    moved = 1000 + 10 * np.array(OBSERVERS)
    assert krippendorff_alpha(moved, "interval") == pytest.approx(krippendorff_alpha(OBSERVERS, "interval"))
    assert krippendorff_alpha(moved, "ordinal") == pytest.approx(krippendorff_alpha(OBSERVERS, "ordinal"))


def test_correlations_are_scipys_with_ties() -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(0, 6, 40).astype(float)
    y = x + rng.integers(0, 4, 40)
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    assert rmse(x, y) == pytest.approx(math.sqrt(((x - y) ** 2).sum() / 40))
    found = stats.pearsonr(x, y).confidence_interval(0.95)
    assert correlation_interval(pearson(x, y), 40, level=0.95) == pytest.approx((found.low, found.high))


def test_a_constant_list_has_no_correlation() -> None:
    assert math.isnan(pearson([1, 1, 1], [1, 2, 3]))
    assert correlation_interval(math.nan, 10, level=0.95) == (-1, 1)
    assert correlation_interval(0.5, 3, level=0.95) == (-1, 1)
