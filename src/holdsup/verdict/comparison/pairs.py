"""All pairs of systems that were scored on the same items, tested at once.

What a system's runs say of its mean is then the same in each of its pairs, and only item differences are a pair's own:
two million pairs take seconds. Pairs of other designs are tested one by one, by the same rules (`pair_systems`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdsup.errors import ScoresError
from holdsup.numerics.decisions import Criterion, Difference, Differences, decide_all, say_constant
from holdsup.numerics.differences import new_runs_test, these_runs_test
from holdsup.numerics.families import MOST_PAIRS, Family, Systems, draw_family
from holdsup.numerics.layout import Floats
from holdsup.numerics.pooling import Pool
from holdsup.numerics.proportions import PairedShares
from holdsup.numerics.spread import Clusters, Spread, at_common_mean, find_clusters, least_at, measure_arm
from holdsup.progress import Progress
from holdsup.verdict.claims import NOISE, Pair, Rule, pair_systems
from holdsup.verdict.evaluation import Evaluation, SystemRuns
from holdsup.verdict.samples import THESE_ITEMS
from holdsup.verdict.trainings import has_nested_runs

Codes = NDArray[np.intp]
Ends = tuple[float, float] | None
CERTAIN = 10**9  # degrees of freedom of a run variance that is zero by declaration
MOST_TRIED = 1000  # pairs, until one is found that can be compared
CELLS = 2**20  # item differences that are held at a time


@dataclass(frozen=True, slots=True, eq=False)
class ManyPairs(Sequence[Pair]):
    """Pairs that have their claim, their test and their items in common; a `Pair` is made when it is asked for."""

    evaluation: Evaluation  # the scores
    left: Codes  # the systems of each pair, by their place in the evaluation
    right: Codes
    like: Pair  # the first pair, which has all that is common
    level: float  # coverage of the CIs
    spread: Spread  # the parts of the variance of each difference
    scale: Floats  # the largest score of each pair
    found: Differences  # what the test finds
    pooled: Spread  # as `spread`, each system's run variance moderated by those of the others
    family: Family  # what the smallest p of all pairs is when nothing differs
    shares: PairedShares | None  # how often each was right alone, where scores have two values and runs are single
    run_variance: Floats  # of each system; NaN where they are unknown
    residual_variance: Floats

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[i] for i in range(len(self))[place]]
        if range(len(self))[place] == 0:
            return self.like
        systems = self.evaluation.systems
        left, right = systems[self.left[place]].name, systems[self.right[place]].name
        return pair_systems(self.evaluation, left, right, self.like.claim, level=self.level)

    def covering(self) -> Iterator[Pair]:
        """Yield a few pairs in which every system occurs."""
        systems = [*dict.fromkeys((*self.left.tolist(), *self.right.tolist()))]
        for pair in zip(systems[::2], [*systems[1::2], systems[0]], strict=False):
            left, right = (self.evaluation.systems[place].on(self.like.shared) for place in pair)
            yield replace(self.like, left=left, right=right)

    def test(self, up: ArrayLike, level: float, *, pooled: bool = False, tails: bool = True) -> Differences:
        """Return what the test finds with the scores of left raised by an amount, at a level; see `decide_all`.

        Each pair as if the others were not there, or `pooled`: by the run variances of all systems.
        """
        if self.shares is not None:
            return self.shares.decide(np.ptp(cast("tuple[float, float]", self.evaluation.ends)), up, level)
        spread = self.pooled if pooled else self.spread
        found = decide_all(spread.estimate + np.asarray(up), _tests(spread, self.like), self.scale, level, tails=tails)
        if (ends := self.evaluation.ends) is not None and not self.evaluation.per_run:
            found = found.within(np.ptp(ends), np.asarray(up))
        return _without_noise(found, self.scale) if np.ndim(up) == 0 and up == 0 else found

    def read_otherwise(self, level: float) -> Differences:
        """Return what the other reading of runs on several datasets finds."""
        tests = _tests(self.spread, replace(self.like, nested=not self.like.nested))
        return decide_all(self.spread.estimate, tests, self.scale, level)


def differences_of(pairs: Sequence[Pair]) -> Differences:
    """Return what was found of pairs."""
    return pairs.found if isinstance(pairs, ManyPairs) else _stack([pair.difference for pair in pairs])


def retest_pairs(
    pairs: Sequence[Pair], up: ArrayLike, level: float, *, pooled: bool = False, tails: bool = True
) -> Differences:
    """Return what the tests of pairs find with the scores of left raised by an amount, of each or all, at a level.

    Without `tails` limits alone are sure to be there; `pooled` by what all systems say, where pairs have such a test.
    """
    if isinstance(pairs, ManyPairs):
        return pairs.test(np.asarray(up, float), level, tails=tails)
    amounts = np.broadcast_to(np.asarray(up, float), len(pairs)).tolist()
    pairs = [replace(pair, test=pair.pooled) if pooled and pair.pooled else pair for pair in pairs]
    return _stack([_retest(pair, amount, level) for pair, amount in zip(pairs, amounts, strict=True)])


def judge_together(pairs: Sequence[Pair], up: ArrayLike, alpha: float) -> tuple[Differences, Floats]:
    """Return the simultaneous intervals of pairs at a level `alpha` of all of them, and the adjusted log10 p of each.

    Where pairs have too little in common for more, by Bonferroni's inequality.
    """
    if isinstance(pairs, ManyPairs):
        wide = pairs.test(up, 1 - pairs.family.share(alpha), pooled=True, tails=False)
        return wide, pairs.family.adjust(pairs.test(up, 1 - alpha, pooled=True).log10_p)
    family = family_of(pairs)
    wide = retest_pairs(pairs, up, 1 - family.share(alpha), pooled=True)
    return wide, family.adjust(wide.log10_p)


def judge_pooled(pairs: Sequence[Pair], up: ArrayLike) -> Differences:
    """Return what the tests find by the run variances of all systems, where these are pooled: for its p-values."""
    return (
        pairs.test(up, 0.95, pooled=True)
        if isinstance(pairs, ManyPairs)
        else retest_pairs(pairs, up, 0.95, pooled=True)
    )


def family_of(pairs: Sequence[Pair]) -> Family:
    """Return what adjusts the p-values of pairs."""
    return pairs.family if isinstance(pairs, ManyPairs) else Family(len(pairs))


def _retest(pair: Pair, up: float, level: float) -> Difference:
    """Return what the test of a pair finds; where nothing varies, whatever is added, a difference has no p."""
    found = pair.difference
    if found.se > 0:
        return pair.test(up, level)
    p = found.p if up == 0 else math.nan
    moved = found.estimate + up
    return replace(found, estimate=moved, low=moved, high=moved, p=p, log10_p=math.log10(p))


def _stack(found: Sequence[Difference]) -> Differences:
    claims = tuple(dict.fromkeys(each.claim for each in found))
    names = [field.name for field in fields(Differences) if field.name not in ("test", "claims")]
    numbers: dict[str, Any] = {name: np.array([getattr(each, name) for each in found]) for name in names}
    return Differences(**numbers, test=np.array([claims.index(each.claim) for each in found]), claims=claims)


def pair_all(
    evaluation: Evaluation, left: Codes, right: Codes, claim: str, *, level: float, progress: Progress
) -> tuple[ManyPairs, tuple[ScoresError, ...]] | None:
    """Return the pairs, and why others cannot be compared; None where they have too little in common for that."""
    if not len(left) or not _is_uniform(evaluation, claim):
        return None
    systems = evaluation.systems
    try:
        like = _find_like(evaluation, left, right, claim, level)
        shared = like.shared
        if not evaluation.per_run and shared.sum() < 2:  # how much items differ is not measured
            return None
        clusters = None if evaluation.clusters is None else evaluation.clusters[shared]
        measured = _Measured.of(systems, shared, find_clusters(clusters, int(shared.sum())), evaluation.per_run)
    except (ScoresError, ValueError):  # of one of them, which is told pair by pair
        return None
    if like.note or like.claim != claim:
        return None
    largest = np.array([system.on(shared).largest for system in systems])
    ends = None if evaluation.per_run else evaluation.ends
    room = evaluation.room if like.claim == "new-runs" and not evaluation.per_run else None
    scale, spread = np.maximum(largest[left], largest[right]), measured.spread(left, right, ends, room, progress)
    if like.rule is Rule.SCORE:
        assert evaluation.ends is not None
        shares = PairedShares.of(measured.items == evaluation.ends[1], left, right)
        found = shares.decide(np.ptp(evaluation.ends), 0.0, level)
    else:
        shares, found = None, decide_all(spread.estimate, _tests(spread, like), scale, level)
        if ends is not None:
            found = found.within(np.ptp(ends))
    constant = np.flatnonzero(found.is_constant())
    if len(constant) == len(left):
        return None
    if len(constant):  # they are left out, and the others tested anew
        kept = np.delete(np.arange(len(left)), constant)
        pairs = pair_all(evaluation, left[kept], right[kept], claim, level=level, progress=progress)
        both = [(systems[left[i]].name, systems[right[i]].name) for i in constant]
        why = [say_constant(float(spread.estimate[i])).rstrip(".") for i in constant]
        refused = [
            ScoresError(f"{a!r} and {b!r} cannot be compared: {said}") for (a, b), said in zip(both, why, strict=True)
        ]
        return None if pairs is None else (pairs[0], (*refused, *pairs[1]))
    pooled, family = measured.join(systems, spread, (left, right), like, 1 - level)
    if pooled is not spread and room is not None:
        pooled = at_common_mean(pooled, measured.means(left, right), room)
    return ManyPairs(
        evaluation, left, right, like, level, spread, scale, _without_noise(found, scale), pooled, family, shares,
        measured.run_variance, measured.residual_variance,
    ), ()  # fmt: skip


def _find_like(evaluation: Evaluation, left: Codes, right: Codes, claim: str, level: float) -> Pair:
    """Return the first pair that can be compared: which systems do not vary must not decide how others are adjusted."""
    refusal: ScoresError | None = None
    for one, other in zip(left[:MOST_TRIED], right[:MOST_TRIED], strict=True):
        try:
            names = evaluation.systems[one].name, evaluation.systems[other].name
            return pair_systems(evaluation, *names, claim, level=level)
        except ScoresError as error:
            refusal = refusal or error
    assert refusal is not None  # there is a pair
    raise refusal


def _tests(spread: Spread, like: Pair) -> list[Criterion]:
    """Return the tests that the claim of pairs like one needs."""
    new_runs = [new_runs_test([spread])] if like.claim == "new-runs" and not like.nested else []
    return new_runs if like.unit is None else [*new_runs, these_runs_test([spread])]


def _without_noise(found: Differences, scale: Floats) -> Differences:
    """Return differences of which those that are rounding, and no more, are none."""
    noise = (found.estimate != 0) & (np.abs(found.estimate) <= NOISE * scale)
    return replace(
        found,
        estimate=np.where(noise, 0.0, found.estimate),
        p=np.where(noise, 1.0, found.p),
        log10_p=np.where(noise, 0.0, found.log10_p),
    )


def _is_uniform(evaluation: Evaluation, claim: str) -> bool:
    """Return whether all pairs carry the claim, by the same test on the same items."""
    systems = evaluation.systems
    if (
        evaluation.looking
        or evaluation.resplit
        or evaluation.datasets is not None
        or claim in (THESE_ITEMS, "new-settings", "these-datasets")
    ):
        return False
    known = all(system.repeats or system.deterministic for system in systems)
    if (claim == "new-runs" or evaluation.per_run) and not known:
        return False
    if sum(system.deterministic for system in systems) > 1:
        return False  # runs of a pair of them do not vary
    nested = [has_nested_runs(evaluation, system) for system in systems]
    if any(nested) and not (all(nested) and all(s.repeats and not np.isnan(s.scores).any() for s in systems)):
        return False
    if claim == "new-runs" and any(system.seeds is not None for system in systems) and not evaluation.per_run:
        return False
    single = {system.scores.shape[1] == 1 for system in systems}
    if evaluation.ends is not None and claim == "these-runs" and len(single) > 1:
        return False  # pairs of single runs have a test of their own
    first = evaluation.scored(systems[0])
    return bool(first.any()) and all(np.array_equal(first, evaluation.scored(system)) for system in systems[1:])


def _without_rounding(variances: Floats, largest: ArrayLike) -> Floats:
    """Return variances of which those that rounding leaves of scores that are all alike are zero."""
    return np.where(np.abs(variances) <= (NOISE * np.asarray(largest)) ** 2, 0.0, variances)


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """What each system's runs say of its mean: `items` its item means, the other arrays a number for each system."""

    items: Floats
    part: Floats
    noise: Floats
    df: Floats
    lacking: Floats
    run_variance: Floats
    residual_variance: Floats
    clusters: Clusters | None

    @classmethod
    def of(
        cls, systems: Sequence[SystemRuns], shared: NDArray[np.bool_], clusters: Clusters, per_run: bool
    ) -> _Measured:
        if per_run:
            scores = [system.scores[0] for system in systems]
            part = np.array([each.var(ddof=1) / len(each) if len(each) > 1 else 0.0 for each in scores])
            part = _without_rounding(part, [system.largest for system in systems])
            nothing, unknown = np.zeros_like(part), np.full_like(part, np.nan)
            means = np.array([[each.mean()] for each in scores])
            df = np.array([CERTAIN if s.deterministic else len(s.runs) - 1.0 for s in systems])
            return cls(means, part, nothing, df, nothing, unknown, unknown, None)
        arms = [measure_arm(system.on(shared).scores, system.several, clusters) for system in systems]
        arms = [replace(a, df=CERTAIN) if s.deterministic else a for a, s in zip(arms, systems, strict=True)]
        df = np.array([float(arm.df) for arm in arms])
        columns = (
            np.array([float(getattr(arm, name)) for arm in arms])
            for name in ("part", "noise", "lacking", "run_variance", "residual_variance")
        )
        part, noise, lacking, runs, residual = columns
        part = _without_rounding(part, [system.largest for system in systems])
        runs, residual = (np.where(df > 0, each, np.nan) for each in (runs, residual))
        return cls(np.stack([arm.items for arm in arms]), part, noise, df, lacking, runs, residual, clusters)

    def spread(self, left: Codes, right: Codes, ends: Ends, room: Ends, progress: Progress) -> Spread:
        """Return the parts of the variance of each difference; `ends` and `room` as `compare_new_runs` has them."""
        estimate, these = np.empty(len(left)), np.zeros(len(left))
        size, largest = max(1, CELLS // self.items.shape[1]), np.abs(self.items).max()
        for start in range(0, len(left), size):
            progress(start, len(left), "comparing")
            at = slice(start, start + size)
            differences = self.items[left[at]] - self.items[right[at]]
            estimate[at] = differences.mean(-1)
            if self.clusters is not None:
                these[at] = _without_rounding(self.clusters.variance_of_mean(differences), largest)
        sides = (left, right)
        found = Spread(
            estimate=estimate,
            these=np.maximum(
                least_at(estimate, ends, self.items.shape[1]), these + sum(self.lacking[side] for side in sides)
            ),
            item_df=1.0 if self.clusters is None else self.clusters.df,
            runs=tuple(self.part[side] for side in sides),
            noise=tuple(self.noise[side] for side in sides),
            run_df=cast("tuple[int, ...]", tuple(self.df[side] for side in sides)),
        )
        return found if room is None else at_common_mean(found, self.means(left, right), room)

    def means(self, left: Codes, right: Codes) -> list[tuple[Floats, Floats]]:
        """Return the means of the systems of each pair, from either side."""
        means = self.items.mean(-1)
        return [(means[left], means[right]), (means[right], means[left])]

    def join(
        self, systems: Sequence[SystemRuns], spread: Spread, sides: tuple[Codes, Codes], like: Pair, alpha: float
    ) -> tuple[Spread, Family]:
        """Return the parts with moderated run variances, and the family of all pairs.

        The family is drawn where systems have the same number of runs. Otherwise draws that take a run variance for the
        true one, which is small by luck for those with few, would make too little of it: Bonferroni's inequality holds.
        Over datasets pairs stand alone and are adjusted by Bonferroni, as `rank` does: one table has one answer.
        """
        if like.unit == "datasets":
            return spread, Family(len(sides[0]))
        new_runs = like.claim == "new-runs" and not like.nested
        counts = [len(system.runs) for system in systems]
        pool = Pool.of(counts, self.df, self.part)
        pooled = pool.share(spread, self.part, self.df, *sides) if new_runs else spread
        varied = [(count, df) for count, df in zip(counts, self.df.tolist(), strict=True) if df < CERTAIN]
        alike = not new_runs or len(set(varied)) == 1
        if not alike or not 1 < len(sides[0]) <= MOST_PAIRS:
            return pooled, Family(len(sides[0]))
        covariance = np.zeros((len(counts), len(counts)))
        if self.clusters is not None:
            covariance = self.clusters.covariance_of_means(self.items) + np.diag(self.lacking)
            covariance = _without_rounding(covariance, np.abs(self.items).max())
        means = self.items.mean(-1)
        parts = Systems(means, self.part, self.noise, self.df, covariance, spread.item_df, pool, *sides)
        return pooled, draw_family(parts, pooled, alpha, new_runs=new_runs)
