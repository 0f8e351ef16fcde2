"""Blocked m x 2 cross-validation: repeated two-fold splits whose training sets share just a quarter of the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.splits.corpus import Codes
from holdsup.splits.dealing import alternate
from holdsup.splits.hadamard import choose_order, make_hadamard
from holdsup.splits.splitter import Promises, Split, Splitter, require_count

__all__ = ["BlockedCV"]


@dataclass(frozen=True, kw_only=True, repr=False)
class BlockedCV(Splitter):
    """Cut the corpus into h blocks and form from them m two-fold splits, any two of them balanced against each other.

    h is the smallest order of a Hadamard matrix above m: 4 for m = 2 and 3, 8 up to 7, 12 up to 11 ... Column c of the
    matrix says which blocks are fold 1 of repetition c; with m = 3 this is Table 1 of Xue et al. Splits come repetition
    by repetition: the first trains on fold 1 and tests on fold 2, the second trains on fold 2 and tests on fold 1.

    Attributes
    ----------
    m : how many two-fold splits are made of the blocks
    repeats : how often the corpus is cut into blocks anew; earlier cuts stay as they are when there are more

    Examples
    --------
    >>> [split.train.tolist() for split in BlockedCV(m=3, seed=1).split(range(8))]
    [[1, 2, 4, 7], [0, 3, 5, 6], [0, 2, 4, 5], [1, 3, 6, 7], [0, 1, 5, 7], [2, 3, 4, 6]]
    """

    m: int = 3
    repeats: int = 1
    name = "blocked"

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        super().__post_init__()
        require_count(self, "m", least=1)
        require_count(self, "repeats", least=1)

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
