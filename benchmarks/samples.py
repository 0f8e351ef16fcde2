"""Samples, pass@k and weighted averages: false positives and coverage of `compare` where the truth is known.

python benchmarks/samples.py [tables]   tables a row: 2,000 by default (five minutes of CPU)

An item is right with a probability whose log-odds are normal over items; systems, items within systems and runs move
them. False positives are of equal systems; coverage is of the true difference where one of two has .3 log-odds more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special

from holdsup.numerics.decisions import Difference
from holdsup.numerics.differences import (
    compare_new_runs,
    compare_runs_on_datasets,
    compare_these_datasets,
    compare_these_runs,
)
from holdsup.numerics.samples import compare_these_items, jackknife_share, share_of_all, share_of_any

TABLES = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
RNG = np.random.default_rng(1)
LEAD, SD_ITEM, SD_WITHIN, SD_RUN = 0.3, 2.0, 0.7, 0.3
NODES, DENSITY = np.polynomial.hermite_e.hermegauss(80)
SIZES, SHIFT = np.array([20, 40, 80, 160, 300]), np.array([0.1, -0.1, 0.05, -0.05, 0.02])
DATASETS = np.repeat(np.arange(5), SIZES)
AVERAGES = {
    "macro": np.ones(5),
    "micro": SIZES.astype(float),
    "weights": np.array([5.0, 1.0, 1.0, 2.0, 1.0]),
    "two levels": np.array([3.0, 3.0, 2.0, 2.0, 2.0]),  # groups of two and of three datasets
}
Floats = np.ndarray
Found = tuple[Difference, float]  # what a test finds, and the truth


def rate(draw: Callable[[float], Found]) -> tuple[float, float]:
    """Return the share of rejections of a true null at 5%, and of 95% CIs that cover the truth, in percent."""
    rejected = [draw(0.0)[0].p <= 0.05 for _ in range(TABLES)]
    found = [draw(LEAD) for _ in range(TABLES)]
    return 100 * float(np.mean(rejected)), 100 * float(np.mean([f.low <= truth <= f.high for f, truth in found]))


class Samples(NamedTuple):
    """An evaluation of two systems by samples."""

    level: float  # log-odds of an item of average difficulty
    items: int
    samples: int
    k: int = 1
    whole: bool = False  # whether all k must be right, not one of them
    runs: int = 1

    def odds(self) -> Floats:
        """Return the log-odds of two equal systems, shape (2, items, runs)."""
        item = RNG.normal(self.level, SD_ITEM, (self.items, 1)) + RNG.normal(0, SD_WITHIN, (2, self.items, 1))
        return item + RNG.normal(0, SD_RUN * (self.runs > 1), (2, 1, self.runs))

    def right(self, odds: Floats, lead: float) -> tuple[Floats, Floats]:
        """Return how many samples are right, and the chance of each to be."""
        p = special.expit(odds + np.array([lead, 0])[:, None, None])
        return RNG.binomial(self.samples, p).astype(float), p

    def chance(self, p: Floats) -> Floats:
        """Return the true chance that one of k samples, or all of them, are right."""
        return p**self.k if self.whole else 1 - (1 - p) ** self.k

    def estimate(self, right: Floats) -> Floats:
        """Return the estimate of that for each item and run."""
        return (share_of_all if self.whole else share_of_any)(right, self.samples, self.k)

    def truth(self, lead: float) -> float:
        """Return the difference over all items and runs."""
        sd = np.sqrt(SD_ITEM**2 + SD_WITHIN**2 + SD_RUN**2 * (self.runs > 1))
        both = (self.chance(special.expit(self.level + each + sd * NODES)) for each in (lead, 0.0))
        return float(np.subtract(*(DENSITY / DENSITY.sum() @ each for each in both)))

    def new_items(self, lead: float) -> Found:
        """Return what is found over new items."""
        return compare_these_runs(*self.estimate(self.right(self.odds(), lead)[0])), self.truth(lead)

    def new_runs(self, lead: float) -> Found:
        """Return what is found over new items and new runs."""
        scores = self.estimate(self.right(self.odds(), lead)[0])
        return compare_new_runs(*scores, room=(0.0, 1.0)), self.truth(lead)

    def these_items(self, lead: float) -> Found:
        """Return what is found over new samples of these items."""
        odds = self.odds()
        odds = odds if lead else odds[:1].repeat(2, axis=0)  # equal systems are equal on each of these items
        right, p = self.right(odds, lead)
        noise = jackknife_share(right if self.whole else self.samples - right, self.samples, self.k)
        counts = np.full((self.items, 1), float(self.samples))
        found = compare_these_items(
            *self.estimate(right), weights=np.ones(self.items), variances=tuple(noise), counts=(counts, counts)
        )
        return found, float(np.subtract(*self.chance(p)).mean())

    def samples_as(self, what: str) -> Found:
        """Return what is found of equal systems where samples are taken for items, or for runs."""
        right = np.arange(self.samples) < self.right(self.odds(), 0.0)[0]
        if what == "items":
            return compare_these_runs(*right.reshape(2, -1, 1).astype(float)), 0.0
        luck = self.odds() + RNG.normal(0, SD_RUN, (2, 1, 1))
        right = RNG.random((2, self.items, self.samples)) < special.expit(luck)
        return compare_new_runs(*right.astype(float)), 0.0


class Weighed(NamedTuple):
    """An evaluation on five datasets that differ in what is better there; the mean that is asked about is zero."""

    weights: Floats
    kind: str  # whether systems have one run each, three, or three on each dataset

    def draw(self, lead: float, by: Floats | None = None) -> Found:
        """Return what is found on these datasets, by the weights asked about or by others."""
        runs, nested = 1 if self.kind == "one each" else 3, self.kind == "3 of each"
        share = self.weights / self.weights.sum()
        luck = RNG.normal(0, 0.03 * (runs > 1), (2, 5 if nested else 1, runs))
        luck = np.broadcast_to(luck, (2, 5, runs))[:, DATASETS]
        scores = RNG.normal(0, 0.3, (len(DATASETS), 1)) + luck + RNG.normal(0, 0.2, (2, len(DATASETS), runs))
        scores[0] += (SHIFT - share @ SHIFT + lead / 10)[DATASETS][:, None]
        used = self.weights if by is None else by
        if self.kind == "3, the same":
            return compare_runs_on_datasets(*scores, DATASETS, weights=used), lead / 10
        return compare_these_datasets(*scores, DATASETS, weights=used, new_runs=runs > 1), lead / 10


def show_samples() -> None:
    print("right  items  samples  estimate  new items  covers  these items  covers  samples as items")
    for level, items, samples in ((-0.6, 40, 5), (-0.6, 164, 10), (-0.6, 800, 10), (-5.0, 164, 10), (3.5, 164, 10)):
        for name, k, whole in (("mean", 1, False), ("pass@5", 5, False), ("pass^3", 3, True)):
            cell = Samples(level, items, samples, k, whole)
            new, own = rate(cell.new_items), rate(cell.these_items) if samples > k else (np.nan, np.nan)
            naive = np.mean([cell.samples_as("items")[0].p <= 0.05 for _ in range(TABLES)]) if k == 1 else np.nan
            sd = np.sqrt(SD_ITEM**2 + SD_WITHIN**2)
            share = DENSITY / DENSITY.sum() @ special.expit(level + sd * NODES)
            print(f"{share:>5.2f}{items:>7}{samples:>9}{name:>10}{new[0]:>11.1f}{new[1]:>8.1f}{own[0]:>13.1f}"
                  f"{own[1]:>8.1f}{100 * naive:>18.1f}".replace("nan", "   "))  # fmt: skip


def show_runs() -> None:
    print("\nruns  samples  estimate  new runs  covers")
    for runs, samples, name, k in ((3, 5, "mean", 1), (3, 5, "pass@3", 3), (5, 10, "pass@5", 5)):
        found = rate(Samples(-0.6, 164, samples, k, runs=runs).new_runs)
        print(f"{runs:>4}{samples:>9}{name:>10}{found[0]:>10.1f}{found[1]:>8.1f}")
    told = [Samples(-0.6, 164, 10).samples_as("runs")[0].p <= 0.05 for _ in range(TABLES)]
    print(f"10 samples of one run each counted as runs: {100 * np.mean(told):.1f}% of true nulls")


def show_weights() -> None:
    print("\naverage     runs         false  covers  by the macro mean instead")
    for name, weights in AVERAGES.items():
        for kind in ("one each", "3, the same", "3 of each"):
            cell = Weighed(weights, kind)
            false, covered = rate(cell.draw)
            other = 100 * np.mean([cell.draw(0.0, np.ones(5))[0].p <= 0.05 for _ in range(TABLES)])
            print(f"{name:<12}{kind:<11}{false:>7.1f}{covered:>8.1f}{other:>27.1f}")


if __name__ == "__main__":
    show_samples()
    show_runs()
    show_weights()
