"""All pairs of systems in many tables at once, by the rule of the library: what is rejected, and what is covered.

A family of pairs is drawn only for tables in which it matters: a pair that a test at 5%/m rejects is rejected, whatever
the draws say, and one that a test at 5% does not reject is not. The decisions are those of a draw for every table.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from cells import Codes, Floats
from holdsup.numerics.decisions import Criterion, decide_all
from holdsup.numerics.differences import new_runs_test, these_runs_test
from holdsup.numerics.families import Systems, draw_family
from holdsup.numerics.pooling import Pool
from holdsup.numerics.proportions import PairedShares, wilson
from holdsup.numerics.spread import Clusters, Spread, at_common_mean, find_clusters, least_at, measure_arm
from holdsup.verdict.scales import PILE

__all__ = ["Pairs", "cover_means", "measure_pairs"]

WIDTHS = 40  # tables whose intervals are measured


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """What the rule needs of tables x systems (`part`, `noise`, `means`) and of tables x pairs (the others)."""

    left: Codes
    right: Codes
    items: Floats  # tables x systems x items
    part: Floats
    noise: Floats
    df: Floats
    counts: tuple[int, ...]  # runs of each system
    spread: Spread  # run variances moderated
    clusters: Clusters
    shares: PairedShares | None  # of scores with two values and one run

    def reject(self, up: Floats, alpha: float = 0.05) -> Floats:
        """Return which pairs differ, all of them at `alpha` together, with `up` added to each difference."""
        count = len(self.left)
        if count == 1:
            return self._test(up, alpha)
        sure, never = self._test(up, alpha / count), ~self._test(up, alpha)
        if not self.is_drawn():
            return sure
        found = sure.copy()
        for table in np.flatnonzero((~sure & ~never).any(-1)):
            found[table] = self.take(table)._test(up, self.share(table, alpha))[0]
        return found

    def widths(self, alpha: float = 0.05) -> Floats:
        """Return the widths of the simultaneous intervals of the first tables."""
        found = []
        for table in range(min(WIDTHS, len(self.part))):
            one = self.take(table)
            level = 1 - (self.share(table, alpha) if self.is_drawn() else alpha / len(self.left))
            if one.shares is not None:
                low, high = one.shares.interval(level)
            else:
                wide = decide_all(one.spread.estimate, one._tests(), 1.0, level, tails=False)
                low, high = wide.low, wide.high
            found.append(high - low)
        return np.concatenate(found)

    def is_drawn(self) -> bool:
        """Return whether the family is drawn: with single runs, or as many runs of each."""
        return len(self.left) > 1 and len(set(self.counts)) == 1

    def share(self, table: int, alpha: float) -> float:
        """Return the level of each pair in one table."""
        covariance = self.clusters.covariance_of_means(self.items[table])
        part = self.part[table]
        systems = Systems(
            self.items[table].mean(-1), part, self.noise[table], self.df, covariance, self.clusters.df,
            Pool.of(self.counts, self.df, part), self.left, self.right,
        )  # fmt: skip
        spread = _each(self.spread, table)
        return draw_family(systems, spread, alpha, new_runs=self.counts[0] > 1).share(alpha)

    def take(self, table: int) -> Pairs:
        """Return one table."""
        one = slice(table, table + 1)
        shares = self.shares and PairedShares(self.shares.items, self.shares.wins[one], self.shares.losses[one])
        return replace(self, spread=_each(self.spread, one), part=self.part[one], shares=shares)

    def _test(self, up: Floats, alpha: float) -> Floats:
        if self.shares is not None:
            return np.abs(self.shares.deviate(-up)) > -special.ndtri(alpha / 2)
        estimate = self.spread.estimate + up
        found = decide_all(estimate, self._tests(), 1.0, 1 - alpha, tails=False)
        return ((found.low > 0) | (found.high < 0)) & (found.se_limits > 0)

    def _tests(self) -> list[Criterion]:
        new_runs = [new_runs_test([self.spread])] if min(self.counts) > 1 else []
        return [*new_runs, these_runs_test([self.spread])]


def _each(spread: Spread, at: int | slice) -> Spread:
    """Return the parts of some tables; what is the same for all is kept."""

    def take(values: Floats) -> Floats:
        return values[at] if np.ndim(values) == 2 else values

    return replace(
        spread, estimate=take(spread.estimate), these=take(spread.these), runs=tuple(map(take, spread.runs)),
        noise=tuple(map(take, spread.noise)), run_df=tuple(map(take, spread.run_df)),
        luck=take(np.asarray(spread.luck)),
    )  # fmt: skip


def measure_pairs(
    scores: Sequence[Floats],
    clusters: Codes | None,
    *,
    two_valued: bool,
    room: bool = False,
) -> Pairs:
    """Return all pairs of systems; `scores` has for each an array of tables x items x runs.

    `room` is for those whose runs vary less near an end: many at an end of their scale, or amounts with one long
    tail from zero up.
    """
    count = scores[0].shape[1]
    found = find_clusters(clusters, count)
    arms = [measure_arm(each, None, found) for each in scores]
    left, right = np.array(list(itertools.combinations(range(len(scores)), 2))).T
    items = np.stack([arm.items for arm in arms], axis=1)
    tables = len(scores[0])
    part, noise = (  # of single runs a number for all tables
        np.stack([np.broadcast_to(getattr(arm, name), tables) for arm in arms], axis=-1) for name in ("part", "noise")
    )
    df, counts = np.array([float(arm.df) for arm in arms]), tuple(each.shape[2] for each in scores)
    ends = (0.0, 1.0) if two_valued else None
    these = np.stack([found.variance_of_mean(items[:, a] - items[:, b]) for a, b in zip(left, right, strict=True)], -1)
    means = items.mean(-1)
    estimate = means[:, left] - means[:, right]
    spread = Spread(
        estimate=estimate, these=np.maximum(least_at(estimate, ends, count), these), item_df=found.df,
        runs=(part[:, left], part[:, right]), noise=(noise[:, left], noise[:, right]), run_df=(df[left], df[right]),
    )  # fmt: skip
    shares = None
    if two_valued and max(counts) == 1 and clusters is None:
        hits = [each[:, :, 0] for each in scores]
        wins, losses = (
            np.stack([(hits[a] > hits[b]).sum(-1) for a, b in zip(*sides, strict=True)], -1)
            for sides in ((left, right), (right, left))
        )
        shares = PairedShares(count, wins, losses)
    if min(counts) > 1 and len(scores) > 2:
        spread = _moderate(spread, part, df, counts, left, right)
    if two_valued or room:
        sides = means[:, left], means[:, right]
        spread = at_common_mean(spread, [sides, sides[::-1]], ends or _find_ends(scores))
    return Pairs(left, right, items, part, noise, df, counts, spread, found, shares)


def _find_ends(scores: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Return the ends of the scale of each table: lowest and highest if many are there, of amounts 0 and none."""
    every = np.concatenate([each.reshape(len(each), -1) for each in scores], axis=1)
    low, high = every.min(1, keepdims=True), every.max(1, keepdims=True)
    piled = np.maximum((every == low).mean(1), (every == high).mean(1))[:, None] >= PILE
    return np.where(piled, low, 0.0), np.where(piled, high, np.inf)


