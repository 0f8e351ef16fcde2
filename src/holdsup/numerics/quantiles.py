"""Quantiles of the distributions that intervals are made of."""

from __future__ import annotations

import math

from scipy import special

__all__ = ["chi2_quantile", "t_quantile"]


def t_quantile(probability: float, df: float) -> float:
    """Return the quantile of Student's t; of the normal distribution for infinite df."""
    return float(special.ndtri(probability) if math.isinf(df) else special.stdtrit(df, probability))


def chi2_quantile(probability: float, df: float) -> float:
    """Return the quantile of the chi-square distribution."""
    return float(special.chdtri(df, 1 - probability))
