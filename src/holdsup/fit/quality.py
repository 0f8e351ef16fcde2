"""How much a fit explains: intraclass correlation, marginal and conditional R2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdsup.design.matrices import Design, RandomBlock
from holdsup.design.newdata import code_fitted_rows
from holdsup.fit.result import LmmFit
from holdsup.numerics.layout import Floats

__all__ = ["RSquared", "intraclass_correlations", "r_squared"]


@dataclass(frozen=True, slots=True)
class RSquared:
    """Shares of the variance of the response.

    Attributes
    ----------
    marginal : explained by the fixed effects
    conditional : explained by the fixed and the random effects
    """

    marginal: float
    conditional: float


def r_squared(fit: LmmFit) -> RSquared:
    """Return Nakagawa and Schielzeth's R2, with random slopes weighed by their regressors.

    The variance of a random term with slopes is the mean over rows of z'Sigma z (Johnson 2014, Methods
    in Ecology and Evolution 5:944), so that it does not depend on where a regressor has its zero.
    """
    model = fit.model()
    coded = code_fitted_rows(model.design)
    fitted = coded.fixed[:, model.engine.kept] @ model.beta
    fixed = float(np.var(fitted, ddof=1))
    random = sum(term_variance(columns, sigma) for columns, sigma in zip(coded.columns, covariances(fit), strict=True))
    total = fixed + random + fit.sigma**2
    return RSquared(fixed / total, (fixed + random) / total)


def intraclass_correlations(fit: LmmFit) -> dict[str, float]:
    """Return for each grouping factor the share of the random variance that lies between its levels."""
    coded = code_fitted_rows(fit.model().design)
    parts: dict[str, float] = {}
    for block, columns, sigma in zip(fit.model().design.random, coded.columns, covariances(fit), strict=True):
        parts[block.group.label] = parts.get(block.group.label, 0.0) + term_variance(columns, sigma)
    total = sum(parts.values()) + fit.sigma**2
    return {group: variance / total for group, variance in parts.items()}


def term_variance(columns: Floats, sigma: Floats) -> float:
    """Return the mean over rows of z'Sigma z."""
    return float(np.einsum("ni,ij,nj->", columns, sigma, columns) / len(columns))


def covariances(fit: LmmFit) -> list[Floats]:
    """Return the covariance matrix of each random term."""
    design: Design = fit.model().design
    model = fit.model()
    return [covariance(block, model.engine.optimum.theta, model.engine_sigma) for block in design.random]


def covariance(block: RandomBlock, theta: Floats, sigma: float) -> Floats:
    """Return the covariance matrix of a random term at theta."""
    factor = block.factor(theta)
    return sigma**2 * factor @ factor.T
