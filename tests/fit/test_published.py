"""Published data whose answers are published, or known in closed form.

Dyestuff: O. L. Davies (ed., 1947), Statistical Methods in Research and Production, Table 6.3; 4th ed. by Davies &
P. L. Goldsmith (1972), section 6.4. Penicillin: the 4th ed., section 6.6. Dyestuff2: G. E. P. Box & G. C. Tiao (1973),
Bayesian Inference in Statistical Analysis, section 5.1.2. All as in lme4.
NIST: Statistical Reference Datasets, one-way analysis of variance, as they stand in SciPy's tests.
"""

from __future__ import annotations

import re
from importlib import resources
from typing import Any

import numpy as np
import pytest

from holdsup.fit import fit_lmm

DYESTUFF = [
    1545, 1440, 1440, 1520, 1580,
    1540, 1555, 1490, 1560, 1495,
    1595, 1550, 1605, 1510, 1560,
    1445, 1440, 1595, 1465, 1545,
    1595, 1630, 1515, 1635, 1625,
    1520, 1455, 1450, 1480, 1445,
]  # fmt: skip
DYESTUFF2 = [
    7.298, 3.846, 2.434, 9.566, 7.990,
    5.220, 6.556, 0.608, 11.788, -0.892,
    0.110, 10.386, 13.434, 5.510, 8.166,
    2.212, 4.852, 7.092, 9.288, 4.980,
    0.282, 9.014, 4.458, 9.446, 7.198,
    1.722, 4.782, 8.106, 0.758, 3.758,
]  # fmt: skip
# Diameters (mm) of the zone of inhibition: a line per sample A to F, a column per plate a to x.
PENICILLIN = """
27 27 25 26 25 24 24 26 24 24 26 25 26 26 26 25 25 25 24 26 25 25 24 24
23 23 21 23 22 22 20 22 21 21 23 22 24 23 23 22 21 22 21 23 21 22 21 21
26 26 25 25 26 25 23 26 24 24 26 26 26 26 25 25 24 24 23 26 24 25 24 24
23 23 24 23 22 23 21 24 22 23 24 24 24 23 24 23 23 23 21 24 22 22 22 22
23 23 24 23 23 22 22 24 22 22 24 24 25 23 24 23 23 23 21 24 22 22 24 21
21 21 20 20 20 19 19 21 20 19 21 20 22 20 22 20 20 19 19 21 18 20 19 18
"""


def batches(values: list[float]) -> dict[str, Any]:
    return {"y": np.array(values, float), "batch": [f"{'ABCDEF'[i // 5]}" for i in range(30)]}


def penicillin() -> dict[str, Any]:
    table = np.array([line.split() for line in PENICILLIN.split("\n") if line], float)
    assert table.shape == (6, 24)
    sample, plate = np.indices(table.shape).reshape(2, -1)
    return {"y": table.reshape(-1), "sample": ["ABCDEF"[i] for i in sample], "plate": [chr(97 + i) for i in plate]}


# Criteria as published in the tests of MixedModels.jl: test/pls.jl (Dyestuff, to 13 digits; REML: lme4 1.1-31,
# "REML criterion at convergence: 319.6543") and test/plstwoscalar.jl (Penicillin, stopped at about 1e-9).
CRITERIA = {
    ("dyestuff", "ml"): 327.3270598811428,
    ("dyestuff", "reml"): 319.65427684,
    ("penicillin", "ml"): 332.18834867227616,
    ("penicillin", "reml"): 330.86058899122156,
}


@pytest.mark.parametrize("method", ["ml", "reml"])
def test_dyestuff_is_as_published(method: str) -> None:
    fit = fit_lmm("y ~ 1 + (1 | batch)", batches(DYESTUFF), method)
    assert fit.criterion == pytest.approx(CRITERIA["dyestuff", method], rel=1e-10)
    assert fit.fixed[0].estimate == pytest.approx(1527.5, rel=1e-12)
    assert fit.converged
    assert not fit.singular
    if method == "ml":  # test/pls.jl: theta 0.752580, se 17.69455, sigma^2 2451.250
        assert fit.optimizer.theta[0] == pytest.approx(0.752580, abs=1e-6)
        assert fit.fixed[0].se == pytest.approx(17.69455188898009, rel=1e-5)  # theirs is at theta + 1e-6
        assert fit.sigma**2 == pytest.approx(2451.25, rel=1e-7)  # the mean square within batches, exactly
        assert (fit.aic, fit.bic) == pytest.approx((333.3270598811394, 337.5306520261259), rel=1e-9)


@pytest.mark.parametrize("method", ["ml", "reml"])
def test_dyestuff2_has_no_variance_between_batches(method: str) -> None:
    """Then the fit is that of independent draws: -2 logLik = n (1 + log 2 pi s^2), and dof for REML."""
    fit = fit_lmm("y ~ 1 + (1 | batch)", batches(DYESTUFF2), method)
    y = np.array(DYESTUFF2)
    dof = 30 if method == "ml" else 29
    s2 = ((y - y.mean()) ** 2).sum() / dof
    expected = dof * (1 + np.log(2 * np.pi * s2)) + (np.log(30) if method == "reml" else 0)
    assert fit.singular
    assert fit.converged
    assert fit.criterion == pytest.approx(expected, rel=1e-12)
    assert fit.sigma**2 == pytest.approx(s2, rel=1e-9)
    if method == "ml":
        assert fit.criterion == pytest.approx(162.87303665382575, rel=1e-10)  # MixedModels.jl, test/pls.jl


