"""The criteria of logistic mixed models: gradients against differences, cells against rows, the rule against itself halved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from holdsup.numerics.chain import Model, Term
from holdsup.numerics.laplace import Laplace
from holdsup.numerics.outcomes import Cells, compact, find_chain, make_cells, number_points
from holdsup.numerics.quadrature import Quadrature
from holdsup.numerics.separation import find_separated

Array = np.ndarray[Any, Any]


def random_model(seed: int, *, slopes: bool = True, merge: bool = True) -> tuple[Model, Array]:
    """An unbalanced table with one to four factors, slopes, trials and a number, and where its criterion is looked at."""
    g = np.random.RandomState(seed)
    N, items, S = g.randint(60, 300), g.randint(6, 40), g.randint(2, 5)
    item, system, run = g.randint(0, items, N), g.randint(0, S, N), g.randint(0, 3, N)
    x = np.round(g.standard_normal(N), 1)
    groups = [item, item * S + system, system * 3 + run, item // 3]
    groups = [compact(groups[k])[0] for k in range(4) if k == 0 or g.random_sample() < 0.6]
    counted = [(codes, int(codes.max()) + 1) for codes in groups]
    trials = g.randint(1, 4, N).astype(float) if seed % 2 else None
    y = g.binomial(1 if trials is None else trials.astype(int), 0.6, N).astype(float)
    chain = find_chain(counted, least=int(g.randint(2, 15)))
    rest = [k for k in range(len(groups)) if k not in chain]
    points = number_points([system, x, *(groups[k] for k in rest)], N)
    cells = make_cells(y, trials, points, [counted[k] for k in chain], merge=merge)
    X = np.column_stack([np.ones(N), *(system == s for s in range(1, S)), x])[points.shown]
    terms, theta = [], []
    for k, codes in enumerate(groups):
        kind = g.randint(0, 3) if slopes else 0  # an intercept, with a correlated slope, with one that is not
        columns = np.column_stack([np.ones(N), x] if kind else [np.ones(N)])[points.shown]
        pairs = [(i, j) for j in range(columns.shape[1]) for i in range(j, columns.shape[1]) if i == j or kind == 1]
        places = tuple((i, j, len(theta) + t) for t, (i, j) in enumerate(pairs))
        theta += [g.normal(0.4, 0.4) for _ in pairs]
        inside = chain.index(k) if k in chain else None
        terms.append(Term(columns, places, inside, codes[points.shown], counted[k][1]))
    model = Model(cells, X, tuple(terms), len(theta), np.full(X.shape[1], 0.1 * (seed % 3)))
    return model, np.concatenate([theta, g.normal(0, 0.5, X.shape[1])])


def differences(evaluate: Any, x: Array, k: int, step: float = 1e-4) -> Array:
    units = step * np.eye(len(x))
    return np.array(
        [
            (evaluate((x + e)[:k], (x + e)[k:], slopes=False)[0] - evaluate((x - e)[:k], (x - e)[k:], slopes=False)[0])
            / (2 * step)
            for e in units
        ]
    )


@pytest.mark.parametrize("seed", range(24))
def test_laplaces_gradient_is_that_of_its_differences(seed: int) -> None:
    model, x = random_model(seed)
    laplace, k = Laplace(model), model.parameters
    gradient = laplace.evaluate(x[:k], x[k:])[1]
    assert gradient == pytest.approx(differences(laplace.evaluate, x, k), abs=1e-4, rel=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_the_gradient_with_beta_at_the_joint_mode_is_that_of_its_differences(seed: int) -> None:
    model, x = random_model(seed)
    laplace, k = Laplace(model), model.parameters
    gradient = laplace.evaluate(x[:k])[1]
    found = differences(lambda theta, _, slopes: laplace.evaluate(theta, slopes=slopes), x[:k], k)
    assert gradient == pytest.approx(found, abs=1e-4, rel=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_items_that_hold_the_same_cells_are_counted_once_and_change_nothing(seed: int) -> None:
    (merged, x), (whole, _) = random_model(seed, slopes=False), random_model(seed, slopes=False, merge=False)
    k = merged.parameters
    one, other = (Laplace(model).evaluate(x[:k], x[k:]) for model in (merged, whole))
    assert one[0] == pytest.approx(other[0], abs=1e-6)
    assert one[1] == pytest.approx(other[1], abs=1e-5)


def evaluation_model(seed: int, sd: dict[str, float], runs: int = 3, held: float = 0.9) -> tuple[Model, Array]:
    """Systems on items in runs, some cells missing; `sd` says which random terms there are."""
    g = np.random.RandomState(seed)
    s, i, r = np.indices((3, 40, runs)).reshape(3, -1)
    kept = g.random_sample(len(s)) < held
    s, i, r = s[kept], i[kept], r[kept]
    y = (g.random_sample(len(s)) < 1 / (1 + np.exp(-0.5 - g.standard_normal(40)[i]))).astype(float)
    codes = {"unit": i * 3 + s, "item": i, "run": s * runs + r}
    groups = {name: (compact(codes[name])[0], int(compact(codes[name])[1])) for name in sd}
    chain = [name for name in ("unit", "item") if name in sd]
    points = number_points([s, *([groups["run"][0]] if "run" in sd else [])], len(s))
    cells = make_cells(y, None, points, [groups[name] for name in chain])
    X = np.column_stack([np.ones(len(s)), s == 1, s == 2]).astype(float)[points.shown]
    terms = tuple(
        Term(
            np.ones((points.count, 1)), ((0, 0, t),), chain.index(name) if name in chain else None,
            groups[name][0][points.shown], groups[name][1],
        )
        for t, name in enumerate(sd)
    )  # fmt: skip
    return Model(cells, X, terms, len(sd), np.zeros(3)), np.array([*sd.values(), 0.6, 0.1, 0.3])


SHAPES = [
    {"item": 1.1}, {"item": 0.0}, {"item": 1.1, "unit": 0.7}, {"item": 1.1, "unit": 0.2}, {"item": 0.2, "unit": 0.7},
    {"item": 1.1, "run": 0.3}, {"item": 1.1, "unit": 0.7, "run": 0.4}, {"item": 0.2, "unit": 1.1, "run": 0.4},
]  # fmt: skip


@pytest.mark.parametrize("sd", SHAPES, ids=str)
def test_the_quadratures_gradient_is_that_of_its_differences(sd: dict[str, float]) -> None:
    model, x = evaluation_model(1, sd)
    k, laplace = model.parameters, Laplace(model)
    laplace.evaluate(x[:k], x[k:])
    quadrature = Quadrature(model, laplace)
    gradient = quadrature.evaluate(x[:k], x[k:])[1]
    found = differences(quadrature.evaluate, x, k, 1e-3)
    assert gradient == pytest.approx(found, abs=2e-4)


@pytest.mark.parametrize("sd", SHAPES, ids=str)
def test_half_the_spacing_gives_the_same_likelihood(sd: dict[str, float]) -> None:
    model, x = evaluation_model(2, sd)
    k, laplace = model.parameters, Laplace(model)
    laplace.evaluate(x[:k], x[k:])
    quadrature = Quadrature(model, laplace)
    value, _ = quadrature.evaluate(x[:k], x[k:])
    quadrature.refinement = 2.0
    assert quadrature.evaluate(x[:k], x[k:])[0] == pytest.approx(value, abs=1e-6)


def test_items_that_share_their_cells_are_integrated_as_one_by_one() -> None:
    """What varies over items' posteriors, set by set of items with the same cells, and pair by pair of item and node."""
    model, x = evaluation_model(3, {"item": 1.1, "run": 0.5})
    k, found = model.parameters, []
    for shared in (True, False):
        laplace = Laplace(model)
        laplace.evaluate(x[:k], x[k:])
        quadrature = Quadrature(model, laplace)
        assert len(quadrature.sets) > 1
        quadrature.sets = quadrature.sets if shared else []
        found.append(quadrature.evaluate(x[:k], x[k:]))
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-6)
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-5)


