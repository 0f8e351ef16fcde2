"""Comparisons along a property on log-odds: the rates of classes, a logistic regression, its sandwich, and laws."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import minimize

import holdsup
from holdsup.cli.program import program
from holdsup.errors import ScoresError
from holdsup.numerics.spread import find_clusters
from holdsup.numerics.trends import measure_trends

Array = np.ndarray[Any, Any]
ITEMS = 150


def table(
    seed: int = 1, *, runs: int = 3, lead: float = 1.0, more: float = 0.0, slope: float = 0.5, flip: bool = False
) -> dict[str, Any]:
    """Two systems; B's log-odds lead by `lead`, and by `more` for one more of ease."""
    g = np.random.RandomState(seed)
    ease, item = g.standard_normal(ITEMS), g.standard_normal(ITEMS)
    s, i, r = (axis.ravel() for axis in np.indices((2, ITEMS, runs)))
    eta = 0.5 + s * (lead + more * ease[i]) + slope * ease[i] + item[i]
    right = g.random_sample(len(s)) < 1 / (1 + np.exp(-eta))
    return {
        "system": [f"{'AB'[k]}" for k in s], "item": [f"q{k}" for k in i], "seed": r.tolist(),
        "score": (right != flip).astype(float).tolist(), "ease": ease[i].tolist(),
        "genre": [("news", "prose", "verse")[k % 3] for k in i],
    }  # fmt: skip


def rates(data: dict[str, Any]) -> Array:
    """Return the right answers as systems x items x runs."""
    return np.array(data["score"]).reshape(2, ITEMS, -1)


def regress(y: Array, X: Array) -> Array:
    """Return the coefficients of a logistic regression, by a general optimizer."""

    def loss(b: Array) -> Any:
        eta = X @ b
        return (np.logaddexp(0, eta)[:, None] - y * eta[:, None]).sum()

    return np.asarray(minimize(loss, np.zeros(X.shape[1]), method="BFGS", options={"gtol": 1e-9}).x)


def test_the_slope_of_a_pair_is_the_difference_of_two_logistic_regressions() -> None:
    data = table()
    (found,) = holdsup.compare_systems(data, by="ease", scale="logit").conditional
    ease = np.array(data["ease"]).reshape(2, ITEMS, -1)[0, :, 0]
    X = np.column_stack([np.ones(ITEMS), ease])
    a, b = (regress(y, X) for y in rates(data))
    (pair,) = found.differences
    sign = 1 if pair.left == "A" else -1
    assert pair.slope == pytest.approx(sign * (a - b)[1], abs=1e-5)
    assert [s.slope for s in found.slopes] == pytest.approx([a[1], b[1]], abs=1e-5)
    line = found.slopes[0].line  # of a system: its rate
    assert line.value == pytest.approx(1 / (1 + np.exp(-(a[0] + a[1] * np.array(line.at)))), abs=1e-5)
    assert (found.scale, found.model) == ("logit", None)


def test_classes_differ_by_the_log_odds_of_their_rates() -> None:
    data = table(2, runs=1)
    (found,) = holdsup.compare_systems(data, by="genre", scale="logit").conditional
    (pair,) = found.differences
    y = rates(data)[:, :, 0]
    for place in range(3):
        a, b = (np.log(m / (1 - m)) for m in y[:, place::3].mean(axis=1))
        assert pair.line.value[place] == pytest.approx(a - b if pair.left == "A" else b - a, abs=1e-8)


def test_the_variance_over_items_is_the_sandwich_with_residuals_set_free_of_their_leverage() -> None:
    g = np.random.RandomState(4)
    x = g.standard_normal(80)
    X, clusters = np.column_stack([np.ones(80), x]), find_clusters(None, 80)
    arms = [(g.random_sample((80, 1)) < 1 / (1 + np.exp(-x - k)))[:, :1].astype(float) for k in (0.0, 0.8)]
    found = measure_trends(arms, X, settings=(None, None), clusters=clusters, log_odds=True)
    parts = []
    for y in arms:
        mu = 1 / (1 + np.exp(-X @ regress(y, X)))
        w = mu * (1 - mu)
        bread = np.linalg.inv(X.T @ (w[:, None] * X))
        free = 1 - w * np.einsum("ij,jk,ik->i", X, bread, X)
        parts.append(X @ bread * ((y[:, 0] - mu) / free)[:, None])
    moves = parts[0] - parts[1]
    moves -= moves.mean(axis=0)
    assert found.these == pytest.approx(moves.T @ moves, rel=1e-5, abs=1e-8)


