"""The cells of the calibration grid and their tables.

They fill the space of items, runs, systems and scores; to them come the commonest designs, and those with skewed runs.

Every score is a quantile of its distribution at a normal deviate, which is a sum of effects: items, items within a
system, clusters within a system, runs, and a residual. So the mean of every system is known, whatever the scores.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from cells import Codes, Floats

__all__ = ["CELLS", "FEW_RUNS", "GridCell", "draw_tables"]

ITEM, SYSTEM_ITEM, RUN, RESIDUAL, CLUSTER = 0.096, 0.03, 0.011, 0.068, 0.03  # as in `cells.py`
COUNT = 256  # that fill the space
LOUD = (0.0495, 0.0115)  # run sds of a loud system and of another
MOST_SCORES = 30_000  # of a table: larger ones take long
RUNS = (1, 1, 2, 2, 3, 3, 3, 4, 5, 5, 6, 8, 10)
SYSTEMS = (2, 2, 2, 2, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 10)
SHARES = (0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98)
KINDS = (
    "normal", "normal", "normal", *(["0/1"] * 4), "beta", "beta", "zero-one inflated",
    "lognormal", "lognormal", "Likert",
)  # fmt: skip
LOUDNESS = ("equal", "equal", "equal", "unequal", "loud")  # run sds
BALANCE = ("equal", "equal", "equal", "fewer, louder", "unequal")  # numbers of runs
RATINGS = np.array([0.05, 0.15, 0.3, 0.3, 0.2])  # shares of 1 to 5
INFLATED = (0.15, 0.25)  # shares of scores at 0 and at 1


@dataclass(frozen=True, slots=True)
class GridCell:
    """One design: `sd` are run sds in score points of the normal scores, others have them in proportion."""

    items: int
    runs: tuple[int, ...]
    sd: tuple[float, ...]
    kind: str
    share: float = 0.5  # of 0/1 scores
    clustered: bool = False
    effect: float = 0.03

    @property
    def systems(self) -> int:
        """How many systems there are."""
        return len(self.runs)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The scale that the scores are on, where it is known."""
        return {"0/1": (0.0, 1.0), "beta": (0.0, 1.0), "zero-one inflated": (0.0, 1.0), "Likert": (1.0, 5.0)}.get(
            self.kind
        )

    @property
    def shifts(self) -> bool:
        """Whether a better system has the same scores, a constant added."""
        return self.kind in ("normal", "lognormal")


def _make(point: Floats) -> GridCell:
    items = round(float(10 ** (1 + point[0] * np.log10(500))))
    runs, systems = _pick(RUNS, point[1]), _pick(SYSTEMS, point[2])
    kind, share = _pick(KINDS, point[3]), _pick(SHARES, point[4])
    loud, balance = _pick(LOUDNESS, point[6]), _pick(BALANCE, point[7])
    while items * runs * systems > MOST_SCORES and (systems > 2 or runs > 2):
        systems, runs = (systems - 1, runs) if systems > 2 else (systems, runs - 1)
    if runs * items * systems > MOST_SCORES:
        runs = 1
    sds = np.full(systems, 2 * point[5] * RUN)
    counts = np.full(systems, runs)
    if loud != "equal":
        sds *= np.linspace(0.5, 1.5, systems) if loud == "unequal" else np.where(np.arange(systems) == 0, 3.0, 0.7)
    if runs == 1:  # the claim is these runs, so that a run of its own luck is no true null
        sds[:] = 0.0
    if runs > 1 and balance != "equal":
        counts = np.maximum(2, np.round(runs * np.linspace(0.5, 1.5, systems)).astype(int))
        if balance == "fewer, louder":
            sds *= counts.mean() / counts
    return GridCell(
        items, tuple(counts.tolist()), tuple(np.round(sds, 4).tolist()), kind, share if kind == "0/1" else 0.5,
        clustered=bool(point[8] > 0.8), effect=_effect(kind, share, items),
    )  # fmt: skip


def _effect(kind: str, share: float, items: int) -> float:
    """Return a difference that is neither always found nor never: smaller with more items."""
    size = float(np.sqrt(100 / min(items, 400)))
    if kind == "0/1":
        sd = np.sqrt(share * (1 - share))
        return round(float(min(0.2 * sd * size, (1 - share) * 0.9)), 3)
    return round(
        {"normal": 0.03, "beta": 0.05, "zero-one inflated": 0.08, "lognormal": 0.3, "Likert": 0.25}[kind] * size, 3
    )


def _pick(values: tuple, share: float) -> object:
    return values[min(int(share * len(values)), len(values) - 1)]


