"""From standard errors to p-values and limits: for one difference, or for all pairs at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdsup.numerics.arithmetic import ROUNDING
from holdsup.numerics.distributions import t_quantiles, t_tails
from holdsup.numerics.layout import Floats

FEWEST_DF = 1 - 1e-9  # below one, but for rounding, a variance is not measured: limits would be millions of scores wide
NO_DF = 0.02  # limits on fewer are 1e63 standard errors away
TIED = 10  # digits of a logarithm of p by which two tests are told apart
EXACT = 1e-12  # of the decimal logarithm of a level
MOST_STEPS = 100  # a guard: five or six will do


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference between two systems, left minus right.

    Attributes
    ----------
    estimate : the difference
    se, df : standard error and degrees of freedom of the test that gave `p`
    p, log10_p : two-sided p of no difference
    low, high : limits; the wider ones where two tests count, infinite where a variance has less than one df and they
        would hold zero
    se_limits, df_limits : those that gave the limits, which are estimate +- t(df_limits) se_limits
    claim : the test that gave `p`: "new-runs", or "these-runs" where that is the larger p
    run_variance : variance between runs, residual taken out, of each system (of the seeds, where shared)
    item_variance : variance between items of the true difference
    residual_variance : of each system (of the difference, where seeds are shared)

    A component that the design cannot separate is None.
    """

    estimate: float
    se: float
    df: float
    p: float
    log10_p: float
    low: float
    high: float
    se_limits: float = math.nan
    df_limits: float = math.nan
    claim: str
    run_variance: tuple[float | None, ...] = ()
    item_variance: float | None = None
    residual_variance: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Differences:
    """Several differences, each field of `Difference` an array; `test` is the place of the claim among `claims`."""

    estimate: Floats
    se: Floats
    df: Floats
    p: Floats
    log10_p: Floats
    low: Floats
    high: Floats
    se_limits: Floats
    df_limits: Floats
    test: NDArray[np.intp]
    claims: tuple[str, ...]

    def is_constant(self) -> NDArray[np.bool_]:
        """Return which differences have no test: they are there, and nothing varies."""
        return np.asarray((self.se_limits == 0) & (self.estimate != 0))

    def within(self, width: float, up: ArrayLike = 0.0) -> Differences:
        """Return differences of scores on a scale of some width, raised by an amount: no CI goes further than it."""
        known = np.isfinite(self.low) & np.isfinite(self.high)
        middle = np.asarray(up, float)
        low, high = np.maximum(self.low, middle - width), np.minimum(self.high, middle + width)
        return replace(self, low=np.where(known, low, self.low), high=np.where(known, high, self.high))

    def one(self, place: int) -> Difference:
        """Return one of them."""
        numbers: dict[str, Any] = {
            name: float(getattr(self, name)[place])
            for name in ("estimate", "se", "df", "p", "log10_p", "low", "high", "se_limits", "df_limits")
        }
        return Difference(**numbers, claim=self.claims[self.test[place]])


class NoSpreadError(ValueError):
    """A difference is the same everywhere, and a test needs its spread."""


class Criterion(NamedTuple):
    """How a claim is tested: standard errors, and degrees of freedom given the level of each test."""

    claim: str
    se: ArrayLike
    df: Callable[[ArrayLike], ArrayLike]


def say_constant(estimate: float) -> str:
    """Return why a difference has no test."""
    return f"all differences equal {estimate:.6g}: a test needs their spread, and there is none."


def decide(
    estimate: float, tests: Sequence[Criterion], scale: float, level: float, *, tails: bool = True
) -> Difference:
    """Return the largest p and the widest limits of all tests that a claim needs; see `decide_all`.

    Where no test tells anything, equal systems are equal, and a difference has no test.
    """
    found = decide_all(np.array([estimate]), tests, scale, level, tails=tails)
    if found.is_constant()[0]:
        raise NoSpreadError(say_constant(estimate))
    return found.one(0)


