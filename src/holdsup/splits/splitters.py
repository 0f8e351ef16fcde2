"""The splitters: hold-outs, K-fold cross-validation, blocked m x 2 cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import SplitError, list_names
from holdsup.splits.corpus import Codes, Corpus
from holdsup.splits.dealing import alternate, draw_groups, interleave
from holdsup.splits.hadamard import choose_order, make_hadamard
from holdsup.splits.splitter import Promises, Split, Splitter


@dataclass(frozen=True, kw_only=True, repr=False)
class KFold(Splitter):
    """Deal the corpus into k folds of equal size; each is tested once, by what trained on the others.

    Examples
    --------
    >>> [split.test.tolist() for split in KFold(k=3, seed=1).split(range(7))]
    [[0, 5, 6], [1, 4], [2, 3]]
    """

    k: int = 5  # how many folds
    name = "kfold"

    @property
    def promises(self) -> Promises:
        """Folds of equal size to within one item; each item is tested once."""
        off = 1 - 1 / self.k  # n / k lies between two whole numbers
        return Promises(
            test_share=1 / self.k, slack=off, class_slack=off, parts=self.k, per_partition=self.k, times_tested=1,
            stratifies=self.stratify,
        )  # fmt: skip

    def _pattern(self, n: int, rng: np.random.Generator) -> Codes:
        return alternate(n, self.k, rng)

    def _cut(self, part: Codes) -> Iterator[Split]:
        for fold in range(self.k):
            yield Split(train=np.flatnonzero(part != fold), test=np.flatnonzero(part == fold))


@dataclass(frozen=True, kw_only=True, repr=False)
class JKFold(KFold):
    """J independent K-fold partitions (Moss, Leslie & Rayson 2018); k of 3 or more is advised.

    Splits come partition by partition. The first partition is that of ``KFold`` with the same seed, and more partitions
    leave the earlier ones as they are.
    """

    j: int = 4  # how many partitions
    name = "jkfold"

    @property
    def partitions(self) -> int:
        """The j of them."""
        return self.j


@dataclass(frozen=True, kw_only=True, repr=False)
class HoldOut(Splitter):
    """Hold out a random share for testing, by default one ninth (8:1, the "standard split" of Xue et al.).

    Examples
    --------
    >>> [split] = HoldOut(seed=1).split(range(18))
    >>> split.test.tolist(), len(split.train)
    ([3, 6], 16)
    """

    test: float = 1 / 9  # share of the items that test
    name = "holdout"

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        super().__post_init__()
        if isinstance(self.test, bool) or not isinstance(self.test, float) or not 0 < self.test < 1:
            raise SplitError(
                f"test of {type(self).__name__} is {self.test!r}: give a share between 0 and 1, such as 0.2"
            )

    @property
    def promises(self) -> Promises:
        """A test set of the share asked for, rounded; a class is less than one item off the share that this gives."""
        return Promises(test_share=self.test, slack=0.5, class_slack=1.5, parts=2, stratifies=self.stratify)

    def _pattern(self, n: int, rng: np.random.Generator) -> Codes:
        return interleave(n, self.test)

    def _deal_groups(self, corpus: Corpus, rng: np.random.Generator) -> Codes:
        """Return whole groups as part 0, to test: any group has the chance that items are to have, large or small."""
        assert corpus.groups is not None  # the caller has seen to it
        sizes = corpus.groups.sizes()
        share = min(self.test, 1 - self.test)  # the smaller side is drawn
        parts, wanted = round(1 / share), max(round(share * corpus.n), 1)
        if not self._is_even(np.array([wanted]), sizes[[sizes.argmax()]].clip(min=wanted)):
            raise self._uneven(corpus, parts, wanted, int(sizes.max()))
        # A few groups may not go into parts of that size, but into smaller ones: ten documents into ten, not nine.
        smaller = [1 / more for more in range(parts + 1, min(2 * parts, len(sizes)) + 1)]
        for tried in (share, *smaller):
            part, drawn = draw_groups(corpus, tried, rng)
            found = np.bincount(part[part >= 0])
            if self._is_even(np.full(len(found), wanted), found):
                return np.where((part == drawn) == (self.test <= 1 / 2), 0, 1)
        raise self._uneven(corpus, parts, wanted, int(found[np.abs(found - wanted).argmax()]))

    def _cut(self, part: Codes) -> Iterator[Split]:
        yield Split(train=np.flatnonzero(part == 1), test=np.flatnonzero(part == 0))


@dataclass(frozen=True, kw_only=True, repr=False)
class RepeatedHoldOut(HoldOut):
    """Hold-outs again and again, independent of each other (the "random splits" of Xue et al.).

    The first is that of ``HoldOut`` with the same seed, and more repetitions leave the earlier ones as they are.
    """

    repeats: int = 6  # how many
    name = "repeated_holdout"

    @property
    def partitions(self) -> int:
        """One for each repetition."""
        return self.repeats


@dataclass(frozen=True, kw_only=True, repr=False)
class BlockedCV(Splitter):
    """Cut the corpus into h blocks and form from them m two-fold splits, any two of them balanced against each other.

    h is the smallest order of a Hadamard matrix above m: 4 for m = 2 and 3, 8 up to 7, 12 up to 11 ... Column c of the
    matrix says which blocks are fold 1 of repetition c; with m = 3 this is Table 1 of Xue et al. Splits come repetition
    by repetition: the first trains on fold 1 and tests on fold 2, the second trains on fold 2 and tests on fold 1.

    Examples
    --------
    >>> [split.train.tolist() for split in BlockedCV(m=3, seed=1).split(range(8))]
    [[1, 2, 4, 7], [0, 3, 5, 6], [0, 2, 4, 5], [1, 3, 6, 7], [0, 1, 5, 7], [2, 3, 4, 6]]
    """

    m: int = 3  # how many two-fold splits are made of the blocks
    repeats: int = 1  # how often the corpus is cut into blocks anew; earlier cuts stay as they are when there are more
    name = "blocked"

    @property
    def h(self) -> int:
        """How many blocks there are."""
        return choose_order(self.m)

    @property
    def trains_on(self) -> NDArray[np.bool_]:
        """Which blocks each of the 2m splits of a cut trains on, shape (2m, h); it tests on the others."""
        first = make_hadamard(self.h)[:, 1 : self.m + 1].T > 0
        return np.stack([first, ~first], axis=1).reshape(2 * self.m, self.h)

    @property
    def promises(self) -> Promises:
        """Halves that share a quarter; where h does not divide the number of items, blocks differ by one item."""
        return Promises(
            test_share=1 / 2, slack=self.h / 4, class_slack=self.h / 4, parts=self.h, per_partition=2 * self.m,
            times_tested=self.m, shared=1 / 4, shared_slack=3 * self.h / 16, stratifies=self.stratify,
        )  # fmt: skip

    @property
    def partitions(self) -> int:
        """One for each cut into blocks."""
        return self.repeats

    def blocks(self, X: Any, y: Any = None, groups: Any = None) -> Codes:
        """Return the block (from 0) of each item in each cut, shape (repeats, n).

        With `trains_on` it says which trained instances never saw an item: the instances of the splits s for which
        ``trains_on[s, block]`` is false, m of them. Their votes on the item may be counted.
        """
        corpus = self._read(X, y, groups)
        return np.stack([self._deal(corpus, index) for index in range(self.partitions)])

    def _pattern(self, n: int, rng: np.random.Generator) -> Codes:
        return alternate(n, self.h, rng)

    def _cut(self, part: Codes) -> Iterator[Split]:
        for blocks in self.trains_on:
            trains = blocks[part]
            yield Split(train=np.flatnonzero(trains), test=np.flatnonzero(~trains))


SPLITTERS: dict[str, type[Splitter]] = {
    splitter.name: splitter for splitter in (HoldOut, RepeatedHoldOut, KFold, JKFold, BlockedCV)
}


def list_options(name: str) -> list[str]:
    """Return the options of the splitter of that name, without its seed."""
    return [field.name for field in fields(SPLITTERS[name]) if field.name != "seed"]


def make_splitter(name: str, *, seed: int = 0, **options: Any) -> Splitter:
    """Return the splitter of that name: holdout, repeated_holdout, kfold, jkfold or blocked.

    Parameters
    ----------
    seed : of its random numbers
    options : its own options (test, repeats, k, j, m), and stratify, match, uneven

    Raises
    ------
    SplitError : an unknown name or option, or a value that makes no sense

    Examples
    --------
    >>> make_splitter("blocked", seed=1, m=3, repeats=10)
    BlockedCV(m=3, repeats=10, seed=1)
    """
    if name not in SPLITTERS:
        raise SplitError(f"unknown splitter {name!r}; choose from {list_names(SPLITTERS)}")
    known = list_options(name)
    if unknown := [option for option in options if option not in known]:
        raise SplitError(f"{name} has no option {list_names(unknown)}; it has {list_names(known)}")
    return SPLITTERS[name](seed=seed, **options)
