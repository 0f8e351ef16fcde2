"""Random terms merged by grouping factor, as the engine takes them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
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
    groups = {tuple(sorted(block.group.variables)): block.group for block in blocks}
    inside: dict[Key, list[_Member]] = {key: [] for key in groups}
    for number, block in enumerate(blocks):
        key = tuple(sorted(block.group.variables))
        host = _host(key, groups, variables)
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
    coarser = [
        other
        for other in groups
        if set(other) < set(key)
        and math.prod(variables.factors[variables.grouping[n]].count for n in key if n not in other) <= MOST_INSIDE
    ]
    roots = [other for other in coarser if _host(other, groups, variables) == other]
    return max(roots or coarser or [key], key=lambda other: groups[other].count)


def _effects(group: Group, members: Sequence[_Member], variables: Variables) -> Effects:
    pattern = np.full((len(members), len(members)), -1, np.int64)
    places = {(member.copy, member.number): place for place, member in enumerate(members)}
    for a, member in enumerate(members):
        for row, column, parameter in member.block.places:
            if row == member.number:
                pattern[a, places[member.copy, column]] = parameter
    factors = tuple(variables.grouping[name] for name in group.variables)
    return Effects(factors, group.codes, group.count, tuple(member.column for member in members), pattern)
