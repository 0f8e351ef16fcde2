"""Items dealt into parts of a corpus: at random, in classes, by groups, or so that amounts match.

A deal starts from a *pattern*: the part of each of n places in a row, whose counts are the sizes asked for. Items take
the places in random order, so that sizes are exact; class after class, so that every class is spread over the parts
like the whole; or in the order of what they are like. Groups get what is nearest to the sizes asked for.
"""

from __future__ import annotations

import numpy as np

from holdsup.splits.corpus import Codes, Corpus, Floats
from holdsup.splits.exchange import even_out
from holdsup.splits.few_groups import cut_rows, draw_deal, few, fill_parts

__all__ = ["alternate", "deal_groups", "deal_items", "draw_groups", "interleave"]

FINENESS = 2.0**12  # whole numbers per standard deviation of an amount
FARTHEST = 2.0**22  # of such numbers: keeps products exact, at a thousand standard deviations
ROUNDING = 1e-12  # a deviation below this share of the largest amount is none
SIZES = 2  # weight of sizes beside all amounts together: of what groups leave open, sizes get most and classes enough
SPARE = -1  # the part of what is in none
KEY = 2**16  # largest weight of an amount in the key that brings like items together


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

    Whole numbers, each column in units of its own deviation; a column that goes with the size is zero.
    """
    reach = np.abs(amounts).max(axis=0, initial=0)
    near = amounts / np.where(reach > 0, reach, 1)
    near -= sizes[:, None] * (near.sum(axis=0) / sizes.sum())
    scale = np.sqrt((near**2).mean(axis=0))
    scale[scale < ROUNDING] = np.inf
    whole: Floats = np.clip(np.rint(near * (FINENESS / scale)), -FARTHEST, FARTHEST)
    return whole


def _sums(amounts: Floats, part: Codes, parts: int) -> Floats:
    """Return the sums of each column in each part, shape (parts, columns)."""
    columns = [np.bincount(part, weights=column, minlength=parts) for column in amounts.T]
    return np.stack(columns, axis=1) if columns else np.zeros((parts, 0))
