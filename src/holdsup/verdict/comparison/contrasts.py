"""Differences of two systems as the rows of a table: adjusted, sized, and tested against a margin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from holdsup.numerics.decisions import Differences
from holdsup.numerics.distributions import adjust_holm
from holdsup.numerics.layout import Floats
from holdsup.verdict.claims import Pair
from holdsup.verdict.comparison.findings import Found
from holdsup.verdict.comparison.pairs import ManyPairs, differences_of, retest_pairs
from holdsup.verdict.comparison.records import Conditional, Equivalence, SystemContrast
from holdsup.verdict.phrases import join_names

LEVEL = 0.95  # of limits that a test against a margin has no use for
SMALLEST = -300.0  # decimal logarithm below which a p-value is written as zero beside its logarithm


NAMES = ("left", "right", "claim", "p_method", "items")
READINGS = ("nested_runs", "p_other_reading", "low_other_reading", "high_other_reading")
# Fields of a row, and what they are called in `Differences`.
NUMBERS = {"difference": "estimate", **{name: name for name in ("se", "df", "p", "log10_p", "low", "high")},
           "se_limits": "se_limits", "df_limits": "df_limits"}  # fmt: skip
SIMULTANEOUS = {"low_simultaneous": "low", "high_simultaneous": "high", "se_simultaneous": "se_limits",
                "df_simultaneous": "df_limits"}  # fmt: skip


def note_disagreement(contrasts: Sequence[Any], *, level: float) -> Iterator[str]:
    """Yield which pairs differ by Holm's p although their CI for all pairs holds zero, and which of both counts.

    Holm tests one pair after the other, each against fewer: no CI of one pair does so. `contrasts` are records of
    `compare` or of `rank`.
    """
    pairs = [
        f"{c.left} - {c.right}"
        for c in contrasts
        if c.p_adjusted <= 1 - level and c.low_simultaneous <= 0 <= c.high_simultaneous
    ]
    if pairs:
        differ = "differs, yet its" if len(pairs) == 1 else "differ, yet their"
        yield (
            f"By p, {join_names(pairs, most=3)} {differ} CI for all pairs includes zero: Holm's p is sharper than "
            "Bonferroni's CI. The answer goes by p."
        )


def list_contrasts(found: Sequence[Found], *, margin: float | None, level: float) -> tuple[SystemContrast, ...]:
    """Return the rows of all pairs by all metrics, with Holm's p-values and limits for all of them at once."""
    count = sum(len(each.pairs) for each in found)
    numbers = [differences_of(each.pairs) for each in found]
    wide = numbers
    if count > 1:
        wide = [retest_pairs(each.pairs, 0.0, 1 - (1 - level) / count, tails=False) for each in found]
    named = [_names(each) for each in found]
    columns: dict[str, list[Any]] = {
        **{field: [value for each in named for value in each[field]] for field in named[0]},
        **{field: _column(numbers, name) for field, name in NUMBERS.items()},
        **{field: _column(wide, name) for field, name in SIMULTANEOUS.items()},
    }
    holm = _adjust(np.array(columns["p"]), np.array(columns["log10_p"]))
    columns["p_adjusted"], columns["log10_p_adjusted"] = holm
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
        rows = [(pair.left.name, pair.right.name, pair.claim, pair.method, pair.items) for pair in pairs]
        return common | dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    names, like = [system.name for system in pairs.evaluation.systems], pairs.like
    sides = ([names[place] for place in side.tolist()] for side in (pairs.left, pairs.right))
    same = ([value] * count for value in (like.claim, like.method, like.items))
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


def _adjust(p: Floats, log10_p: Floats) -> tuple[list[float], list[float]]:
    """Return Holm's p of each test, and their decimal logarithms; a single test keeps its p to the last digit."""
    if len(p) == 1:
        return p.tolist(), log10_p.tolist()
    logs: Floats = np.asarray(adjust_holm(log10_p.tolist()), float)
    adjusted = np.where(logs <= SMALLEST, 0.0, np.minimum(1.0, 10.0 ** np.maximum(logs, SMALLEST)))  # NaN stays NaN
    return adjusted.tolist(), logs.tolist()


def adjust_p(tests: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return Holm's p and its decimal logarithm of each test, which comes as p and its logarithm."""
    p, logs = (np.array(each) for each in zip(*tests, strict=True))
    return list(zip(*_adjust(p, logs), strict=True))


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
        known = np.array([pair.claim != "these-runs" and _has_runs(pair) for pair in pairs])
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
    """Yield the tests against a margin: those of the pairs, left's scores moved by it; Holm's p of each kind."""
    kinds: list[list[Floats]] = [[], [], []]
    for each, own in zip(found, numbers, strict=True):
        above = _one_sided(retest_pairs(each.pairs, margin, LEVEL), greater=True)  # left - right > -margin
        below = _one_sided(retest_pairs(each.pairs, -margin, LEVEL), greater=False)  # left - right < margin
        beyond = retest_pairs(each.pairs, -np.copysign(margin, own.estimate), LEVEL).p
        kinds[0].append(np.maximum(above, below))
        kinds[1].append(below if each.lower_is_better else above)
        kinds[2].append(np.where(np.abs(own.estimate) > margin, beyond, 1.0))
    families = [np.concatenate(kind) for kind in kinds]
    with np.errstate(divide="ignore"):
        holm = [_adjust(family, np.log10(family))[0] for family in families]
    for both, one, beyond, *adjusted in zip(*(family.tolist() for family in families), *holm, strict=True):
        yield Equivalence(
            margin=margin, p_equivalent=both, p_not_worse=one, p_beyond=beyond, p_equivalent_adjusted=adjusted[0],
            p_not_worse_adjusted=adjusted[1], p_beyond_adjusted=adjusted[2],
        )  # fmt: skip


def _one_sided(found: Differences, *, greater: bool) -> Floats:
    in_favour = found.estimate > 0 if greater else found.estimate < 0
    return np.where(in_favour, found.p / 2, 1 - found.p / 2)
