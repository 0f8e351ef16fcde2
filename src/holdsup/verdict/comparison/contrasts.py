"""Differences of two systems as the rows of a table: adjusted, sized, and tested against a margin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from holdsup.numerics.decisions import Differences
from holdsup.numerics.distributions import adjust_holm
from holdsup.numerics.layout import Floats
from holdsup.verdict.claims import Pair
from holdsup.verdict.comparison.conditional_records import Conditional
from holdsup.verdict.comparison.findings import Found
from holdsup.verdict.comparison.pairs import (
    ManyPairs,
    differences_of,
    family_of,
    judge_pooled,
    judge_together,
    retest_pairs,
)
from holdsup.verdict.comparison.records import Equivalence, SystemContrast
from holdsup.verdict.samples import OF_THESE_RUNS

LEVEL = 0.95  # of limits that a test against a margin has no use for
SMALLEST = -300.0  # decimal logarithm below which a p-value is written as zero beside its logarithm


NAMES = ("left", "right", "claim", "rule", "p_method", "items")
READINGS = ("nested_runs", "p_other_reading", "low_other_reading", "high_other_reading")
# Fields of a row, and what they are called in `Differences`.
NUMBERS = {"difference": "estimate", **{name: name for name in ("se", "df", "p", "log10_p", "low", "high")},
           "se_limits": "se_limits", "df_limits": "df_limits"}  # fmt: skip
SIMULTANEOUS = {"low_simultaneous": "low", "high_simultaneous": "high", "se_simultaneous": "se_limits",
                "df_simultaneous": "df_limits"}  # fmt: skip


def list_contrasts(found: Sequence[Found], *, margin: float | None, level: float) -> tuple[SystemContrast, ...]:
    """Return the rows of all pairs by all metrics: each alone, and adjusted for all pairs and metrics at once."""
    count, metrics = sum(len(each.pairs) for each in found), len(found)
    alpha = (1 - level) / metrics
    numbers = [differences_of(each.pairs) for each in found]
    wide, logs = numbers, [own.log10_p for own in numbers]
    if count > 1:
        wide, logs = (list(each) for each in zip(*(judge_together(e.pairs, 0.0, alpha) for e in found), strict=True))
    named = [_names(each) for each in found]
    columns: dict[str, list[Any]] = {
        **{field: [value for each in named for value in each[field]] for field in named[0]},
        **{field: _column(numbers, name) for field, name in NUMBERS.items()},
        **{field: _column(wide, name) for field, name in SIMULTANEOUS.items()},
    }
    families = [(family_of(each.pairs), len(each.pairs)) for each in found]  # no pair is made for it
    columns["level_simultaneous"] = [v for family, n in families for v in [1 - family.share(alpha)] * n]
    columns["adjusted_by"] = [v for family, n in families for v in [family.name if count > 1 else ""] * n]
    columns["p_adjusted"], columns["log10_p_adjusted"] = (
        (columns["p"], columns["log10_p"]) if count == 1 else plain_p(np.concatenate(logs), metrics)
    )
    columns["effect_size"] = [
        size
        for each, own in zip(found, numbers, strict=True)
        for size in ((own.estimate / each.sigma).tolist() if each.sigma else [None] * len(own.p))
    ]
    columns["p_superior"] = [
        chance for each, own in zip(found, numbers, strict=True) for chance in _list_superior(each, own.estimate)
    ]
    readings = zip(*(row for each in found for row in _readings(each, level)), strict=True)
    columns.update(zip(READINGS, map(list, readings), strict=True))
    columns["equivalence"] = [None] * count if margin is None else list(_list_margins(found, numbers, margin))
    return tuple(SystemContrast(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True))


def plain_p(logs: Floats, metrics: int = 1) -> tuple[list[float], list[float]]:
    """Return p-values that hold for several metrics at once, and their decimal logarithms; NaN stays NaN."""
    logs = np.minimum(0.0, logs + np.log10(metrics))
    return np.where(logs <= SMALLEST, 0.0, 10.0 ** np.maximum(logs, SMALLEST)).tolist(), logs.tolist()


def _column(parts: Sequence[Differences], name: str) -> list[float]:
    return [value for each in parts for value in getattr(each, name).tolist()]


def _names(found: Found) -> dict[str, Sequence[Any]]:
    """Return what the rows of one metric say besides numbers."""
    pairs, count = found.pairs, len(found.pairs)
    common: dict[str, Sequence[Any]] = {
        "metric": [found.metric] * count,
        "lower_is_better": [found.lower_is_better] * count,
    }
    if not isinstance(pairs, ManyPairs):
        rows = [
            (pair.left.name, pair.right.name, pair.claim, str(pair.rule), pair.method, pair.items) for pair in pairs
        ]
        return common | dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    names, like = [system.name for system in pairs.evaluation.systems], pairs.like
    sides = ([names[place] for place in side.tolist()] for side in (pairs.left, pairs.right))
    same = ([value] * count for value in (like.claim, str(like.rule), like.method, like.items))
    return common | dict(zip(NAMES, (*sides, *same), strict=True))


def _readings(found: Found, level: float) -> Iterator[tuple[bool | None, float | None, float | None, float | None]]:
    """Yield, for each pair, how its runs on several datasets were read, and p and limits by the other reading."""
    pairs = found.pairs
    if not isinstance(pairs, ManyPairs):
        for pair in pairs:
            other = pair.other
            yield (pair.nested, None, None, None) if other is None else (pair.nested, other.p, other.low, other.high)
    elif pairs.like.other is None:
        yield from ((pairs.like.nested, None, None, None) for _ in range(len(pairs)))
    else:
        read = pairs.read_otherwise(level)
        for p, low, high in zip(read.p.tolist(), read.low.tolist(), read.high.tolist(), strict=True):
            yield pairs.like.nested, p, low, high


def adjust_p(tests: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return Holm's p and its decimal logarithm of each test, which comes as p and its logarithm."""
    if len(tests) == 1:
        return list(tests)
    logs = np.asarray(adjust_holm([log10_p for _, log10_p in tests]), float)
    return list(zip(*plain_p(logs), strict=True))


