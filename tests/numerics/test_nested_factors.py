"""Documents eliminated after their items: the same function as all factors together, at a fraction of the work."""

from __future__ import annotations

import numpy as np
import pytest

from holdsup.fit import LmmFit, fit_lmm, profile_share, random_effects
from holdsup.numerics.nested import Nested


def documents(method: str, *, crossed: bool = False) -> LmmFit:
    rng = np.random.default_rng(0)
    dataset, document, item, run = (axis.ravel() for axis in np.indices((2, 30, 4, 4)))
    y = rng.normal(0, 0.5, (2, 30))[dataset, document] + rng.normal(0, 1, (2, 30, 4))[dataset, document, item]
    y += rng.normal(0, 0.3, 2)[dataset] + rng.normal(0, 0.3, 4)[run] + rng.normal(0, 0.6, len(y))
    where = 30 * dataset + document
    columns = {"item": 4 * where + item, "document": (where + run) % 60 if crossed else where, "dataset": dataset}
    columns["run"] = run
    kept = rng.random(len(y)) > 0.1
    data = {name: codes[kept].astype(str) for name, codes in columns.items()}
    data |= {"y": y[kept], "x": rng.normal(size=len(y))[kept]}
    return fit_lmm("y ~ x + (1 | item) + (1 | document) + (1 | dataset) + (1 | run)", data, method)


@pytest.mark.parametrize("method", ["reml", "ml"])
@pytest.mark.parametrize("theta", [(1.5, 0.8, 0.4, 0.5), (0.3, 1.2, 0.0, 0.7), (0.0, 0.0, 0.1, 2.0)])
def test_documents_within_datasets_may_be_taken_out_one_by_one(method: str, theta: tuple[float, ...]) -> None:
    engine = documents(method).model().engine
    assert isinstance(engine.lean.elimination, Nested)
    assert len(engine.lean.moments.C) == 9 < 60 < len(engine.criterion.moments.C)
    there = np.array(theta)
    value, slopes = engine.criterion.slopes(there)
    assert engine.lean.solve(there).value == pytest.approx(value, abs=1e-9)
    assert engine.lean.slopes(there)[1] == pytest.approx(slopes, abs=1e-9)
    logdet, residual, solution = engine.criterion.parts(there)
    found = engine.lean.parts(there)
    assert found[0] == pytest.approx(logdet, abs=1e-9)
    assert found[1] == pytest.approx(residual, abs=1e-12)
    assert found[2].beta == pytest.approx(solution.beta, abs=1e-12)
    point = np.append(there, -0.3)
    assert engine.lean.unprofiled(point)[1] == pytest.approx(engine.criterion.unprofiled(point)[1], abs=1e-9)


def test_a_factor_that_items_are_crossed_with_stays_with_the_others() -> None:
    engine = documents("reml", crossed=True).model().engine
    assert engine.lean is engine.criterion


def test_effects_and_limits_do_not_depend_on_how_documents_are_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    lean = documents("reml")
    monkeypatch.setattr("holdsup.numerics.mixed.make_lean", lambda criterion: criterion)
    dense = documents("reml")
    assert [c.variance for c in lean.random] == pytest.approx([c.variance for c in dense.random], rel=1e-5)
    for one, other in zip(random_effects(lean), random_effects(dense), strict=True):
        assert one.values == pytest.approx(other.values, abs=1e-5)
    one, other = (profile_share(fit, "item", "document", "dataset") for fit in (lean, dense))
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-5)


def nested(seed: int) -> tuple[dict[str, object], list[float]]:
    """Settings in systems in datasets, complete, 1,000 times as far apart as repeats; and the variances by mean squares."""
    rng, shape = np.random.default_rng(seed), (5, 2, 3, 4)
    y = 0.7 + sum(rng.normal(0, sd, shape[:n] + (1,) * (4 - n)) for n, sd in ((1, 0.4), (2, 0.2), (3, 0.16)))
    y = y + rng.normal(0, 0.001, shape)
    means = [y.mean(tuple(range(n, 4)), keepdims=True) for n in range(5)]
    parts = [np.broadcast_to((means[n] - means[n - 1]) ** 2, shape).sum() for n in (1, 2, 3, 4)]
    squares = np.array(parts) / [4, 5, 20, 90]
    codes = np.indices(shape).reshape(4, -1).astype(str)
    columns = {"y": y.ravel(), **dict(zip(("dataset", "system", "setting"), codes, strict=False))}
    return columns, [*(squares[:3] - squares[1:]) / [24, 12, 4], squares[3]]


@pytest.mark.parametrize("seed", range(4))
def test_variances_100000_times_the_residual_are_those_of_the_mean_squares(seed: int) -> None:
    """Rounding in the criterion once moved them by up to a fifth, and another order of rows by as much."""
    columns, expected = nested(seed)
    assert min(expected) > 0
    fitted = fit_lmm("y ~ 1 + (1|dataset) + (1|system:dataset) + (1|setting:system:dataset)", columns)
    assert [term.variance for term in fitted.random] == pytest.approx(expected, rel=2e-3)
    engine = fitted.model().engine
    near = engine.optimum.theta * (1 + 1e-13 * np.random.default_rng(0).normal(size=(20, 3)))
    assert np.ptp([engine.criterion.slopes(theta)[0] for theta in near]) < 1e-6
    assert np.ptp([engine.criterion.solve(theta).value for theta in near]) < 1e-6
