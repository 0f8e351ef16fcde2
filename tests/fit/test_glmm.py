"""Logistic fits against glmer, whose answers are stored in glmer_reference.json, and against likelihoods written out.

glmer stops early, its inner search too: what is asked is that our criterion is no higher, and that it is what a dense
computation gives at our parameters; not that estimates agree to more digits than glmer's are good for.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import r
from dense_logistic import integral_of, laplace_of, outer_laplace_of
from glmer_cases import CASES, Case, evaluation

from holdsup.design.matrices import code_fitted_rows
from holdsup.errors import FitError, FormulaError, Separation
from holdsup.fit import GlmmFit, fit_glmm
from holdsup.fit.glmm_result import binomial_constant
from holdsup.fit.prediction import covariances

STORED = json.loads(Path(__file__).with_name("glmer_reference.json").read_text())["answers"]
ALL = [pytest.param(case, id=case.name) for case in CASES]
ONE_FACTOR = [pytest.param(case, id=case.name) for case in CASES if case.one_factor]
EARLY = {"runs", "evaluation"}  # where glmer's own criterion is 1e-4 and more above the optimum it looks for


@functools.cache
def ours(case: Case, method: str) -> GlmmFit:
    return fit_glmm(case.formula, case.make(), trials=case.trials, method=method)


def dense_parts(fit: GlmmFit) -> tuple[Any, Any, Any, Any]:
    """Return successes, trials, the fixed part and Z Lambda of a fit, row by row."""
    model = fit.model()
    coded = code_fitted_rows(model.design)
    n = np.ones(fit.n) if model.outcomes.trials is None else model.outcomes.trials
    parts = []
    for block, columns, codes, sigma in zip(
        model.design.random, coded.columns, coded.levels, covariances(fit), strict=True
    ):
        k = columns.shape[1]
        values, vectors = np.linalg.eigh(sigma)
        Z = np.zeros((fit.n, block.group.count, k))
        Z[np.arange(fit.n), codes] = columns @ (vectors * np.sqrt(np.maximum(values, 0)))
        parts.append(Z.reshape(fit.n, -1))
    return model.outcomes.successes, n, coded.fixed[:, model.engine.kept] @ model.beta, np.hstack(parts)


def test_there_is_an_answer_for_every_case() -> None:
    assert list(STORED) == [case.name for case in CASES]


@pytest.mark.parametrize("case", ALL)
def test_laplaces_criterion_is_never_above_glmers(case: Case) -> None:
    fit, reference = ours(case, "laplace"), STORED[case.name]["laplace"]
    assert fit.converged, fit.optimizer.reason
    assert [e.name for e in fit.fixed] == reference["names"]
    assert fit.criterion <= reference["criterion"] + 1e-4
    assert fit.criterion == pytest.approx(reference["criterion"], abs=0.01)


@pytest.mark.parametrize("case", ALL)
def test_laplaces_criterion_is_the_dense_one_at_that_optimum(case: Case) -> None:
    fit = ours(case, "laplace")
    assert fit.criterion == pytest.approx(laplace_of(*dense_parts(fit)) + binomial_constant(fit.model()), abs=1e-5)


@pytest.mark.parametrize("case", [p for p in ALL if p.values[0].name not in EARLY])
def test_estimates_are_glmers(case: Case) -> None:
    fit, reference = ours(case, "laplace"), STORED[case.name]["laplace"]
    assert [e.estimate for e in fit.fixed] == pytest.approx(reference["beta"], abs=3e-3)
    theirs = sorted(row["sdcor"] for row in reference["random"] if row["var2"] is None)
    assert sorted(c.sd for c in fit.random[:-1]) == pytest.approx(theirs, abs=5e-3)
    assert fit.singular == reference["singular"]


@pytest.mark.parametrize("case", ONE_FACTOR)
def test_quadrature_is_glmers_with_25_nodes(case: Case) -> None:
    fit, reference = ours(case, "auto"), STORED[case.name]["nodes25"]
    assert fit.method == "quadrature"
    assert fit.criterion == pytest.approx(reference["criterion"], abs=2e-3)  # 25 nodes are not quite enough
    assert [e.estimate for e in fit.fixed] == pytest.approx(reference["beta"], abs=3e-3)
    assert fit.random[0].sd == pytest.approx(reference["random"][0]["sdcor"], abs=3e-3)


NESTED = [p for p in ALL if p.values[0].name in ("nested", "missing", "trials, nested", "documents", "one factor")]


@pytest.mark.parametrize("case", NESTED)
def test_quadrature_is_the_integral_on_many_nodes(case: Case) -> None:
    fit = ours(case, "auto")
    assert (fit.method, fit.converged) == ("quadrature", True)
    s, n, fixed, _ = dense_parts(fit)
    groups = {
        b.group.label: (np.asarray(b.group.codes), c.sd)
        for b, c in zip(fit.model().design.random, fit.random, strict=False)
    }
    (outer, sd), *finer = sorted(groups.values(), key=lambda g: int(g[0].max()))
    unit = finer[0][0] if finer else None
    value = integral_of(s, n, fixed, outer, unit, [sd, *(f[1] for f in finer)])
    assert fit.criterion == pytest.approx(value + binomial_constant(fit.model()), abs=1e-4)


@pytest.mark.parametrize(
    "formula",
    ["y ~ system + (1 | item) + (1 | system:run)", "y ~ system + (1 | item) + (1 | system:item) + (1 | system:run)"],
)
def test_runs_outside_are_laplaces_over_that_integral(formula: str) -> None:
    fit = fit_glmm(formula, evaluation(21, 2, 25, 2, sd=(1.2, 0.7, 0.6)))
    assert fit.method == "quadrature"
    model = fit.model()
    s, n, fixed, _ = dense_parts(fit)
    blocks = {
        b.group.label: (np.asarray(b.group.codes), c.sd) for b, c in zip(model.design.random, fit.random, strict=False)
    }
    item, runs, unit = blocks["item"], blocks["system:run"], blocks.get("system:item")
    sd = [item[1], *([unit[1]] if unit else [])]

    def inside(v: Any) -> float:
        return integral_of(s, n, fixed + runs[1] * v[runs[0]], item[0], unit[0] if unit else None, sd, nodes=40)

    assert fit.criterion == pytest.approx(outer_laplace_of(inside, 4), abs=1e-3)


@pytest.mark.slow
def test_cbpp_and_verbagg_are_fitted_as_published() -> None:
    r.require()
    told = r.run("suppressMessages(library(lme4)); write.csv(cbpp, row.names = FALSE, quote = FALSE)").splitlines()
    herd, successes, size, period = zip(*(line.split(",") for line in told[1:]), strict=True)
    cbpp = {
        "y": [float(v) for v in successes],
        "n": [float(v) for v in size],
        "herd": list(herd),
        "period": list(period),
    }
    laplace = fit_glmm("y ~ period + (1 | herd)", cbpp, trials="n", method="laplace")
    assert laplace.criterion <= 184.053133 + 1e-4  # glmer's
    assert laplace.criterion == pytest.approx(184.05256, abs=1e-4)
    nodes = fit_glmm("y ~ period + (1 | herd)", cbpp, trials="n")
    assert [e.estimate for e in nodes.fixed] == pytest.approx([-1.399224, -0.991409, -1.127810, -1.579481], abs=1e-4)
    assert nodes.random[0].sd == pytest.approx(0.647520, abs=1e-4)
    told = r.run("suppressMessages(library(lme4)); d <- VerbAgg[c('r2','Anger','Gender','btype','situ','id','item')]; write.csv(d, row.names = FALSE, quote = FALSE)").splitlines()  # fmt: skip
    rows = [line.split(",") for line in told[1:]]
    columns = dict(zip(told[0].split(","), map(list, zip(*rows, strict=True)), strict=True))
    table = {**columns, "y": [float(v == "Y") for v in columns["r2"]], "Anger": [float(v) for v in columns["Anger"]]}
    fit = fit_glmm("y ~ Anger + Gender + btype + situ + (1 | id) + (1 | item)", table, method="laplace")
    assert fit.criterion <= 8151.400490 + 1e-4
    assert fit.criterion == pytest.approx(8151.39972, abs=1e-4)
    assert [c.sd for c in fit.random[:2]] == pytest.approx([1.33971, 0.49530], abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("mean", [0.0, 2.6, 5.0])
def test_the_truth_is_recovered_at_any_accuracy(mean: float) -> None:
    """At .50, .90 and .98: the mean over tables of the spread of items is within 10% of the truth."""
    found = [
        fit_glmm("y ~ system + (1 | item)", evaluation(100 + t, 2, 300, 6, mean=mean, gap=0.0, sd=(1.5, 0.0, 0.0)))
        for t in range(30)
    ]
    # the response was drawn with a slope of x that the model does not know: it adds to the items' spread
    assert np.mean([f.random[0].sd for f in found]) == pytest.approx(1.5, rel=0.1)


def test_laplace_is_far_off_at_high_accuracy_and_says_so() -> None:
    table = evaluation(2, 2, 150, 4, mean=5.0)
    fit = fit_glmm("y ~ system + (1 | item)", table, method="laplace")
    assert [c.code for c in fit.cautions] == ["laplace-extreme"]
    assert not fit_glmm("y ~ system + (1 | item)", table).cautions


def test_a_system_that_is_always_right_is_named() -> None:
    table = evaluation(3, 3, 50, 2)
    table["y"] = [1.0 if s == "s3" else y for s, y in zip(table["system"], table["y"], strict=True)]
    with pytest.raises(Separation, match=r"system s3: 100 of 100 outcomes are successes.*penalty"):
        fit_glmm("y ~ system + (1 | item)", table)
    fit = fit_glmm("y ~ system + (1 | item)", table, penalty=2.5)
    assert fit.converged
    assert 1.5 < fit.fixed[2].estimate < 8
    assert fit_glmm("y ~ 0 + system + (1 | item)", table, penalty=2.5).converged


def test_separation_by_a_number_is_found_and_a_mixed_number_is_none() -> None:
    state = np.random.RandomState(1)
    x = np.round(state.standard_normal(200), 2)
    table = {"y": (x > 0).astype(float), "x": x, "item": [f"q{i % 20}" for i in range(200)]}
    with pytest.raises(Separation, match="infinity"):
        fit_glmm("y ~ x + (1 | item)", table)
    table["y"] = (x + state.standard_normal(200) > 0).astype(float)
    assert fit_glmm("y ~ x + (1 | item)", table).converged


def test_items_that_are_always_right_or_always_wrong_are_no_fit() -> None:
    state = np.random.RandomState(2)
    item = np.repeat(np.arange(200), 10)
    y = (state.random_sample(200) < 0.5)[item].astype(float)
    y[state.randint(0, len(y), 40)] = 1.0
    table = {"y": y, "item": [f"q{i}" for i in item]}
    with pytest.raises(Separation, match=r"1[0-9]{2} of 200 levels of item are always right or always wrong.*no fit"):
        fit_glmm("y ~ 1 + (1 | item)", table)


def test_samples_that_repeat_each_other_are_no_fit() -> None:
    table = evaluation(4, 2, 150, 1, sd=(1.5, 1.5, 0.0))
    repeated = {k: [v for v in values for _ in range(8)] for k, values in table.items()}
    with pytest.raises(Separation, match="repeats agree"):
        fit_glmm("y ~ system + (1 | item)", repeated)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"y": [0, 1, 2, 0] * 5}, {}, "y holds 2: right or wrong is 1 or 0"),
        ({"y": [1, 1, 1, 1] * 5}, {}, "every outcome is a success"),
        ({"y": [0, 1, 3, 0] * 5, "n": [2, 2, 2, 2] * 5}, {"trials": "n"}, "3 of 2 trials"),
        ({"y": [0, 1, 1, 0] * 5, "n": [2, 2, 2, 2] * 5}, {"trials": "n"}, "a count or a proportion"),
        ({"y": [0, 0.3, 1, 0] * 5, "n": [2, 2, 2, 2] * 5}, {"trials": "n"}, "not whole"),
        ({"y": [0, 1, 1, 0] * 5}, {"family": "poisson"}, "family is 'poisson'"),
        ({"y": [0, 1, 1, 0] * 5}, {"method": "agq"}, "method is 'agq'"),
        ({"y": [0, 1, 1, 0] * 5}, {"penalty": -1}, "penalty is -1"),
        ({"y": [0, 1, 1, 0] * 5}, {"trials": "a", "failures": "b"}, "not both"),
    ],
)
def test_bad_input_gets_one_clear_line(table: dict[str, Any], options: dict[str, Any], message: str) -> None:
    table["item"] = [f"q{i // 2}" for i in range(20)]
    with pytest.raises(FitError, match=message):
        fit_glmm("y ~ 1 + (1 | item)", table, **options)


def test_one_outcome_an_item_is_refused_and_several_trials_a_row_are_not() -> None:
    table = {"y": [0.0, 1, 1, 0, 1, 0], "n": [3.0] * 6, "item": list("abcdef")}
    with pytest.raises(FormulaError, match="6 levels for 6"):
        fit_glmm("y ~ 1 + (1 | item)", {k: table[k] for k in ("y", "item")})
    table["y"] = [0.0, 2, 3, 1, 1, 0]
    assert fit_glmm("y ~ 1 + (1 | item)", table, trials="n").n == 6
