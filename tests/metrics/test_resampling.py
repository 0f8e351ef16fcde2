"""Resampling of counts: against closed forms, enumeration, and drawing items one by one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from holdsup.metrics import resampling
from holdsup.metrics.resampling import bootstrap_difference, bootstrap_score, permute_systems
from holdsup.numerics.layout import Floats

DRAWS = 20_000


def mean(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])


def f1(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(2 * sums[..., 0] / (sums[..., 1] + sums[..., 2]))


def correct(values: list[float] | Floats) -> Floats:
    return np.stack([np.asarray(values, dtype=float), np.ones(len(values))], axis=1)


def draw_chunks(rng: np.random.Generator, items: int) -> Floats:
    """Return matched, predicted and expected of items, small numbers."""
    predicted, expected = rng.integers(1, 4, (2, items))
    return np.stack([rng.integers(0, np.minimum(predicted, expected) + 1), predicted, expected], axis=1).astype(float)


def band(value: float, draws: int) -> float:
    """Return four standard errors of a bootstrap standard error."""
    return 4 * value / math.sqrt(2 * draws)


def test_the_standard_error_of_an_accuracy_is_the_binomial_one() -> None:
    counts = correct([1.0] * 130 + [0.0] * 70)
    found = bootstrap_score(counts, mean, draws=DRAWS, seed=1)
    expected = math.sqrt(0.65 * 0.35 / 200)
    assert found.estimate == 0.65
    assert abs(found.se - expected) < band(expected, DRAWS)
    low, high = found.interval(0.95)
    assert low == pytest.approx(stats.binom.ppf(0.025, 200, 0.65) / 200, abs=0.006)  # one item is 0.005
    assert high == pytest.approx(stats.binom.ppf(0.975, 200, 0.65) / 200, abs=0.006)


def test_the_standard_error_of_a_mean_is_that_of_the_values() -> None:
    values = np.random.default_rng(0).exponential(size=150)  # all different: items are drawn one by one
    found = bootstrap_score(correct(values), mean, draws=DRAWS, seed=1)
    expected = values.std() / math.sqrt(150)
    assert abs(found.se - expected) < band(expected, DRAWS)


def test_the_standard_error_of_a_paired_difference_is_that_of_the_differences() -> None:
    rng = np.random.default_rng(2)
    left = rng.integers(0, 2, 300)
    right = np.where(rng.random(300) < 0.8, left, 1 - left)
    found = bootstrap_difference(correct(left), correct(right), mean, draws=DRAWS, seed=3)
    expected = (left - right).std() / math.sqrt(300)
    assert found.estimate == pytest.approx((left - right).mean())
    assert abs(found.se - expected) < band(expected, DRAWS)


def test_clusters_come_and_go_together() -> None:
    rng = np.random.default_rng(4)
    cluster = np.repeat(np.arange(40), 5)
    values = np.repeat(rng.standard_normal(40), 5) + 0.1 * rng.standard_normal(200)
    order = rng.permutation(200)
    found = bootstrap_score(correct(values[order]), mean, draws=DRAWS, seed=1, clusters=cluster[order])
    expected = values.reshape(40, 5).mean(1).std() / math.sqrt(40)
    assert abs(found.se - expected) < band(expected, DRAWS)


@pytest.mark.parametrize("dear", [0.001, 1e9])
def test_both_ways_of_drawing_have_the_moments_of_the_multinomial(monkeypatch: pytest.MonkeyPatch, dear: float) -> None:
    monkeypatch.setattr(resampling, "DEAR", dear)
    number = np.array([5, 1, 14])
    weights = resampling._draw(np.random.default_rng(0), number, DRAWS)
    assert (weights.sum(1) == 20).all()
    share = number / 20
    covariance = 20 * (np.diag(share) - np.outer(share, share))
    assert np.allclose(weights.mean(0), number, atol=4 * np.sqrt(np.diag(covariance).max() / DRAWS))
    assert np.allclose(np.cov(weights.T), covariance, atol=0.2)


def test_blocks_do_not_change_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = draw_chunks(np.random.default_rng(1), 50)
    whole = bootstrap_score(counts, f1, draws=101, seed=5)
    monkeypatch.setattr(resampling, "BLOCK", 500)
    parts = bootstrap_score(counts, f1, draws=101, seed=5)
    assert len(parts.draws) == 101
    assert np.array_equal(whole.draws, parts.draws)


def test_the_order_of_items_does_not_matter() -> None:
    rng = np.random.default_rng(6)
    left, right = draw_chunks(rng, 80), draw_chunks(rng, 80)
    order = rng.permutation(80)
    one = bootstrap_difference(left, right, f1, draws=50, seed=1)
    other = bootstrap_difference(left[order], right[order], f1, draws=50, seed=1)
    assert np.array_equal(one.draws, other.draws)
    p = permute_systems(left, right, f1, draws=99, seed=1).p
    assert p == permute_systems(left[order], right[order], f1, draws=99, seed=1).p


def exact_p(left: Floats, right: Floats, score: Callable[[Floats], Floats]) -> float:
    """Return the share of all ways to swap items whose difference is as large as the observed one."""
    observed = abs(score(left.sum(0)) - score(right.sum(0)))
    large = 0
    for flips in itertools.product((False, True), repeat=len(left)):
        swapped = np.array(flips)[:, None]
        ours, theirs = np.where(swapped, right, left), np.where(swapped, left, right)
        large += abs(score(ours.sum(0)) - score(theirs.sum(0))) >= observed - 1e-12
    return float(large / 2 ** len(left))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["f1", "mean"])
def test_the_permutation_p_is_that_of_all_permutations(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    if kind == "f1":
        left, right, score = draw_chunks(rng, 9), draw_chunks(rng, 9), f1
    else:
        left, right, score = correct(rng.integers(0, 2, 9)), correct(rng.integers(0, 2, 9)), mean
    expected = exact_p(left, right, score)
    found = permute_systems(left, right, score, draws=DRAWS, seed=seed)
    assert abs(found.p - expected) < 4 * math.sqrt(expected * (1 - expected) / DRAWS) + 1 / DRAWS


def test_the_permutation_p_of_an_accuracy_is_the_exact_sign_test() -> None:
    left, right = correct([1.0] * 30 + [0.0] * 70), correct([1.0] * 20 + [0.0] * 10 + [1.0] * 2 + [0.0] * 68)
    expected = stats.binomtest(10, 12).pvalue  # ten items only left has right, two only right has
    found = permute_systems(left, right, mean, draws=DRAWS, seed=0)
    assert abs(found.p - expected) < 4 * math.sqrt(expected / DRAWS)


def test_clusters_are_swapped_together() -> None:
    rng = np.random.default_rng(8)
    left, right = rng.random((2, 24))
    cluster = np.repeat(np.arange(8), 3)
    sums = [correct(values).reshape(8, 3, 2).sum(1) for values in (left, right)]
    found = permute_systems(correct(left), correct(right), mean, draws=DRAWS, seed=1, clusters=cluster)
    expected = exact_p(*sums, mean)
    assert abs(found.p - expected) < 4 * math.sqrt(expected * (1 - expected) / DRAWS) + 1 / DRAWS


def test_p_is_never_0_and_is_1_without_a_difference() -> None:
    left, right = correct(np.ones(200)), correct(np.zeros(200))
    assert permute_systems(left, right, mean, draws=99, seed=0).p == 0.01
    same = permute_systems(left, left, mean, draws=99, seed=0)
    assert (same.difference, same.p) == (0.0, 1.0)
    sparse = sp.csr_array(left)
    assert permute_systems(sparse, sparse, mean, draws=99, seed=0).p == 1.0


def test_p_values_of_equal_systems_are_uniform() -> None:
    rng = np.random.default_rng(9)
    found = np.array(
        [
            permute_systems(draw_chunks(rng, 200), draw_chunks(rng, 200), f1, draws=199, seed=seed).p
            for seed in range(400)
        ]
    )
    # binomial band of three standard errors about 5%
    assert abs((found <= 0.05).mean() - 0.05) < 3 * math.sqrt(0.05 * 0.95 / 400)


def test_sparse_counts_give_the_sums_of_full_ones() -> None:
    rng = np.random.default_rng(5)
    left, right = (rng.random((2, 60, 8)) < 0.2).astype(float)

    def score(sums: Floats) -> Floats:
        return np.asarray((sums[..., :4].sum(-1) - sums[..., 4:].sum(-1)) / (1 + sums.sum(-1)))

    full = bootstrap_difference(left, right, score, draws=4000, seed=1)
    sparse = bootstrap_difference(sp.csr_array(left), sp.csr_array(right), score, draws=4000, seed=1)
    assert sparse.estimate == pytest.approx(full.estimate, rel=1e-12)
    assert sparse.se == pytest.approx(full.se, rel=0.1)  # other draws: rows are in another order
    full_p = permute_systems(left, right, score, draws=4000, seed=1).p
    sparse_p = permute_systems(sp.csr_array(left), sp.csr_array(right), score, draws=4000, seed=1).p
    assert sparse_p == pytest.approx(full_p, abs=0.04)


def test_counts_of_any_type_may_be_subtracted() -> None:
    rng = np.random.default_rng(3)
    left, right = draw_chunks(rng, 40), draw_chunks(rng, 40)
    small = permute_systems(left.astype(np.uint8), right.astype(np.uint8), f1, draws=199, seed=1)
    large = permute_systems(left, right, f1, draws=199, seed=1)
    assert (small.difference, small.p) == (large.difference, large.p)


def test_samples_without_a_score_are_counted() -> None:
    counts = np.array([[1.0, 1.0, 1.0]] + [[0.0, 0.0, 0.0]] * 3)
    found = bootstrap_score(counts, f1, draws=DRAWS, seed=0)
    expected = 0.75**4  # no draw of the one item that has something to find
    assert abs(found.undefined / DRAWS - expected) < 4 * math.sqrt(expected / DRAWS)
    assert found.se == 0.0
    assert found.interval() == (1.0, 1.0)
    test = permute_systems(counts, np.zeros((4, 3)), f1, draws=99, seed=0)
    assert math.isnan(test.p)
    assert test.undefined == 99


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap_score(np.zeros((0, 2)), mean, draws=9, seed=0), "items with counts are needed"),
        (lambda: bootstrap_score(np.zeros((3, 0)), mean, draws=9, seed=0), "items with counts are needed"),
        (lambda: bootstrap_score(np.ones((3, 2)), mean, draws=0, seed=0), "at least one draw"),
        (
            lambda: bootstrap_score(np.ones((3, 2)), mean, draws=9, seed=0, clusters=np.arange(2)),
            "a cluster is needed for each of 3 items, not 2",
        ),
        (lambda: permute_systems(np.ones((3, 2)), np.ones((4, 2)), mean, draws=9, seed=0), "the same items and counts"),
        (lambda: bootstrap_difference(np.ones((3, 2)), np.ones((4, 2)), mean, draws=9, seed=0), "the same items"),
    ],
)
def test_what_cannot_be_drawn_from_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
