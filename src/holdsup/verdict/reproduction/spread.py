"""Which condition goes with the spread: CV* recomputed among measurements that agree in it.

The analysis of Belz et al. (2022), section 4.1 ("same outputs, different scripts"), for every condition that differs
and every pair of them. How much a condition explains is the share of the variance between its groups, adjusted for
their number as R2 is. With few measurements any division explains something: `chance` says how often a random one does
as well.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.precision import c4, magnitude, measure_cv
from holdsup.verdict.reproduction.groups import Group
from holdsup.verdict.reproduction.matrix import MOST_CROSSED, Agreement, number_values
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
    Pairs are tried among the conditions that explain most alone.
    """
    if len(group.values) < 3 or np.ptp(group.values) == 0:
        return ()
    known = [name for name in agreement.differing if name not in agreement.not_reported]
    trial = _Trial(group, seed)
    alone = _divide(group, [(name,) for name in known])
    found = trial.describe(alone)
    crossed = [name for row in sorted(found, key=_rank) for name in (*row.conditions, *row.same_groups)][:MOST_CROSSED]
    pairs = _divide(group, itertools.combinations([name for name in known if name in crossed], 2))
    found += trial.describe({p: names for p, names in pairs.items() if p not in alone})
    return tuple(sorted(found, key=_rank))


def _rank(row: ConditionSpread) -> tuple[float, int, tuple[str, ...]]:
    return -row.explained, len(row.conditions), row.conditions


def _divide(group: Group, several: Iterable[tuple[str, ...]]) -> dict[Partition, list[tuple[str, ...]]]:
    """Return the divisions that conditions make, each with all conditions that make it."""
    divisions: dict[Partition, list[tuple[str, ...]]] = {}
    columns = {name: group.column(name) for name in group.conditions}
    for names in several:
        rows = zip(*(columns[name] for name in names), strict=True)
        divisions.setdefault(number_values(rows), []).append(names)
    return divisions


class _Trial:
    """The values of a group, in units of their magnitude, and the orders in which chance would put them."""

    def __init__(self, group: Group, seed: int) -> None:
        self.group = group
        self.unit = magnitude(group.values)
        self.values = group.values / self.unit
        self.centred = self.values - self.values.mean()
        self.total = float(self.centred @ self.centred)
        self.cv = measure_cv(self.values)
        self.orders = _orders(self.centred, seed)

    def describe(self, divisions: Mapping[Partition, list[tuple[str, ...]]]) -> list[ConditionSpread]:
        """Return what divisions explain, but for those that divide nothing or everything."""
        return [
            self._describe(partition, names)
            for partition, names in divisions.items()
            if 1 < max(partition) + 1 < len(self.values)
        ]

    def _describe(self, partition: Partition, names: list[tuple[str, ...]]) -> ConditionSpread:
        n, count = len(self.values), max(partition) + 1
        codes = np.array(partition)
        members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
        between = float(_between(self.centred[:, None], members)[0])
        left = self.total - between
        within = left / (n - count) if left > ROUNDING * self.total else 0.0
        as_much = int((_between(self.orders, members) >= between - ROUNDING * self.total).sum())
        tried = self.orders.shape[1]
        columns = [self.group.column(name) for name in names[0]]
        return ConditionSpread(
            object=self.group.object,
            measurand=self.group.measurand,
            conditions=names[0],
            same_groups=tuple(" + ".join(other) for other in names[1:]),
            groups=tuple(self._member(rows, tuple(str(column[rows[0]]) for column in columns)) for rows in members),
            cv=self.cv,
            cv_within=100 * math.sqrt(within) / c4(n - count + 1) / float(self.values.mean()),
            explained=100 * (1 - within / (self.total / (n - 1))),
            chance=as_much / tried if is_exact(self.group) else (1 + as_much) / (1 + tried),
        )

    def _member(self, rows: NDArray[np.intp], agree_in: tuple[str, ...]) -> GroupSpread:
        own = self.values[rows]
        spread = len(own) > 1 and own.any()
        mean = float(own.mean()) * self.unit
        return GroupSpread(values=agree_in, n=len(own), mean=mean, cv=measure_cv(own) if spread else None)


def _between(values: NDArray[np.float64], members: list[NDArray[np.intp]]) -> NDArray[np.float64]:
    """Return the sum of squares between groups of each column of centred values."""
    sizes = np.array([len(rows) for rows in members])
    sums = np.add.reduceat(values[np.concatenate(members)], np.cumsum(sizes) - sizes, axis=0)
    return np.asarray((sums**2 / sizes[:, None]).sum(axis=0))


def _orders(centred: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return centred values in all orders, or in many random ones, shape (n, orders)."""
    if len(centred) <= EXACT:
        return centred[_permutations(len(centred))]
    rng = np.random.default_rng(seed)
    draws = max(99, min(DRAWS, MOST_NUMBERS // len(centred)))
    return np.ascontiguousarray(rng.permuted(np.tile(centred, (draws, 1)), axis=1).T)


@functools.cache
def _permutations(n: int) -> NDArray[np.intp]:
    return np.array(list(itertools.permutations(range(n)))).T
