"""Simulated evaluations with the truth known: a base, and one change at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["CELLS", "Cell", "Sample", "simulate"]

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Draw = Callable[..., Floats]
SHARED = 0.02  # sd of what two systems have in common on a seed
HALF_RIGHT = 0.5  # share of items that the right system gets right


@dataclass(frozen=True, slots=True)
class Cell:
    """How an evaluation is drawn, and how its difference is claimed.

    Standard deviations are those of Table 4 (Rouge-1) of Hagmann et al. (2023): items .096, seeds .011,
    residual .068; that of items within a system, which the table does not separate, is .03.

    Attributes
    ----------
    name : what differs from the base
    design : what is claimed, and so which function compares
    effect : true difference for coverage and power
    runs, sd_run, sd_system_item : of the left and of the right system
    shape : of all effects: normal or skewed (exponential), or binary scores by a probit
    clusters : number of items of each cluster
    settings : number of settings that the runs of the left system are spread over
    facets : of the left and of the right system, the levels of each facet of settings that are drawn; a grid
    sd_facet : of the levels of each of these
    """

    name: str
    design: str = "new-runs"
    effect: float = 0.03
    systems: int = 2
    items: int = 100
    runs: tuple[int, int] = (4, 4)
    sd_run: tuple[float, float] = (0.011, 0.011)
    sd_system_item: tuple[float, float] = (0.03, 0.03)
    sd_item: float = 0.096
    sd_residual: float = 0.068
    shape: str = "normal"
    clusters: tuple[int, ...] = ()
    sd_system_cluster: float = 0.03
    missing: float = 0.0
    datasets: int = 1
    sd_system_dataset: float = 0.02
    settings: int = 1
    sd_setting: float = 0.05
    facets: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    sd_facet: float = 0.011


BASE = Cell("base: 2 systems, 100 items, 4 runs")
MANY_CLUSTERS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 5) * 2
FEW_CLUSTERS = (4, 6, 8, 10, 14, 16, 20, 22)
NEW_SETTINGS = replace(BASE, design="new-settings")
DRAWN = (  # runs, and levels of facets
    ("3x3 grid x 3 v 5 seeds", (27, 5), ((3, 3), ())),
    ("6 x 2 each", (12, 12), ((6,), (6,))),
    ("3 x 3 v 5 seeds", (9, 5), ((3,), ())),
    ("3 x 2 each", (6, 6), ((3,), (3,))),
    ("2 x 3 each", (6, 6), ((2,), (2,))),
    ("3 x 5 v 18 seeds", (15, 18), ((3,), ())),
)
CELLS = (
    BASE,
    replace(BASE, name="5 systems, 10 pairs", systems=5),
    replace(BASE, name="1,000 items", items=1000),
    replace(BASE, name="2 runs", runs=(2, 2)),
    replace(BASE, name="3 runs", runs=(3, 3)),
    replace(BASE, name="10 runs", runs=(10, 10)),
    replace(BASE, name="run sd 0", sd_run=(0, 0)),
    replace(BASE, name="run sd 0, 2 runs", sd_run=(0, 0), runs=(2, 2)),
    replace(BASE, name="run sd .05", sd_run=(0.05, 0.05)),
    replace(BASE, name="18 v 5 runs, sd .002 v .011, 1,000 items", items=1000, runs=(18, 5), sd_run=(0.002, 0.011)),
    replace(BASE, name="10 v 3 runs, sd .002 v .02", runs=(10, 3), sd_run=(0.002, 0.02)),
    replace(BASE, name="18 v 2 runs, sd 0 v .02, 1,000 items", items=1000, runs=(18, 2), sd_run=(0, 0.02)),
    replace(BASE, name="item:system sd .1 v 0", sd_system_item=(0.1, 0)),
    replace(BASE, name="20 clusters of 1-9", clusters=MANY_CLUSTERS),
    replace(BASE, name="8 clusters of 4-22", clusters=FEW_CLUSTERS),
    replace(BASE, name="shared seeds", design="shared"),
    replace(BASE, name="skewed scores", shape="skewed"),
    replace(BASE, name="0/1 scores", shape="binary", effect=0.1),
    replace(BASE, name="10% missing", missing=0.1),
    replace(BASE, name="30 runs at 6 settings v 18", design="settings", runs=(30, 18), settings=6),
    replace(BASE, name="5 datasets, new", design="new-datasets", datasets=5),
    replace(BASE, name="5 datasets, these", design="these-datasets", datasets=5),
    replace(BASE, name="5 datasets, new, same runs", design="same-runs", datasets=5),
    *(
        replace(
            BASE,
            name=f"5 datasets, these, same {runs} runs",
            design="these-datasets, same-runs",
            datasets=5,
            runs=(runs,) * 2,
        )
        for runs in (3, 5)
    ),
    *(
        replace(
            BASE,
            name=f"{runs} runs, sd {sd:g}, v deterministic",
            design="deterministic",
            runs=(runs, 1),
            sd_run=(sd, 0),
        )
        for runs in (2, 3, 5)
        for sd in (0.0, 0.011, 0.05)
    ),
    replace(BASE, name="no items, 5 v 3 runs, sd .011 v .02", design="run-scores", runs=(5, 3), sd_run=(0.011, 0.02)),
    replace(BASE, name="these runs: 4 runs", design="these-runs"),
    replace(BASE, name="these runs: 1 run", design="these-runs", runs=(1, 1)),
    replace(
        BASE, name="20 clusters, 10 v 3 runs, sd .002 v .02", clusters=MANY_CLUSTERS, runs=(10, 3), sd_run=(0.002, 0.02)
    ),
    replace(BASE, name="skewed scores, 10% missing", shape="skewed", missing=0.1),
    *(
        replace(NEW_SETTINGS, name=f"new settings: {name}, {word}", runs=runs, facets=facets, sd_facet=times * 0.011)
        for name, runs, facets in DRAWN
        for word, times in (("as runs", 1), ("4 x runs", 2))
    ),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """Simulated evaluations.

    Attributes
    ----------
    scores : for each system an array of simulations x items x runs, NaN where missing
    clusters, datasets : codes for each item
    settings : codes for each run of the left system
    facets : for each system the levels of its runs by each facet that is drawn, None where there is none
    """

    scores: list[Floats]
    clusters: Codes | None
    datasets: Codes
    settings: Codes | None
    facets: tuple[Codes | None, Codes | None]


def simulate(cell: Cell, rng: np.random.Generator, count: int, effect: float) -> Sample:
    """Return `count` evaluations in which the first system is better by `effect`, under the cell's claim."""

    def draw(sd: float, *shape: int) -> Floats:
        deviates = rng.exponential(size=shape) - 1 if cell.shape == "skewed" else rng.standard_normal(shape)
        return sd * deviates

    clusters = np.repeat(np.arange(len(cell.clusters)), cell.clusters) if cell.clusters else None
    datasets = np.arange(cell.items) * cell.datasets // cell.items
    item = draw(cell.sd_item, count, cell.items)
    seed = draw(SHARED, count, 1, max(cell.runs)) if cell.design == "shared" else np.zeros((count, 1, 1))
    scores = []
    for system in range(cell.systems):
        side, better = min(system, 1), effect if system == 0 else 0.0
        items = item + _own_items(cell, draw, side, count, clusters, datasets)
        runs = _own_runs(cell, draw, side, count)
        predictor = items[:, :, None] + seed + (runs[:, datasets] if runs.shape[1] > 1 else runs)
        if side == 0 and cell.settings > 1:
            predictor += _setting_effects(cell, draw, count)
        if cell.facets[side]:
            predictor += _facet_effects(cell, draw, side, count)
        scores.append(_observe(cell, rng, draw, predictor, better))
    settings = np.arange(cell.runs[0]) % cell.settings if cell.settings > 1 else None
    return Sample(scores, clusters, datasets, settings, (_levels(cell, 0), _levels(cell, 1)))


