"""Grouping factors: ``item``, or the combinations that ``system:item`` stands for; random terms merged by them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.design.coding import DesignColumn
from holdsup.design.variables import Variables
from holdsup.numerics.layout import ColumnSpec, Effects

Codes = NDArray[np.integer]
MOST_INSIDE = 12  # levels of a:b within b up to which a:b is written as columns within b
MOST_ROOTED = 64  # the same where one group takes in all that is finer
WORTH_MOVING = 16  # times that this must be cheaper than the usual way: the cost is a rough one


@dataclass(frozen=True, eq=False)
class Group:
    """A grouping factor: the level of each row, and the names of the levels.

    What is not asked for is not computed: of a term that is written within another, a fit needs no codes.
    """

    label: str  # ``item`` or ``system:item``
    variables: tuple[str, ...]  # the columns whose combinations are the levels
    factors: tuple[Labels, ...]  # the columns, as labels
    count: int  # how many levels there are

    @cached_property
    def codes(self) -> Codes:
        """The level of each row, shape (n,)."""
        return self.factors[0].codes if len(self.factors) == 1 else cross(*self.factors).codes.astype(np.int32)

    @cached_property
    def shown(self) -> Codes:
        """A row that shows each level."""
        return cross(*self.factors).first

    def level_names(self) -> list[tuple[str, ...]]:
        """Return the labels of each level: a tuple, so that "a:b" x "c" is never "a" x "b:c"."""
        return list(zip(*([f.names[c] for c in f.codes[self.shown]] for f in self.factors), strict=True))


def make_group(variables: tuple[str, ...], factors: tuple[Labels, ...]) -> Group:
    """Return the grouping factor of some columns."""
    return Group(":".join(variables), variables, factors, cross(*factors).count)


def same_levels(one: Group, other: Group) -> bool:
    """Return whether two groups put the same rows together."""
    if one is other:
        return True
    return one.count == other.count and np.array_equal(other.codes[one.shown][one.codes], other.codes)


def match_labels(labels: Labels, known: Labels) -> NDArray[np.int64]:
    """Return the level of each label among those of `known`, -1 where it is not one of them."""
    place = pc.fill_null(pc.index_in(labels.levels, value_set=known.levels), -1)
    return np.append(place.to_numpy().astype(np.int64), -1)[labels.codes]  # the last place serves code -1


class LevelFinder:
    """The level of a group that a combination of codes of its columns stands for.

    Combinations are numbered column by column, so that the keys of many columns do not overflow.
    """

    def __init__(self, shown: Sequence[Codes], counts: Sequence[int], levels: Codes) -> None:
        """Take codes of each column in rows that show all levels, the columns' numbers of levels, and the levels."""
        self.steps: list[tuple[int, NDArray[np.int64]]] = []
        known = shown[0].astype(np.int64)
        for codes, count in zip(shown[1:], counts[1:], strict=True):
            keys, known = np.unique(known * count + codes, return_inverse=True)
            self.steps.append((count, keys))
        self.level = np.full((len(self.steps[-1][1]) if self.steps else counts[0]) + 1, -1, np.int64)
        self.level[known] = levels  # the extra last place serves code -1

    def find(self, codes: Sequence[Codes]) -> NDArray[np.int64]:
        """Return the level of each row, -1 for combinations that the group does not have."""
        number = codes[0]
        for (count, keys), column in zip(self.steps, codes[1:], strict=True):
            number = _search(keys, np.where((number < 0) | (column < 0), -1, number.astype(np.int64) * count + column))
        return np.asarray(self.level[number])


def find_levels(group: Group, codes: Sequence[Codes]) -> NDArray[np.int64]:
    """Return the level of `group` of rows with these codes of its columns, -1 for combinations it does not have."""
    shown = [labels.codes[group.shown] for labels in group.factors]
    return LevelFinder(shown, [labels.count for labels in group.factors], np.arange(group.count)).find(codes)


def _search(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each of `wanted` stands among the sorted keys, -1 for none."""
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


@dataclass(frozen=True, eq=False)
class RandomBlock:
    """One random term: the columns that vary between the levels of a group."""

    group: Group  # the grouping factor
    columns: tuple[DesignColumn, ...]  # what varies
    correlated: bool  # whether the columns have correlations
    places: tuple[tuple[int, int, int], ...]  # (i, j, index of the parameter) for each entry of the term's k x k factor
    engine: tuple[ColumnSpec, ...]  # the columns as the engine gets them
    transform: NDArray[np.float64]  # effects of the formula = transform @ effects of the engine, shape (k, k)

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


class _Host(NamedTuple):
    """A group with all that is written within it."""

    group: Group
    members: list[_Member]

    @property
    def size(self) -> int:
        """How many random effects there are."""
        return self.group.count * len(self.members)


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
    chosen = ways[best] if costs[best] * WORTH_MOVING < costs[0] else ways[0]
    return tuple(_effects(*host, variables) for host in chosen)  # only now: rows are coded for it


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


def _cost(hosts: Sequence[_Host]) -> float:
    """Return the order of the work of an evaluation: the first factor goes level by level, the others as one."""
    first, rest = hosts[0], sum(other.size for other in hosts[1:]) + 1
    k = len(first.members)
    return first.size * (k * k + k * rest + rest * rest) + float(rest) ** 3


def _merge(
    blocks: Sequence[RandomBlock], groups: Mapping[Key, Group], hosts: Mapping[Key, Key], variables: Variables
) -> list[_Host]:
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
    return sorted((_Host(groups[key], members) for key, members in inside.items() if members), key=lambda h: -h.size)


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