def _common() -> Iterator[GridCell]:
    """Yield designs that many evaluations have, and designs in which a loud system's runs are skewed."""
    kinds = (("normal", 0.5), *(("0/1", share) for share in (0.5, 0.8, 0.95)))
    for (kind, share), runs, items in itertools.product(kinds, (1, 3, 5), (100, 1000)):
        sd = RUN if runs > 1 else 0.0
        yield GridCell(items, (runs,) * 2, (sd,) * 2, kind, share, effect=_effect(kind, share, items))
    for items in (100, 1000):
        yield GridCell(items, (2,) * 2, (RUN,) * 2, "normal", effect=_effect("normal", 0.5, items))
        yield GridCell(items, (1,) * 5, (0.0,) * 5, "0/1", 0.8, effect=_effect("0/1", 0.8, items))
    kinds = (*(("0/1", share) for share in (0.9, 0.95, 0.98)), ("lognormal", 0.5))
    for (kind, share), runs, items in itertools.product(kinds, (3, 5), (200, 1000)):
        yield GridCell(items, (runs,) * 2, LOUD, kind, share, effect=_effect(kind, share, items))


CELLS = (*(_make(point) for point in stats.qmc.Sobol(9, seed=13).random(COUNT)), *_common())
FEW_RUNS = {  # three to ten systems with few runs, normal scores, 100 items
    "2 systems, 3 runs": ((3,) * 2, (RUN,) * 2),
    "2 systems, 3 runs, run sd 0": ((3,) * 2, (0.0,) * 2),
    "3 systems, 3 runs": ((3,) * 3, (RUN,) * 3),
    "5 systems, 3 runs": ((3,) * 5, (RUN,) * 5),
    "5 systems, 3 runs, run sd 0": ((3,) * 5, (0.0,) * 5),
    "5 systems, 5 runs": ((5,) * 5, (RUN,) * 5),
    "10 systems, 3 runs": ((3,) * 10, (RUN,) * 10),
    "10 systems, 5 runs": ((5,) * 10, (RUN,) * 10),
    "runs 2, 3, 3, 5, 10, sd larger with fewer": ((2, 3, 3, 5, 10), (0.022, 0.015, 0.015, 0.009, 0.0045)),
}
FEW_RUNS = {name: GridCell(100, runs, sd, "normal", effect=0.04) for name, (runs, sd) in FEW_RUNS.items()}


def find_clusters_of(cell: GridCell) -> Codes | None:
    """Return clusters of one to nine items, or None."""
    if not cell.clustered:
        return None
    sizes = np.resize([1, 2, 3, 4, 5, 6, 7, 8, 9], cell.items)
    return np.repeat(np.arange(cell.items), sizes)[: cell.items]


def draw_tables(
    cell: GridCell, rng: np.random.Generator, count: int, effect: float
) -> tuple[list[Floats], list[float]]:
    """Return the scores of each system, tables x items x runs, the first better by `effect`; and the true means."""
    clusters = find_clusters_of(cell)
    item = ITEM * rng.standard_normal((count, cell.items))
    scores, means = [], []
    for system, (runs, sd) in enumerate(zip(cell.runs, cell.sd, strict=True)):
        own = item + SYSTEM_ITEM * rng.standard_normal(item.shape)
        if clusters is not None:
            own += CLUSTER * rng.standard_normal((count, clusters[-1] + 1))[:, clusters]
        latent = RESIDUAL * rng.standard_normal((count, cell.items, runs))
        latent += own[:, :, None]
        latent += sd * rng.standard_normal((count, 1, runs))
        total = np.sqrt(ITEM**2 + SYSTEM_ITEM**2 + (clusters is not None) * CLUSTER**2 + RESIDUAL**2 + sd**2)
        values, mean = _quantiles(cell, latent, total, effect if system == 0 else 0.0)
        scores.append(values)
        means.append(mean)
    return scores, means


def _quantiles(cell: GridCell, latent: Floats, total: float, better: float) -> tuple[Floats, float]:
    """Return the scores at normal deviates of sd `total`, and their mean."""
    if cell.kind == "normal":
        return 0.5 + better + latent, 0.5 + better
    latent /= total
    if cell.kind == "lognormal":
        return better + np.exp(latent), better + float(np.exp(0.5))
    if cell.kind == "0/1":
        share = cell.share + better
        return (latent < special.ndtri(share)).astype(float), share
    if cell.kind == "Likert":
        shares = RATINGS + better / 4 * np.array([-1, -1, 0, 1, 1]) * np.array([0.4, 1.0, 0, 0.8, 0.6])
        shares /= shares.sum()
        cuts = special.ndtri(np.cumsum(shares)[:-1])
        return 1.0 + np.searchsorted(cuts, latent), float(shares @ np.arange(1, 6))
    if cell.kind == "beta":
        mean, size = 0.6 + better, 6.0
        grid = np.linspace(-6, 6, 2001)
        return np.interp(latent, grid, stats.beta.ppf(special.ndtr(grid), mean * size, (1 - mean) * size)), mean
    zero, one = INFLATED[0], INFLATED[1] + better  # zero-one inflated: uniform between
    inner = np.clip((special.ndtr(latent) - zero) / (1 - zero - one), 0.0, 1.0)
    return inner, one + (1 - zero - one) / 2
