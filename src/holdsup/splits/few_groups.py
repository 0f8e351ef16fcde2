"""Few groups dealt into parts: one of the even deals at random, not the most even one.

Few groups have one most even deal, or a handful. To find it at every seed would make repetitions copies of one
partition, which look like evidence and are none. So many deals are drawn, and one of the most even ones is taken.
"""

from __future__ import annotations

import numpy as np

from holdsup.splits.corpus import Codes, Floats

__all__ = ["UNEVEN", "cut_rows", "draw_deal", "few", "fill_parts"]

FEW = 24  # groups; from here on no two deals that were evened out are the same
FEW_PER_PART = 4  # nor from this many groups in a part
DRAWS = 2048  # deals to choose from
CELLS = 2**20  # numbers to sum up for them, at most
LEAST_DRAWS = 64
CHOICE = 32  # of the most even deals: ten repetitions are ten partitions, nearly always
UNEVEN = 0.5  # by how much of its even size a part may be off before groups are too large for it
LOOSE = 0.2  # by how much it may be off where groups allow less
NEAR = 0.05  # by how much more it may be off than in the most even deal, where they allow no less


def few(groups: int, parts: int) -> bool:
    """Return whether so many groups leave little choice of even deals."""
    return groups < max(FEW, FEW_PER_PART * parts)


def cut_rows(order: Codes, sizes: Codes, wanted: Codes) -> Codes:
    """Return parts of groups, shape (rows, groups): each row of groups is cut at the sizes wanted.

    A group is of the part in which its middle lies.
    """
    middles = np.cumsum(sizes[order], axis=1) - sizes[order] / 2
    part = np.empty_like(order)
    np.put_along_axis(part, order, np.searchsorted(np.cumsum(wanted)[:-1], middles, side="right"), axis=1)
    return part


def draw_deal(sizes: Codes, wanted: Codes, amounts: Floats, goal: Floats, rng: np.random.Generator) -> Codes:
    """Return the part of each group in one of the most even deals.

    Parameters
    ----------
    sizes : items of each group
    wanted : items of each part
    amounts : what the parts shall have alike, whole numbers, shape (groups, columns)
    goal : sums of amounts that the parts shall have, shape (parts, columns)
    """
    groups, parts = len(sizes), len(wanted)
    draws = min(DRAWS, max(LEAST_DRAWS, CELLS // amounts.size))
    deals = cut_rows(rng.permuted(np.tile(np.arange(groups), (draws, 1)), axis=1), sizes, wanted)
    deals = deals[np.unique(_nameless(deals, parts), axis=0, return_index=True)[1]]
    found = _sums(sizes[:, None].astype(np.float64), deals, parts)[:, :, 0]
    off = np.where(found.all(axis=1), np.abs(found / wanted - 1).max(axis=1), np.inf)  # an empty part is none
    least = off.min()
    deals = deals[off <= max(LOOSE, min(least + NEAR, max(least, UNEVEN)))]
    surplus = ((_sums(amounts, deals, parts) - goal) ** 2).sum(axis=(1, 2))
    among = min(CHOICE, (len(deals) + 1) // 2)
    even = np.flatnonzero(surplus <= np.partition(surplus, among - 1)[among - 1])
    return np.asarray(deals[rng.choice(even)])


def fill_parts(part: Codes, sizes: Codes, parts: int) -> Codes:
    """Return parts of groups, none of them empty: the largest that can be halved is halved for each that is.

    One group of most items fills several parts' worth, and classes alone do not say that the others shall share the
    rest.

    >>> fill_parts(np.array([0, 1, 1, 1]), np.array([90, 1, 2, 3]), 3).tolist()
    [0, 2, 1, 2]
    """
    filled = part.copy()
    for empty in np.flatnonzero(np.bincount(part, minlength=parts) == 0):
        several = np.bincount(filled, minlength=parts) > 1
        if not several.any():  # fewer groups than parts
            break
        donor = np.where(several, np.bincount(filled, weights=sizes, minlength=parts), -1).argmax()
        own = np.flatnonzero(filled == donor)
        filled[own[np.argsort(-sizes[own], kind="stable")][::2]] = empty
    return filled


def _nameless(deals: Codes, parts: int) -> Codes:
    """Return deals with parts numbered in the order of their first groups: the same if they are the same partition."""
    there = deals[:, :, None] == np.arange(parts)
    first = np.where(there.any(axis=1), there.argmax(axis=1), deals.shape[1])
    return np.take_along_axis(first.argsort(axis=1, kind="stable").argsort(axis=1), deals, axis=1)


def _sums(amounts: Floats, deals: Codes, parts: int) -> Floats:
    """Return the sums of each column in each part of each deal, shape (deals, parts, columns)."""
    cells = deals + parts * np.arange(len(deals))[:, None]
    columns = [
        np.bincount(cells.ravel(), weights=np.tile(column, len(deals)), minlength=parts * len(deals))
        for column in amounts.T
    ]
    return np.stack(columns, axis=1).reshape(len(deals), parts, -1).astype(np.float64, copy=False)
