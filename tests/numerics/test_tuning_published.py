"""Tables 1 to 5 of Moss, Leslie and Rayson (2018), and the adaptive rule on their grids."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdsup.numerics.tuning import pick_best
from holdsup.numerics.tuning_plans import AdaptiveSchedule

POS = "POS__POSLR_differentpartitions_1000_5_folds"


@pytest.fixture(scope="module")
def grids(real_data: Path) -> dict[str, np.ndarray]:
    with np.load(real_data / "moss_jkfold/moss_cv_grids.npz", allow_pickle=False) as file:
        return dict(file)


@pytest.fixture(scope="module")
def moss(root: Path) -> dict[str, Any]:
    return runpy.run_path(str(root / "replications/moss.py"))


def test_sixty_three_of_seventy_published_cells_agree_to_three_figures(
    grids: dict[str, np.ndarray], moss: dict[str, Any]
) -> None:
    cells = [cell for table in moss["TABLES"] for cell in moss["compare"](table, grids)]
    exact = sum(f"{published:.3g}" == f"{obtained:.3g}" for _, _, published, obtained, _ in cells)
    assert len(cells) == 70
    assert exact >= 63
    assert all(obtained == pytest.approx(published, rel=0.007) for _, _, published, obtained, _ in cells)


def test_adaptive_j_takes_half_of_the_fits_on_the_tagger_and_keeps_the_regret(
    grids: dict[str, np.ndarray],
) -> None:
    grid = grids[POS]
    truth = grid.mean(axis=0)
    rng = np.random.default_rng(1)
    plan = AdaptiveSchedule(candidates=11, k=1)
    fits, beyond = [], 0
    for _ in range(100):
        partitions = grid[rng.choice(len(grid), 8, replace=False)]
        scores = np.empty((0, 11))
        while chosen := plan.next(scores):
            row = np.full(11, np.nan)
            row[chosen] = partitions[len(scores), chosen]
            scores = np.vstack([scores, row])
        review = plan.review(scores)
        fits.append(review.fits / 88)
        assert review.margin is not None
        beyond += truth.max() - truth[pick_best(scores)] > review.margin
    assert np.mean(fits) < 0.52  # .479 in 2,000 draws, standard deviation .054
    assert beyond <= 5