def adjust_conditions(found: Sequence[Conditional], *, level: float) -> tuple[Conditional, ...]:
    """Return the tests with p-values adjusted by Holm's method over all properties and metrics, each kind apart.

    Differences hold somewhere only along properties for which the adjusted p of any difference says so.
    """
    adjusted = list(found)
    for kind in ("joint", "interaction", "given_others"):
        tests = [getattr(each, kind) for each in found]
        if not tests or any(test is None for test in tests):
            continue
        holm = adjust_p([(test.p, test.log10_p) for test in tests])
        for i, (test, (p, log10_p)) in enumerate(zip(tests, holm, strict=True)):
            changed: Any = {kind: replace(test, p_adjusted=p, log10_p_adjusted=log10_p)}
            adjusted[i] = replace(adjusted[i], **changed)
    return tuple(
        each if each.joint.p_adjusted <= 1 - level else replace(each, significant_where=()) for each in adjusted
    )


def _list_superior(found: Found, estimates: Floats) -> list[float | None]:
    """Return the probability that a new run of left has a better mean, on the same items, than one of right.

    It assumes that the estimates are the truth, and has no CI. Runs are of new settings where these are
    claimed.
    """
    pairs = found.pairs
    if isinstance(pairs, ManyPairs):
        if pairs.like.claim == "these-runs" or pairs.like.nested or not pairs.like.items:
            return [None] * len(pairs)
        sides = (pairs.left, pairs.right)
        variance = sum(pairs.run_variance[side] + pairs.residual_variance[side] / pairs.like.items for side in sides)
        known = np.ones(len(pairs), bool)
    else:
        known = np.array([pair.claim not in OF_THESE_RUNS and _has_runs(pair) for pair in pairs])
        variance = np.array(
            [_new_run_variance(pair) if there else 1.0 for pair, there in zip(pairs, known, strict=True)]
        )
    spread, lead = np.sqrt(variance), -estimates if found.lower_is_better else estimates
    certain = np.where(lead == 0, 0.5, (lead > 0).astype(float))
    chance = np.where(spread == 0, certain, ndtr(lead / np.where(spread == 0, 1.0, spread)))
    return [value if there else None for value, there in zip(chance.tolist(), known.tolist(), strict=True)]


def _has_runs(pair: Pair) -> bool:
    return bool(pair.items) and any(v is not None for v in pair.difference.run_variance)


def _new_run_variance(pair: Pair) -> float:
    """Return the variance of the difference of two new runs on the same items."""
    runs = sum(v for v in pair.difference.run_variance if v is not None)
    return runs + sum(v for v in pair.difference.residual_variance if v is not None) / pair.items


def _list_margins(found: Sequence[Found], numbers: Sequence[Differences], margin: float) -> Iterator[Equivalence]:
    """Yield the tests against a margin: those of the pairs, left's scores moved by it, alone and adjusted."""
    for each, own in zip(found, numbers, strict=True):
        kinds = []
        for together in (False, True):

            def test(up: ArrayLike, pairs: Sequence[Pair] = each.pairs, together: bool = together) -> Differences:
                return judge_pooled(pairs, up) if together else retest_pairs(pairs, up, LEVEL)

            above = _one_sided(test(margin), greater=True)  # left - right > -margin
            below = _one_sided(test(-margin), greater=False)  # left - right < margin
            beyond = np.where(np.abs(own.estimate) > margin, test(-np.copysign(margin, own.estimate)).p, 1.0)
            kinds.append((np.maximum(above, below), below if each.lower_is_better else above, beyond))
        family = family_of(each.pairs)
        with np.errstate(divide="ignore"):
            adjusted = [
                plain_p(family.adjust(np.log10(kind)), len(found))[0] if len(own.p) * len(found) > 1 else kind
                for kind in kinds[1]
            ]
        for row in zip(*kinds[0], *adjusted, strict=True):
            yield Equivalence(margin, *map(float, row))


def _one_sided(found: Differences, *, greater: bool) -> Floats:
    in_favour = found.estimate > 0 if greater else found.estimate < 0
    return np.where(in_favour, found.p / 2, 1 - found.p / 2)
