"""What Sanchez Carmona et al. (2025) print about four biomedical systems, and tables drawn from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holdsup.errors import ScoresError

ROWS = 5154
THINNING = 2025  # which rows of the full grid are there is the same in every simulated table
EPOCH_SD = 0.03 * 52**0.5  # the largest spread of slopes that the printed standard error of their mean allows
SYSTEMS = ("BERT", "BioBERT", "MSR BiomedBERT", "BioLinkBERT")
DATASETS = (
    "BC2GM", "BC5-chem", "BC5-disease", "BIOSSES", "BioASQ", "ChemProt", "DDI", "EBM PICO", "GAD", "HoC", "JNLPBA",
    "NCBI-disease", "PubMedQA",
)  # fmt: skip
GRID = {
    "seed": ("20", "47", "59"),
    "lr": ("1e-5", "2e-5", "3e-5", "4e-5", "5e-5"),
    "batch": ("16", "32"),
    "num_epochs": ("5", "10", "15", "20"),
}


@dataclass(frozen=True, slots=True)
class PublishedEffect:
    """A row of Tables 1 to 3, as printed."""

    table: int  # 1 (nuisance factors), 2 (contributions) or 3 (random terms)
    name: str  # the effect, as the paper calls it
    value: float  # the coefficient; in Table 3 the variance
    se: float | None  # its standard error; None in Table 3


def carmona2025() -> tuple[PublishedEffect, ...]:
    """Return Tables 1, 2 and 3 of the paper. Values are truncated there, not rounded.

    >>> [effect.value for effect in carmona2025() if effect.name == "dataset choice"]
    [70.86]
    """
    fixed = (
        ("Intercept", 77.21, 2.94), ("seed_20", 0.47, 0.71), ("seed_47", 0.21, 0.88), ("lr_1e-5", -0.96, 0.36),
        ("lr_2e-5", 0.63, 0.56), ("lr_3e-5", 0.60, 0.47), ("lr_4e-5", 0.06, 0.22), ("batch_16", 0.51, 0.18),
        ("num_epochs", 0.10, 0.03),
    )  # fmt: skip
    contributions = (("DAPT", 4.48, 1.38), ("Pretrain_from_scratch", 6.99, 2.08), ("Link function", 0.33, 1.38))
    random = (
        ("model choice", 9.79), ("dataset choice", 70.86), ("model*dataset", 19.81), ("seed_20", 23.41),
        ("seed_47", 37.89), ("lr_1e-5", 2.81), ("lr_2e-5", 9.91), ("lr_3e-5", 7.75), ("lr_4e-5", 0.00),
        ("batch_16", 0.28), ("num_epochs", 10.27), ("residual", 27.67),
    )  # fmt: skip
    return (
        *(PublishedEffect(1, *row) for row in fixed),
        *(PublishedEffect(2, *row) for row in contributions),
        *(PublishedEffect(3, *row, None) for row in random),
    )


def carmona2025_contributions() -> dict[str, tuple[str, ...]]:
    """Return which systems have each ingredient: BioLinkBERT was pretrained from scratch, too."""
    return {"DAPT": SYSTEMS[1:2], "Pretrain_from_scratch": SYSTEMS[2:], "Link function": SYSTEMS[3:]}


def simulate_carmona2025(*, seed: int = 0, draw_systems: bool = False, epoch_sd: float = EPOCH_SD) -> pa.Table:
    """Return 5,154 runs of 4 systems on 13 datasets, drawn from equation 1 with the paper's Tables 1 to 3.

    Every system meets every dataset with 3 seeds, 5 learning rates, 2 batch sizes and 4 numbers of epochs; of these
    6,240 combinations 5,154 are there, the same in all tables. The runs behind the paper are not public.

    Parameters
    ----------
    seed : a whole number, 0 or more; the same seed gives the same table
    draw_systems : whether systems differ by chance, with the variance of Table 3, instead of by the contributions of
        Table 2
    epoch_sd : standard deviation of the slopes of num_epochs. The printed one, 3.20, contradicts the standard error
        of their mean, .03; the default is the largest that agrees with it, .22.

    Examples
    --------
    >>> table = simulate_carmona2025(seed=1)
    >>> table.num_rows, table.column_names
    (5154, ['system', 'dataset', 'seed', 'lr', 'batch', 'num_epochs', 'score'])
    """
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ScoresError(f"the seed is {seed!r:.60}: it must be a whole number, 0 or more")
    printed = {(effect.table, effect.name): effect.value for effect in carmona2025()}
    spread = {name: value**0.5 for (table, name), value in printed.items() if table == 3} | {"num_epochs": epoch_sd}
    shape = (len(SYSTEMS), len(DATASETS), *(len(levels) for levels in GRID.values()))
    kept = np.sort(np.random.default_rng(THINNING).choice(np.prod(shape), ROWS, replace=False))
    system, dataset, *settings = (axis.ravel()[kept] for axis in np.indices(shape))
    cell = system * len(DATASETS) + dataset
    columns = {name: np.array(GRID[name])[codes] for name, codes in zip(GRID, settings, strict=True)}
    columns["num_epochs"] = columns["num_epochs"].astype(float)
    rng = np.random.default_rng(seed)
    drawn = rng.normal(0, spread["model choice"], len(SYSTEMS))
    score = printed[1, "Intercept"] + (drawn if draw_systems else _contribute(printed))[system]
    score = score + rng.normal(0, spread["dataset choice"], len(DATASETS))[dataset]
    score = score + rng.normal(0, spread["model*dataset"], len(SYSTEMS) * len(DATASETS))[cell]
    for (table, name), slope in printed.items():
        if table == 1 and name != "Intercept":
            factor, _, level = name.partition("_")
            x = columns[name] if name in columns else (columns[factor] == level).astype(float)
            score = score + x * (slope + rng.normal(0, spread[name], len(SYSTEMS) * len(DATASETS))[cell])
    score = score + rng.normal(0, spread["residual"], ROWS)
    labels = {"system": np.array(SYSTEMS)[system], "dataset": np.array(DATASETS)[dataset]}
    return pa.table({**labels, **columns, "score": score})


def _contribute(printed: Mapping[tuple[int, str], float]) -> np.ndarray:
    """Return the systems' effects by the contributions of Table 2, with mean zero."""
    having = carmona2025_contributions()
    effects = np.array([sum(printed[2, name] for name in having if system in having[name]) for system in SYSTEMS])
    return np.asarray(effects - effects.mean())
