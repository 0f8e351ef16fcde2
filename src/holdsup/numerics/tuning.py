"""Numbers of tuning by J-K-fold cross-validation: where each candidate stands, and how much of that is luck.

Scores have a row for each partition and a column for each candidate; larger is better. NaN is a partition on which a
candidate was not run. A column without any number is a candidate that is out. Everything is about differences between
candidates on the same partition: what a partition adds to all of them cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

from holdsup.numerics.arithmetic import NOISE, largest, without_noise
from holdsup.numerics.distributions import t_quantile
from holdsup.numerics.layout import Floats

PRIOR_DF = 8  # the most degrees of freedom that the pooled variance is worth beside a candidate's own
REACH = 0.995  # a candidate farther below the pick than this quantile of Student's t is no contender
LEAST_OWN = 3  # partitions that a candidate's own variance needs: of two, a limit by it would say nothing
POOLED = 4  # candidates, at least, that the pooled variance comes from: of two it would have one degree of freedom
DRAWS = 4000
Places: TypeAlias = NDArray[np.intp]  # of candidates


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Candidates beside the pick."""

    pick: int  # the candidate with the largest mean, the first of several
    means: Floats  # of each candidate over its partitions; NaN for one that is out
    counts: NDArray[np.intp]  # number of partitions of each candidate
    gaps: Floats  # mean difference from the pick, on the same partitions; zero or less for complete candidates
    # what is left of those differences, shape (partitions, candidates); zero where a candidate was not run
    residuals: Floats
    twins: NDArray[np.intp]  # the first candidate that has the same scores, itself if none has
    contenders: NDArray[np.bool_]  # which candidates lie near the top; one of those with the same scores
    # of a difference between two candidates near the top on one partition, pooled; NaN with one partition
    variance: float
    weight: float  # degrees of freedom that the pooled variance is worth beside a candidate's own

    @property
    def rivals(self) -> NDArray[np.intp]:
        """The candidates, one of those with the same scores, that are in and not the pick.

        In the order of their scores, so that what is drawn for each does not depend on who was named first.
        """
        own = np.arange(len(self.means))
        found = np.flatnonzero((self.counts > 0) & (self.twins == own) & (own != self.pick))
        return found[np.lexsort((*self.residuals[:, found], self.gaps[found]))]

    @property
    def df(self) -> Floats:
        """Degrees of freedom of the variance of each candidate's difference."""
        return np.asarray(self.weight + np.maximum(self.counts, 1) - 1.0)

    @property
    def errors(self) -> Floats:
        """Standard errors of the gaps: each variance is drawn towards the pooled one.

        The posterior mean under an inverse chi-square prior that is worth `weight` degrees of freedom.
        """
        own = (self.residuals**2).sum(0)
        return np.asarray(np.sqrt((self.weight * self.variance + own) / self.df / np.maximum(self.counts, 1)))

    def own_reach(self, level: float) -> Floats:
        """Return how far above its gap a candidate may lie by its own variance alone; zero with few partitions.

        Student's limit of a paired difference: one that varies more than those the variance is pooled over needs it.
        """
        df = np.maximum(self.counts, 2) - 1.0
        error = np.sqrt((self.residuals**2).sum(0) / (df * np.maximum(self.counts, 1)))
        return np.where(self.counts < LEAST_OWN, 0.0, special.stdtrit(df, level) * error)


def pick_best(scores: Floats) -> int:
    """Return the complete candidate with the largest mean; the first of several.

    >>> pick_best(np.array([[0.7, 0.9, np.nan], [0.8, 0.6, 1.0]]))
    0
    """
    complete = np.flatnonzero(np.isfinite(scores).all(axis=0))
    if not len(complete):
        raise ValueError("no candidate has a score on every partition.")
    return int(complete[np.argmax(round_means(scores[:, complete].mean(axis=0)))])


