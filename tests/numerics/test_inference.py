"""The covariance that fixed effects lack because variances are estimated, against Kenward and Roger's matrices."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from holdsup import LmmFit, fit_lmm
from holdsup.design.matrices import code_fitted_rows
from holdsup.numerics.inference import lacking_covariance

FORMULA = "score ~ system + (1 | dataset) + (1 | system:dataset)"


def make_blocks(systems_on: dict[str, str]) -> dict[str, list[Any]]:
    """Return two scores of each system on each dataset that it has."""
    rng = np.random.default_rng(4)
    rows = [(system, dataset) for system, datasets in systems_on.items() for dataset in datasets for _ in range(2)]
    hardness = dict(zip("abcdefgh", rng.normal(0, 8, 8), strict=True))
    cells = {row: hardness[row[1]] + rng.normal(0, 4) for row in rows}
    return {
        "system": [row[0] for row in rows],
        "dataset": [row[1] for row in rows],
        "score": [cells[row] + rng.normal(0, 2) for row in rows],
    }


def find_lacking(fit: LmmFit) -> np.ndarray:
    model = fit.model()
    found = lacking_covariance(model.engine.criterion, model.engine.optimum.theta, model.engine.inference)
    return np.asarray(model.transform @ found @ model.transform.T)


def test_what_is_lacking_is_kenward_and_rogers_term() -> None:
    """2 C sum W_ij (Q_ij - P_i C P_j) C, from matrices of all rows (Kenward & Roger 1997, eq. 3)."""
    table = make_blocks({"A": "abcde", "B": "abcd", "C": "efgh", "D": "dfgh"})
    fit = fit_lmm(FORMULA, table)
    model = fit.model()
    X = code_fitted_rows(model.design).fixed
    cells = [f"{s}:{d}" for s, d in zip(table["system"], table["dataset"], strict=True)]
    same = {"dataset": table["dataset"], "system:dataset": cells}
    variances = {c.group: c.variance for c in fit.random}
    assert min(variances.values()) > 0.5  # none at its edge
    groups = {name: np.equal.outer(np.array(labels), np.array(labels)) * 1.0 for name, labels in same.items()}
    groups["Residual"] = np.eye(len(X))
    inverse = np.linalg.inv(sum(variances[name] * G for name, G in groups.items()))
    C = np.linalg.inv(X.T @ inverse @ X)
    np.testing.assert_allclose(C, model.covariance, rtol=1e-6)
    # W: twice the inverse of the observed information, by differences of the restricted likelihood.
    y = np.array(table["score"])

    def criterion(phi: np.ndarray) -> float:
        V = sum(v * G for v, G in zip(phi, groups.values(), strict=True))
        inner = np.linalg.solve(V, np.column_stack([X, y]))
        gram = X.T @ inner[:, :-1]
        left = y @ inner[:, -1] - inner[:, -1] @ X @ np.linalg.solve(gram, X.T @ inner[:, -1])
        return float(np.linalg.slogdet(V)[1] + np.linalg.slogdet(gram)[1] + left)

    phi = np.array([variances[name] for name in groups])
    moves = np.diag(1e-3 * phi)
    H = np.empty((3, 3))
    for i, j in itertools.product(range(3), repeat=2):
        ends = [a * b * criterion(phi + a * moves[i] + b * moves[j]) for a in (1, -1) for b in (1, -1)]
        H[i, j] = sum(ends) / (4 * moves[i, i] * moves[j, j])
    W = 2 * np.linalg.inv(H)
    expected = np.zeros_like(C)
    for (i, G), (j, K) in itertools.product(enumerate(groups.values()), repeat=2):
        first, second = (-X.T @ inverse @ each @ inverse @ X for each in (G, K))
        Q = X.T @ inverse @ G @ inverse @ K @ inverse @ X
        expected += 2 * W[i, j] * C @ (Q - first @ C @ second) @ C
    found = find_lacking(fit)
    far = np.array([0.0, 0.0, 1.0, 0.0])  # C shares one dataset with A
    assert far @ expected @ far > 0.02 * (far @ C @ far)
    np.testing.assert_allclose(found, expected, atol=5e-3 * np.abs(expected).max())


def test_differences_within_complete_blocks_lack_nothing() -> None:
    fit = fit_lmm(FORMULA, make_blocks(dict.fromkeys("ABC", "abcdef")))
    found, whole = find_lacking(fit), fit.model().covariance
    assert np.abs(found[1:, 1:]).max() < 1e-6 * whole[1, 1]


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_scores_does_not_matter(factor: float) -> None:
    table = make_blocks({"A": "abcde", "B": "abcd", "C": "efgh"})
    scaled = {**table, "score": [factor * y for y in table["score"]]}
    here, there = (find_lacking(fit_lmm(FORMULA, each)) for each in (table, scaled))
    np.testing.assert_allclose(there / factor**2, here, rtol=1e-3, atol=1e-4 * np.abs(here).max())


def test_a_residual_of_next_to_nothing_is_not_divided_by_zero() -> None:
    table = make_blocks({"A": "abcde", "B": "abcd", "C": "efgh", "D": "dfgh"})
    first: dict[tuple[str, str], float] = {}
    rng = np.random.default_rng(1)
    for i, cell in enumerate(zip(table["system"], table["dataset"], strict=True)):
        table["score"][i] = first.setdefault(cell, table["score"][i]) + rng.normal(0, 0.01)
    with np.errstate(all="raise", under="ignore"):
        assert np.isfinite(find_lacking(fit_lmm(FORMULA, table))).all()
