"""Few groups: partitions differ as far as groups allow, stay even, and copies are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from holdsup.splits import BlockedCV, HoldOut, JKFold, KFold, Split, Splitter
from holdsup.splits.splitter import find_copies, skip_copies

UNEVEN = np.repeat(np.arange(8), [76, 59, 41, 30, 34, 18, 20, 22])
EQUAL = np.repeat(np.arange(6), 50)


def deal(groups: np.ndarray, *, j: int = 20, k: int = 3, seed: int = 0, stratify: bool = False) -> list[list[Split]]:
    y = np.random.default_rng(1).integers(0, 2, len(groups))
    splits = list(JKFold(j=j, k=k, seed=seed, stratify=stratify).split(groups, y, groups))
    return [splits[place : place + k] for place in range(0, len(splits), k)]


def count_distinct(partitions: list[list[Split]]) -> int:
    """Return how many partitions differ, as sets of sets of items."""
    return len({frozenset(frozenset(split.test.tolist()) for split in splits) for splits in partitions})


def worst_size(partitions: list[list[Split]], n: int) -> float:
    return max(abs(len(split.test) * len(splits) / n - 1) for splits in partitions for split in splits)


@pytest.mark.parametrize("stratify", [False, True])
def test_few_uneven_groups_are_dealt_in_many_ways(stratify: bool) -> None:
    assert count_distinct(deal(UNEVEN, stratify=stratify)) >= 12


def test_six_equal_groups_have_half_of_their_pairings_at_least() -> None:
    assert count_distinct(deal(EQUAL, j=100)) == 15  # 6! / (2!^3 3!)
    assert count_distinct(deal(EQUAL, j=100, stratify=True)) >= 8


def test_the_many_ways_are_more_even_than_a_deal_by_number() -> None:
    n = len(UNEVEN)
    assert worst_size(deal(UNEVEN), n) <= 0.2
    theirs = [
        [
            Split(train, test)
            for train, test in GroupKFold(3, shuffle=True, random_state=seed).split(UNEVEN, groups=UNEVEN)
        ]
        for seed in range(20)
    ]
    assert worst_size(theirs, n) > 0.4


def test_as_many_groups_as_folds_are_one_to_a_fold() -> None:
    groups = np.arange(300) % 5
    (first, *others) = deal(groups, k=5, j=3, stratify=True)
    assert sorted(len(split.test) for split in first) == [60] * 5
    assert set(find_copies([first, *others])) == {0}


def test_sizes_that_differ_by_an_item_leave_all_the_ways_open() -> None:
    groups = np.arange(150) % 4  # 38, 38, 37, 37: one fold of three has two of them, 75 items at most
    assert count_distinct(deal(groups, j=40)) == 5


def test_the_only_even_deal_is_found_at_every_seed() -> None:
    groups = np.repeat(np.arange(7), [100, 60, 40, 55, 45, 50, 50])
    assert worst_size([splits for seed in range(10) for splits in deal(groups, seed=seed)], 400) <= 0.35


def test_blocks_of_few_groups_are_cut_in_many_ways() -> None:
    cuts = BlockedCV(m=3, repeats=20, seed=0).blocks(UNEVEN, groups=UNEVEN)
    assert len({tuple(cut) for cut in cuts}) >= 12
    assert all(len(np.unique(cut[group == UNEVEN])) == 1 for cut in cuts for group in range(8))


def test_copies_are_the_partitions_with_the_same_test_sets() -> None:
    one, two = deal(EQUAL, j=1, seed=0)[0], deal(EQUAL, j=1, seed=1)[0]
    assert count_distinct([one, two]) == 2
    again = one[::-1]  # the order of the folds does not matter
    assert find_copies([one, two, again, two]) == [0, 1, 0, 1]
    assert list(skip_copies([one, two, again, two])) == [one, two]


@pytest.mark.parametrize("sizes", [[420, *[31] * 9], [73, 23, 371, 28, 5]])
@pytest.mark.parametrize("splitter", [KFold(k=5, uneven=True), BlockedCV(uneven=True), HoldOut(test=0.25, uneven=True)])
def test_uneven_parts_are_dealt_with_classes_too(sizes: list[int], splitter: Splitter) -> None:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    y = np.random.default_rng(0).integers(0, 2, len(groups))
    for seed in range(5):
        for stratify in (False, True):
            for train, test in replace(splitter, seed=seed, stratify=stratify).split(groups, y, groups):
                assert len(test) > 0
                assert not set(groups[train]) & set(groups[test])


def test_folds_of_documents_are_as_even_as_scikit_learns_in_size_and_in_classes() -> None:
    rng = np.random.default_rng(0)
    groups = rng.choice(24, size=702, p=rng.dirichlet(np.full(24, 3)))
    y = (rng.random(702) < rng.beta(2, 3, 24)[groups]).astype(int)

    def worst(make: Callable[[int], Any]) -> tuple[float, float]:
        tests = [[test for _, test in make(seed).split(groups, y, groups)] for seed in range(8)]
        sizes = [max(abs(5 * len(test) / 702 - 1) for test in own) for own in tests]
        return float(np.mean(sizes)), float(np.mean([np.std([y[test].mean() for test in own]) for own in tests]))

    ours = worst(lambda seed: KFold(k=5, stratify=True, seed=seed))
    theirs = worst(lambda seed: StratifiedGroupKFold(5, shuffle=True, random_state=seed))
    assert ours[0] < theirs[0]
    assert ours[1] < theirs[1]
