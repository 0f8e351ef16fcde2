"""Items that lie in clusters and datasets: components of their own, and errors that allow for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import holdsup
from holdsup.errors import ScoresError
from holdsup.fit import fit_lmm, profile_share
from holdsup.verdict.variance import Decomposition

CLUSTERS, WITHIN, SEEDS = 10, 12, 4


def clustered(seed: int = 1) -> tuple[np.ndarray, pd.DataFrame]:
    """Return scores by cluster, item of the cluster and seed, as an array and as a table."""
    rng = np.random.default_rng(seed)
    y = 0.5 + rng.normal(0, 0.15, (CLUSTERS, 1, 1)) + rng.normal(0, 0.05, (CLUSTERS, WITHIN, 1))
    y = y + rng.normal(0, 0.03, (1, 1, SEEDS)) + rng.normal(0, 0.08, (CLUSTERS, WITHIN, SEEDS))
    cluster, item, run = (axis.ravel() for axis in np.indices(y.shape))
    columns = {"system": "A", "document": cluster, "item": cluster * WITHIN + item, "seed": run, "score": y.ravel()}
    return y, pd.DataFrame(columns)


def in_datasets(sizes: tuple[int, ...]) -> pd.DataFrame:
    """Return scores of A and B on datasets, whose items are numbered from 0 in each."""
    rng = np.random.default_rng(5)
    frames = []
    for number, (size, level) in enumerate(zip(sizes, rng.normal(0.6, 0.1, len(sizes)), strict=True)):
        item, run = (axis.ravel() for axis in np.indices((size, 3)))
        for system in "AB":
            own = rng.normal(0, 0.01, 3)
            score = level + rng.normal(0, 0.1, size)[item] + own[run] + rng.normal(0, 0.05, len(item))
            columns = {"system": system, "dataset": f"d{number}", "item": item, "seed": run, "score": score}
            frames.append(pd.DataFrame(columns))
    return pd.concat(frames)


def anova(y: np.ndarray) -> dict[str, float]:
    """Return the variances by their mean squares, in a balanced design: clusters, items within them, seeds."""
    mean, clusters, items, seeds = y.mean(), y.mean((1, 2)), y.mean(2), y.mean((0, 1))
    squares = {
        "cluster": WITHIN * SEEDS * ((clusters - mean) ** 2).sum() / (CLUSTERS - 1),
        "item": SEEDS * ((items - clusters[:, None]) ** 2).sum() / (CLUSTERS * (WITHIN - 1)),
        "seed": CLUSTERS * WITHIN * ((seeds - mean) ** 2).sum() / (SEEDS - 1),
    }
    left = y - items[:, :, None] - seeds + mean
    residual = (left**2).sum() / ((CLUSTERS * WITHIN - 1) * (SEEDS - 1))
    return {
        "item": (squares["item"] - residual) / SEEDS,
        "cluster": (squares["cluster"] - squares["item"]) / (WITHIN * SEEDS),
        "seed": (squares["seed"] - residual) / (CLUSTERS * WITHIN),
        "Residual": residual,
    }


def now(found: Decomposition) -> float:
    return next(plan.se_mean for plan in found.study if plan.current)


def test_clusters_have_a_variance_of_their_own_that_of_the_analysis_of_variance() -> None:
    y, table = clustered()
    expected = anova(y)
    found = holdsup.decompose_variance(table)
    assert found.systems[0].model == "score ~ 1 + (1 | item) + (1 | cluster) + (1 | seed)"
    for component in found.components:
        assert component.variance == pytest.approx(expected[component.name], rel=1e-4)
    assert found.reliability is not None
    total = sum(expected.values())
    assert found.reliability.phi == pytest.approx((expected["item"] + expected["cluster"]) / total, rel=1e-4)
    assert any(
        "including the variance between their clusters" in note for table in found.tables() for note in table.notes
    )


def test_the_standard_error_of_the_mean_allows_for_clusters_as_compare_does() -> None:
    y, table = clustered()
    expected = anova(y)
    items = CLUSTERS * WITHIN
    parts = expected["cluster"] / CLUSTERS + expected["item"] / items + expected["seed"] / SEEDS
    se = np.sqrt(parts + expected["Residual"] / (items * SEEDS))
    assert now(holdsup.decompose_variance(table)) == pytest.approx(se, rel=1e-4)
    assert now(holdsup.decompose_variance(table, cluster="-")) < se / 2
    both = pd.concat([table, table.assign(system="B", score=table.score + 0.1)])
    compared = next(s for s in holdsup.compare_systems(both).systems if s.name == "A")
    assert se == pytest.approx(compared.se, rel=0.05)


def test_clusters_of_unequal_size_tell_as_much_as_fewer_equal_ones() -> None:
    _, table = clustered()
    table = table[(table.document > 0) | (table["item"] < 2)]  # one cluster keeps two items
    found = holdsup.decompose_variance(table)
    variances = {c.name: c.variance for c in found.components}
    sizes = np.array([2, *[WITHIN] * (CLUSTERS - 1)])
    items = sizes.sum()
    parts = variances["cluster"] * (sizes**2).sum() / items**2 + variances["item"] / items
    parts += variances["seed"] / SEEDS + variances["Residual"] / (items * SEEDS)
    assert now(found) == pytest.approx(np.sqrt(parts))


def test_datasets_have_a_variance_of_their_own_and_so_have_runs_within_them() -> None:
    table = in_datasets((60, 60, 60, 60, 60, 60))
    found = holdsup.decompose_variance(table, where={"system": "A"})
    assert [c.name for c in found.components] == ["item", "dataset", "seed", "dataset:seed", "Residual"]
    assert found.components[0].levels == 360  # item 0 of two datasets is two items
    mine = table[table.system == "A"]
    by_dataset = mine.groupby("dataset").score.mean()
    assert now(found) == pytest.approx(by_dataset.std(ddof=1) / np.sqrt(6), rel=0.1)
    assert "new items of new datasets like these in new runs" in found.verdict


def test_an_interaction_with_datasets_that_is_asked_for_stands_once() -> None:
    found = holdsup.decompose_variance(in_datasets((30, 30, 30)), interactions="seed:dataset", where={"system": "A"})
    assert [c.name for c in found.components] == ["item", "dataset", "seed", "seed:dataset", "Residual"]


def test_a_facet_called_like_the_clusters_is_refused() -> None:
    _, table = clustered()
    with pytest.raises(ScoresError, match="the facet 'cluster' has the same name as the clusters"):
        holdsup.decompose_variance(table.rename(columns={"seed": "cluster"}), cluster="document", facets=["cluster"])


def test_a_class_of_one_item_is_refused_as_by_compare() -> None:
    _, table = clustered()
    table["genre"] = np.where(table["item"] == 0, "rare", "common")
    with pytest.raises(ScoresError, match="--by genre: class 'rare' has one item of 'A'"):
        holdsup.decompose_variance(table, by="genre", cluster="-")


@pytest.mark.slow
def test_limits_of_phi_cover_it_with_clusters_and_hardly_without() -> None:
    truth = (0.15**2 + 0.05**2) / (0.15**2 + 0.05**2 + 0.03**2 + 0.08**2)
    covered = {"with": 0, "without": 0}
    tables = 60
    for seed in range(tables):
        _, table = clustered(100 + seed)
        data = {name: table[name].astype(str).to_list() for name in ("item", "document", "seed")}
        data["score"] = table.score.to_list()
        fit = fit_lmm("score ~ 1 + (1 | item) + (1 | document) + (1 | seed)", data)
        share = profile_share(fit, "item", "document")
        covered["with"] += share.low <= truth <= share.high
        alone = profile_share(fit_lmm("score ~ 1 + (1 | item) + (1 | seed)", data), "item")
        covered["without"] += alone.low <= truth <= alone.high
    assert covered["with"] / tables >= 0.95 - 2.6 * np.sqrt(0.95 * 0.05 / tables)  # within 2.6 standard errors
    assert covered["without"] / tables < 0.7
