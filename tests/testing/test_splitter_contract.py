"""The contract suite of splitters: ours pass, and each kind of bug is caught by the promise it breaks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from holdsup.splits import BlockedCV, HoldOut, JKFold, KFold, Promises, RepeatedHoldOut, Split, Splitter
from holdsup.splits.corpus import Codes, Corpus
from holdsup.testing import BrokenPromise, check_splitter

SOUND = [
    HoldOut(), HoldOut(test=0.3, stratify=True), RepeatedHoldOut(repeats=4), RepeatedHoldOut(stratify=True),
    KFold(), KFold(k=2), KFold(k=7, stratify=True), KFold(match="targets"), JKFold(), JKFold(j=6, k=3, stratify=True),
    BlockedCV(m=1), BlockedCV(m=2), BlockedCV(), BlockedCV(m=20), BlockedCV(repeats=5, stratify=True),
    BlockedCV(repeats=2, match="targets"),
]  # fmt: skip


@pytest.mark.parametrize("splitter", SOUND, ids=repr)
def test_our_splitters_keep_their_promises(splitter: Splitter) -> None:
    check_splitter(splitter)


class LosesAnItem(KFold):
    def _cut(self, part: Codes) -> Iterator[Split]:
        for train, test in super()._cut(part):
            yield Split(train[:-1], test)


class OffByOne(KFold):
    def _cut(self, part: Codes) -> Iterator[Split]:
        for train, test in super()._cut(part):
            yield Split(train, test + 1)


class LeadsOut(KFold):
    def _cut(self, part: Codes) -> Iterator[Split]:
        for train, test in super()._cut(part):
            yield Split(train + 1, test + 1)  # counted from 1


class TestsWhatItTrained(KFold):
    __test__ = False

    def _cut(self, part: Codes) -> Iterator[Split]:
        for train, test in super()._cut(part):
            yield Split(np.append(train, test[0]), test)


class HoldsAnItemTwice(KFold):
    def _cut(self, part: Codes) -> Iterator[Split]:
        for train, test in super()._cut(part):
            yield Split(np.append(train, train[0]), test)


class GivesAMask(KFold):
    def _cut(self, part: Codes) -> Iterator[Split]:
        for fold in range(self.k):
            yield Split(part != fold, part == fold)


class Unequal(KFold):
    def _pattern(self, n: int, rng: np.random.Generator) -> Codes:
        pattern = np.arange(n) % self.k
        pattern[0], pattern[6] = 1, 2  # sizes q - 1 and q + 1 where q is right
        return pattern


class TestsAFoldTwice(KFold):
    __test__ = False

    def _cut(self, part: Codes) -> Iterator[Split]:
        first, *others, _ = super()._cut(part)
        yield from (first, *others, first)


class ReusesThePermutation(JKFold):
    def _deal(self, corpus: Corpus, index: int) -> Codes:
        return super()._deal(corpus, 0)


class TurnsThePermutation(JKFold):
    def _deal(self, corpus: Corpus, index: int) -> Codes:
        return (super()._deal(corpus, 0) + index) % self.k


class IsUnseeded(KFold):
    def _deal(self, corpus: Corpus, index: int) -> Codes:
        return np.random.default_rng().permutation(np.arange(corpus.n) % self.k)


class IgnoresItsSeed(KFold):
    def _deal(self, corpus: Corpus, index: int) -> Codes:
        return np.arange(corpus.n) % self.k


class SwapsMembersOfGroups(KFold):
    def _cut(self, part: Codes) -> Iterator[Split]:
        swapped = part.copy()
        i, j = 0, int(np.flatnonzero(part != part[0])[0])
        swapped[[i, j]] = part[[j, i]]
        return super()._cut(swapped)


class ForgetsGroups(BlockedCV):
    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        return super().split(X, y)


class NeverTestsLargeGroups(RepeatedHoldOut):
    def _deal_groups(self, corpus: Corpus, rng: np.random.Generator) -> Codes:
        assert corpus.groups is not None
        sizes = corpus.groups.sizes()
        part = (rng.random(len(sizes)) > self.test) | (sizes > 4 * np.median(sizes))
        return part.astype(np.int64)[corpus.groups.codes]


class ForgetsClasses(KFold):
    def _deal(self, corpus: Corpus, index: int) -> Codes:
        return super()._deal(Corpus(n=corpus.n, groups=corpus.groups), index)


class HalvesAtRandom(BlockedCV):
    def _cut(self, part: Codes) -> Iterator[Split]:
        for c in range(self.m):
            side = np.random.default_rng([self.seed, c]).permutation(len(part)) < len(part) / 2
            yield Split(np.flatnonzero(side), np.flatnonzero(~side))
            yield Split(np.flatnonzero(~side), np.flatnonzero(side))


class PairsTheWrongFolds(BlockedCV):
    def _cut(self, part: Codes) -> Iterator[Split]:
        splits = list(super()._cut(part))
        yield from (splits[i] for i in (0, 2, 1, 3, 4, 5))


class Miscounts(KFold):
    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        return self.k + 1


class TakesAnyLength(KFold):
    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        n = len(X)
        return super().split(X, y[:n], groups if groups is None else groups[:n])


class SplitsListsOtherwise(KFold):
    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        splits = list(super().split(X, y, groups))
        return iter(splits[::-1] if isinstance(X, list) else splits)


class RefusesScikitLearn(KFold):
    def get_n_splits(self, X: Any = None, y: object = None, groups: object = None) -> int:
        return self.k if X is not None else 0


BUGS = [
    (LosesAnItem(), "partition", "1 of 240 items of split 0 neither train nor test"),
    (OffByOne(), "partition", "both train and test"),
    (LeadsOut(), "places", "leads out of the corpus of 240 items"),
    (TestsWhatItTrained(), "partition", "1 items of split 0 both train and test"),
    (HoldsAnItemTwice(), "places", "holds an item twice"),
    (GivesAMask(), "places", "no array of whole numbers"),
    (Unequal(), "size", "off by"),
    (TestsAFoldTwice(), "times tested", "[0, 1, 2] times, not 1"),
    (ReusesThePermutation(), "independent", "test sets 0 and 5 have 48 items in common, not 10"),
    (TurnsThePermutation(), "independent", "items in common"),
    (IsUnseeded(), "seed", "the same seed gives other splits"),
    (IgnoresItsSeed(), "seed", "another seed gives the same splits"),
    (SwapsMembersOfGroups(), "groups", "groups of split"),
    (ForgetsGroups(), "groups", "both train and test"),
    (NeverTestsLargeGroups(repeats=10), "chances", "large groups are tested in 0% of the splits, not in 11%"),
    (ForgetsClasses(stratify=True), "stratify", "items of class"),
    (HalvesAtRandom(), "shared", "items in common, not 60"),
    (PairsTheWrongFolds(), "shared", "are two folds, but have"),
    (Miscounts(), "get_n_splits", "it says 6, but there are 5 splits"),
    (TakesAnyLength(), "lengths", "split without a word"),
    (SplitsListsOtherwise(), "shapes", "a list of texts is split otherwise"),
    (RefusesScikitLearn(), "scikit-learn", "gives 5 scores"),
]


@pytest.mark.parametrize(("splitter", "promise", "found"), BUGS, ids=[type(bug[0]).__name__ for bug in BUGS])
def test_each_bug_is_caught_by_the_promise_it_breaks(splitter: Splitter, promise: str, found: str) -> None:
    with pytest.raises(BrokenPromise) as broken:
        check_splitter(splitter)
    assert f"breaks the promise '{promise}'" in str(broken.value)
    assert found in str(broken.value)


def test_the_splitters_of_scikit_learn_can_be_tried() -> None:
    from sklearn import model_selection as theirs

    promised = Promises(test_share=0.2, slack=0.8, parts=5, per_partition=5, times_tested=1, keeps_groups=False)
    shuffled = theirs.KFold(5, shuffle=True, random_state=0)
    check_splitter(shuffled, promises=promised, reseed=lambda seed: theirs.KFold(5, shuffle=True, random_state=seed))
    with pytest.raises(BrokenPromise, match="another seed gives the same splits"):
        check_splitter(theirs.KFold(5), promises=promised, reseed=lambda seed: theirs.KFold(5))


@dataclass(frozen=True)
class Nameless:
    seed: int = 0


def test_a_splitter_must_say_what_it_promises_and_how_it_is_seeded() -> None:
    with pytest.raises(TypeError, match="has no promises"):
        check_splitter(Nameless())
    with pytest.raises(TypeError, match="has no field 'seed'"):
        check_splitter(object(), promises=Promises(test_share=0.5, parts=2))
