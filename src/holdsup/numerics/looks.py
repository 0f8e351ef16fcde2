"""Looks that are planned beforehand: at which level each may reject, so that all of them together keep theirs.

The share of the error that may be spent by a look depends on the share of the information that there is by then (Lan
and DeMets 1983): alpha t^2 (Kim and DeMets 1987), between O'Brien-Fleming's boundary, which with few runs never stops
early, and Pocock's. Boundaries are those of a Brownian motion (Armitage, McPherson and Rowe 1969); each is used as the
level of a t-test (Jennison and Turnbull 2000, section 3.8). docs/maths/looking-early.md says why this is cautious where
runs share their items.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import special

from holdsup.numerics.arithmetic import find_root
from holdsup.numerics.layout import Floats

POWER = 2.0  # of the share of the information by which error is spent
POINTS, FAR = 401, 8.0  # of the grid of a density, and how many standard deviations down it goes
LEAST, MOST = 1e-30, 0.4999  # one-sided levels that repeated p-values are looked for between


@lru_cache(maxsize=4096)
def find_levels(shares: tuple[float, ...], alpha: float) -> tuple[float, ...]:
    """Return the one-sided level of the test at each look, whose shares of the information rise to 1.

    >>> [round(level, 4) for level in find_levels((0.5, 0.75, 1.0), 0.05)]
    [0.0125, 0.0227, 0.0387]
    """
    levels: list[float] = []
    grid, weighed = np.zeros(1), np.ones(1)  # of the motion before the first look: a point at 0
    spent = before = z = step = 0.0
    for share in shares:
        if before:  # the motion goes on where the look before did not reject
            new = np.linspace(-FAR * math.sqrt(before), z * math.sqrt(before), POINTS)
            kernel = np.exp(-((new[:, None] - grid) ** 2) / (2 * step**2)) / (step * math.sqrt(2 * math.pi))
            grid, weighed = new, (kernel @ weighed) * _weights(new)
        now, step = alpha * share**POWER, math.sqrt(share - before)
        z = _find_edge(grid, weighed, (share, step), (now - spent, now))
        levels.append(float(special.ndtr(-z)))
        spent, before = now, share
    return tuple(levels)


def _find_edge(grid: Floats, weighed: Floats, when: tuple[float, float], error: tuple[float, float]) -> float:
    """Return the z beyond which a motion, weighed on a grid before a step, is with the probability to be spent.

    It lies between that of what is `error` here, as if no earlier look had rejected, and that of all spent so far.
    """
    (share, step), (here, so_far) = when, error

    def excess(z: float) -> float:
        crossed = weighed @ special.ndtr((grid - z * math.sqrt(share)) / step)
        return math.log(float(crossed)) - math.log(here)

    return find_root(excess, -float(special.ndtri(so_far)) - 1e-9, -float(special.ndtri(here)) + 1e-9)


def _weights(grid: Floats) -> Floats:
    """Return Simpson's weights of an even grid."""
    inner = np.where(np.arange(len(grid)) % 2, 4.0, 2.0)
    inner[[0, -1]] = 1.0
    return np.asarray(inner * (grid[1] - grid[0]) / 3)


@lru_cache(maxsize=16384)  # pairs are tested at several levels, and their p is the same
def repeat_p(shares: tuple[float, ...], look: int, log10_p: float) -> float:
    """Return log10 of the two-sided p that holds over all looks, from that of the test at one of them (from 0).

    It is the level at which the boundary would just be reached.

    >>> round(repeat_p((0.5, 1.0), 0, -2.0), 3)
    -1.398
    """
    wanted = log10_p - math.log10(2)

    def excess(alpha: float) -> float:
        return math.log10(find_levels(shares[: look + 1], 10.0**alpha)[look]) - wanted

    low, high = math.log10(LEAST), math.log10(MOST)
    if excess(high) <= 0:
        return 0.0
    if excess(low) >= 0:
        return low
    return min(0.0, find_root(excess, low, high) + math.log10(2))
