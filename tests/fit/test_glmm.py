"""Logistic fits against glmer, whose answers are stored in glmer_reference.json, and against likelihoods written out.

glmer stops early, its inner search too: what is asked is that our criterion is no higher, and that it is what a dense
computation gives at our parameters; not that estimates agree to more digits than glmer's are good for.
"""

from __future__ import annotations

import functools
import json
import re
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
from holdsup.numerics.logistic import WALL
from holdsup.numerics.quadrature import Quadrature

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
        ({"y": [0, 1, 3, 0] * 5, "n": [2, 2, 2, 2] * 5}, {"trials": "n"}, "successes lie between 0 and the trials"),
        ({"y": [0.5, 1.5, 3, 0] * 5, "n": [10] * 20}, {"trials": "n"}, "y holds 0.5 and 1.5: give whole numbers"),
        ({"y": [0, 5, 3, 0] * 5, "n": [10**18] * 20}, {"trials": "n"}, "n makes 1e.18 trials of a row.*1,000,000,000"),
        ({"y": [0, 5, 3, 0] * 5, "n": [1e31] * 20}, {"failures": "n"}, "n makes 1e.31 trials of a row"),
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


def agreeing(items: int, repeats: int) -> dict[str, Any]:
    """Two systems on items, each answer repeated: as many right as wrong, and no two repeats differ."""
    state = np.random.RandomState(5)
    cells = [(f"s{s}", f"q{i}", float(state.random_sample() < 0.4 + 0.2 * s)) for s in range(2) for i in range(items)]
    system, item, y = zip(*(cell for cell in cells for _ in range(repeats)), strict=True)
    return {"system": list(system), "item": list(item), "y": list(y)}


@pytest.mark.parametrize("method", ["auto", "laplace"])
@pytest.mark.parametrize("repeats", [2, 8])
def test_repeats_that_agree_on_every_cell_are_refused_within_the_wall(
    repeats: int, method: str, monkeypatch: Any
) -> None:
    reached: list[float] = []
    evaluate = Quadrature.evaluate

    def watched(self: Quadrature, theta: Any, beta: Any, **options: Any) -> Any:
        reached.append(float(np.abs(theta).max()))
        return evaluate(self, theta, beta, **options)

    monkeypatch.setattr(Quadrature, "evaluate", watched)
    with pytest.raises(Separation, match=r"60 of 60 levels of system:item are always right or always wrong.*keep one"):
        fit_glmm("y ~ system + (1 | item) + (1 | system:item)", agreeing(30, repeats), method=method)
    assert max(reached, default=0.0) <= WALL
    assert len(reached) < 500


def test_two_repeats_that_agree_on_every_cell_are_no_fit_of_items() -> None:
    with pytest.raises(Separation, match=r"60 of 60 cells.*repeats agree.*This is no fit; keep one row a cell"):
        fit_glmm("y ~ system + (1 | item)", agreeing(30, 2))


def test_a_factor_that_is_the_response_is_refused() -> None:
    with pytest.raises(Separation, match="2 of 2 levels of y are always right or always wrong"):
        fit_glmm("y ~ system + (1 | y)", evaluation(4, 2, 30, 2))


def many_trials(each: float) -> dict[str, Any]:
    state = np.random.RandomState(6)
    share = np.clip(0.5 + 0.15 * state.standard_normal(40), 0.1, 0.9)
    return {
        "y": list(np.round(share * each)), "n": [each] * 40,
        "system": ["A", "B"] * 20, "item": [f"q{k // 2}" for k in range(40)],
    }  # fmt: skip


def test_cells_of_many_trials_that_differ_within_an_item_are_integrated_without_underflow() -> None:
    """The likelihood of one cell at the best effect of its item is below the smallest number."""
    table = many_trials(20_000.0)
    nodes, laplace = (
        fit_glmm("y ~ system + (1 | item)", table, trials="n", method=m) for m in ("quadrature", "laplace")
    )
    assert nodes.criterion == pytest.approx(laplace.criterion, abs=1e-2)
    assert [e.estimate for e in nodes.fixed] == pytest.approx([e.estimate for e in laplace.fixed], abs=1e-4)


def test_levels_of_very_many_trials_take_laplaces_approximation_in_few_evaluations() -> None:
    table = many_trials(1e8)
    fit = fit_glmm("y ~ system + (1 | item)", table, trials="n")
    assert (fit.method, fit.converged) == ("laplace", True)
    assert fit.optimizer.evaluations < 200
    with pytest.raises(FitError, match="thousands of nodes"):
        fit_glmm("y ~ system + (1 | item)", table, trials="n", method="quadrature")


def test_the_interval_of_a_headline_says_what_its_p_value_says() -> None:
    """Where spreads differ between systems, an interval of the probabilities may say otherwise."""
    opposed = 0
    for seed in range(12):
        fit = fit_glmm("y ~ system + (0 + system || item)", evaluation(seed, 2, 25, 2, gap=0.7, sd=(1.0, 0.5, 0.0)))
        effect, headline = fit.fixed[1], fit.answer().headline
        low, high = (float(x) for x in re.findall(r"CI ([0-9.]+) to ([0-9.]+), p", headline)[0])
        assert (low, high) == pytest.approx((np.exp(effect.low), np.exp(effect.high)), rel=0.1, abs=0.05)
        assert ("could be chance" in headline) == (effect.p > 0.05)
        opposed += (fit.difference.p > 0.05) != (effect.p > 0.05)
    assert opposed


def test_an_interval_of_differences_ends_within_the_possible() -> None:
    table = {"system": ["A"] * 40 + ["B"] * 40, "item": [f"q{i // 2}" for i in range(40)] * 2}
    table["y"] = [0.0] * 40 + [1.0] * 40
    fit = fit_glmm("y ~ system + (1 | item)", table, penalty=2.5)
    assert fit.difference.estimate + 1.96 * fit.difference.se > 1
    assert fit.difference.high == 1.0
    assert fit.difference.low > 0.5


@pytest.mark.parametrize(
    ("formula", "headline"),
    [("y ~ x + (1 | item)", "The effect of x "), ("y ~ 0 + (1 | item)", "There is no fixed effect to test.")],
)
def test_one_effect_and_none_are_said_as_such(formula: str, headline: str) -> None:
    assert fit_glmm(formula, evaluation(4, 2, 40, 3)).answer().headline.startswith(headline)
