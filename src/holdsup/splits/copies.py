"""Partitions that are the same: few groups, or few items, allow only so many."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from holdsup.splits.splitter import Split

__all__ = ["find_copies", "skip_copies"]

BYTES = 16  # of a digest: no two test sets have the same by chance


def find_copies(partitions: Iterable[Sequence[Split]]) -> list[int]:
    """Return for each partition the place of the first one with the same test sets, its own if there is none before.

    A system that is not random scores the same on both: a copy is no new evidence.

    >>> from holdsup.splits import KFold
    >>> one, two = (list(KFold(k=2, seed=seed).split(range(6))) for seed in (0, 1))
    >>> find_copies([one, two, one[::-1]])
    [0, 1, 0]
    """
    first: dict[frozenset[bytes], int] = {}
    return [first.setdefault(_identify(splits), place) for place, splits in enumerate(partitions)]


def skip_copies(partitions: Iterable[list[Split]]) -> Iterator[list[Split]]:
    """Yield the partitions that are no copies of earlier ones."""
    seen = set()
    for splits in partitions:
        own = _identify(splits)
        if own not in seen:
            seen.add(own)
            yield splits


def _identify(splits: Sequence[Split]) -> frozenset[bytes]:
    """Return what two partitions share if they are the same set of sets of items, in whatever order."""
    return frozenset(hashlib.blake2b(split.test.tobytes(), digest_size=BYTES).digest() for split in splits)
