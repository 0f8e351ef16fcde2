"""How a difference between systems depends on properties of items.

Item differences D_i = x_i'b + e_i are regressed on properties x_i. A coefficient, or a combination l'b such
as the difference at a value of the property, is a weighted sum of the D_i, with weights a = X (X'X)^-1 l.
So is each run's own coefficient. The scores

    l'b_r + sqrt(I (I - 1)) a_i e_ir / (1 - h_i)

of item i in run r, with h the leverages, centred on l'b_r, have l'b as their mean, and the variance of
that mean is, to a part in I, the one that holds whatever the variances of the e_i are (HC3: MacKinnon &
White 1985; with sqrt(1 - h_i) HC2, which is exact where the properties are classes). Put in place of
the scores, they turn every rule for means, in two ways over items and runs, into the rule for l'b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holdsup.numerics.additive import fit_additive
from holdsup.numerics.clusters import Clusters
from holdsup.numerics.differences import Codes, Criterion, new_runs_test, these_runs_test
from holdsup.numerics.layout import Floats
from holdsup.numerics.spread import Spread, measure_arm, measure_spread

__all__ = ["Trends", "measure_trends"]

ALONE = 1e-10  # 1 - leverage below it: the item is fitted exactly, and its residual is rounding


@dataclass(frozen=True, slots=True, eq=False)
class Trends:
    """Coefficients of a difference on p properties, the constant included, and what their variances are made of.

    Attributes
    ----------
    coefficients : b, shape (p,)
    these : their covariance over new items, runs as they are, shape (p, p)
    runs : covariance due to the runs of each arm
    noise : the share of each of `runs` that `these` holds as well
    run_df : degrees of freedom of each of `runs`
    design : X, shape (I, p)
    weights : X (X'X)^-1, shape (I, p)
    leverage : h, shape (I,)
    clusters : which items belong together
    largest : the largest score, to which rounding is relative
    """

    coefficients: Floats
    these: Floats
    runs: tuple[Floats, ...]
    noise: tuple[Floats, ...]
    run_df: tuple[int, ...]
    design: Floats
    weights: Floats
    leverage: Floats
    clusters: Clusters
    largest: float

    def estimate(self, direction: Floats) -> float:
        """Return l'b."""
        return float(direction @ self.coefficients)

    def scale(self, direction: Floats) -> float:
        """Return the largest l'b that scores of this size could give, to which rounding is relative."""
        return self.largest * float(np.abs(self.weights @ direction).sum())

    def tests(self, direction: Floats, *, new_runs: bool) -> list[Criterion]:
        """Return the tests of l'b = 0 that a claim needs."""
        spread = self.spread(direction)
        return [new_runs_test([spread]), these_runs_test([spread])] if new_runs else [these_runs_test([spread])]

    def spread(self, direction: Floats) -> Spread:
        """Return the parts of the variance of l'b."""

        def of(covariance: Floats) -> Floats:
            return np.asarray(max(0.0, float(direction @ covariance @ direction)))

        return Spread(
            estimate=np.asarray(self.estimate(direction)),
            these=of(self.these),
            item_df=self.item_df(direction),
            runs=tuple(map(of, self.runs)),
            noise=tuple(map(of, self.noise)),
            run_df=self.run_df,
        )

    def item_df(self, direction: Floats) -> float:
        """Return the degrees of freedom of the variance over items: (tr MG)^2 / tr(MGMG), Bell & McCaffrey (2002).

        The variance is e'Ge with G = diag(a^2 / (1 - h)) and e = M D, M = I - H. With clusters, items of one
        count as one.
        """
        squares = (self.weights @ direction) ** 2
        if self.clusters.order is not None:
            together = np.add.reduceat(squares[self.clusters.order], self.clusters.starts)
            return min(self.clusters.df, float(together.sum() ** 2 / (together**2).sum()))
        free = 1 - self.leverage
        g = np.divide(squares, free, out=np.zeros_like(squares), where=free > ALONE)
        through = self.weights.T @ (g[:, None] * self.design)
        both = float(g**2 @ (1 - 2 * self.leverage)) + float(np.trace(through @ through))
        return float(g @ free) ** 2 / both if both > 0 else 1.0


def measure_trends(
    arms: Sequence[Floats],
    design: Floats,
    *,
    settings: Sequence[Codes | None],
    clusters: Clusters,
    classes: bool = False,
) -> Trends:
    """Return the trends of the first arm minus the second, or of a single one.

    Parameters
    ----------
    arms : scores of each system, shape (I, k), NaN where a cell is missing
    design : X, shape (I, p), of full rank
    settings : of each arm, the setting of each run, None where there is one only
    classes : whether the columns of X tell classes of items

    Raises
    ------
    ValueError : no more items than coefficients
    """
    count, p = design.shape
    if count <= p:
        raise ValueError(f"{count} items are too few for {p} coefficients.")
    Q, R = np.linalg.qr(design)
    weights = np.linalg.solve(R, Q.T).T
    leverage = (Q**2).sum(axis=1)
    free = (1 - leverage) ** (0.5 if classes else 1.0)
    scores = [_spread_out(arm, design, weights, free) for arm in arms]

    def measure(direction: Floats) -> Spread:
        measured = [
            measure_arm(np.tensordot(direction, each, 1), codes, clusters)
            for each, codes in zip(scores, settings, strict=True)
        ]
        items = measured[0].items - measured[1].items if len(measured) == 2 else measured[0].items
        return measure_spread(measured, items, clusters)

    single = [measure(row) for row in np.eye(p)]
    pairs = {(i, j): measure(np.eye(p)[i] + np.eye(p)[j]) for i in range(p) for j in range(i)}
    parts = [(s.these, *s.runs, *s.noise) for s in single]
    covariances = [np.diag([float(each[n]) for each in parts]) for n in range(len(parts[0]))]
    for (i, j), s in pairs.items():  # var(a + b) = var(a) + var(b) + 2 cov(a, b)
        for n, part in enumerate((s.these, *s.runs, *s.noise)):
            covariances[n][i, j] = covariances[n][j, i] = float(part - parts[i][n] - parts[j][n]) / 2
    return Trends(
        coefficients=np.array([float(s.estimate) for s in single]),
        these=covariances[0],
        runs=tuple(covariances[1 : 1 + len(arms)]),
        noise=tuple(covariances[1 + len(arms) :]),
        run_df=single[0].run_df,
        design=design,
        weights=weights,
        leverage=leverage,
        clusters=clusters,
        largest=max(float(np.nanmax(np.abs(arm))) for arm in arms),
    )


def _spread_out(scores: Floats, design: Floats, weights: Floats, free: Floats) -> Floats:
    """Return the scores that have each coefficient as their mean, shape (p, I, k); `free` is what residuals lack."""
    count = len(scores)
    missing = np.isnan(scores)
    items = fit_additive(scores).items if missing.any() else np.zeros(count)
    left = np.where(missing, 0.0, scores - items[:, None])
    common = weights.T @ items
    if missing.any():  # a run's coefficients rest on the items that it has; what items are, all runs tell
        own = np.stack(
            [
                np.linalg.lstsq(design[~gone], y[~gone], rcond=None)[0]
                for gone, y in zip(missing.T, left.T, strict=True)
            ],
            axis=1,
        )
    else:
        own = weights.T @ left
    residual = (items - design @ common)[:, None] + left - design @ own
    steps = np.divide(weights.T, free, out=np.zeros_like(weights.T), where=free > ALONE)
    spread = np.sqrt(count * (count - 1)) * steps[:, :, None] * residual
    spread -= spread.mean(axis=1, keepdims=True)
    return np.where(missing, np.nan, (common[:, None] + own)[:, None, :] + spread)