@pytest.mark.parametrize("method", ["ml", "reml"])
def test_penicillin_is_as_published(method: str) -> None:
    fit = fit_lmm("y ~ 1 + (1 | plate) + (1 | sample)", penicillin(), method)
    assert fit.criterion == pytest.approx(CRITERIA["penicillin", method], rel=1e-10)
    published = {"ml": (0.845564604484871, 1.770647605995295), "reml": (0.8467056820846379, 1.9315555733321477)}
    assert [c.sd for c in fit.random[:2]] == pytest.approx(published[method], rel=3e-5)  # they stop at 1e-6 in theta
    assert fit.fixed[0].estimate == pytest.approx(22.972222222222218, rel=1e-12)


def test_balanced_one_way_reml_is_the_analysis_of_variance() -> None:
    fit = fit_lmm("y ~ 1 + (1 | batch)", batches(DYESTUFF))
    y = np.array(DYESTUFF, float).reshape(6, 5)
    between, within = 5 * y.mean(axis=1).var(ddof=1), y.var(axis=1, ddof=1).mean()
    assert fit.random[0].variance == pytest.approx((between - within) / 5, rel=1e-8)
    assert fit.random[1].variance == pytest.approx(within, rel=1e-8)
    assert fit.fixed[0].se == pytest.approx(np.sqrt(between / 30), rel=1e-8)
    assert fit.fixed[0].df == pytest.approx(5, rel=1e-7)


def test_balanced_crossed_reml_is_the_analysis_of_variance() -> None:
    fit = fit_lmm("y ~ 1 + (1 | plate) + (1 | sample)", penicillin())
    y = np.array([line.split() for line in PENICILLIN.split("\n") if line], float)
    rows, columns = y.mean(axis=1), y.mean(axis=0)
    left = y - rows[:, None] - columns + y.mean()
    within = (left**2).sum() / (5 * 23)
    expected = [(6 * columns.var(ddof=1) - within) / 6, (24 * rows.var(ddof=1) - within) / 24, within]
    assert [c.variance for c in fit.random] == pytest.approx(expected, rel=1e-7)


def test_a_paired_t_test_is_a_mixed_model() -> None:
    """Student's sleep data (1908): two drugs on ten patients; t = -4.0621 on 9 df, as in R's t.test."""
    drug1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    drug2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    data = {
        "y": np.array(drug1 + drug2),
        "drug": ["1"] * 10 + ["2"] * 10,
        "patient": [f"p{i}" for i in range(10)] * 2,
    }
    effect = fit_lmm("y ~ factor(drug) + (1 | patient)", data).fixed[1]
    difference = np.array(drug2) - np.array(drug1)
    assert effect.t == pytest.approx(difference.mean() / (difference.std(ddof=1) / np.sqrt(10)), rel=1e-8)
    assert (effect.t, effect.df, effect.p) == pytest.approx((4.062127683382037, 9, 0.00283289019738427), rel=1e-6)


NIST = ["SiRstv", "SmLs01", "SmLs02", "SmLs03", "AtmWtAg", "SmLs04", "SmLs05", "SmLs06", "SmLs07", "SmLs08", "SmLs09"]
# An optimum is known to about the square root of the machine's precision: 1e-7. With 13 constant leading digits
# (10^12 + 0.4) a double keeps y to 1.2e-4, whoever computes: the certified variances are then known to about 1e-4.
DIGITS = {"SmLs07": 1e-3, "SmLs08": 1e-3, "SmLs09": 1e-3}


@pytest.mark.parametrize("name", NIST)
def test_nist_mean_squares_are_certified(name: str) -> None:
    file = resources.files("scipy.stats").joinpath("tests", "data", "nist_anova", f"{name}.dat")
    if not file.is_file():
        pytest.skip("this build of SciPy comes without its test data (scipy/stats/tests/data/nist_anova)")
    text = file.read_text()
    between, within = (
        float(re.search(rf"^{source} .*?(\S+E[+-]\d+) +(\S+E[+-]\d+)", text, re.MULTILINE)[2])  # type: ignore[index]
        for source in ("Between \\w+ +\\d+", "Within \\w+ +\\d+")
    )
    rows = [line.split() for line in text.splitlines()[60:] if line.strip()]
    y, g = np.array([float(r[1]) for r in rows]), [f"t{r[0]}" for r in rows]
    per_group = len(rows) / len(set(g))
    fit = fit_lmm("y ~ 1 + (1 | g)", {"y": y, "g": g})
    assert fit.converged
    rel = DIGITS.get(name, 1e-7)
    assert fit.random[1].variance == pytest.approx(within, rel=rel)
    assert fit.random[0].variance == pytest.approx((between - within) / per_group, rel=rel)
