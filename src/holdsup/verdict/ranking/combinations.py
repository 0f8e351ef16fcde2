"""Combinations of adjusted means, many at once: their variances by a fit, and their t-tests."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from holdsup.fit import LmmFit
from holdsup.fit.holdouts import PartialFit
from holdsup.numerics.distributions import t_quantiles, t_tails

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Tests:
    """Tests of several combinations; NaN where there is none."""

    estimate: Floats
    se: Floats
    df: Floats
    p: Floats
    log10_p: Floats
    low: Floats
    high: Floats
    with_runs: Truths  # where the runs of systems have a part of their own

    @classmethod
    def by_t(cls, estimate: Floats, variance: Floats, df: Floats, level: float) -> Tests:
        """Return t-tests; there is none of what is known exactly, nor where the variance is NaN."""
        some = variance > 0
        se, df = np.sqrt(np.maximum(0.0, variance)), np.where(some, df, np.inf)
        tails = t_tails(estimate / np.where(some, se, 1.0), np.where(some, df, 1.0))
        p, log10_p = (np.where(some, tail, np.nan) for tail in tails)
        reach = t_quantiles((1 + level) / 2, df) * se
        return cls(estimate, se, df, p, log10_p, estimate - reach, estimate + reach, np.zeros(len(se), bool))

    def where(self, chosen: Truths, other: Tests) -> Tests:
        """Return these tests where chosen, and others elsewhere."""
        return Tests(*(np.where(chosen, getattr(self, f.name), getattr(other, f.name)) for f in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class FixedEffects:
    """What a fit knows of the adjusted means of systems.

    Combinations of them come as systems and their weights, both of shape (combinations, systems of each).
    """

    transform: Floats  # from the weights of fixed effects to those of the engine's
    effects: Floats  # covariance of the engine's
    covariance: Floats  # of the adjusted means, shape (systems, systems)
    slopes: Floats  # its derivative by each variance parameter, shape (parameters, systems, systems)
    uncertainty: Floats  # covariance of these parameters
    place: Ints  # of each system in `covariance`

    @classmethod
    def of(cls, fit: LmmFit, means: Floats, only: Ints | None = None, part: PartialFit | None = None) -> FixedEffects:
        """Return what a fit, or one to a part of its rows, knows of means, given by the weights of fixed effects.

        Of many systems `only` some may be asked for.
        """
        model, place = fit.model(), np.arange(len(means))
        if only is not None:
            place[only], means = np.arange(len(only)), means[only]
        transform, inference = model.transform, model.engine.inference
        if part is not None:
            transform = part.design.transform[np.ix_(model.engine.kept, part.engine.kept)]
            inference = part.engine.inference
        inside = means @ transform
        covariance, slopes = (inside @ each @ inside.T for each in (inference.covariance, inference.slopes))
        return cls(transform, inference.covariance, covariance, slopes, inference.uncertainty, place)

    def test(
        self, estimate: Floats, systems: Ints, weights: Floats, level: float, lacking: Floats | float = 0
    ) -> Tests:
        """Return Satterthwaite's t-tests, with what the variances lack."""
        variance, df = self.measure(systems, weights)
        return Tests.by_t(estimate, variance + lacking, df, level)

    def measure(self, systems: Ints, weights: Floats) -> tuple[Floats, Floats]:
        """Return the variances of combinations, and Satterthwaite's degrees of freedom."""
        systems = self.place[systems]
        variance = combine(self.covariance, systems, weights)
        slopes = np.stack([combine(slope, systems, weights) for slope in self.slopes], axis=-1)
        spread = ((slopes @ self.uncertainty) * slopes).sum(axis=-1)
        some = (spread > 0) & (variance > 0)
        return variance, np.where(some, 2 * variance**2 / np.where(some, spread, 1.0), np.inf)

    def variance_of(self, moves: Floats, columns: Ints) -> Floats:
        """Return the variances of combinations of some of the fixed effects, shape (..., columns)."""
        inside = self.transform[columns]
        return np.asarray(((moves @ (inside @ self.effects @ inside.T)) * moves).sum(axis=-1))


def combine(matrix: Floats, systems: Ints, weights: Floats) -> Floats:
    """Return the quadratic form of a matrix of systems for each combination."""
    chosen = matrix[systems[:, :, None], systems[:, None, :]]
    return np.asarray((weights[:, :, None] * chosen * weights[:, None, :]).sum(axis=(1, 2)))
