"""Quantiles of the distributions that intervals are made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from holdsup.numerics.layout import Floats

__all__ = ["chi2_quantile", "t_quantile", "t_quantiles"]


def t_quantile(probability: float, df: float) -> float:
    """Return the quantile of Student's t; of the normal distribution for infinite df."""
    return float(t_quantiles(probability, df))


def t_quantiles(probability: float, df: ArrayLike) -> Floats:
    """Return the quantiles of Student's t on several df; see `t_quantile`."""
    known = np.isfinite(df)
    found = np.where(known, special.stdtrit(np.where(known, df, 1.0), probability), special.ndtri(probability))
    return np.asarray(found, float)


def chi2_quantile(probability: float, df: float) -> float:
    """Return the quantile of the chi-square distribution."""
    return float(special.chdtri(df, 1 - probability))
