"""How a difference between systems depends on properties of items.

Item differences D_i = x_i'b + e_i are regressed on properties x_i. A coefficient, or a combination l'b such
as the difference at a value of the property, is a weighted sum of the D_i, with weights a = X (X'X)^-1 l.
So is each run's own coefficient. The scores

    l'b_r + sqrt(I (I - 1)) a_i e_ir / (1 - h_i)

of item i in run r, with h the leverages, centred on l'b_r, have l'b as their mean, and the variance of
that mean is, to a part in I, the one that holds whatever the variances of the e_i are (HC3: MacKinnon &
White 1985; with sqrt(1 - h_i) HC2, which is exact where the properties are classes). Put in place of
the scores, they turn every rule for means, in two ways over items and runs, into the rule for l'b.

Scores from 0 to 1 can be taken on log-odds instead: l'b is then that of a logistic regression on the properties, and
scores are those of its estimating equations, x_i (y_ir - mu_i), times the inverse of the information (the sandwich of
generalized estimating equations, Liang & Zeger 1986). Rates are those over all items, not given an item.

Along a line b0 + b1 z, with z the property in standard deviations from its mean, limits hold for all values at once:

- Over new items: Working and Hotelling's band, b0 + b1 z +- sqrt(2 F(2, df)) se(z).
- Over new runs as well: Graybill and Bowden's (1967), +- (h0 + h1 |z|), with h0 and h1 the half-widths of b0
  and b1 at half the error each. Few runs do not tell the correlation of b0 and b1, on which se(z)
  rests: two runs make some se(z) zero. This band holds whatever the correlation is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, isfinite, log10, sqrt

import numpy as np
from scipy import special

from holdsup.numerics.arithmetic import find_root
from holdsup.numerics.decisions import Criterion, Difference, decide, reach_of
from holdsup.numerics.differences import Codes, choose_tests
from holdsup.numerics.distributions import Tail, f_tail
from holdsup.numerics.layout import Floats
from holdsup.numerics.least_squares import fit_additive
from holdsup.numerics.spread import Clusters, Spread, measure_arm, measure_spread

ALONE = 1e-10  # 1 - leverage below it: the item is fitted exactly, and its residual is rounding
CENTRE, SLOPE = np.array([1.0, 0.0]), np.array([0.0, 1.0])
MOST_LOG_ODDS = 12.0  # of a rate that is none of 0 and 1
MOST_STEPS = 30  # of Newton's method
STEPS = 2000  # places at which a band is looked at; the ends of a range are then found exactly


@dataclass(frozen=True, slots=True, eq=False)
class Trends:
    """Coefficients of a difference on p properties, the constant included, and what their variances are made of."""

    coefficients: Floats  # b, shape (p,)
    these: Floats  # their covariance over new items, runs as they are, shape (p, p)
    runs: tuple[Floats, ...]  # covariance due to the runs of each arm
    noise: tuple[Floats, ...]  # the share of each of `runs` that `these` holds as well
    run_df: tuple[int, ...]  # degrees of freedom of each of `runs`
    design: Floats  # X, shape (I, p)
    weights: Floats  # X (X'X)^-1, shape (I, p)
    leverage: Floats  # h, shape (I,)
    clusters: Clusters  # which items belong together
    largest: float  # the largest score, to which rounding is relative

    def estimate(self, direction: Floats) -> float:
        """Return l'b."""
        return float(direction @ self.coefficients)

    def scale(self, direction: Floats) -> float:
        """Return the largest l'b that scores of this size could give, to which rounding is relative."""
        return self.largest * float(np.abs(self.weights @ direction).sum())

    def tests(self, direction: Floats, *, new_runs: bool) -> list[Criterion]:
        """Return the tests of l'b = 0 that a claim needs."""
        return choose_tests([self.spread(direction)], new_runs=new_runs)

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
    log_odds: bool = False,
) -> Trends:
    """Return the trends of the first arm minus the second, or of a single one.

    Parameters
    ----------
    arms : scores of each system, shape (I, k), NaN where a cell is missing
    design : X, shape (I, p), of full rank
    settings : of each arm, the setting of each run, None where there is one only
    classes : whether the columns of X tell classes of items
    log_odds : whether the coefficients are those of log-odds; scores are then from 0 to 1

    Raises
    ------
    ValueError : no more items than coefficients; log-odds without end
    """
    count, p = design.shape
    if count <= p:
        raise ValueError(f"{count} items are too few for {p} coefficients.")
    Q, R = np.linalg.qr(design)
    weights = np.linalg.solve(R, Q.T).T
    leverage = (Q**2).sum(axis=1)
    lacking = 0.5 if classes else 1.0
    scores = [
        _spread_log_odds(arm, design, lacking)
        if log_odds
        else _spread_out(arm, design, weights, (1 - leverage) ** lacking)
        for arm in arms
    ]

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