def test_a_lead_that_is_one_in_log_odds_depends_on_ease_in_scores_alone() -> None:
    on = {"score": 0, "logit": 0}
    for seed in range(8):
        data = table(seed, lead=1.5, slope=1.5, runs=8)
        for scale in on:
            (found,) = holdsup.compare_systems(data, by="ease", scale=scale).conditional
            on[scale] += found.interaction.p <= 0.05
    assert on["logit"] <= 2
    assert on["score"] >= 5


def test_success_and_failure_exchanged_turn_signs_and_nothing_else() -> None:
    one, other = (
        holdsup.compare_systems(table(5, more=0.6, flip=flip), by=("ease", "genre"), scale="logit") for flip in (0, 1)
    )
    for a, b in zip(one.conditional, other.conditional, strict=True):
        assert (a.joint.p, a.interaction.p) == pytest.approx((b.joint.p, b.interaction.p), rel=1e-6)
        turned = 1 if a.differences[0].left == b.differences[0].left else -1
        assert a.differences[0].line.value == pytest.approx(-turned * np.array(b.differences[0].line.value), abs=1e-7)


def test_missing_cells_and_shares_of_samples_are_taken() -> None:
    data = table(6)
    g = np.random.RandomState(6)
    kept = np.flatnonzero(g.random_sample(len(data["score"])) < 0.9)
    fewer = {k: [v[i] for i in kept] for k, v in data.items()}
    whole, part = (holdsup.compare_systems(d, by="ease", scale="logit").conditional[0] for d in (data, fewer))
    assert part.differences[0].slope == pytest.approx(whole.differences[0].slope, abs=2 * whole.differences[0].se)
    shares = {**data, "score": [0.25 + 0.5 * y for y in data["score"]]}
    assert holdsup.compare_systems(shares, by="ease", scale="logit").conditional[0].differences[0].se > 0


@pytest.mark.parametrize(
    ("change", "asked", "message"),
    [
        ({"score": [2.0] + [0.0, 1.0] * 449 + [1.0]}, {}, "has a score of 2, and log-odds take scores from 0 to 1"),
        ({}, {"by": ()}, "--scale logit belongs to --by"),
        ({}, {"scale": "probit"}, "scale is 'probit': it can be score or logit"),
        ({}, {"shared": "seed"}, "B and A share seeds"),
        ({"score": [1.0] * 450 + [0.0, 1.0] * 225}, {}, "all are right or all are wrong somewhere along it"),
    ],
)
def test_what_has_no_log_odds_gets_one_clear_line(change: Any, asked: Any, message: str) -> None:
    with pytest.raises(ScoresError, match=message):
        holdsup.compare_systems({**table(), **change}, **{"by": "ease", "scale": "logit", **asked})


def test_a_deterministic_system_has_no_runs_of_its_own() -> None:
    data = table()
    y = rates(data)
    y[0] = y[0, :, :1]
    with pytest.raises(ScoresError, match="are deterministic, and log-odds take runs of each system's own"):
        holdsup.compare_systems(
            {**data, "score": y.ravel().tolist()}, by="ease", scale="logit", deterministic="A"
        )  # fmt: skip


def test_the_command_says_what_its_numbers_are_of(tmp_path: Any) -> None:
    data = table(7, more=1.5)
    lines = [",".join(data)] + [",".join(map(str, row)) for row in zip(*data.values(), strict=True)]
    (path := tmp_path / "scores.csv").write_text("\n".join(lines))
    words = ["compare", str(path), "--by", "ease", "--scale", "logit"]
    shown = CliRunner().invoke(program, [*words, "--full"]).output
    assert "the lead in log-odds depends on ease" in shown
    assert "By ease: change of log-odds with one unit" in shown
    saved = json.loads(CliRunner().invoke(program, [*words, "--format", "json"]).output)
    assert saved["conditional"][0]["scale"] == "logit"
    assert "scale:logit" in saved["signature"]