def decide_all(
    estimates: Floats, tests: Sequence[Criterion], scale: ArrayLike, level: float, *, tails: bool = True
) -> Differences:
    """Return the largest p and the widest limits of all tests that a claim needs, for each difference.

    A standard error that is rounding, relative to the largest score `scale`, counts as zero. Where all are, systems
    that are equal have a p of 1, and others none: their differences are constant. Without `tails` none has a p, and
    there are limits alone.
    """
    errors = np.stack([np.broadcast_to(np.asarray(test.se, float), estimates.shape) for test in tests])
    telling = errors > ROUNDING * np.asarray(scale)
    halves, half_dfs = (
        np.stack(each) for each in zip(*(_reach(test, estimates, level) for test in tests), strict=True)
    )
    unknown = (np.full_like(estimates, np.nan),) * 3
    found = [_find_tails(estimates, test, telling[i]) if tails else unknown for i, test in enumerate(tests)]
    p, logs, dfs = (np.stack(each) for each in zip(*found, strict=True))
    binding = np.where(telling, np.round(logs, TIED), -np.inf).argmax(0)  # of equal ones the first, not by rounding
    widest = np.where(telling, halves, -1.0).argmax(0)
    some, equal = telling.any(0), np.abs(estimates) <= ROUNDING * np.asarray(scale)

    def pick(values: Floats, which: NDArray[np.intp], otherwise: float) -> Floats:
        return np.where(some, np.take_along_axis(values, which[None], 0)[0], otherwise)

    half = pick(halves, widest, 0.0)
    estimates = np.where(some | ~equal, estimates, 0.0)
    return Differences(
        estimate=estimates,
        se=pick(errors, binding, 0.0),
        df=pick(dfs, binding, math.inf),
        p=np.where(some | equal, pick(p, binding, 1.0), np.nan),
        log10_p=np.where(some | equal, pick(logs, binding, 0.0), np.nan),
        low=estimates - half,
        high=estimates + half,
        se_limits=pick(errors, widest, 0.0),
        df_limits=pick(half_dfs, widest, math.inf),
        test=np.where(some, binding, 0),
        claims=tuple(test.claim for test in tests),
    )


def reach_of(test: Criterion, level: float) -> float:
    """Return the half-width of the limits of one test; infinite on less than one degree of freedom."""
    return float(_reach(test, np.zeros(()), level)[0])


def _reach(test: Criterion, estimates: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the half-widths of limits, and the degrees of freedom that gave them.

    Below one degree of freedom they are infinite, unless they leave out zero: then they are narrower than the
    difference is large, and p, which is below the level, has them on its side.
    """
    df = np.broadcast_to(np.asarray(test.df(1 - level), float), estimates.shape)
    half = t_quantiles((1 + level) / 2, np.maximum(df, NO_DF)) * np.asarray(test.se)
    return np.where((df >= FEWEST_DF) | (half < np.abs(estimates)), half, np.inf), df


def _find_tails(estimates: Floats, test: Criterion, telling: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Return the levels at which tests just reject, as p and its logarithm, and the degrees of freedom there.

    The smaller the level, the fewer the degrees of freedom and the larger the tail: one level equals its tail. It is
    looked for by secants, within bounds: as tails change much less than levels, a few steps do.
    """
    t = estimates / np.where(telling, np.asarray(test.se, float), 1.0)

    def tails_at(level: Floats) -> tuple[Floats, Floats, Floats]:
        df = np.where(telling, np.asarray(test.df(10.0**level), float), 1.0)
        return (*t_tails(t, df), df)

    found = tails_at(np.zeros_like(t))
    first = found[1]
    if np.array_equal(found[2], np.where(telling, np.asarray(test.df(10.0**first), float), 1.0)):
        return found
    found = tails_at(first)
    here, excess = first, found[1] - first
    before, excess_before = np.zeros_like(first), first  # at a level of 1 the tail is `first`
    low, high, searching = first, np.zeros_like(first), excess > 0
    for _ in range(MOST_STEPS):
        if not searching.any():
            break
        slope = np.where(excess != excess_before, excess - excess_before, 1.0) / np.where(
            here != before, here - before, 1.0
        )
        after = here - excess / slope
        after = np.where((low <= after) & (after <= high), after, (low + high) / 2)
        after = np.where(searching, after, here)
        searching &= np.abs(after - here) > EXACT
        before, excess_before, here = here, excess, after
        found = tails_at(here)
        excess = found[1] - here
        low, high = np.where(excess > 0, here, low), np.where(excess > 0, high, here)
    return found
