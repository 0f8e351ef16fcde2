"""Exchanges between parts, one at a time, that bring the parts' sums of amounts together.

To exchange unit a of part p for unit b of part q, x = z_a - z_b, changes the sum of squared surpluses D by
2 |x|^2 - 2 x'(D_p - D_q); the best exchange among some candidates is made if this is below zero. All numbers are whole
(in floats, far below 2^53), so that a seed gives the same parts in whatever order a machine adds them up.
"""

from __future__ import annotations

import numpy as np

from holdsup.splits.corpus import Codes, Floats

__all__ = ["even_out"]

CANDIDATES = 128  # units of a part that a step looks at
STEPS = 6000  # pairs of parts that are looked at, at most
ENOUGH = 1e-6  # of the sum of squares that random parts have: a thousandth of their deviation
ALONE = -1  # the place of the unit that is none: what is exchanged for it moves alone


def even_out(part: Codes, amounts: Floats, surplus: Floats, *, moves: bool, rng: np.random.Generator) -> Codes:
    """Return parts with less surplus.

    Parameters
    ----------
    part : part of each unit, shape (units,)
    amounts : whole numbers, shape (units, columns)
    surplus : sums of the amounts of each part, less what they should be, shape (parts, columns); changed in place
    moves : whether a unit may also move alone; else a part keeps its number of units
    """
    parts = len(surplus)
    none = np.zeros((1, amounts.shape[1]))
    stock = np.vstack([amounts, none])
    squares = (stock**2).sum(axis=1)
    members = _members(part, parts)
    goal, patience, stale = ENOUGH * squares.sum(), 10 + 3 * parts * (parts - 1) // 2, 0
    firsts, shifts = rng.integers(parts, size=STEPS), rng.integers(1, parts, size=STEPS)
    for p, q in zip(firsts, (firsts + shifts) % parts, strict=True):
        i, j = _candidates(members[p], moves, rng), _candidates(members[q], moves, rng)
        a, b = _units(members[p], i, len(part)), _units(members[q], j, len(part))
        found = _best(stock[a], stock[b], squares[a], squares[b], surplus[p] - surplus[q])
        if found is None:
            stale += 1
        else:
            at, to = found
            change = stock[a[at]] - stock[b[to]]
            surplus[p] -= change
            surplus[q] += change
            _exchange(members[p], i[at], members[q], j[to])
            stale = 0
        if stale > patience or (surplus**2).sum() <= goal:
            break
    evened = np.empty_like(part)
    for number, those in enumerate(members):
        evened[those] = number
    return evened


def _members(part: Codes, parts: int) -> list[list[int]]:
    """Return the units of each part, as lists: they grow and shrink."""
    cuts = np.cumsum(np.bincount(part, minlength=parts))[:-1]
    return [those.tolist() for those in np.split(np.argsort(part, kind="stable"), cuts)]


def _candidates(members: list[int], moves: bool, rng: np.random.Generator) -> list[int]:
    """Return places in a part: all of a small one, some at random of a large one, and maybe none of them."""
    count = len(members)
    places = list(range(count)) if count <= CANDIDATES else rng.integers(count, size=CANDIDATES).tolist()
    return [*places, ALONE] if moves else places


def _units(members: list[int], places: list[int], none: int) -> list[int]:
    return [none if place == ALONE else members[place] for place in places]


def _best(A: Floats, B: Floats, a2: Floats, b2: Floats, gap: Floats) -> tuple[int, int] | None:
    """Return the rows of A and B whose exchange lowers the sum of squares most, or None if none does."""
    change = (a2 - A @ gap)[:, None] + (b2 + B @ gap) - 2 * A @ B.T
    if not change.size or change.min() >= 0:
        return None
    at, to = divmod(int(change.argmin()), len(B))
    return at, to


def _exchange(left: list[int], i: int, right: list[int], j: int) -> None:
    """Exchange one member of each list, in place; one of them may be none."""
    if j == ALONE:
        right.append(left[i])
        left[i] = left[-1]
        left.pop()
    elif i == ALONE:
        _exchange(right, j, left, i)
    else:
        left[i], right[j] = right[j], left[i]