def round_means(means: Floats) -> Floats:
    """Return means without the last digits, by which sums of equal scores in another order would differ."""
    known = np.abs(means[np.isfinite(means)])
    scale = float(known.max(initial=0.0))
    return np.round(means / scale, 13) if scale > 0 else means


def count_wins(scores: Floats) -> Floats:
    """Return the share of partitions on which each candidate is the best; of several that are, each wins.

    >>> count_wins(np.array([[0.7, 0.9], [0.8, 0.6], [0.5, 0.5], [0.1, 0.2]])).tolist()
    [0.5, 0.75]
    """
    filled = np.where(np.isfinite(scores), scores, -np.inf)
    behind = without_noise(filled - filled.max(axis=1, keepdims=True), largest(scores))
    return np.asarray((behind == 0).mean(axis=0))


def measure_standing(scores: Floats) -> Standing:
    """Return how each candidate compares with the pick."""
    pick = pick_best(scores)
    run = np.isfinite(scores)
    counts = run.sum(axis=0)
    total = np.where(run, scores, 0.0).sum(axis=0)
    scale = largest(scores)
    differences = without_noise(np.where(run, scores - scores[:, [pick]], 0.0), scale)
    at_least_one = np.maximum(counts, 1)
    gaps = np.where(counts > 0, without_noise(differences.sum(axis=0) / at_least_one, scale), np.nan)
    residuals = np.where(run, differences - gaps, 0.0)
    twins = _find_twins(scores)
    contenders, variance, weight = _find_contenders(scores, pick, gaps, twins)
    means = np.where(counts > 0, total / at_least_one, np.nan)
    return Standing(pick, means, counts, gaps, residuals, twins, contenders, variance, weight)


def _find_twins(scores: Floats) -> NDArray[np.intp]:
    """Return for each candidate the first one with the same score on every partition of it, run no less often."""
    run = np.isfinite(scores)
    counts = run.sum(axis=0)
    twins = np.arange(len(counts))
    for c in np.flatnonzero(counts):
        rows = run[:, c]
        same = np.flatnonzero((scores[rows] == scores[rows, c][:, None]).all(axis=0))
        twins[c] = same[np.argmax(counts[same])]
    return twins


def _find_contenders(
    scores: Floats, pick: int, gaps: Floats, twins: NDArray[np.intp]
) -> tuple[NDArray[np.bool_], float, float]:
    """Return the candidates within reach of the pick, two at least, the variance of differences, and its weight.

    They depend on each other: candidates leave until none is beyond reach. All are seen on the same partitions, as
    many as at least two have.
    """
    own = twins == np.arange(len(twins))
    shared = int(np.sort(np.isfinite(scores[:, own]).sum(axis=0))[-2:][0])
    scores = scores[: max(shared, 1)]
    near = own & np.isfinite(scores).all(axis=0)
    nearest = sorted(np.flatnonzero(near), key=lambda c: (c != pick, -gaps[c], *scores[:, c]))
    while True:
        pooled = near.copy()
        pooled[nearest[:POOLED]] = True
        variance, df = _pool(scores[:, pooled])
        weight = min(PRIOR_DF, df)
        if not df:
            return near, variance, weight
        reach = t_quantile(REACH, weight + len(scores) - 1) * np.sqrt(variance / len(scores))
        staying = near & (gaps >= -reach)
        staying[nearest[:2]] = True
        if (staying == near).all():
            return near, variance, weight
        near = staying


def _pool(scores: Floats) -> tuple[float, float]:
    """Return the variance of a difference, twice the mean square of partition by candidate, and its df."""
    partitions, count = scores.shape
    df = float((partitions - 1) * (count - 1))
    if not df:
        return (0.0 if partitions > 1 else float("nan")), df
    left = scores - scores.mean(axis=0)
    left -= left.mean(axis=1, keepdims=True)
    return float(2 * (without_noise(left, largest(scores)) ** 2).sum() / df), df


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """What simultaneous limits say: multiple comparisons with the best (Hsu 1984)."""

    upper: Floats  # upper limit of each candidate's mean minus the pick's; zero for the pick, NaN for one that is out
    alike: NDArray[np.bool_]  # which candidates can't be told apart from the pick, the pick among them
    regret: float  # upper limit of what the best candidate's mean exceeds the pick's by; NaN with one partition


