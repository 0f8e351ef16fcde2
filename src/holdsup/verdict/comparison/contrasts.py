"""Differences of two systems as the rows of a table: adjusted, sized, and tested against a margin."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from scipy.special import ndtr

from holdsup.numerics.adjustment import adjust_holm
from holdsup.numerics.differences import Difference
from holdsup.verdict.claims import Pair
from holdsup.verdict.comparison.records import Equivalence, SystemContrast
from holdsup.verdict.phrases import join_names

__all__ = ["adjust_contrasts", "adjust_p", "contrast_of", "note_disagreement"]

LEVEL = 0.95  # of limits that a test against a margin has no use for
SMALLEST = -300.0  # decimal logarithm below which a p-value is written as zero beside its logarithm


class Adjusted(Protocol):
    """A difference of two systems among several, with Holm's p and Bonferroni's limits."""

    @property
    def left(self) -> str: ...
    @property
    def right(self) -> str: ...
    @property
    def p_adjusted(self) -> float: ...
    @property
    def low_simultaneous(self) -> float: ...
    @property
    def high_simultaneous(self) -> float: ...


def note_disagreement(contrasts: Sequence[Adjusted], *, level: float) -> Iterator[str]:
    """Yield which pairs differ by Holm's p although their limits for all pairs hold zero, and which of both counts.

    Holm tests one pair after the other, each against fewer: no limits of one pair do so.
    """
    pairs = [
        f"{c.left} - {c.right}"
        for c in contrasts
        if c.p_adjusted <= 1 - level and c.low_simultaneous <= 0 <= c.high_simultaneous
    ]
    if pairs:
        yield (
            f"By p, {join_names(pairs, most=3)} {'differs' if len(pairs) == 1 else 'differ'}, yet limits for all pairs "
            "hold zero: Holm's p is sharper than Bonferroni's limits, and both are right. The verdict goes by p."
        )


def contrast_of(
    pair: Pair, *, metric: str | None, sigma: float | None, margin: float | None, lower_is_better: bool
) -> SystemContrast:
    """Return the row of a pair alone; `sigma` is the residual sd of the paper's model, None where there is none."""
    found = pair.difference
    return SystemContrast(
        left=pair.left.name,
        right=pair.right.name,
        metric=metric,
        claim=pair.claim,
        difference=found.estimate,
        se=found.se,
        df=found.df,
        low=found.low,
        high=found.high,
        low_simultaneous=found.low,
        high_simultaneous=found.high,
        p=found.p,
        log10_p=found.log10_p,
        p_adjusted=found.p,
        log10_p_adjusted=found.log10_p,
        p_method=pair.method,
        effect_size=found.estimate / sigma if sigma else None,
        lower_is_better=lower_is_better,
        p_superior=_superior(pair, lower_is_better=lower_is_better),
        items=pair.items,
        equivalence=None if margin is None else _equivalence(pair, margin, lower_is_better=lower_is_better),
    )


def adjust_contrasts(
    contrasts: Sequence[SystemContrast], pairs: Sequence[Pair], *, level: float
) -> tuple[SystemContrast, ...]:
    """Return the rows with Holm's p-values, and limits for all of them at once by Bonferroni."""
    if len(contrasts) == 1:
        return tuple(contrasts)
    adjusted = adjust_p([(c.p, c.log10_p) for c in contrasts])
    margins = _adjust_margins([c.equivalence for c in contrasts])
    tighter = 1 - (1 - level) / len(contrasts)
    rows = []
    for c, pair, (p, log10_p), margin in zip(contrasts, pairs, adjusted, margins, strict=True):
        wide = pair.test(0.0, tighter)
        rows.append(
            replace(
                c, p_adjusted=p, log10_p_adjusted=log10_p, equivalence=margin, low_simultaneous=wide.low,
                high_simultaneous=wide.high,
            )
        )  # fmt: skip
    return tuple(rows)


def adjust_p(tests: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return Holm's p and its decimal logarithm of each test, which comes as p and its logarithm.

    A single test keeps its p to the last digit.
    """
    if len(tests) == 1:
        return list(tests)
    logs = adjust_holm([log10_p for _, log10_p in tests])
    return [(min(1.0, 10.0**log) if log > SMALLEST else 0.0, log) for log in logs]


def _adjust_margins(margins: Sequence[Equivalence | None]) -> list[Equivalence | None]:
    """Return the tests against a margin with Holm's p-values, each kind of test apart."""
    tested = [m for m in margins if m is not None]
    if len(tested) < len(margins):
        return list(margins)
    families = [m.p_equivalent for m in tested], [m.p_not_worse for m in tested], [m.p_beyond for m in tested]
    adjusted = [
        [p for p, _ in adjust_p([(p, math.log10(p) if p > 0 else -math.inf) for p in family])] for family in families
    ]
    return [
        replace(m, p_equivalent_adjusted=both, p_not_worse_adjusted=one, p_beyond_adjusted=beyond)
        for m, both, one, beyond in zip(tested, *adjusted, strict=True)
    ]


def _superior(pair: Pair, *, lower_is_better: bool) -> float | None:
    """Return the probability that a new run of left has a better mean, on the same items, than one of right.

    The estimates are taken for the truth: it is a number without limits. Runs are of new settings where these are
    claimed.
    """
    found = pair.difference
    runs = [v for v in found.run_variance if v is not None]
    residual = [v for v in found.residual_variance if v is not None]
    if pair.claim == "these-runs" or not runs or not pair.items:
        return None
    spread = math.sqrt(sum(runs) + sum(residual) / pair.items)
    lead = -found.estimate if lower_is_better else found.estimate
    if spread == 0:
        return 0.5 if lead == 0 else float(lead > 0)
    return float(ndtr(lead / spread))


def _equivalence(pair: Pair, margin: float, *, lower_is_better: bool) -> Equivalence:
    """Return the tests against a margin: those of the pair itself, with left's scores moved by the margin."""
    above = _one_sided(pair.test(margin, LEVEL), greater=True)  # left - right > -margin
    below = _one_sided(pair.test(-margin, LEVEL), greater=False)  # left - right < margin
    both, one = max(above, below), below if lower_is_better else above
    found = pair.difference.estimate
    beyond = pair.test(-math.copysign(margin, found), LEVEL).p if abs(found) > margin else 1.0
    return Equivalence(
        margin=margin, p_equivalent=both, p_not_worse=one, p_beyond=beyond, p_equivalent_adjusted=both,
        p_not_worse_adjusted=one, p_beyond_adjusted=beyond,
    )  # fmt: skip


def _one_sided(found: Difference, *, greater: bool) -> float:
    in_favour = found.estimate > 0 if greater else found.estimate < 0
    return found.p / 2 if in_favour else 1 - found.p / 2