def _moderate(spread: Spread, part: Floats, df: Floats, counts: tuple[int, ...], left: Codes, right: Codes) -> Spread:
    """Return the parts with moderated run variances: tables in which the same systems vary go together."""
    shape = spread.estimate.shape
    runs, run_df, luck = np.empty((3, *shape)), np.empty((3, *shape)), np.empty(shape)
    patterns, which = np.unique(part > 0, axis=0, return_inverse=True)
    for number in range(len(patterns)):
        at = np.flatnonzero(which.reshape(-1) == number)
        pooled = Pool.of(counts, df, part[at[0]]).share(_each(spread, at), part[at], df, left, right)
        for place in range(3):
            runs[place, at], run_df[place, at] = pooled.runs[place], pooled.run_df[place]
        luck[at] = pooled.luck
    noise = (*spread.noise, np.zeros(shape))
    return replace(spread, runs=tuple(runs), run_df=tuple(run_df), noise=noise, luck=luck)


def cover_means(
    scores: Floats, clusters: Codes | None, truth: float, ends: tuple[float, float] | None, *, two_valued: bool
) -> Floats:
    """Return in which tables the interval of one system's mean covers it."""
    found = find_clusters(clusters, scores.shape[1])
    arm = measure_arm(scores, None, found)
    spread = Spread(
        estimate=arm.items.mean(-1), these=found.variance_of_mean(arm.items), item_df=found.df,
        runs=(arm.part,) if arm.df else (), noise=(arm.noise,) if arm.df else (), run_df=(arm.df,) if arm.df else (),
    )  # fmt: skip
    tests = [new_runs_test([spread]), these_runs_test([spread])] if arm.df else [these_runs_test([spread])]
    wide = decide_all(spread.estimate, tests, 1.0, 0.95, tails=False)
    low, high = wide.low, wide.high
    if ends is not None:
        inside = (
            (ends[0] <= low)
            & (high <= ends[1])
            & ((low < high) | (ends[0] < wide.estimate) & (wide.estimate < ends[1]))
        )
        count = len(found.sizes)
        df = np.where(wide.df_limits >= 1, wide.df_limits, max(count - 1, 1))
        quantile = np.where(
            np.isfinite(df), special.stdtrit(np.where(np.isfinite(df), df, 1), 0.975), special.ndtri(0.975)
        )
        bounds = wilson(wide.estimate, wide.se_limits**2, count, quantile, *ends)
        low, high = (np.where(inside & (not two_valued), a, b) for a, b in zip((low, high), bounds, strict=True))
    return (low <= truth) & (truth <= high)