def test_complete_tables_are_added_up_as_the_same_cells_in_no_order_are() -> None:
    """The quick sums of complete tables give what sums by index give."""
    model, x = evaluation_model(4, {"item": 1.1, "unit": 0.7, "run": 0.4}, held=1.0)
    cells, k = model.cells, model.parameters
    one = Laplace(model).evaluate(x[:k], x[k:])
    assert cells.width
    assert all(cells.fan.values())
    assert cells.place[-1] is None
    cells.width, cells.fan, cells.alike = 0, dict.fromkeys(cells.fan, 0), []
    cells.place = [node * cells.points + cells.point for node in cells.cellnode]
    other = Laplace(model).evaluate(x[:k], x[k:])
    assert one[0] == pytest.approx(other[0], abs=1e-9)
    assert one[1] == pytest.approx(other[1], abs=1e-7)


def test_cells_hold_every_row_once() -> None:
    g = np.random.RandomState(3)
    group, point = g.randint(0, 30, 500), g.randint(0, 7, 500)
    y, n = g.randint(0, 3, 500).astype(float), np.full(500, 4.0)
    cells = make_cells(y, n, number_points([point], 500), [(group, 30)])
    assert isinstance(cells, Cells)
    assert (cells.mass @ cells.s, cells.mass @ cells.n) == (y.sum(), n.sum())
    assert cells.by_point(cells.s) == pytest.approx(np.bincount(point, y))


def test_separation_needs_a_direction_that_no_mixed_row_moves_in() -> None:
    X = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1.0]])
    n = np.full(3, 10.0)
    assert find_separated(X, np.array([4.0, 10, 6]), n).tolist() == [1]
    assert find_separated(X, np.array([4.0, 9, 6]), n).tolist() == []
    line = np.column_stack([np.ones(4), [0, 1, 2, 3]])
    n = np.full(4, 5.0)
    assert find_separated(line, np.array([0.0, 2, 3, 5]), n).tolist() == []  # a slope is held by the mixed rows
    assert {0, 3} < set(find_separated(line, np.array([0.0, 0, 5, 5]), n).tolist())
