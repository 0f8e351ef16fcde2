"""J and K for a budget: variance falls with J, bias with K (Moss, Leslie & Rayson 2018, section 3).

More folds train on more of the corpus, 1 - 1/K of it: bias goes like 1/K. A bias that all candidates share does not
change the choice; what can is how much the bias differs between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special

from holdsup.numerics.layout import Floats
from holdsup.numerics.tuning.standing import measure_standing

__all__ = ["LEAST_K", "Bias", "Plan", "advise_plans", "measure_bias"]

CERTAIN = 0.95  # level of the tests that tell K apart
LEAST_K = 3  # with two folds, training sets do not overlap, and estimates vary more


@dataclass(frozen=True, slots=True)
class Bias:
    """How scores change with the share of the corpus that is left out of training, per unit of 1/K.

    Attributes
    ----------
    mean : change of the contenders' mean score; negative where more training data help a larger-is-better score
    spread : standard deviation of that change between contenders, what noise explains taken off
    """

    mean: float
    spread: float


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to spend a budget.

    Attributes
    ----------
    j : partitions
    k : folds
    fits : fits that all candidates take
    se_difference : standard error of a difference between contenders
    se_estimate : standard error of a contender's mean score, between partitions
    bias_estimate : bias of a mean score; NaN where only one K was tried
    bias_difference : standard deviation of the bias between contenders; NaN where only one K was tried
    error : root mean square error of a difference: what misleads the choice
    """

    j: int
    k: int
    fits: int
    se_difference: float
    se_estimate: float
    bias_estimate: float
    bias_difference: float
    error: float


def advise_plans(samples: Mapping[int, Floats], budget: int) -> list[Plan]:
    """Return the plans that a budget of fits pays for, the best first: the smallest error of a difference.

    Parameters
    ----------
    samples : for each K that was tried, the scores of its first partitions, shape (two or more, candidates); the same
        candidates for each, larger is better
    budget : the most fits
    """
    bias = measure_bias(samples) if len(samples) > 1 else Bias(math.nan, math.nan)
    variances = _share_variances(samples)
    plans = []
    for k, scores in samples.items():
        candidates = scores.shape[1]
        j = budget // (k * candidates)
        if k < LEAST_K or not j:
            continue
        between = scores[:, measure_standing(scores).contenders].var(axis=0, ddof=1).mean()
        uneven = bias.spread / k
        error = math.sqrt(variances[k] / j + (0.0 if math.isnan(uneven) else 2 * uneven**2))
        plans.append(
            Plan(
                j, k, j * k * candidates, math.sqrt(variances[k] / j), math.sqrt(between / j), bias.mean / k, uneven,
                error,
            )
        )  # fmt: skip
    return sorted(plans, key=lambda plan: (plan.error, plan.k))


def measure_bias(samples: Mapping[int, Floats]) -> Bias:
    """Return how scores change with 1/K, by least squares over two or more K, for those who contend at any of them.

    A spread that an F test at 5% does not tell from noise is zero: a few partitions would always show some.
    """
    near = np.any([measure_standing(scores).contenders for scores in samples.values()], axis=0)
    x = np.concatenate([np.full(len(scores), 1 / k) for k, scores in samples.items()])
    y = np.concatenate([scores[:, near] for scores in samples.values()])
    away = x - x.mean()
    slopes = away @ y / (away @ away)
    df = [_df(scores) for scores in samples.values()]
    variances = [measure_standing(scores).variance for scores in samples.values()]
    noise = np.average(variances, weights=df) / 2 / (away @ away)
    seen = slopes.var(ddof=1) if len(slopes) > 1 else 0.0
    real = seen > noise * special.fdtri(min(max(len(slopes) - 1, 1), sum(df)), sum(df), CERTAIN)
    return Bias(float(slopes.mean()), math.sqrt(seen - noise) if real else 0.0)


def _share_variances(samples: Mapping[int, Floats]) -> dict[int, float]:
    """Return the variance of a difference for each K: one for all, unless an F test at 5% tells them apart.

    None that was seen is none that was measured: a few partitions may agree by chance.
    """
    own = {k: measure_standing(scores).variance for k, scores in samples.items()}
    df = {k: _df(scores) for k, scores in samples.items()}
    least, most = min(own, key=own.__getitem__), max(own, key=own.__getitem__)
    tests = len(own) * (len(own) - 1) / 2
    if own[least] > 0 and own[most] > own[least] * special.fdtri(
        df[most], df[least], 1 - (1 - CERTAIN) / 2 / max(tests, 1)
    ):
        return own
    return dict.fromkeys(own, float(np.average(list(own.values()), weights=list(df.values()))))


def _df(scores: Floats) -> float:
    """Return the degrees of freedom of the pooled variance, as many as directions vary: neighbours vary together.

    (sum of eigenvalues)^2 / sum of their squares, of the covariance of what a partition does to each contender.
    """
    left = scores[:, measure_standing(scores).contenders]
    left = left - left.mean(axis=0) - left.mean(axis=1, keepdims=True) + left.mean()
    cross = left @ left.T
    square = float((cross**2).sum())
    return float(np.trace(cross)) ** 2 / square if square > 0 else 1.0
