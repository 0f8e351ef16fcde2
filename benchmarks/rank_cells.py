"""Simulated tables of systems, datasets and nuisance factors whose truth is known, for `rank_calibration.py`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["CELLS", "LEADER_CELLS", "TERM_CELLS", "UNEVEN_CELLS", "Cell", "Floats", "Sample", "simulate"]

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
RATE_EFFECT = 4.0  # of one rate more, alike for all


@dataclass(frozen=True, slots=True)
class Cell:
    """One design. Standard deviations are about those of Sanchez Carmona et al. (2025), Table 3.

    Attributes
    ----------
    name : what is particular about it
    systems, datasets, seeds, rates : how many there are; every system meets every combination, but for what follows
    spread : how rates fall on systems and datasets: "crossed" (each has all), or one for each: "uneven" (a system's own
        on all datasets but one), "milder" (on two thirds), "random"
    islands : None, or how many datasets both halves of the systems have, which are apart on the others
    designs : over how many draws of the design the tables are spread, where it is random
    sd_dataset : of datasets, alike for all systems
    sd_interaction : of a system on a dataset; one for each system where they differ
    sd_seed, sd_rate : of a seed, and of a learning rate, within system and dataset
    sd_residual : of the rest
    shape : "normal", "skewed" (exponential) or "heavy" (t with 3 degrees of freedom) interactions
    missing_cells, missing_rows : share of systems on a dataset, and of rows, that are not there
    effect : by how much the first system is better where power is measured
    zero : the group of the variance that is zero, where variances are tested
    """

    name: str
    systems: int = 4
    datasets: int = 13
    seeds: int = 3
    rates: int = 2
    sd_dataset: float = 8.4
    sd_interaction: float | tuple[float, ...] = 4.45
    sd_seed: float = 3.0
    sd_rate: float = 2.0
    sd_residual: float = 2.8
    shape: str = "normal"
    spread: str = "crossed"
    islands: int | None = None
    designs: int = 1
    missing_cells: float = 0.0
    missing_rows: float = 0.0
    effect: float = 6.0
    zero: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One design with many responses.

    Attributes
    ----------
    table : the columns but the score
    system, dataset : the codes of each row
    scores : shape (simulations, rows)
    """

    table: pa.Table
    system: Codes
    dataset: Codes
    scores: Floats


CELLS = (
    Cell("base: 4 systems, 13 datasets, 3 seeds x 2 rates"),
    Cell("3 datasets", datasets=3),
    Cell("5 datasets", datasets=5),
    Cell("30 datasets", datasets=30),
    Cell("2 systems", systems=2),
    Cell("10 systems", systems=10),
    Cell("interactions of 2 systems 3 times as large", sd_interaction=(2.0, 2.0, 6.0, 6.0)),
    Cell("interactions of 1 system 3 times as large", sd_interaction=(2.0, 2.0, 2.0, 6.0)),
    Cell("interactions of 1 system a third", sd_interaction=(2.0, 6.0, 6.0, 6.0)),
    Cell("10 systems, interactions of 1 three times as large", systems=10, sd_interaction=(*[2.0] * 9, 6.0)),
    Cell("skewed interactions", shape="skewed"),
    Cell("skewed, 2 systems 3 times as large", shape="skewed", sd_interaction=(2.0, 2.0, 6.0, 6.0)),
    Cell("heavy-tailed interactions", shape="heavy"),
    Cell("20% of systems on datasets missing", missing_cells=0.2),
    Cell("20% of rows missing", missing_rows=0.2),
    Cell("seeds 3 times as large as interactions", sd_seed=9.0, sd_interaction=3.0),
    Cell("no interactions", sd_interaction=0.0),
    Cell("no interactions, 5 datasets", sd_interaction=0.0, datasets=5),
)

FICKLE = (2.0, 2.0, 6.0, 6.0)
DESIGNS = 40
UNEVEN_CELLS = (
    *(
        Cell(f"{spread} rates, {rates} levels, {datasets} datasets", rates=rates, datasets=datasets, spread=spread,
             designs=DESIGNS if spread == "random" else 1)
        for spread in ("uneven", "milder", "random") for rates in (2, 5) for datasets in (5, 8, 13)
    ),
    Cell("uneven rates, 2 levels, 8 datasets, 3 systems", systems=3, datasets=8, spread="uneven"),
    Cell("uneven rates, 2 levels, 8 datasets, fickle", datasets=8, spread="uneven", sd_interaction=FICKLE),
    Cell("random rates, 2 levels, 8 datasets, fickle", datasets=8, spread="random", sd_interaction=FICKLE,
         designs=DESIGNS),
    *(
        Cell(f"{share:.0%} of cells lost, {datasets} datasets", missing_cells=share, datasets=datasets, seeds=2,
             rates=1, designs=DESIGNS)
        for share in (0.15, 0.4) for datasets in (5, 8, 13)
    ),
    *(
        Cell(f"random rates, 2 levels, {share:.0%} of cells lost, {datasets} datasets", spread="random",
             missing_cells=share, datasets=datasets, designs=DESIGNS)
        for share in (0.15, 0.4) for datasets in (8, 13)
    ),
    *(
        Cell(f"2 islands that share {islands} of {datasets} datasets", islands=islands, datasets=datasets, seeds=2,
             rates=1)
        for datasets in (8, 13) for islands in (0, 1, 2)
    ),
    *(
        Cell(f"2 islands that share {islands} of 13 datasets, fickle", islands=islands, seeds=2, rates=1,
             sd_interaction=FICKLE)
        for islands in (0, 1, 2)
    ),
)  # fmt: skip

