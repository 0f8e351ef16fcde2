"""Hold-out: a share of the corpus tests, the rest trains; once, or again and again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from holdsup.errors import SplitError
from holdsup.splits.corpus import Codes, Corpus
from holdsup.splits.dealing import draw_groups, interleave
from holdsup.splits.splitter import Promises, Split, Splitter, require_count

__all__ = ["HoldOut", "RepeatedHoldOut"]


@dataclass(frozen=True, kw_only=True, repr=False)
class HoldOut(Splitter):
    """Hold out a random share for testing, by default one ninth (8:1, the "standard split" of Xue et al.).

    Attributes
    ----------
    test : share of the items that test

    Examples
    --------
    >>> [split] = HoldOut(seed=1).split(range(18))
    >>> split.test.tolist(), len(split.train)
    ([3, 6], 16)
    """

    test: float = 1 / 9
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

    @property
    def partitions(self) -> int:
        """One."""
        return 1

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

    Attributes
    ----------
    repeats : how many
    """

    repeats: int = 6
    name = "repeated_holdout"

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        super().__post_init__()
        require_count(self, "repeats", least=1)

    @property
    def partitions(self) -> int:
        """One for each repetition."""
        return self.repeats
