"""How items are dealt: sizes, classes, groups, matched amounts, seeds."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from holdsup.splits import BlockedCV, HoldOut, JKFold, KFold, RepeatedHoldOut, Splitter, make_splitter
from holdsup.splits.corpus import Features

ALL = [HoldOut(), RepeatedHoldOut(), KFold(), JKFold(), BlockedCV(repeats=2)]


def parts_of(splitter: KFold, n: int, **columns: object) -> np.ndarray:
    """Return the fold of each item in the first partition."""
    fold = np.full(n, -1)
    for number in range(splitter.k):
        fold[splitter.split_at(number, np.zeros(n), **columns).test] = number
    return fold


def largest_deviation(amounts: np.ndarray, part: np.ndarray) -> float:
    """Return the largest difference between the mean of an amount in a part and in the corpus."""
    return max(np.abs(amounts[part == number].mean(axis=0) - amounts.mean(axis=0)).max() for number in np.unique(part))


@given(n=st.integers(12, 400), k=st.integers(2, 12), seed=st.integers(0, 2**32))
@settings(max_examples=100)
def test_folds_are_equal_to_within_one_item(n: int, k: int, seed: int) -> None:
    sizes = np.bincount(parts_of(KFold(k=k, seed=seed), n))
    assert len(sizes) == k
    assert sizes.max() - sizes.min() <= 1
    assert sizes.sum() == n


@given(classes=st.lists(st.integers(6, 60), min_size=2, max_size=8), k=st.integers(2, 6), seed=st.integers(0, 2**32))
@settings(max_examples=100)
def test_stratified_folds_have_each_class_to_within_one_item(classes: list[int], k: int, seed: int) -> None:
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(classes)), classes))
    fold = parts_of(KFold(k=k, seed=seed, stratify=True), len(y), y=y)
    counts = np.bincount(y * k + fold, minlength=len(classes) * k).reshape(-1, k)
    assert np.ptp(counts, axis=1).max() <= 1
    assert np.ptp(counts.sum(axis=0)) <= 1


@given(classes=st.lists(st.integers(2, 60), min_size=2, max_size=8), test=st.floats(0.05, 0.6), seed=st.integers(0, 99))
@settings(max_examples=100)
def test_a_stratified_test_set_has_each_class_to_within_one_item(classes: list[int], test: float, seed: int) -> None:
    y = np.repeat(np.arange(len(classes)), classes)
    held = HoldOut(test=test, seed=seed, stratify=True).split_at(0, y, y).test
    share = len(held) / len(y)
    assert len(held) == max(1, round(len(y) * test))
    assert (np.abs(np.bincount(y[held], minlength=len(classes)) - share * np.array(classes)) < 1).all()


def test_every_item_is_equally_likely_to_be_tested() -> None:
    # 2,000 seeds: each of 18 items is tested 2/18 of the time; 4.5 standard deviations, 18 items.
    tested = np.bincount(np.concatenate([HoldOut(seed=seed).split_at(0, range(18)).test for seed in range(2000)]))
    assert np.abs(tested - 2000 / 9).max() < 4.5 * (2000 / 9 * 8 / 9) ** 0.5


def test_every_pair_of_items_is_equally_likely_to_share_a_block() -> None:
    # 3,000 seeds, 12 items in 4 blocks: two items share a block with probability 2/11; 66 pairs.
    blocks = np.stack([BlockedCV(seed=seed).blocks(range(12))[0] for seed in range(3000)])
    together = (blocks[:, :, None] == blocks[:, None, :]).sum(axis=0)[np.triu_indices(12, 1)]
    assert np.abs(together - 3000 * 2 / 11).max() < 4.5 * (3000 * 2 / 11 * 9 / 11) ** 0.5


CHANCES = [
    {"test": 1 / 9, "uneven": True, "stratify": True},
    {"test": 0.2},
    {"test": 0.3, "match": "targets"},
    {"test": 0.7},
]


@pytest.mark.parametrize("options", CHANCES, ids=str)
def test_large_groups_are_held_out_as_often_as_small_ones(options: dict[str, Any]) -> None:
    # A skewed corpus: the largest author has 38 of 200 texts, more than a ninth. 300 deals, 4.5 standard deviations.
    sizes = [38, 20, 14, 12, 10, 8] + 49 * [2]
    author = np.repeat(np.arange(len(sizes)), sizes)
    label = np.random.default_rng(0).integers(0, 3, len(author))
    tested = np.zeros(len(author))
    for split in RepeatedHoldOut(repeats=300, seed=3, **options).split(author, label, author):
        assert not set(author[split.train]) & set(author[split.test])
        tested[split.test] += 1
    test = options["test"]
    large = np.array([tested[author == a].mean() / 300 for a in range(6)])
    assert np.abs(large - test).max() < 4.5 * (test * (1 - test) / 300) ** 0.5
    assert tested.mean() / 300 == pytest.approx(test, abs=0.02)


def test_a_few_groups_may_be_held_out_one_by_one() -> None:
    # Ten documents do not go into nine equal parts: each is a test set of its own.
    group = np.repeat(np.arange(10), 12)
    tests = {tuple(np.unique(group[HoldOut(seed=s).split_at(0, group, groups=group).test])) for s in range(100)}
    assert tests == {(document,) for document in range(10)}


@pytest.mark.parametrize("seed", range(5))
def test_groups_of_very_different_sizes_make_equal_folds(seed: int) -> None:
    sizes = np.minimum(np.random.default_rng(seed).zipf(1.5, 300), 200)
    group = np.repeat(np.arange(300), sizes)
    fold = parts_of(KFold(k=5, seed=seed), len(group), groups=group)
    assert [len(set(fold[group == g])) for g in range(300)] == [1] * 300
    assert np.ptp(np.bincount(fold)) <= 3


def test_stratified_groups_have_nearly_equal_shares_of_each_class() -> None:
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(200), rng.integers(2, 30, 200))
    y = rng.random(len(group)) < rng.random(200)[group]  # classes go with groups
    one_hot = np.stack([y, ~y], axis=1)
    plain = largest_deviation(one_hot, parts_of(KFold(seed=1), len(y), groups=group))
    stratified = largest_deviation(one_hot, parts_of(KFold(seed=1, stratify=True), len(y), y=y, groups=group))
    assert stratified < plain / 10
    assert stratified < 0.005


@pytest.mark.parametrize(("n", "features", "m"), [(200, 5, 3), (1000, 20, 3), (2003, 10, 7)])
def test_matched_blocks_deviate_ten_times_less_than_random_ones(n: int, features: int, m: int) -> None:
    amounts = np.random.default_rng(n).gamma(0.5, size=(n, features))
    random, matched = (
        np.mean([largest_deviation(amounts, replace(splitter, seed=s).blocks(amounts)[0]) for s in range(5)])
        for splitter in (BlockedCV(m=m), BlockedCV(m=m, match=amounts))
    )
    assert matched < random / 10
    sizes = np.bincount(BlockedCV(m=m, match=amounts).blocks(amounts)[0])
    assert sizes.max() - sizes.min() <= 1


def test_tags_of_sentences_are_matched_as_counts() -> None:
    rng = np.random.default_rng(8)
    tags = [
        rng.choice(["O", "B", "I", "rare"], p=[0.8, 0.1, 0.08, 0.02], size=rng.integers(1, 40)).tolist()
        for _ in range(400)
    ]
    counts = np.array([[row.count(tag) for tag in ("O", "B", "I", "rare")] for row in tags])
    [random] = BlockedCV().blocks(tags)
    [matched] = BlockedCV(match="targets").blocks(None, tags)
    assert largest_deviation(counts, matched) < largest_deviation(counts, random) / 10
    assert np.array_equal(matched, BlockedCV(match=tags).blocks(tags)[0])


def test_matching_does_not_make_the_same_blocks_at_every_seed() -> None:
    length = np.arange(400.0)  # every item different: sorting alone would leave nothing to chance
    blocks = np.stack([BlockedCV(seed=seed, match=length).blocks(length)[0] for seed in range(20)])
    together = (blocks[:, :, None] == blocks[:, None, :]).mean(axis=(1, 2))
    assert together == pytest.approx(0.25, abs=0.001)
    agreement = [np.bincount(4 * blocks[0] + other, minlength=16).max() / 400 for other in blocks[1:]]
    assert max(agreement) < 0.12  # independent partitions have 1/16 in each cell


@pytest.mark.parametrize("splitter", ALL, ids=lambda s: s.name)
def test_one_split_is_that_of_all(splitter: Splitter) -> None:
    groups = np.arange(90) // 2
    for index, split in enumerate(splitter.split(range(90), groups=groups)):
        one = splitter.split_at(index, range(90), groups=groups)
        assert np.array_equal(one.train, split.train)
        assert np.array_equal(one.test, split.test)


def test_the_first_of_many_partitions_is_the_only_one_of_the_simple_splitter() -> None:
    for simple, repeated in (
        (KFold(k=4, seed=9), JKFold(j=3, k=4, seed=9)),
        (HoldOut(seed=9), RepeatedHoldOut(seed=9)),
    ):
        for alone, first in zip(simple.split(range(40)), repeated.split(range(40)), strict=False):
            assert np.array_equal(alone.test, first.test)


def test_a_seed_gives_the_same_split_on_every_machine_and_version() -> None:
    # Not a truth to be right about: tasks in stores are known by their splits, which must never move.
    assert [split.test.tolist() for split in KFold(k=3, seed=1).split(range(7))] == [[0, 5, 6], [1, 4], [2, 3]]
    features = np.arange(24.0).reshape(12, 2) ** 2 % 7
    assert BlockedCV(seed=1, match=features).blocks(features).tolist() == [[0, 1, 2, 2, 1, 2, 3, 3, 0, 0, 1, 3]]


@pytest.mark.parametrize("splitter", ALL, ids=lambda s: s.name)
def test_a_splitter_is_a_value(splitter: Splitter) -> None:
    assert make_splitter(**splitter.describe()) == splitter
    assert hash(make_splitter(**splitter.describe())) == hash(splitter)
    assert replace(splitter, seed=1) != splitter
    assert eval(repr(splitter)) == splitter


def test_a_splitter_with_an_array_is_a_value_too() -> None:
    amounts = np.random.default_rng(0).random((30, 2))
    splitter = KFold(match=amounts)
    assert splitter == KFold(match=amounts.copy())
    assert hash(splitter) == hash(KFold(match=amounts.copy()))
    assert splitter != KFold(match=amounts + 1e-12)
    assert Features.of(amounts, "match").digest in repr(splitter)
    assert len(repr(splitter)) < 80
    assert Features.of(amounts, "match").digest in str(splitter.describe()["match"])


@pytest.mark.parametrize("unit", [1e-140, 1.0, 1e140])
def test_the_unit_of_an_amount_does_not_matter(unit: float) -> None:
    amounts = np.random.default_rng(5).integers(0, 50, size=(300, 3)).astype(float)
    groups = np.arange(300) // 3
    for columns in ({}, {"groups": groups}):
        usual, scaled = (BlockedCV(match=a).blocks(amounts, **columns) for a in (amounts, amounts * unit))
        assert np.array_equal(usual, scaled)


def test_a_constant_amount_changes_nothing() -> None:
    amounts = np.random.default_rng(5).random((300, 1))
    beside = np.column_stack([amounts, np.full(300, 0.1)])
    for groups in (None, np.repeat(np.arange(120), np.arange(120) % 4 + 1)[:300]):
        [block] = BlockedCV(match=beside).blocks(amounts, groups=groups)
        [random] = BlockedCV().blocks(amounts, groups=groups)
        assert largest_deviation(amounts, block) < largest_deviation(amounts, random) / 5


def test_splitters_can_be_copied_and_sent_to_other_processes() -> None:
    splitter = KFold(match=np.eye(9))
    for copied in (copy.deepcopy(splitter), pickle.loads(pickle.dumps(splitter))):
        assert copied == splitter
        assert np.array_equal(copied.split_at(0, range(9)).test, splitter.split_at(0, range(9)).test)


def test_numbers_of_numpy_become_pythons() -> None:
    assert repr(KFold(k=np.int64(3), seed=np.int32(2))) == "KFold(k=3, seed=2)"