def _own_items(cell: Cell, draw: Draw, side: int, count: int, clusters: Codes | None, datasets: Codes) -> Floats:
    """Return a system's own effects on items, on clusters and on datasets; datasets as given are centred."""
    effects = draw(cell.sd_system_item[side], count, cell.items)
    if clusters is not None:
        effects += draw(cell.sd_system_cluster, count, len(cell.clusters))[:, clusters]
    if cell.datasets > 1:
        by_dataset = draw(cell.sd_system_dataset, count, cell.datasets)
        held = by_dataset.mean(1, keepdims=True) if cell.design.startswith("these-datasets") else 0.0
        effects += (by_dataset - held)[:, datasets]
    return effects


def _own_runs(cell: Cell, draw: Draw, side: int, count: int) -> Floats:
    """Return the effects of runs, of their own in each dataset where the design says so; these runs are centred."""
    own = cell.datasets if cell.design in ("these-datasets", "new-datasets") else 1
    effects = draw(cell.sd_run[side], count, own, cell.runs[side])
    return effects - effects.mean(2, keepdims=True) if cell.design == "these-runs" else effects


def _setting_effects(cell: Cell, draw: Draw, count: int) -> Floats:
    """Return the effects of settings, which sum to zero, and of settings on items."""
    main = draw(cell.sd_setting, count, 1, cell.settings)
    effects = main - main.mean(2, keepdims=True) + draw(cell.sd_system_item[0], count, cell.items, cell.settings)
    return np.tile(effects, cell.runs[0] // cell.settings)


def _levels(cell: Cell, side: int) -> Codes | None:
    """Return the level of each run by each facet that is drawn: a grid, seed by seed."""
    grid = cell.facets[side]
    return np.stack(np.unravel_index(np.arange(cell.runs[side]) % np.prod(grid), grid)) if grid else None


def _facet_effects(cell: Cell, draw: Draw, side: int, count: int) -> Floats:
    """Return the effects of the levels of facets, and of settings on items."""
    levels, grid = _levels(cell, side), cell.facets[side]
    assert levels is not None
    main = sum(draw(cell.sd_facet, count, 1, size)[:, :, codes] for size, codes in zip(grid, levels, strict=True))
    setting = np.ravel_multi_index(tuple(levels), grid)
    return main + draw(cell.sd_system_item[side], count, cell.items, int(np.prod(grid)))[:, :, setting]


def _observe(cell: Cell, rng: np.random.Generator, draw: Draw, predictor: Floats, better: float) -> Floats:
    """Return scores: the predictor with residuals, or 0 and 1 by a probit; some of them missing."""
    if cell.shape == "binary":
        latent = predictor / cell.sd_item
        spread = (cell.sd_item**2 + cell.sd_system_item[0] ** 2 + cell.sd_run[0] ** 2) / cell.sd_item**2
        threshold = special.ndtri(HALF_RIGHT + better) * np.sqrt(1 + spread)  # so that the mean is right
        scores = (rng.standard_normal(latent.shape) < latent + threshold).astype(float)
    else:
        scores = 0.5 + better + predictor + draw(cell.sd_residual, *predictor.shape)
    if cell.missing:
        scores[rng.random(scores.shape) < cell.missing] = np.nan
        empty = np.isnan(scores).all(2)
        scores[empty, 0] = 0.5 + better + predictor[empty, 0]  # an item that no run scored is not an item
    return scores
