"""Random terms merged by grouping factor, as the engine takes them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.design.coding import DesignColumn
from holdsup.design.groups import Group
from holdsup.design.variables import Variables
from holdsup.numerics.layout import ColumnSpec, Effects

__all__ = ["RandomBlock", "merge_blocks"]

MOST_INSIDE = 12  # levels of a:b within b up to which a:b is written as columns within b
MOST_ROOTED = 64  # the same where one group takes in all that is finer
WORTH_MOVING = 16  # times that this must be cheaper than the usual way: the cost is a rough one


@dataclass(frozen=True, eq=False)
class RandomBlock:
    """One random term: the columns that vary between the levels of a group.

    Attributes
    ----------
    group : the grouping factor
    columns : what varies
    correlated : whether the columns have correlations
    places : (i, j, index of the parameter) for each entry of the term's k x k factor
    engine : the columns as the engine gets them
    transform : effects of the formula = transform @ effects of the engine, shape (k, k)
    """

    group: Group
    columns: tuple[DesignColumn, ...]
    correlated: bool
    places: tuple[tuple[int, int, int], ...]
    engine: tuple[ColumnSpec, ...]
    transform: NDArray[np.float64]

    def factor(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a factor of the term's covariance, relative to the residual's; lower triangular only in the engine."""
        factor = np.zeros((len(self.columns),) * 2)
        for i, j, parameter in self.places:
            factor[i, j] = theta[parameter]
        return np.asarray(self.transform @ factor)


class _Member(NamedTuple):
    """Column `number` of `block` as one of a host's columns; those of one `copy` may be correlated."""

    column: ColumnSpec
    block: RandomBlock
    number: int
    copy: tuple[int, ...]


Key = tuple[str, ...]  # the columns of a group, sorted


def merge_blocks(blocks: Sequence[RandomBlock], variables: Variables) -> tuple[Effects, ...]:
    """Return the random terms merged by grouping factor, the largest first.

    A term of ``system:item`` beside one of ``item`` is written as one column per system within item,
    all with the same variance: the same model, and the large factor of all combinations is gone.
    """
    if not blocks:
        return ()
    groups = {tuple(sorted(block.group.variables)): block.group for block in blocks}
    usual = {key: _host(key, groups, variables) for key in groups}
    ways = [_merge(blocks, groups, hosts, variables) for hosts in (usual, *_root_each(groups, usual, variables))]
    costs = [_cost(way) for way in ways]
    best = min(range(len(ways)), key=costs.__getitem__)
    return ways[best] if costs[best] * WORTH_MOVING < costs[0] else ways[0]


def _root_each(groups: Mapping[Key, Group], usual: Mapping[Key, Key], variables: Variables) -> Iterator[dict[Key, Key]]:
    """Yield other ways to merge, each with a group that stays and takes in all that is finer.

    ``seed:system:dataset`` and ``rate:system:dataset`` may not fit into ``dataset`` together, but both into
    ``system:dataset``: then it is better not written within ``dataset`` itself. And where all terms are finer than
    ``dataset``, more columns in it are better than a second large factor.
    """
    for root in groups:
        finer = {key: root for key in groups if _fits_inside(key, root, variables, most=MOST_ROOTED)}
        hosts = {**usual, root: root, **finer}
        if hosts != usual:
            yield hosts


def _cost(effects: Sequence[Effects]) -> float:
    """Return the order of the work of an evaluation: the first factor goes level by level, the others as one."""
    first, rest = effects[0], sum(other.size for other in effects[1:]) + 1
    k = len(first.columns)
    return first.count * k * (k * k + k * rest + rest * rest) + float(rest) ** 3


def _merge(
    blocks: Sequence[RandomBlock], groups: Mapping[Key, Group], hosts: Mapping[Key, Key], variables: Variables
) -> tuple[Effects, ...]:
    """Return the random terms, each written within its host, the largest host first."""
    inside: dict[Key, list[_Member]] = {key: [] for key in groups}
    for number, block in enumerate(blocks):
        key = tuple(sorted(block.group.variables))
        host = hosts[key]
        extra = [variables.grouping[name] for name in block.group.variables if name not in host]
        for codes in itertools.product(*(range(variables.factors[f].count) for f in extra)):
            for i, column in enumerate(block.engine):
                levels = tuple(dict.fromkeys((*column.levels, *zip(extra, codes, strict=True))))
                inside[host].append(_Member(ColumnSpec(column.numbers, levels), block, i, (number, *codes)))
    effects = [_effects(groups[key], members, variables) for key, members in inside.items() if members]
    return tuple(sorted(effects, key=lambda e: -e.size))


def _host(key: Key, groups: Mapping[Key, Group], variables: Variables) -> Key:
    """Return the group within which a finer one is written, itself if there is none.

    Of the groups that leave few combinations over, the largest, but rather one that is not itself written within
    another: what is left beside it would be a second large factor.
    """
    coarser = [other for other in groups if _fits_inside(key, other, variables)]
    roots = [other for other in coarser if _host(other, groups, variables) == other]
    return max(roots or coarser or [key], key=lambda other: groups[other].count)


def _fits_inside(key: Key, other: Key, variables: Variables, *, most: int = MOST_INSIDE) -> bool:
    """Return whether a group is finer than another and leaves few combinations over within it."""
    extra = [variables.factors[variables.grouping[name]].count for name in key if name not in other]
    return set(other) < set(key) and math.prod(extra) <= most


def _effects(group: Group, members: Sequence[_Member], variables: Variables) -> Effects:
    pattern = np.full((len(members), len(members)), -1, np.int64)
    places = {(member.copy, member.number): place for place, member in enumerate(members)}
    for a, member in enumerate(members):
        for row, column, parameter in member.block.places:
            if row == member.number:
                pattern[a, places[member.copy, column]] = parameter
    factors = tuple(variables.grouping[name] for name in group.variables)
    return Effects(factors, group.codes, group.count, tuple(member.column for member in members), pattern)
