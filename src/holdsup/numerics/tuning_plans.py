"""Plans of tuning: which candidates are worth another partition, when to stop, and J and K for a budget."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from holdsup.numerics.distributions import t_quantile
from holdsup.numerics.layout import Floats
from holdsup.numerics.tuning import measure_standing

FIRST_LOOK = 3  # partitions; with fewer there is no variance of a candidate's own, and a noisy one is dropped by luck
MARGIN = 0.5  # the default margin, in standard deviations of a difference between contenders on one partition
SAME = 3  # partitions on which two candidates have the same score before they are run as one

Stop = Literal["within margin", "budget spent", "all partitions run"]
CERTAIN = 0.95  # level of the tests that tell K apart
LEAST_K = 3  # with two folds, training sets do not overlap, and estimates vary more


@dataclass(frozen=True, slots=True)
class Review:
    """What the scores so far say about going on."""

    run: tuple[int, ...]  # candidates to run on the next partition; none means stop
    stop: Stop | None  # why to stop; None to go on
    margin: float | None  # the indifference margin; None before the first look
    fits: int  # how many fits the partitions so far took
    dropped: dict[int, int]  # candidates that were dropped, and after how many partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveSchedule:
    """When to drop candidates and when to stop. It has no memory: the scores so far decide.

    After each partition every candidate is compared with the current pick, on the partitions that both have. One whose
    upper limit is no more than the margin cannot win by more than the margin: it is dropped. When only the pick is
    left, its regret is within the margin. The error of these limits is spent over the looks (Lan & DeMets 1983), more
    of it on the early ones, when most candidates are still running.
    """

    candidates: int  # how many there are
    k: int  # folds of a partition, each of them a fit
    # a difference in score that does not matter; None for half a standard deviation of a difference between contenders
    # on one partition, measured at the first look
    margin: float | None = None
    level: float = 0.95  # confidence that the regret is within the margin
    budget: int | None = None  # the most fits; None for as many as all partitions take
    most: int = 8  # the most partitions

    def next(self, scores: Floats) -> list[int]:
        """Return the candidates to run on the next partition, none to stop; see `review`."""
        return list(self.review(scores).run)

    def review(self, scores: Floats) -> Review:
        """Return what to do after these scores, shape (partitions so far, candidates); larger is better.

        NaN stands where a candidate was not run, or failed: it is not run again.
        """
        running = np.arange(self.candidates)
        dropped: dict[int, int] = {}
        fits, margin = 0, self.margin
        for done in range(1, len(scores) + 1):
            fits += self.k * len(running)
            running = running[np.isfinite(scores[done - 1, running])]
            if done >= FIRST_LOOK and len(running) > 1:
                so_far = scores[:done, running]
                margin = find_margin(so_far) if margin is None else margin
                staying = self._stay(so_far, margin)
                dropped.update({int(c): done for c in running[~staying]})
                running = running[staying]
        stop = self._stop(len(scores), len(running), fits)
        return Review(() if stop else tuple(map(int, running)), stop, margin, fits, dropped)

    def _stop(self, done: int, running: int, fits: int) -> Stop | None:
        if done and running <= 1:
            return "within margin"
        if done >= self.most:
            return "all partitions run"
        if self.budget is not None and fits + self.k * running > self.budget:
            return "budget spent"
        return None

    def _stay(self, scores: Floats, margin: float) -> NDArray[np.bool_]:
        """Return which of the running candidates can still win by more than the margin."""
        standing = measure_standing(scores)
        factor = t_quantile(1 - self._error(len(scores)), standing.weight + len(scores) - 1)
        staying = standing.gaps + np.maximum(factor * standing.errors, standing.own_reach(self.level)) > margin
        if len(scores) >= SAME:
            staying &= standing.twins == np.arange(len(staying))
        staying[standing.pick] = True
        return np.asarray(staying)

    def _error(self, done: int) -> float:
        """Return the error to spend at this look: what is spent by a share of the looks is its square root."""
        looks = self.most - FIRST_LOOK + 1
        look = done - FIRST_LOOK + 1
        return (1 - self.level) * (math.sqrt(look / looks) - math.sqrt((look - 1) / looks))


def find_margin(scores: Floats) -> float:
    """Return the default margin: half the standard deviation of a difference between contenders on one partition.

    One that is better by as much wins on 69% of partitions.
    """
    return MARGIN * math.sqrt(measure_standing(scores).variance)


@dataclass(frozen=True, slots=True)
class Bias:
    """How scores change with the share of the corpus that is left out of training, per unit of 1/K."""

    mean: float  # change of the contenders' mean score; negative where more training data help a larger-is-better score
    spread: float  # standard deviation of that change between contenders, what noise explains taken off


@dataclass(frozen=True, slots=True)
class BudgetPlan:
    """One way to spend a budget."""

    j: int  # partitions
    k: int  # folds
    fits: int  # fits that all candidates take
    se_difference: float  # standard error of a difference between contenders
    se_estimate: float  # standard error of a contender's mean score, between partitions
    bias_estimate: float  # bias of a mean score; NaN where only one K was tried
    bias_difference: float  # standard deviation of the bias between contenders; NaN where only one K was tried
    error: float  # root mean square error of a difference: what misleads the choice


def advise_plans(samples: Mapping[int, Floats], budget: int) -> list[BudgetPlan]:
    """Return the plans that a budget of fits pays for, the best first: the smallest error of a difference.

    Variance falls with J, bias with K (Moss, Leslie & Rayson 2018, section 3): more folds train on more of the corpus,
    1 - 1/K of it, and bias goes like 1/K. A bias that all candidates share does not change the choice; what can is how
    much the bias differs between them.

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
            BudgetPlan(
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
