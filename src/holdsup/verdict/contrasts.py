"""Differences of two systems as the rows of a table: adjusted, sized, and tested against a margin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from scipy.special import ndtr

from holdsup.numerics.adjustment import adjust_holm
from holdsup.numerics.differences import Difference
from holdsup.verdict.claims import Pair
from holdsup.verdict.records import Equivalence, SystemContrast

__all__ = ["adjust_contrasts", "contrast_of"]

SMALLEST = -300.0  # decimal logarithm below which a p-value is written as zero beside its logarithm


def contrast_of(
    pair: Pair, *, metric: str | None, sigma: float | None, margin: float | None, lower_is_better: bool
) -> SystemContrast:
    """Return the row of a pair; `sigma` is the residual sd of the paper's model, None where there is none."""
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
        p=found.p,
        log10_p=found.log10_p,
        p_adjusted=found.p,
        log10_p_adjusted=found.log10_p,
        p_method=pair.method,
        effect_size=found.estimate / sigma if sigma else None,
        p_superior=_superior(pair),
        items=pair.items,
        equivalence=None if margin is None else _equivalence(pair, margin, lower_is_better=lower_is_better),
    )


def adjust_contrasts(contrasts: Sequence[SystemContrast]) -> tuple[SystemContrast, ...]:
    """Return the rows with p-values adjusted by Holm's method over all of them."""
    logs = adjust_holm([c.log10_p for c in contrasts])
    return tuple(
        replace(c, p_adjusted=min(1.0, 10.0**log) if log > SMALLEST else 0.0, log10_p_adjusted=log)
        for c, log in zip(contrasts, logs, strict=True)
    )


def _superior(pair: Pair) -> float | None:
    """Return the probability that a new run of left has a higher mean, on the same items, than one of right."""
    found = pair.difference
    runs = [v for v in found.run_variance if v is not None]
    residual = [v for v in found.residual_variance if v is not None]
    if pair.claim == "these-runs" or not runs or not pair.items:
        return None
    spread = math.sqrt(sum(runs) + sum(residual) / pair.items)
    if spread == 0:
        return 0.5 if found.estimate == 0 else float(found.estimate > 0)
    return float(ndtr(found.estimate / spread))


def _equivalence(pair: Pair, margin: float, *, lower_is_better: bool) -> Equivalence:
    """Return the tests against a margin: those of the pair itself, with left's scores moved by the margin."""
    above = _one_sided(pair.test(margin), greater=True)  # left - right > -margin
    below = _one_sided(pair.test(-margin), greater=False)  # left - right < margin
    return Equivalence(margin=margin, p_equivalent=max(above, below), p_not_worse=below if lower_is_better else above)


def _one_sided(found: Difference, *, greater: bool) -> float:
    in_favour = found.estimate > 0 if greater else found.estimate < 0
    return found.p / 2 if in_favour else 1 - found.p / 2
