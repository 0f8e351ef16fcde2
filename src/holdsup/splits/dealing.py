"""Items dealt into parts of a corpus: at random, in classes, by groups, or so that amounts match.

A deal starts from a *pattern*: the part of each of n places in a row, whose counts are the sizes asked for. Items take
the places in random order, so that sizes are exact; class after class, so that every class is spread over the parts
like the whole; or in the order of what they are like. Groups get what is nearest to the sizes asked for.

Then exchanges between parts, one at a time, bring their sums of amounts together. To exchange unit a of part p for unit
b of part q, x = z_a - z_b, changes the sum of squared surpluses D by 2 |x|^2 - 2 x'(D_p - D_q); the best exchange among
some candidates is made if this is below zero. All numbers are whole (in floats, far below 2^53), so that a seed gives
the same parts in whatever order a machine adds them up.

Few groups have one most even deal, or a handful. To find it at every seed would make repetitions copies of one
partition, which look like evidence and are none. So many deals are drawn, and one of the most even ones is taken.
"""

from __future__ import annotations

import numpy as np

from holdsup.splits.corpus import Codes, Corpus, Floats

FINENESS = 2.0**12  # whole numbers per standard deviation of an amount
FARTHEST = 2.0**22  # of such numbers: keeps products exact, at a thousand standard deviations
ROUNDING = 1e-12  # a deviation below this share of the largest amount is none
SIZES = 2  # weight of sizes beside all amounts together: of what groups leave open, sizes get most and classes enough
SPARE = -1  # the part of what is in none
KEY = 2**16  # largest weight of an amount in the key that brings like items together

FEW = 24  # groups; from here on no two deals that were evened out are the same
FEW_PER_PART = 4  # nor from this many groups in a part
DRAWS = 2048  # deals to choose from
CELLS = 2**20  # numbers to sum up for them, at most
LEAST_DRAWS = 64
CHOICE = 32  # of the most even deals: ten repetitions are ten partitions, nearly always
UNEVEN = 0.5  # by how much of its even size a part may be off before groups are too large for it
LOOSE = 0.2  # by how much it may be off where groups allow less
NEAR = 0.05  # by how much more it may be off than in the most even deal, where they allow no less

CANDIDATES = 128  # units of a part that a step looks at
STEPS = 6000  # pairs of parts that are looked at, at most
ENOUGH = 1e-6  # of the sum of squares that random parts have: a thousandth of their deviation
ALONE = -1  # the place of the unit that is none: what is exchanged for it moves alone


def alternate(n: int, parts: int, rng: np.random.Generator) -> Codes:
    """Return the pattern of even parts: any stretch of it has each part equally often, to within one."""
    return rng.permutation(parts)[np.arange(n) % parts]


def interleave(n: int, share: float) -> Codes:
    """Return the pattern in which a share of the places, evenly spaced, is part 0, and the rest part 1.

    >>> interleave(9, 1 / 3).tolist()
    [1, 1, 0, 1, 1, 0, 1, 1, 0]
    """
    chosen = min(max(round(n * share), 1), n - 1)
    steps = np.arange(n + 1) * chosen // n
    return 1 - np.diff(steps)


def deal_items(corpus: Corpus, pattern: Codes, rng: np.random.Generator) -> Codes:
    """Return the part of each item, groups or none."""
    if corpus.features is not None:
        return _deal_matched(corpus.features, pattern, rng)
    order = rng.permutation(corpus.n)
    if corpus.classes is not None:
        # The classes in random order as well, or a small class would have its items in the same parts at every seed.
        rank = rng.permutation(len(corpus.classes.levels))[corpus.classes.codes]
        order = order[np.argsort(rank[order], kind="stable")]
    part = np.empty(corpus.n, dtype=np.int64)
    part[order] = pattern
    return part


def _deal_matched(features: Floats, pattern: Codes, rng: np.random.Generator) -> Codes:
    """Return parts of items with matched amounts: like items are dealt to different parts, then exchanged."""
    amounts = _whole(features, np.ones(len(features)))
    # A random direction, in whole numbers: items with equal amounts have equal keys and stand together.
    key = amounts @ rng.integers(-KEY, KEY, size=amounts.shape[1], endpoint=True).astype(np.float64)
    order = rng.permutation(len(key))
    order = order[np.argsort(key[order], kind="stable")]
    part = np.empty(len(key), dtype=np.int64)
    part[order] = _shuffle_rounds(pattern, rng)
    return even_out(part, amounts, _sums(amounts, part, int(pattern.max()) + 1), moves=False, rng=rng)


