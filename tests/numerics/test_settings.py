"""Differences over new settings: closed forms, a mixed model, and how often a true null is rejected."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from holdsup import fit_lmm
from holdsup.fit import contrast
from holdsup.numerics.differences import compare_new_runs
from holdsup.numerics.settings import compare_settings, measure_facets

GRID = np.stack(np.unravel_index(np.arange(12) % 6, (3, 2)))  # three by two levels, two seeds each


def scores(facets: np.ndarray | None, seed: int, *, runs: int = 4, items: int = 40, sd: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    runs = runs if facets is None else facets.shape[1]
    y = rng.normal(0, 0.1, (items, 1)) + rng.normal(0, 0.05, runs) + rng.normal(0, 0.1, (items, runs))
    for codes in () if facets is None else facets:
        y = y + rng.normal(0, sd, codes.max() + 1)[codes]
    return y


def test_a_facet_adds_the_variance_of_its_level_means_over_their_number() -> None:
    y = scores(GRID, 1)
    found = list(measure_facets(y, GRID))
    for facet, codes in zip(found, GRID, strict=True):
        means = [y[:, codes == level].mean() for level in np.unique(codes)]
        assert facet.part == pytest.approx(np.var(means, ddof=1) / len(means))
        assert (facet.df, facet.weight) == (len(means) - 1, pytest.approx(1 / len(means)))


def test_levels_with_more_settings_weigh_more() -> None:
    lopsided = np.array([[0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2]])  # of three settings, two have the first level
    (facet, _) = measure_facets(scores(lopsided, 2), lopsided)
    assert facet.weight == pytest.approx((2 / 3) ** 2 + (1 / 3) ** 2)


def test_the_standard_error_of_balanced_settings_is_that_of_the_mixed_model() -> None:
    rates = np.repeat(np.arange(4), 3)[None]
    left, right = scores(rates, 3), scores(None, 4, runs=5)
    found = compare_settings(left, right, left_facets=rates)
    rows = [
        {"y": y[i, r], "left": side, "right": 1.0 - side, "item": f"i{i}", "run": f"{side}{r}", "system": f"s{side}",
         "rate": f"l{rates[0, r]}" if side else "none"}
        for side, y in ((1.0, left), (0.0, right)) for i in range(len(y)) for r in range(y.shape[1])
    ]  # fmt: skip
    terms = "(1 | item) + (1 | system:item) + (0 + left | run) + (0 + right | run) + (0 + left | rate)"
    fit = fit_lmm(f"y ~ left + {terms}", {name: [row[name] for row in rows] for name in rows[0]})
    variances = {(c.group, c.term): c.variance for c in fit.random}
    assert min(variances["run", "left"], variances["run", "right"], variances["rate", "left"]) > 0  # else they differ
    assert found.se == pytest.approx(contrast(fit, {"left": 1.0}).se, rel=0.02)  # items of each system: see below
    assert found.run_variance[0] == pytest.approx(variances["run", "left"] + variances["rate", "left"], rel=0.02)
    assert found.run_variance[1] == pytest.approx(variances["run", "right"], rel=0.02)


def test_one_facet_without_items_to_speak_of_is_students_t_on_its_levels() -> None:
    """With settings that differ by far the most, the mean of a system has as many df as settings less one."""
    rates = np.repeat(np.arange(5), 2)[None]
    y = scores(rates, 5, sd=50.0)
    found = compare_settings(y, left_facets=rates)
    means = [y[:, rates[0] == level].mean() for level in range(5)]
    interval = stats.ttest_1samp(means, 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx(tuple(interval), rel=1e-4)


def test_new_settings_never_say_more_than_new_runs() -> None:
    rng = np.random.default_rng(6)
    rates = np.repeat(np.arange(3), 2)[None]
    for _ in range(50):
        left, right = rng.normal(size=(20, 6)), rng.normal(size=(20, 4))
        here = compare_new_runs(left, right, left_settings=rates[0])
        there = compare_settings(left, right, left_facets=rates)
        assert there.p >= here.p
        assert there.high - there.low >= here.high - here.low
        assert there.estimate == here.estimate


def test_systems_whose_settings_do_not_vary_are_compared_over_new_runs() -> None:
    left, right = scores(None, 8), scores(None, 9)
    assert compare_settings(left, right).p == pytest.approx(compare_new_runs(left, right).p, rel=1e-12)


def test_a_true_null_over_three_settings_is_rejected_at_most_as_often_as_promised() -> None:
    """Limits of a mixed model with Satterthwaite's df cover 92% in such a design (docs/calibration.md)."""
    rates = np.repeat(np.arange(3), 5)[None]
    rng = np.random.default_rng(10)
    rejected = 0
    for _ in range(400):
        left = rng.normal(0, 2.0, 3)[rates[0]] + rng.normal(0, 1, 15) + rng.normal(0, 1, (20, 15))
        right = rng.normal(0, 1, 18) + rng.normal(0, 1, (20, 18))
        rejected += compare_settings(left, right, left_facets=rates).p < 0.05
    assert 1 <= rejected <= 32  # at 5% more than 32 come once in 700 times
