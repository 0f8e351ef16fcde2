"""Amounts that all parts of a corpus shall have alike: frequencies of labels, lengths, whatever is counted."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from holdsup.errors import SplitError
from holdsup.splits.corpus import Floats, encode_column

__all__ = ["MOST_CELLS", "Features"]

LARGEST = 1e150  # sums and squares stay finite
MOST_CELLS = 250_000_000  # items times features: 2 GB as numbers


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Features:
    """Amounts per item, equal to others by their digest, so that a splitter that holds them stays a value.

    Attributes
    ----------
    amounts : shape (n, features)
    digest : of the amounts, 12 hexadecimal digits of SHA-256
    """

    amounts: Floats
    digest: str

    @classmethod
    def of(cls, given: Any, name: str) -> Features:
        """Return features from an array (items x features), from labels, or from sequences of labels.

        Labels (strings or whole numbers, one per item) and sequences of labels (the tags of a sentence) are counted; a
        single column of fractions is an amount.
        """
        try:
            array = np.asarray(given)
        except ValueError:  # ragged: sequences of different lengths
            array = np.empty(0, dtype=object)
        if array.ndim == 2 and array.dtype.kind in "biuf":
            amounts = array.astype(np.float64)
        elif array.ndim == 1 and array.dtype.kind == "f":
            amounts = array.astype(np.float64)[:, None]
        else:
            amounts = _count_labels(given, name)
        usable = (np.abs(amounts) < LARGEST).all(axis=1)
        if not usable.all():
            row = int(np.flatnonzero(~usable)[0])
            raise SplitError(
                f"{name} is missing, infinite or above {LARGEST:g} in row {row} (from 0): nothing to match"
            )
        amounts = np.ascontiguousarray(amounts)
        return cls(amounts, sha256(repr(amounts.shape).encode() + amounts.tobytes()).hexdigest()[:12])

    def __repr__(self) -> str:
        n, width = self.amounts.shape
        return f"<{n} x {width} sha256 {self.digest}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Features) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(self.digest)


def _count_labels(given: Any, name: str) -> Floats:
    """Return how often each label occurs in each item."""
    rows = given if isinstance(given, list) else list(given)
    if rows and all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        labels = encode_column([label for row in rows for label in row], name)
        items = np.repeat(np.arange(len(rows)), lengths)
    else:
        labels = encode_column(given, name)
        items = np.arange(len(rows))
    width = len(labels.levels)
    if len(rows) * width > MOST_CELLS:
        raise SplitError(
            f"{name} has {width:,} different labels in {len(rows):,} items, too many to match (more than"
            f" {MOST_CELLS:,} counts): give an array of the counts that matter"
        )
    return np.bincount(items * width + labels.codes, minlength=len(rows) * width).reshape(-1, width).astype(np.float64)
