"""Which condition goes with the spread: CV* recomputed among measurements that agree in it.

The analysis of Belz et al. (2022), section 4.1 ("same outputs, different scripts"), for every condition that differs
and every pair of them. How much a condition explains is the share of the variance between its groups, adjusted for
their number as R2 is. With few measurements any division explains something: `chance` says how often a random one does
as well.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.precision import c4, measure_precision
from holdsup.verdict.reproduction.groups import Group
from holdsup.verdict.reproduction.matrix import Agreement, number_values
from holdsup.verdict.reproduction.records import ConditionSpread, GroupSpread

__all__ = ["is_exact", "spread_within"]

EXACT = 7  # measurements of which all 5,040 orders are tried
DRAWS = 1999
MOST_NUMBERS = 2_000_000  # drawn at once
ROUNDING = 1e-10  # of the total sum of squares: less is nothing

Partition = tuple[int, ...]  # the group of each measurement, numbered as they come


def is_exact(group: Group) -> bool:
    """Return whether all divisions of the measurements are tried, and none is drawn."""
    return len(group.values) <= EXACT


def spread_within(group: Group, agreement: Agreement, *, seed: int) -> tuple[ConditionSpread, ...]:
    """Return the conditions that differ, and pairs of them, by how much of the spread they explain.

    Left out: conditions that some measurements do not report, and divisions in which every measurement stands alone.
    """
    values = group.values
    if len(values) < 3 or values.max() == values.min():
        return ()
    known = [name for name in agreement.differing if None not in group.column(name)]
    orders = _orders(values, seed)
    alone = _divide(group, [(name,) for name in known])
    pairs = _divide(group, itertools.combinations(known, 2))
    divisions = {**{p: names for p, names in pairs.items() if p not in alone}, **alone}
    found = [
        _describe(group, partition, names, orders)
        for partition, names in divisions.items()
        if 1 < max(partition) + 1 < len(values)
    ]
    return tuple(sorted(found, key=lambda row: (-row.explained, len(row.conditions), row.conditions)))


def _divide(group: Group, several: Iterable[tuple[str, ...]]) -> dict[Partition, list[tuple[str, ...]]]:
    """Return the divisions that conditions make, each with all conditions that make it."""
    divisions: dict[Partition, list[tuple[str, ...]]] = {}
    for names in several:
        rows = zip(*(group.column(name) for name in names), strict=True)
        divisions.setdefault(number_values(rows), []).append(names)
    return divisions


def _describe(
    group: Group, partition: Partition, names: list[tuple[str, ...]], orders: NDArray[np.float64]
) -> ConditionSpread:
    values, codes = group.values, np.array(partition)
    n, count = len(values), max(partition) + 1
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    centred = values - values.mean()
    total = float(centred @ centred)
    between = float(_between(centred[None, :], members)[0])
    left = total - between
    within = left / (n - count) if left > ROUNDING * total else 0.0
    as_much = int((_between(orders, members) >= between - ROUNDING * total).sum())
    columns = [group.column(name) for name in names[0]]
    return ConditionSpread(
        object=group.object,
        measurand=group.measurand,
        conditions=names[0],
        same_groups=tuple(" + ".join(other) for other in names[1:]),
        groups=tuple(_member(values[rows], tuple(str(column[rows[0]]) for column in columns)) for rows in members),
        cv=measure_precision(values).cv,
        cv_within=100 * math.sqrt(within) / c4(n - count + 1) / float(values.mean()),
        explained=100 * (1 - within / (total / (n - 1))),
        chance=as_much / len(orders) if is_exact(group) else (1 + as_much) / (1 + len(orders)),
    )


def _member(own: NDArray[np.float64], agree_in: tuple[str, ...]) -> GroupSpread:
    spread = len(own) > 1 and own.any()
    return GroupSpread(
        values=agree_in, n=len(own), mean=float(own.mean()), cv=measure_precision(own).cv if spread else None
    )


def _between(values: NDArray[np.float64], members: list[NDArray[np.intp]]) -> NDArray[np.float64]:
    """Return the sum of squares between groups of each row of centred values."""
    sizes = np.array([len(rows) for rows in members])
    sums = np.add.reduceat(values[:, np.concatenate(members)], np.cumsum(sizes) - sizes, axis=1)
    return np.asarray((sums**2 / sizes).sum(axis=1))


def _orders(values: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return the centred values in all orders, or in many random ones, shape (orders, n)."""
    centred = values - values.mean()
    if len(values) <= EXACT:
        return np.array(list(itertools.permutations(centred)))
    rng = np.random.default_rng(seed)
    draws = max(99, min(DRAWS, MOST_NUMBERS // len(values)))
    return rng.permuted(np.tile(centred, (draws, 1)), axis=1)
