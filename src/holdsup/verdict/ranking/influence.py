"""The ranking with one dataset or one system left out: does it hang on one of them?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.errors import FitError
from holdsup.fit.holdouts import Combination, PartialFit, fit_without
from holdsup.progress import Progress, no_progress
from holdsup.verdict.ranking.contrasts import compare_by_dataset
from holdsup.verdict.ranking.fits import RankFits
from holdsup.verdict.ranking.quality_records import Influence

__all__ = ["Influences", "find_influence"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
LEAST_SYSTEMS = 2  # that must stay


class Influences(NamedTuple):
    """The ranking without each dataset and system, and which could not be left out."""

    rows: tuple[Influence, ...]
    notes: tuple[str, ...]


def find_influence(fits: RankFits, *, lower_is_better: bool = False, progress: Progress = no_progress) -> Influences:
    """Return the ranking without each dataset, and without each system where more than two are compared.

    The fit in which systems are fixed is made again from the rows that stay, variances included.
    """
    runs = fits.runs
    owners = [("dataset", runs.dataset), *([("system", runs.system)] if runs.system.count > LEAST_SYSTEMS else [])]
    steps = [(kind, labels, code) for kind, labels in owners for code in range(labels.count)]
    ranking = _Ranking.of(fits, -1.0 if lower_is_better else 1.0)
    found, notes = [], []
    for done, (kind, labels, code) in enumerate(steps):
        progress(done, len(steps), "leaving out one at a time")
        try:
            found.append(ranking.without(kind, labels, code))
        except FitError as error:
            notes.append(f"The ranking without the {kind} {labels.names[code]} is not given: {error}.")
    progress(len(steps), len(steps), "leaving out one at a time")
    return Influences(tuple(found), tuple(notes))


@dataclass(frozen=True, slots=True, eq=False)
class _Ranking:
    """The ranking by all rows.

    Attributes
    ----------
    fits : the form, fitted to all rows
    weights : of all fixed columns in the adjusted mean of each system, shape (systems, p)
    means : the adjusted means
    sign : 1, or -1 where lower is better
    """

    fits: RankFits
    weights: Floats
    means: Floats
    sign: float

    @classmethod
    def of(cls, fits: RankFits, sign: float) -> _Ranking:
        """Return the ranking of a form."""
        model = fits.means.model()
        kept = np.stack([fits.weights[name] for name in fits.runs.system.names])
        weights = np.zeros((len(kept), len(model.design.fixed)))
        weights[:, model.engine.kept] = kept
        return cls(fits, weights, kept @ model.beta, sign)

    def without(self, kind: str, labels: Labels, code: int) -> Influence:
        """Return the ranking without one dataset or system."""
        rows = np.flatnonzero(labels.codes != code)
        staying = np.unique(self.fits.runs.system.codes[rows]).astype(np.int64)
        if len(staying) < LEAST_SYSTEMS:
            raise FitError("one system alone has scores then")
        part = fit_without(self.fits.means, labels.codes == code)
        means = np.full(len(self.means), np.nan)
        means[staying] = [part.combine(self.weights[system]).estimate for system in staying]
        last = ~self.fits.placed[staying]
        order, before = (staying[np.lexsort((-self.sign * each[staying], last))] for each in (means, self.means))
        p = self._test_lead(part, rows, means, order[:2])
        ranking = tuple(self.fits.runs.system.names[system] for system in order)
        return Influence(
            kind=kind,
            left_out=labels.names[code],
            ranking=ranking,
            leader=ranking[0],
            gap=float(means[order[0]] - means[order[1]]),
            p=p,
            changed=not np.array_equal(order, before),
            largest_shift=float(np.ptp((means - self.means)[staying])),
        )

    def _test_lead(self, part: PartialFit, rows: Codes, means: Floats, pair: Codes) -> float | None:
        """Return the p of the lead of one system over another, as the contrasts have it; None without one."""
        fits, runs = self.fits, self.fits.runs
        left = np.full(len(runs), np.nan)
        left[rows] = runs.score[rows] - part.predict(rows, random=False)
        combination = np.zeros(len(means))
        combination[pair] = 1.0, -1.0
        kept = fits.means.model().engine.kept

        def combine(weights: Floats) -> Combination:
            every = np.zeros(self.weights.shape[1])
            every[kept] = weights
            return part.combine(every)

        left_cells = runs.cell_means(left) + means[:, None]
        own = compare_by_dataset(fits, combination, left_cells, combine)
        if own is not None:
            return own.p
        if fits.averages:
            return None
        pooled = part.combine(self.weights[pair[0]] - self.weights[pair[1]])
        told = len(np.unique(runs.dataset.codes[rows])) > 1 and not math.isnan(pooled.p)
        return pooled.p if told else None
