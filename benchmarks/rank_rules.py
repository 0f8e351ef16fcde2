"""Rules of a contrast that `rank` had before, or could have, for `rank_calibration.py`."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import stats

from holdsup.verdict.ranking.fits import RankFits
from rank_cells import Floats

__all__ = ["LEAST_DATASETS", "OLD_RULES", "try_old_rules"]

LEAST_DATASETS = 3  # shared by a pair, below which the pooled test stood in
OLD_RULES = ("spread alone", "with the sum", "pooled")


def try_old_rules(fits: RankFits) -> Floats:
    """Return the p of every pair, systems in the order of their names; shape (rules, pairs).

    Spread alone: t on the differences of adjusted means between datasets. With the sum: the variance of the mean
    adjustment added, Satterthwaite's degrees of freedom of two independent parts. Pooled: Satterthwaite's t of the
    fit, which is also what the others give where a pair has too few datasets.
    """
    names, model = fits.runs.system.names, fits.means.model()
    columns, shifts = fits.shifts
    covariance = model.covariance[np.ix_(columns, columns)]
    found = []
    for i, j in itertools.combinations(range(len(names)), 2):
        pooled = model.combine(fits.weights[names[i]] - fits.weights[names[j]], "", 0.95)
        tests = [(pooled.estimate, pooled.se**2, pooled.df)] * 3
        apart = fits.cells[i] - fits.cells[j]
        shared = np.isfinite(apart)
        count = int(shared.sum())
        if count >= LEAST_DATASETS:
            mean, own = float(apart[shared].mean()), float(apart[shared].var(ddof=1)) / count
            moved = (shifts[i] - shifts[j])[shared].mean(axis=0)
            added = float(moved @ covariance @ moved)
            df = (own + added) ** 2 / (own**2 / (count - 1) + added**2 / pooled.df)
            tests[:2] = [(mean, own, count - 1), (mean, own + added, df)]
        found.append(tests)
    estimate, variance, df = np.moveaxis(np.array(found), 2, 0)
    return np.asarray(2 * stats.t.sf(np.abs(estimate) / np.sqrt(variance), df)).T