def _spread_log_odds(scores: Floats, design: Floats, lacking: float) -> Floats:
    """Return the same of a logistic regression: all runs tell the rates, and one step from there each run's own."""
    there = ~np.isnan(scores)
    trials, right = there.sum(axis=1), np.nansum(scores, axis=1)
    b = np.zeros(design.shape[1])
    for _ in range(MOST_STEPS):
        mu = special.expit(design @ b)
        information = design.T @ ((trials * mu * (1 - mu))[:, None] * design)
        if (np.abs(design @ b) > MOST_LOG_ODDS).any() or np.linalg.cond(information) > 1 / ALONE:
            raise ValueError("all are right or all are wrong somewhere along it, where log-odds have no end.")
        step = np.linalg.solve(information, design.T @ (right - trials * mu))
        b = b + step
        if np.abs(step).max() < ALONE:
            break
    w, found = mu * (1 - mu), np.full((len(b), *scores.shape), np.nan)
    for run, (y, held) in enumerate(zip(scores.T, there.T, strict=True)):
        X, v = design[held], w[held]
        towards = np.linalg.solve(X.T @ (v[:, None] * X), X.T)
        own = towards @ (y[held] - mu[held])
        free = np.maximum(1 - v * np.einsum("ij,ji->i", X, towards), ALONE) ** lacking
        spread = sqrt(len(X) * (len(X) - 1)) * towards * (y[held] - mu[held] - v * (X @ own)) / free
        found[:, held, run] = (b + own)[:, None] + spread - spread.mean(axis=1, keepdims=True)
    return found


def decide_direction(trends: Trends, direction: Floats, *, new_runs: bool, level: float) -> Difference:
    """Return the test and the limits of one combination of coefficients."""
    tests = trends.tests(direction, new_runs=new_runs)
    return decide(trends.estimate(direction), tests, trends.scale(direction), level)


def half_width(trends: Trends, direction: Floats, *, new_runs: bool, level: float) -> float:
    """Return the half-width of the limits of one combination of coefficients."""
    tests = trends.tests(direction, new_runs=new_runs)
    return max(reach_of(test, level) for test in tests)


def joint_tail(trends: Trends, *, new_runs: bool) -> Tail:
    """Return the p of no difference at any value: b0 = b1 = 0."""
    found = [decide_direction(trends, each, new_runs=new_runs, level=0.95) for each in (CENTRE, SLOPE)]
    if new_runs:
        return tighten(min(found, key=lambda each: each.log10_p), 2)
    try:
        squares = float(trends.coefficients @ np.linalg.solve(trends.these, trends.coefficients))
    except np.linalg.LinAlgError:
        raise ValueError("the differences lie on a line: a test needs their spread, and there is none.") from None
    return f_tail(max(0.0, squares) / 2, 2, _item_df(trends))


def tighten(found: Difference | Tail, times: int) -> Tail:
    """Return a p that is the smallest of several, by Bonferroni's inequality."""
    log = min(0.0, found.log10_p + log10(times))
    return Tail(min(1.0, times * found.p), log)


def bound_line(trends: Trends, z: Floats, *, new_runs: bool, level: float) -> Floats:
    """Return the half-width of the simultaneous limits at each of `z`."""
    if new_runs:
        centre, slope = (half_width(trends, each, new_runs=True, level=(1 + level) / 2) for each in (CENTRE, SLOPE))
        if not isfinite(centre + slope):  # neither without the other: there is no band
            return np.full(np.shape(z), inf)
        return np.asarray(centre + slope * np.abs(z))
    reach = sqrt(2 * float(special.fdtri(2, _item_df(trends), level)))
    V = trends.these
    return np.asarray(reach * np.sqrt(np.maximum(0.0, V[0, 0] + 2 * z * V[0, 1] + z**2 * V[1, 1])))


def find_ranges(
    line: Callable[[Floats], Floats], half: Callable[[Floats], Floats], low: float, high: float
) -> list[tuple[float, float, int]]:
    """Return where, between `low` and `high`, the limits exclude zero: from, to, and the sign of the line."""
    places = np.linspace(low, high, STEPS + 1)
    ranges = []
    for sign in (-1, 1):

        def clear(z: Floats | float, sign: int = sign) -> Floats:
            return sign * line(np.asarray(z)) - half(np.asarray(z))

        outside = clear(places) > 0
        edges = np.flatnonzero(np.diff(outside.astype(int)))
        cuts = [find_root(lambda z: float(clear(z)), places[i], places[i + 1], xtol=1e-12) for i in edges]
        ends = [*([low] if outside[0] else []), *cuts, *([high] if outside[-1] else [])]
        ranges += [(float(a), float(b), sign) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    return sorted(ranges)


def _item_df(trends: Trends) -> float:
    return min(trends.item_df(CENTRE), trends.item_df(SLOPE))