LEADER_CELLS = (
    CELLS[0],
    Cell("3 datasets", datasets=3),
    Cell("2 systems", systems=2),
    Cell("10 systems", systems=10),
    Cell("20% of systems on datasets missing", missing_cells=0.2),
)

TERM_CELLS = (
    Cell("4 equal systems, 13 datasets", zero="system"),
    Cell("10 equal systems, 13 datasets", systems=10, zero="system"),
    Cell("4 equal systems, 5 datasets", datasets=5, zero="system"),
    Cell("5 equal datasets", datasets=5, sd_dataset=0.0, zero="dataset"),
    Cell("no interactions, 13 datasets", sd_interaction=0.0, zero="system:dataset"),
    Cell("no interactions, 5 datasets", datasets=5, sd_interaction=0.0, zero="system:dataset"),
    Cell("rates alike", sd_rate=0.0, zero="rate:system:dataset"),
)


def simulate(cell: Cell, rng: np.random.Generator, count: int, gap: float) -> Sample:
    """Return `count` responses on one design; the first system's mean is higher by `gap`, the others' are equal."""
    S, D, K, R = cell.systems, cell.datasets, cell.seeds, cell.rates
    system, dataset, seed, rate = (axis.ravel() for axis in np.indices((S, D, K, R)))
    keep = present(cell, rng, system, dataset, rate)
    system, dataset, seed, rate = (codes[keep] for codes in (system, dataset, seed, rate))
    spread = np.broadcast_to(np.asarray(cell.sd_interaction, dtype=float), (S,))
    scores = np.empty((count, len(system)))
    for i in range(count):
        interaction = spread[:, None] * standard(cell.shape, rng, (S, D))
        scores[i] = (
            gap * (system == 0)
            + RATE_EFFECT * rate
            + rng.normal(0, cell.sd_dataset, D)[dataset]
            + interaction[system, dataset]
            + rng.normal(0, cell.sd_seed, (S, D, K))[system, dataset, seed]
            + rng.normal(0, cell.sd_rate, (S, D, R))[system, dataset, rate]
            + rng.normal(0, cell.sd_residual, len(system))
        )
    names = {"system": system, "dataset": dataset, "seed": seed, "rate": rate}
    table = pa.table({name: np.char.add(name[0], codes.astype(str)) for name, codes in names.items()})
    return Sample(table, system, dataset, scores)


def present(cell: Cell, rng: np.random.Generator, system: Codes, dataset: Codes, rate: Codes) -> npt.NDArray[np.bool_]:
    """Return which rows are there."""
    while True:
        cells = np.ones((cell.systems, cell.datasets), bool)
        if cell.islands is not None:
            first, half = np.arange(cell.systems) < cell.systems // 2, (cell.datasets - cell.islands) // 2
            cells[first, cell.islands + half :] = False
            cells[~first, cell.islands : cell.islands + half] = False
        gone = round(cell.missing_cells * cells.size)
        cells.flat[rng.choice(cells.size, gone, replace=False)] = False
        keep = cells[system, dataset] & (rng.random(len(system)) >= cell.missing_rows)
        if cell.spread != "crossed":
            keep &= rate == place_rates(cell, rng)[system, dataset]
        if tells_systems(system[keep], rate[keep], cell):
            return np.asarray(keep)


def place_rates(cell: Cell, rng: np.random.Generator) -> Codes:
    """Return the one rate of each system on each dataset, shape (systems, datasets)."""
    S, D, R = cell.systems, cell.datasets, cell.rates
    if cell.spread == "random":
        return rng.integers(R, size=(S, D))
    own = np.minimum(np.arange(S), R - 1)
    rates = np.repeat(own[:, None], D, axis=1)
    for s in range(S):
        for step in range(1 if cell.spread == "uneven" else math.ceil(D / 3)):
            rates[s, (s + step) % D] = (own[s] + 1 + step % (R - 1)) % R
    return rates


def tells_systems(system: Codes, rate: Codes, cell: Cell) -> bool:
    """Return whether the rows can tell every system and every rate from the others."""
    columns = np.hstack([np.eye(cell.systems)[system], np.eye(cell.rates)[rate][:, 1:]])
    return int(np.linalg.matrix_rank(columns)) == columns.shape[1]


def standard(shape: str, rng: np.random.Generator, size: tuple[int, int]) -> Floats:
    """Return draws with mean 0 and standard deviation 1."""
    if shape == "skewed":
        return rng.exponential(size=size) - 1
    if shape == "heavy":
        return rng.standard_t(3, size=size) / np.sqrt(3)
    return rng.normal(size=size)
