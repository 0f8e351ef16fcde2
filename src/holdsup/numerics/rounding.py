"""Differences that are nothing but the rounding of sums."""

from __future__ import annotations

import numpy as np

from holdsup.numerics.layout import Floats

__all__ = ["NOISE", "largest", "without_noise"]

NOISE = 1e-12  # of the largest number involved: what is below it is rounding


def without_noise(differences: Floats, scale: Floats | float) -> Floats:
    """Return differences of numbers as large as `scale`; those that are rounding are zero."""
    return np.where(np.abs(differences) <= NOISE * scale, 0.0, differences)


def largest(values: Floats) -> float:
    """Return the largest of some numbers in absolute value; NaN does not count."""
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
