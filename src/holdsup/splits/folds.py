"""K-fold cross-validation, once or J times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from holdsup.splits.corpus import Codes
from holdsup.splits.dealing import alternate
from holdsup.splits.splitter import Promises, Split, Splitter, require_count

__all__ = ["JKFold", "KFold"]


@dataclass(frozen=True, kw_only=True, repr=False)
class KFold(Splitter):
    """Deal the corpus into k folds of equal size; each is tested once, by what trained on the others.

    Attributes
    ----------
    k : how many folds

    Examples
    --------
    >>> [split.test.tolist() for split in KFold(k=3, seed=1).split(range(7))]
    [[0, 5, 6], [1, 4], [2, 3]]
    """

    k: int = 5
    name = "kfold"

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        super().__post_init__()
        require_count(self, "k", least=2)

    @property
    def promises(self) -> Promises:
        """Folds of equal size to within one item; each item is tested once."""
        off = 1 - 1 / self.k  # n / k lies between two whole numbers
        return Promises(
            test_share=1 / self.k, slack=off, class_slack=off, parts=self.k, per_partition=self.k, times_tested=1,
            stratifies=self.stratify,
        )  # fmt: skip

    @property
    def partitions(self) -> int:
        """One."""
        return 1

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

    Attributes
    ----------
    j : how many partitions
    """

    j: int = 4
    name = "jkfold"

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        super().__post_init__()
        require_count(self, "j", least=1)

    @property
    def partitions(self) -> int:
        """The j of them."""
        return self.j