def bound_regret(standing: Standing, *, level: float, seed: int, draws: int = DRAWS) -> Bounds:
    """Return upper limits of the differences from the pick that hold together with confidence `level`."""
    inside = standing.counts > 0
    if np.isnan(standing.variance):
        return Bounds(np.full(len(inside), np.nan), inside, float("nan"))
    rivals, errors = standing.rivals, standing.errors
    factor = _critical_value(standing, level, np.random.default_rng(seed), draws) if len(rivals) else 0.0
    upper = np.full(len(inside), np.nan)
    upper[rivals] = (standing.gaps + np.maximum(factor * errors, standing.own_reach(level)))[rivals]
    upper[standing.pick] = 0.0
    upper = np.where(inside, upper[standing.twins], np.nan)
    return Bounds(upper, inside & (upper >= 0), max(0.0, float(np.nanmax(upper))))


def _critical_value(standing: Standing, level: float, rng: np.random.Generator, draws: int) -> float:
    """Return the quantile of the largest of the rivals' standardised errors, which share the error of the pick.

    Dunnett's distribution, with the covariance of these candidates instead of equal correlations.
    """
    rivals = standing.rivals
    df = standing.weight + standing.counts.max() - 1
    seen = rng.standard_normal((draws, len(standing.residuals))) @ standing.residuals[:, rivals]
    own = rng.standard_normal((draws, len(rivals) + 1))
    pooled = np.sqrt(standing.weight * standing.variance / 2) * (own[:, 1:] - own[:, :1])
    scale = np.sqrt(standing.counts[rivals] * standing.df[rivals]) * standing.errors[rivals]
    known = scale > 0
    if not known.any():
        return 0.0
    largest = ((seen + pooled)[:, known] / scale[known]).max(axis=1)
    return float(np.quantile(largest * np.sqrt(df / rng.chisquare(df, draws)), level))


def best_probabilities(standing: Standing, *, seed: int, draws: int = DRAWS) -> Floats:
    """Return the probability of each candidate to be the best over all partitions; NaN with one partition.

    A posterior by draws. Differences of contenders are draws from a normal population: its spread, measured against
    the error of the means, has a uniform prior on the share of error (Strawderman 1971; Daniels 1999), so that a lead
    is believed the less, the more candidates are as good. Covariances between partitions are drawn towards equal ones:
    an inverse-Wishart prior worth up to eight degrees of freedom. Candidates far below the top have a flat prior.
    Candidates with the same scores count as one in the draws and are the best together: all have its probability.
    """
    chances = np.zeros(len(standing.means))
    rivals = standing.rivals
    if not len(rivals):
        chances[standing.pick] = 1.0
    elif np.isnan(standing.variance):
        chances[:] = np.nan
    else:
        who = np.append(standing.pick, rivals)  # of equals, the first leads
        gaps = _draw_gaps(standing, who, np.random.default_rng(seed), draws)
        chances = np.bincount(who[gaps.argmax(axis=1)], minlength=len(chances)) / draws
    return np.asarray(chances[standing.twins])


def _draw_gaps(standing: Standing, who: Places, rng: np.random.Generator, draws: int) -> Floats:
    """Return draws of the means of candidates beside that of the pick, shape (draws, candidates)."""
    inside = standing.contenders[who]
    gaps, counts = standing.gaps[who], standing.counts[who]
    df = standing.weight + counts.max() - 1
    inflation = df / rng.chisquare(df, draws)
    noise = _draw_errors(standing, who, rng, draws) * np.sqrt(inflation)[:, None]
    centre = gaps[inside].mean()
    error = standing.variance / 2 / counts.max() * inflation
    share = _draw_shares(((gaps[inside] - centre) ** 2).sum(), error, int(inside.sum()), rng)
    kept = np.where(inside, (1 - share)[:, None], 1.0)
    return np.asarray(centre + kept * (gaps - centre) + np.sqrt(kept) * noise)


