"""Every case of `lme4_cases` against lme4 and lmerTest, whose answers are stored in lme4_reference.json.

scripts/reference/make_lme4.py made the file: bobyqa and nloptwrap with tight tolerances, each started again
from the better of the two, the lowest criterion kept. Tolerances are those of lme4's own search, which has no
gradient: near the optimum theta is known to about the square root of what the criterion is known to.
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from dense import criterion_of
from lme4_cases import CASES, Case

from holdsup.fit import LmmFit, fit_lmm

STORED = json.loads(Path(__file__).with_name("lme4_reference.json").read_text())["answers"]
CRITERION, BETA, SE, DF, VARIANCE, CORRELATION = 1e-6, 1e-6, 1e-5, 1e-3, 1e-4, 1e-4
TINY = 1e-6  # a variance below this share of the residual's is compared as zero
BORDER = (1e-5, 1e-3)  # within these relative standard deviations two programs may differ on what is singular

# Where the reference is not one, and why.
DEGREES_WRONG = {"small scale": "lmerTest's degrees of freedom depend on the unit of the scores: 0.04 for 9 and 80"}
STOPPED_EARLY = {
    "years, slope": "intercepts at year 0 correlate -0.99999 with the slopes: lme4 stops early, lmerTest's df are 119 "
    "where the balanced design has 14; see test_laws.test_a_shift_of_a_random_slope_changes_nothing"
}
BOTH = [pytest.param(case, method, id=f"{case.name}-{method}") for case in CASES for method in ("reml", "ml")]
SMALL = [b for b in BOTH if len(b.values[0].make()["y"]) <= 400]  # for these V is written out


def columns_of(case: Case) -> dict[str, Any]:
    columns = case.make()
    for name, extra in case.unused.items():
        levels = sorted({*columns[name], *extra})
        columns[name] = pa.DictionaryArray.from_arrays([levels.index(v) for v in columns[name]], levels)
    return columns


@functools.cache
def ours(case: Case, method: str) -> LmmFit:
    return fit_lmm(case.formula, columns_of(case), method, case.weights)


def group_key(label: str) -> tuple[str, ...]:
    """Return the columns of a group: lme4 writes c:(b:a) and numbers the terms of one group, g and g.1."""
    return tuple(sorted(re.sub(r"\.\d+$|[()]", "", label).split(":")))


def worst(ours: Any, theirs: Any, scale: Any) -> float:
    return float(np.max(np.abs(np.asarray(ours) - np.asarray(theirs)) / np.asarray(scale), initial=0.0))


def test_there_is_an_answer_for_every_case() -> None:
    assert list(STORED) == [case.name for case in CASES]


@pytest.mark.parametrize(("case", "method"), BOTH)
def test_the_criterion_is_never_above_lme4s(case: Case, method: str) -> None:
    fit, reference = ours(case, method), STORED[case.name][method]
    assert fit.n == reference["n"]
    assert fit.converged, fit.optimizer.reason
    assert fit.criterion <= reference["criterion"] + CRITERION
    if case.name not in STOPPED_EARLY:
        assert fit.criterion == pytest.approx(reference["criterion"], abs=1e-4)


@pytest.mark.parametrize(("case", "method"), SMALL)
def test_the_criterion_is_the_textbooks_at_that_theta(case: Case, method: str) -> None:
    fit = ours(case, method)
    model = fit.model()
    value, beta, covariance, sigma2 = criterion_of(
        model.design, fit.optimizer.theta, reml=method == "reml", kept=list(model.engine.kept)
    )
    assert fit.criterion == pytest.approx(value, abs=1e-7)
    assert fit.sigma**2 == pytest.approx(sigma2, rel=1e-7)
    se = np.sqrt(np.diag(covariance))
    assert worst([e.estimate for e in fit.fixed], beta, np.maximum(np.abs(beta), se)) < 1e-7
    assert worst([e.se for e in fit.fixed], se, se) < 1e-7


@pytest.mark.parametrize(("case", "method"), BOTH)
def test_fixed_effects_are_lme4s(case: Case, method: str) -> None:
    fit, reference = ours(case, method), STORED[case.name][method]
    assert [e.name for e in fit.fixed] == reference["names"]
    assert sorted(fit.dropped) == sorted(reference["dropped"])
    if case.name in STOPPED_EARLY:
        return
    beta, se = np.array(reference["beta"]), np.array(reference["se"])
    assert worst([e.estimate for e in fit.fixed], beta, np.maximum(np.abs(beta), se)) < BETA
    assert worst([e.se for e in fit.fixed], se, se) < SE


@pytest.mark.parametrize(
    ("case", "method"), [b for b in BOTH if b.values[0].name not in {*DEGREES_WRONG, *STOPPED_EARLY}]
)
def test_degrees_of_freedom_are_lmertests(case: Case, method: str) -> None:
    df = np.array(STORED[case.name][method]["df"])
    assert worst([e.df for e in ours(case, method).fixed], df, df) < DF


@pytest.mark.parametrize(("case", "method"), BOTH)
def test_variance_components_are_lme4s(case: Case, method: str) -> None:
    fit, reference = ours(case, method), STORED[case.name][method]
    if case.name in STOPPED_EARLY:
        assert fit.criterion <= reference["criterion"] + CRITERION
        return
    assert fit.sigma == pytest.approx(reference["sigma"], rel=VARIANCE / 2)
    components = {(group_key(c.group), c.term): c for c in fit.random}
    assert len(components) == len(fit.random) == sum(len(row["terms"]) < 2 for row in reference["random"])
    for row in reference["random"]:
        terms = [case.aliases.get(term, term) for term in row["terms"]] or [""]
        component = components[group_key(row["group"]), terms[0]]
        if len(terms) == 1:
            assert component.variance == pytest.approx(row["vcov"], rel=VARIANCE, abs=VARIANCE * TINY * fit.sigma**2)
            continue
        other = components[group_key(row["group"]), terms[1]]
        if min(component.variance, other.variance) > TINY * fit.sigma**2:
            assert other.corr[terms[0]] == pytest.approx(row["sdcor"], abs=CORRELATION)


@pytest.mark.parametrize(("case", "method"), BOTH)
def test_singular_means_what_it_means_in_lme4(case: Case, method: str) -> None:
    fit, reference = ours(case, method), STORED[case.name][method]
    theta = np.array(fit.optimizer.theta)[fit.model().engine.moments.lower == 0]
    if ((theta > BORDER[0]) & (theta < BORDER[1])).any():
        pytest.skip("a borderline case: a relative standard deviation of about 1e-4")
    assert fit.singular == reference["singular"]


def test_singular_cases_are_singular() -> None:
    named = [case for case in CASES if case.name.startswith("singular")]
    assert len(named) >= 6
    for case in named:
        assert STORED[case.name]["ml"]["singular"], f"{case.name} should be singular"


@pytest.mark.parametrize("unit", [1e-7, 1.0, 1e7])
def test_degrees_of_freedom_do_not_depend_on_the_unit(unit: float) -> None:
    """The case in which lmerTest is wrong, against lmerTest in a unit in which it is right."""
    (case,) = (case for case in CASES if case.name == "small scale")
    columns = case.make()
    fit = fit_lmm(case.formula, {**columns, "y": columns["y"] * 1e7 * unit})
    assert [e.df for e in fit.fixed] == pytest.approx([9.000538, 80.229446], rel=1e-5)
