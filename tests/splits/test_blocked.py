"""Blocked m x 2 cross-validation: the paper's table, and overlaps for any m and n."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from holdsup.splits import BlockedCV

# Xue et al., Table 1: blocks (from 1) of fold 1 and fold 2 in each repetition.
TABLE_1 = [({1, 2}, {3, 4}), ({2, 4}, {1, 3}), ({1, 4}, {2, 3})]


def test_three_repetitions_are_table_1_of_the_paper() -> None:
    splitter = BlockedCV(m=3, seed=5)
    [block] = splitter.blocks(range(20))
    splits = list(splitter.split(range(20)))
    for (fold_1, fold_2), first, second in zip(TABLE_1, splits[::2], splits[1::2], strict=True):
        assert set(block[first.train] + 1) == set(block[second.test] + 1) == fold_1
        assert set(block[first.test] + 1) == set(block[second.train] + 1) == fold_2


@given(m=st.integers(1, 20), extra=st.integers(0, 300), seed=st.integers(0, 2**32))
@settings(max_examples=150)
def test_training_sets_share_a_quarter_for_every_m_and_n(m: int, extra: int, seed: int) -> None:
    splitter = BlockedCV(m=m, seed=seed)
    h, n = splitter.h, splitter.h + extra
    trains = np.zeros((2 * m, n), dtype=int)
    for row, split in zip(trains, splitter.split(range(n)), strict=True):
        row[split.train] = 1
        assert np.array_equal(np.sort(np.concatenate(split)), np.arange(n))
    common = trains @ trains.T
    for a in range(2 * m):
        for b in range(a):
            if a // 2 == b // 2:
                assert common[a, b] == 0
            else:  # h/4 blocks, each with n // h items or one more
                assert h // 4 * (n // h) <= common[a, b] <= h // 4 * -(-n // h)
                assert abs(common[a, b] - n / 4) <= 3 * h / 16
    assert (trains.sum(axis=0) == m).all()
    assert (np.abs(trains.sum(axis=1) - n / 2) <= h / 4).all()


@given(m=st.integers(1, 20), blocks=st.integers(1, 12))
@settings(max_examples=60)
def test_the_quarter_is_exact_where_blocks_are_equal(m: int, blocks: int) -> None:
    splitter = BlockedCV(m=m)
    n = splitter.h * blocks
    sets = [set(split.train.tolist()) for split in splitter.split(range(n))]
    assert {len(one) for one in sets} == {n // 2}
    assert {len(sets[a] & sets[b]) for a in range(2 * m) for b in range(a) if a // 2 != b // 2} <= {n // 4}


def test_each_item_has_m_instances_that_did_not_see_it() -> None:
    splitter = BlockedCV(m=7, repeats=2, seed=3)
    blocks = splitter.blocks(range(50))
    splits = list(splitter.split(range(50)))
    assert blocks.shape == (2, 50)
    for cut in range(2):
        unseen = ~splitter.trains_on[:, blocks[cut]]
        assert (unseen.sum(axis=0) == 7).all()
        for row, split in zip(unseen, splits[14 * cut : 14 * (cut + 1)], strict=True):
            assert np.array_equal(np.flatnonzero(row), split.test)


def test_more_repeats_leave_the_earlier_ones_as_they_are() -> None:
    few, many = BlockedCV(repeats=2, seed=4), BlockedCV(repeats=5, seed=4)
    assert np.array_equal(few.blocks(range(30)), many.blocks(range(30))[:2])


@pytest.mark.parametrize("m", [3, 11])
def test_blocks_of_documents_hold_whole_documents_and_are_nearly_equal(m: int) -> None:
    document = np.repeat(np.arange(300), np.random.default_rng(1).integers(1, 40, 300))
    [block] = BlockedCV(m=m, seed=2).blocks(document, groups=document)
    assert (np.bincount(document * 12 + block, minlength=3600).reshape(300, 12) > 0).sum(axis=1).max() == 1
    sizes = np.bincount(block)
    assert np.ptp(sizes) <= 2