def _draw_errors(standing: Standing, who: Places, rng: np.random.Generator, draws: int) -> Floats:
    """Return draws of the errors of the gaps: the residuals' own covariance and the pooled one, by their weights."""
    residuals = standing.residuals[:, who]
    scale = np.sqrt(standing.counts[who] * standing.df[who])
    seen = rng.standard_normal((draws, len(residuals))) @ residuals
    pooled = np.sqrt(standing.weight * standing.variance / 2) * rng.standard_normal((draws, len(who)))
    return np.asarray((seen + pooled) / scale)


def _draw_shares(square: float, error: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Return draws of u = error / (error + spread), uniform before the data: a gamma cut off at one.

    Its density is u^((count - 1) / 2) exp(-u square / (2 error)).
    """
    uniform = rng.random(len(error))
    shape = (count - 1) / 2 + 1
    rate = square / np.where(error > 0, 2 * error, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = special.gammaincinv(shape, uniform * special.gammainc(shape, rate)) / rate
    small = rate < 1e-8  # there the exponential is one, and the density a power
    return np.where(error > 0, np.where(small, uniform ** (1 / shape), np.minimum(drawn, 1)), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Retuning:
    """What tuning chose, once for each group of J partitions."""

    j: int  # partitions in a group
    picks: NDArray[np.intp]  # the candidate chosen by each group
    estimates: Floats  # its mean score on that group

    @property
    def sd_estimate(self) -> float:
        """The standard deviation of the estimate between groups; NaN with one."""
        return _deviation(self.estimates)

    def sd_choice(self, values: Floats) -> float:
        """Return the standard deviation between groups of the chosen value of a parameter.

        `values` holds the parameter of each candidate.
        """
        return _deviation(np.asarray(values, dtype=np.float64)[self.picks])

    def shares(self, candidates: int) -> Floats:
        """Return how often each candidate is chosen."""
        return np.bincount(self.picks, minlength=candidates) / len(self.picks)


def retune(
    pool: Floats, j: int, *, repeats: int | None = None, seed: int = 0, ties: Literal["first", "as summed"] = "first"
) -> Retuning:
    """Return what J-K-fold tuning chooses with groups of J partitions from a pool, shape (partitions, candidates).

    Groups are disjoint and in order, as many as there are (Moss, Leslie & Rayson 2018); with `repeats`, that many are
    drawn with replacement, so that they vary as groups of endless partitions do: without it, J of N would have a
    variance that is too small by J/N. Larger scores are better, and the first of equal candidates is chosen; "as
    summed" leaves means that are equal to the rounding of their sums, as published numbers do. NaN is never chosen.

    >>> pool = np.array([[0.1, 0.2], [0.4, 0.2], [0.1, 0.3], [0.3, 0.1]])
    >>> retune(pool, 2).picks.tolist(), retune(pool, 1).picks.tolist()
    ([0, 0], [1, 0, 1, 0])
    """
    if not 1 <= j <= len(pool):
        raise ValueError(f"groups of {j} partitions need a pool of as many, which has {len(pool)}.")
    if repeats is None:
        rows = np.arange(len(pool) // j * j).reshape(-1, j)
    else:
        rows = np.random.default_rng(seed).integers(len(pool), size=(repeats, j))
    means = pool[rows].mean(axis=1)
    known = np.where(np.isfinite(means), round_means(means) if ties == "first" else means, -np.inf)
    picks = known.argmax(axis=1)
    return Retuning(j, picks, means[np.arange(len(picks)), picks])


def _deviation(values: Floats) -> float:
    if len(values) < 2:
        return float("nan")
    spread = float(values.std(ddof=1))
    return 0.0 if spread <= NOISE * largest(values) else spread
