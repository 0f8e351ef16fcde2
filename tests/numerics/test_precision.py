"""Precision: closed forms, published values, coverage by simulation."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from holdsup.numerics.precision import (
    c4,
    magnitude,
    measure_cv,
    measure_precision,
    noncentral_t_cdf,
    variation_interval,
)

# Belz et al. (2022): Fluency of PASS, Table 2, shifted by 1; mult-base, Table 6; NTS_def BLEU, Table 4.
FLUENCY = [4.36, 5.14]
BASE = [0.428, 0.493, 0.426, 0.574, 0.579, 0.590, 0.574, 0.600]
BLEU = [84.51, 84.50, 87.46, 85.60, 84.20, 86.61, 86.20]


@pytest.mark.parametrize(
    ("values", "mean", "sd", "low", "high", "cv"),
    [
        (FLUENCY, 4.75, 0.691, -3.26, 4.65, 16.372),
        (BASE, 0.533, 0.08, 0.03, 0.12, 14.633),
        (BLEU, 85.58, 1.29, 0.45, 2.13, 1.562),
    ],
)
def test_the_published_formulas_give_the_published_numbers(
    values: list[float], mean: float, sd: float, low: float, high: float, cv: float
) -> None:
    found = measure_precision(values)
    assert (found.mean, found.sd, found.sd_low, found.sd_high) == pytest.approx((mean, sd, low, high), abs=0.0050001)
    assert found.cv == pytest.approx(cv, abs=0.0005)


def test_every_worked_row_comes_out(real_data: Path) -> None:
    text = (real_data / "belz_qra/qra_inputs_and_paper_values.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 26
    for row in rows:
        found = measure_precision([float(v) - float(row["shift"]) for v in row["values"].split()])
        expected = [float(row[f"recomputed_{name}"]) for name in ("mean", "sd", "ci_lo", "ci_hi", "cvstar")]
        assert [found.mean, found.sd, found.sd_low, found.sd_high, found.cv] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 5, 8, 100])
def test_c4_is_the_mean_of_s_over_sigma(n: int) -> None:
    # E(chi) with n - 1 degrees of freedom over its root, by scipy's own chi distribution
    assert c4(n) == pytest.approx(stats.chi(n - 1).mean() / math.sqrt(n - 1), rel=1e-10)


def test_c4_is_finite_for_many_values() -> None:
    assert c4(1_000_000) == pytest.approx(1 - 1 / (4 * 1_000_000), rel=1e-9)


def test_chi_square_limits_are_those_of_the_textbook() -> None:
    found = measure_precision(BASE)
    s, df = np.std(BASE, ddof=1), len(BASE) - 1
    expected = [s * math.sqrt(df / stats.chi2.ppf(p, df)) for p in (0.975, 0.025)]
    assert [found.sd_low_chi2, found.sd_high_chi2] == pytest.approx(expected, rel=1e-9)


def test_the_next_value_has_the_textbook_prediction_limits() -> None:
    found = measure_precision(BASE, level=0.9)
    reach = stats.t.ppf(0.95, 7) * np.std(BASE, ddof=1) * math.sqrt(1 + 1 / 8)
    assert (found.next_low, found.next_high) == pytest.approx((found.mean - reach, found.mean + reach))


@pytest.mark.parametrize("df", [1, 2, 7, 30])
@pytest.mark.parametrize("t", [0.05, 0.8, 3.0, 40.0])
@pytest.mark.parametrize("noncentrality", [0.0, 0.5, 3.0, 35.0])
def test_the_noncentral_t_distribution_is_scipys(df: int, t: float, noncentrality: float) -> None:
    expected = stats.nct.cdf(t, df, noncentrality) if noncentrality else stats.t.cdf(t, df)
    assert noncentral_t_cdf(t, df, noncentrality) == pytest.approx(expected, abs=1e-9)


def test_limits_of_variation_solve_the_noncentral_t_equations() -> None:
    mean, s, n = np.mean(BASE), np.std(BASE, ddof=1), len(BASE)
    low, high = variation_interval(float(mean), float(s), n, level=0.95)
    t = math.sqrt(n) * mean / s
    tails = [stats.nct.cdf(t, n - 1, math.sqrt(n) / limit) for limit in (low, high)]
    assert tails == pytest.approx([0.025, 0.975], abs=1e-8)


def test_limits_of_a_tiny_variation_approach_chi_square() -> None:
    values = np.array([1.0, 1 + 3e-6, 1 - 2e-6, 1 + 1e-6])
    found = measure_precision(values)
    assert found.cv_low == pytest.approx(100 * found.sd_low_chi2, rel=1e-5)
    assert found.cv_high == pytest.approx(100 * found.sd_high_chi2, rel=1e-5)


def test_there_is_no_upper_limit_where_the_mean_could_be_zero() -> None:
    found = measure_precision([0.1, 2.0])
    assert found.cv_high == math.inf
    assert 0 < found.cv_low < found.cv_plain


def test_equal_values_have_no_spread() -> None:
    found = measure_precision([0.1, 0.1, 0.1])  # their mean is not 0.1 in floating point
    assert (found.sd, found.sd_se, found.cv, found.cv_low, found.cv_high) == (0, 0, 0, 0, 0)


def test_a_common_factor_changes_no_coefficient_of_variation() -> None:
    one, hundred = measure_precision(BASE), measure_precision([100 * v for v in BASE])
    assert (hundred.cv, hundred.cv_plain, hundred.cv_low) == pytest.approx((one.cv, one.cv_plain, one.cv_low))
    assert hundred.sd == pytest.approx(100 * one.sd)


def test_published_cv_is_corrected_twice() -> None:
    found = measure_precision(FLUENCY)
    assert found.cv / found.cv_plain == pytest.approx(1.125)  # 1 + 1/(4 * 2): what comes on top of c4


@pytest.mark.slow
@pytest.mark.parametrize(("n", "low", "high"), [(2, 0.87, 0.92), (5, 0.89, 0.94)])
def test_our_limits_cover_and_the_published_ones_do_not(n: int, low: float, high: float) -> None:
    rng = np.random.default_rng(n)
    tables = 2000
    covered = np.zeros(4)
    for _ in range(tables):
        found = measure_precision(rng.normal(1, 0.1, n))
        new = rng.normal(1, 0.1)
        covered += [
            found.sd_low <= 0.1 <= found.sd_high,
            found.sd_low_chi2 <= 0.1 <= found.sd_high_chi2,
            found.cv_low <= 10 <= found.cv_high,
            found.next_low <= new <= found.next_high,
        ]
    paper, *ours = covered / tables
    assert low < paper < high
    # four binomial standard errors of a share of .95: 0.0195
    assert ours == pytest.approx([0.95] * 3, abs=0.0195)


@pytest.mark.parametrize("scale", [1e-200, 1e-150, 1.0, 1e150, 1e200, 1e307])
def test_precision_does_not_depend_on_the_size_of_the_values(scale: float) -> None:
    """Squares of 1e200 and 1e-200 are beyond what a double holds; ratios to the mean are those of 1, 3 and 2."""
    found = measure_precision([scale, 3 * scale, 2 * scale])
    assert found.mean == pytest.approx(2 * scale)
    assert found.s == pytest.approx(scale)
    assert found.cv_plain == pytest.approx(100 / 2 / (math.sqrt(math.pi) / 2))  # c4(3)
    assert found.cv_low == pytest.approx(measure_precision([1, 3, 2]).cv_low)
    assert measure_cv([scale, 3 * scale, 2 * scale]) == found.cv


def test_scaling_by_a_power_of_two_takes_no_digit_away() -> None:
    values = np.array([0.1, 0.7, 0.30000000000000004])
    assert measure_precision(values).mean == values.mean()
    assert measure_precision(values).s == values.std(ddof=1)
    assert magnitude(values) == 0.5
