"""Tuning again and again from one pool of partitions: how much the choice and its estimate depend on luck."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.layout import Floats
from holdsup.numerics.rounding import NOISE, largest
from holdsup.numerics.tuning.standing import round_means

__all__ = ["Retuning", "retune"]


@dataclass(frozen=True, slots=True, eq=False)
class Retuning:
    """What tuning chose, once for each group of J partitions.

    Attributes
    ----------
    j : partitions in a group
    picks : the candidate chosen by each group
    estimates : its mean score on that group
    """

    j: int
    picks: NDArray[np.intp]
    estimates: Floats

    @property
    def sd_estimate(self) -> float:
        """The standard deviation of the estimate between groups; NaN with one."""
        return _deviation(self.estimates)

    def sd_choice(self, values: Floats) -> float:
        """Return the standard deviation between groups of the chosen value of a parameter.

        `values` holds the parameter of each candidate.
        """
        return _deviation(np.asarray(values, dtype=np.float64)[self.picks])

    def shares(self, candidates: int) -> Floats:
        """Return how often each candidate is chosen."""
        return np.bincount(self.picks, minlength=candidates) / len(self.picks)


def retune(
    pool: Floats, j: int, *, repeats: int | None = None, seed: int = 0, ties: Literal["first", "as summed"] = "first"
) -> Retuning:
    """Return what J-K-fold tuning chooses with groups of J partitions from a pool, shape (partitions, candidates).

    Groups are disjoint and in order, as many as there are (Moss, Leslie & Rayson 2018); with `repeats`, that many are
    drawn with replacement, so that they vary as groups of endless partitions do: without it, J of N would have a
    variance that is too small by J/N. Larger scores are better, and the first of equal candidates is chosen; "as
    summed" leaves means that are equal to the rounding of their sums, as published numbers do. NaN is never chosen.

    >>> pool = np.array([[0.1, 0.2], [0.4, 0.2], [0.1, 0.3], [0.3, 0.1]])
    >>> retune(pool, 2).picks.tolist(), retune(pool, 1).picks.tolist()
    ([0, 0], [1, 0, 1, 0])
    """
    if not 1 <= j <= len(pool):
        raise ValueError(f"groups of {j} partitions need a pool of as many, which has {len(pool)}.")
    if repeats is None:
        rows = np.arange(len(pool) // j * j).reshape(-1, j)
    else:
        rows = np.random.default_rng(seed).integers(len(pool), size=(repeats, j))
    means = pool[rows].mean(axis=1)
    known = np.where(np.isfinite(means), round_means(means) if ties == "first" else means, -np.inf)
    picks = known.argmax(axis=1)
    return Retuning(j, picks, means[np.arange(len(picks)), picks])


def _deviation(values: Floats) -> float:
    if len(values) < 2:
        return float("nan")
    spread = float(values.std(ddof=1))
    return 0.0 if spread <= NOISE * largest(values) else spread
