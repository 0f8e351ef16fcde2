"""Run variances of several systems, each moderated by those of the others.

Three runs say little about how much runs vary: their variance has two degrees of freedom. Systems of one evaluation
vary alike, as a rule, so that each variance is drawn towards the mean of all,

    v~ = (1 - w) v + w mean(v),    w = min(1/2, 1 - 2/n) for n systems,

a fixed weight: one that is estimated from the same few variances rejects 7 to 14% of true nulls. Only systems with the
same number of runs are drawn together, three runs or more: where those with fewer runs vary more, a common mean makes
them look steady (9% of true nulls). A system that does not vary has nothing to share. Two systems are left as they are.
Measured: docs/calibration.md; why: docs/decisions/0023-families.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.layout import Floats
from holdsup.numerics.spread import LUCK, Spread

FEWEST_DF = 2  # of a variance that is shared: on one, it is anything
FEWEST = 3  # systems that share
WEIGHT = 0.5  # the most that others count
LESS_LUCK = 0.4  # by which, times w, `LUCK` falls: variances that are moderated are rarely small by luck
Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Which systems share their run variances."""

    group: Codes  # of each system, shape (S,): those of one group share
    size: Floats  # number of systems in that group
    weight: Floats  # w of each system, 0 where it shares with none

    @classmethod
    def of(cls, runs: Sequence[int], df: Floats, part: Floats) -> Pool:
        """Return the pool of systems with some numbers of runs, degrees of freedom and variances."""
        varies = (df >= FEWEST_DF) & (part > 0)
        alike = np.stack([np.where(varies, runs, -1.0 - np.arange(len(df))), np.where(varies, df, 0.0)], axis=1)
        _, group, counts = np.unique(alike, axis=0, return_inverse=True, return_counts=True)
        group = group.reshape(-1)
        size = counts[group].astype(float)
        return cls(group, size, np.where(size >= FEWEST, np.minimum(WEIGHT, 1 - 2 / size), 0.0))

    def take(self, place: Codes) -> Pool:
        """Return the pool of systems in another order."""
        return Pool(self.group[place], self.size[place], self.weight[place])

    def moderate(self, part: Floats) -> Floats:
        """Return the moderated variances of all systems, shape (..., S)."""
        return (1 - self.weight) * part + self.weight * self._sum(part) / self.size

    def share(self, spread: Spread, part: Floats, df: Floats, left: Codes, right: Codes) -> Spread:
        """Return the parts of differences of pairs, the run variances of which are moderated.

        The variance of a difference is a sum over all systems: of each of the pair, and of the others together, whose
        degrees of freedom are Satterthwaite's.

        Parameters
        ----------
        part, df : of each system, shapes (..., S) and (S,)
        """
        share = self.weight / self.size
        same = self.group[left] == self.group[right]
        own = []
        for one, other in ((left, right), (right, left)):
            taken = share[one] + np.where(same, share[other], 0.0)
            own.append((1 - self.weight[one] + taken) * part[..., one])
        total, square = self._sum(part), self._sum(part**2 / df)
        others, uncertainty = np.zeros(own[0].shape), np.zeros(own[0].shape)
        for one, other in ((left, right), (right, left)):
            inside = np.where(same, part[..., other], 0.0)
            rest = np.maximum(0.0, total[..., one] - part[..., one] - inside)
            rest_square = np.maximum(0.0, square[..., one] - part[..., one] ** 2 / df[one] - inside**2 / df[other])
            # Of a group that both are in, what the others lend to one they lend to the other: it counts once, doubled.
            times = np.where(same, share[one] + share[other], share[one])
            once = np.where(same, 0.5, 1.0)
            others += once * times * rest
            uncertainty += once * times**2 * rest_square
        some = (others > 0) & (uncertainty > 0)
        others_df = np.where(some, others**2 / np.where(some, uncertainty, 1.0), 1.0)
        return Spread(
            estimate=spread.estimate,
            these=spread.these,
            item_df=spread.item_df,
            runs=(*own, np.where(some, others, 0.0)),
            noise=(*spread.noise[:2], np.zeros(())),
            run_df=cast("tuple[int, ...]", (df[left], df[right], others_df)),
            luck=LUCK - LESS_LUCK * np.where(same, self.weight[left], 0.0),
        )

    def _sum(self, values: Floats) -> Floats:
        """Return, for each system, the sum over its group, shape (..., S)."""
        together = self.group[:, None] == self.group
        return np.asarray(values @ together.astype(float))
