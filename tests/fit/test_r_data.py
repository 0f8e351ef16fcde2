"""The data sets that come with R, read from R and fitted by both, where R is installed; and mixedlm, where it is."""

from __future__ import annotations

import csv
import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import r
from lme4_cases import CASES

from holdsup.fit import fit_lmm

pytestmark = pytest.mark.slow  # starts R

# name of the model -> (data set, formula, criterion by ML and REML as published, where it is)
MODELS: dict[str, tuple[str, str, dict[str, float]]] = {
    # MixedModels.jl test/pls.jl (ML); lme4's ?sleepstudy (REML)
    "sleepstudy": ("sleepstudy", "Reaction ~ Days + (1 + Days | Subject)", {"ml": 1751.9393444663153, "reml": 1743.6283}),
    "sleepstudy, uncorrelated": ("sleepstudy", "Reaction ~ Days + (Days || Subject)", {}),
    "Pastes, nested": ("Pastes", "strength ~ 1 + (1 | batch/cask)", {"ml": 247.99446586325791}),
    "Pastes, unique": ("Pastes", "strength ~ 1 + (1 | sample) + (1 | batch)", {"ml": 247.99446586325791}),
    "cake": ("cake", "angle ~ recipe * temp + (1 | recipe:replicate)", {}),
    "Machines": ("Machines", "score ~ Machine + (1 | Worker) + (1 | Worker:Machine)", {"reml": 215.6876}),  # Pinheiro & Bates, p. 24
    "Machines, unstructured": ("Machines", "score ~ Machine + (0 + Machine | Worker)", {}),
}  # fmt: skip
# lme4 1.1-31 with its default search: 1e-7 above the optimum.
INST_EVAL = {"ml": 237653.291791732}
FACTORS = {
    "Subject",
    "batch",
    "cask",
    "sample",
    "replicate",
    "recipe",
    "Worker",
    "Machine",
    "s",
    "d",
    "dept",
    "service",
}
DUMP = """
suppressMessages(library(lme4)); folder <- commandArgs(TRUE)[1]
Machines <- if (requireNamespace("nlme", quietly = TRUE)) as.data.frame(nlme::Machines) else NULL
for (name in c("sleepstudy", "Pastes", "cake", "Machines", "InstEval")) {
  data <- get(name)
  if (!is.null(data)) write.csv(data, file.path(folder, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    r.require()
    path = tmp_path_factory.mktemp("r")
    r.run(DUMP, str(path))
    return path


def read(folder: Path, name: str) -> dict[str, Any]:
    file = folder / f"{name}.csv"
    if not file.is_file():
        pytest.skip(f"R has no data set {name} here (package nlme)")
    with file.open() as stream:
        rows = list(csv.DictReader(stream))
    columns: dict[str, Any] = {}
    for column in rows[0]:
        values = [row[column] for row in rows]
        try:
            columns[column] = values if column in FACTORS else np.array(values, float)
        except ValueError:
            columns[column] = values
    return columns


@pytest.fixture(scope="module")
def answered(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """lme4 on all models at once: R starts once."""
    cases = [
        {"name": name, "formula": formula, "columns": read(folder, data), "reml": reml, "quick": True}
        for name, (data, formula, _) in MODELS.items()
        if (folder / f"{data}.csv").is_file()
        for reml in (True, False)
    ]
    return {(a["name"], "reml" if a["reml"] else "ml"): a for a in r.answers(cases)}


@pytest.mark.parametrize("method", ["reml", "ml"])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_data_of_r_fit_as_in_r(folder: Path, answered: Any, name: str, method: str) -> None:
    data, formula, published = MODELS[name]
    fit = fit_lmm(formula, read(folder, data), method)
    reference = answered[name, method]
    assert fit.converged
    assert fit.criterion <= reference["criterion"] + 1e-6
    assert fit.criterion == pytest.approx(reference["criterion"], abs=1e-5)
    if method in published:
        assert fit.criterion == pytest.approx(published[method], abs=1e-4)
    assert [e.name for e in fit.fixed] == reference["names"]
    se = np.array(reference["se"])
    assert np.abs(np.array([e.estimate for e in fit.fixed]) - reference["beta"]) == pytest.approx(
        0 * se, abs=1e-5 * se.min()
    )
    assert [e.se for e in fit.fixed] == pytest.approx(reference["se"], rel=1e-5)
    assert [e.df for e in fit.fixed] == pytest.approx(reference["df"], rel=1e-3)
    assert fit.sigma == pytest.approx(reference["sigma"], rel=1e-5)
    assert fit.singular == reference["singular"]


@pytest.mark.slow
def test_inst_eval_is_what_lme4s_own_criterion_says(folder: Path) -> None:
    """73,421 ratings, two factors of thousands of levels; fitting them in R takes 14 s, one evaluation does not."""
    columns = read(folder, "InstEval")
    columns = {name: columns[name] for name in ("y", "service", "s", "d", "dept")}
    formula = "y ~ 1 + (1 | s) + (1 | d) + (1 | dept:service)"
    fits = {method: fit_lmm(formula, columns, method) for method in INST_EVAL}
    groups = ("s", "d", "dept:service")
    cases = [
        {
            "name": method,
            "formula": formula,
            "columns": columns,
            "reml": method == "reml",
            "theta": dict(zip(groups, fit.optimizer.theta, strict=True)),
        }
        for method, fit in fits.items()
    ]
    for answer in r.answers(cases):
        fit = fits[answer["name"]]
        assert fit.converged
        assert fit.criterion == pytest.approx(answer["criterion"], abs=1e-6)  # of 237,650
        assert fit.criterion <= INST_EVAL[answer["name"]] + 1e-6


MIXEDLM = [
    "crossed two with gaps",
    "crossed three",
    "intercept and slope",
    "three by three",
    "slopes in both factors",
    "evaluation, a property",
    "two large factors",
]


@pytest.mark.parametrize("method", ["reml", "ml"])
@pytest.mark.parametrize("name", MIXEDLM)
@pytest.mark.filterwarnings("ignore:Model is singular:UserWarning")
def test_mixedlm_is_never_below_ours(name: str, method: str) -> None:
    criterion = functools.partial(_mixedlm, pytest.importorskip("mixedlm"), pytest.importorskip("pandas"))
    (case,) = (case for case in CASES if case.name == name)
    columns = case.make()
    fit = fit_lmm(case.formula, columns, method)
    theirs = criterion(case.formula, columns, method)
    assert fit.criterion <= theirs + 1e-6
    assert fit.criterion == pytest.approx(theirs, abs=1e-3)


def _mixedlm(mixedlm: Any, pandas: Any, formula: str, columns: dict[str, Any], method: str) -> float:
    result = mixedlm.lmer(formula, pandas.DataFrame(columns), REML=method == "reml")
    loglik = result.logLik()
    return -2 * float(getattr(loglik, "value", loglik))