def _shuffle_rounds(pattern: Codes, rng: np.random.Generator) -> Codes:
    """Return the pattern shuffled within rounds, each long enough to hold every part."""
    length = -(-len(pattern) // int(np.bincount(pattern).min()))
    whole = len(pattern) // length * length
    rounds = rng.permuted(pattern[:whole].reshape(-1, length), axis=1).ravel()
    return np.concatenate([rounds, pattern[whole:]])


def deal_groups(corpus: Corpus, wanted: Codes, rng: np.random.Generator) -> Codes:
    """Return the part of each item, whole groups: a random row of them is cut at the sizes wanted, then evened out.

    Few groups get one of the even deals at random: evening out would end in the same one again and again.
    """
    assert corpus.groups is not None  # the splitter has seen to it
    groups, sizes = corpus.groups.codes, corpus.groups.sizes()
    shares = _group_amounts(corpus)
    weight = SIZES * FINENESS * max(shares.shape[1], 1) ** 0.5 / np.sqrt((sizes**2).mean())
    amounts = np.column_stack([np.rint(sizes * weight), _whole(shares, sizes)])
    goal = np.zeros((len(wanted), amounts.shape[1]))
    goal[:, 0] = np.rint(wanted * weight)
    if few(len(sizes), len(wanted)):
        part = draw_deal(sizes, wanted, amounts, goal, rng)
        if np.bincount(part, minlength=len(wanted)).all():  # else a group is too large for a row to be cut behind it
            return part[groups]
    else:
        part = cut_rows(rng.permutation(len(sizes))[None], sizes, wanted)[0]
    part = even_out(part, amounts, _sums(amounts, part, len(wanted)) - goal, moves=True, rng=rng)
    return fill_parts(part, sizes, len(wanted))[groups]


def draw_groups(corpus: Corpus, share: float, rng: np.random.Generator) -> tuple[Codes, int]:
    """Return parts, one of which is a draw of whole groups, each with the same chance, and which part that is.

    Groups are dealt into parts of the share's size, of which one is drawn: large groups have the chance of small ones
    whatever the evening out does to them. Where such parts do not fill the corpus, what is left over is itself drawn
    in this way beforehand; its items have the part -1. The share may be a half at most.
    """
    assert corpus.groups is not None  # the splitter has seen to it
    most = len(corpus.groups.levels)
    share = max(share, 1 / most)  # no draw is smaller than a group
    parts = round(1 / share)
    part = np.full(corpus.n, SPARE)
    left = np.ones(corpus.n, dtype=bool)
    if abs(1 / parts - share) > 1 / (2 * most):  # by more than half a group
        parts = int(1 / share)
        spare, drawn = draw_groups(corpus, 1 - parts * share, rng)
        left = spare != drawn
    rest = corpus.take(left)
    part[left] = deal_groups(rest, np.bincount(np.arange(rest.n) % parts), rng)
    return part, int(rng.integers(parts))


def _group_amounts(corpus: Corpus) -> Floats:
    """Return what the parts shall have alike, by group: counts of classes, or sums of features."""
    assert corpus.groups is not None  # the splitter has seen to it
    codes, count = corpus.groups.codes, len(corpus.groups.levels)
    if corpus.classes is not None:
        width = len(corpus.classes.levels)
        cells = np.bincount(codes * width + corpus.classes.codes, minlength=count * width)
        return cells.reshape(count, width).astype(np.float64)
    return _sums(np.zeros((corpus.n, 0)) if corpus.features is None else corpus.features, codes, count)


def _whole(amounts: Floats, sizes: Floats | Codes) -> Floats:
    """Return how far amounts are from what units of their sizes have on average.

    Whole numbers, each column in units of its own deviation; a column proportional to the size is zero.
    """
    reach = np.abs(amounts).max(axis=0, initial=0)
    near = amounts / np.where(reach > 0, reach, 1)
    near -= sizes[:, None] * (near.sum(axis=0) / sizes.sum())
    scale = np.sqrt((near**2).mean(axis=0))
    scale[scale < ROUNDING] = np.inf
    whole: Floats = np.clip(np.rint(near * (FINENESS / scale)), -FARTHEST, FARTHEST)
    return whole


def _sums(amounts: Floats, deals: Codes, parts: int) -> Floats:
    """Return the sums of each column in each part of one deal or of several, shape (..., parts, columns)."""
    rows = np.atleast_2d(deals)
    cells, count = (rows + parts * np.arange(len(rows))[:, None]).ravel(), parts * len(rows)
    columns = [np.bincount(cells, weights=np.tile(column, len(rows)), minlength=count) for column in amounts.T]
    sums: Floats = np.stack(columns, axis=1).astype(float) if columns else np.zeros((count, 0))
    return sums.reshape(*deals.shape[:-1], parts, amounts.shape[1])


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
