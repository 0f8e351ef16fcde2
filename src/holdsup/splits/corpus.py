"""What a splitter must know of a corpus: how many items, their classes, their groups, and what to match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.errors import SplitError

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST = 1e150  # sums and squares stay finite
MOST_CELLS = 250_000_000  # items times features: 2 GB as numbers


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """A column of labels, as codes into the levels in the order in which they first occur."""

    codes: Codes  # level of each item, shape (n,)
    levels: Sequence[Any]  # the labels themselves

    def sizes(self) -> Codes:
        """Return how many items each level has."""
        return np.bincount(self.codes, minlength=len(self.levels))

    def take(self, items: NDArray[np.bool_]) -> Labelled:
        """Return the labels of some of the items, with the levels that these have."""
        kept, codes = np.unique(self.codes[items], return_inverse=True)
        return Labelled(codes, [self.levels[level] for level in kept.tolist()])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corpus:
    """What is known of the items when they are dealt into parts."""

    n: int  # how many items
    classes: Labelled | None = None  # the class of each item, if its share is to be the same in all parts
    groups: Labelled | None = None  # what each item belongs to (a document), if that must stay together
    features: Floats | None = None  # amounts to be the same in all parts, shape (n, features)

    def take(self, items: NDArray[np.bool_]) -> Corpus:
        """Return the corpus of some of the items."""
        return Corpus(
            n=int(np.count_nonzero(items)),
            classes=None if self.classes is None else self.classes.take(items),
            groups=None if self.groups is None else self.groups.take(items),
            features=None if self.features is None else self.features[items],
        )


def count_items(**columns: Any) -> int:
    """Return the length that all given columns have; the first that is not None is what the others must fit."""
    lengths = {name: _length(name, column) for name, column in columns.items() if column is not None}
    if not lengths:
        raise SplitError("there is nothing to split: pass X, or y, or groups")
    (first, n), *others = lengths.items()
    for name, length in others:
        if length != n:
            raise SplitError(f"{first} has {n:,} items, but {name} has {length:,}: give one value per item")
    return n


def encode_column(column: Any, name: str) -> Labelled:
    """Return a column of labels (a list, an array, a series) as codes; an item without a label is refused."""
    try:
        values = column if isinstance(column, pa.Array) else pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        raise SplitError(f"{name} cannot be read as labels: give one string, number or boolean per item") from None
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):  # it may hold levels that no item has
        values = values.dictionary_decode()
    if pa.types.is_nested(values.type):
        raise SplitError(f"{name} holds several values per item: give one string, number or boolean per item")
    if values.null_count:
        row = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
        raise SplitError(f"{name} has no value for {values.null_count:,} items, the first in row {row} (from 0)")
    encoded = values.dictionary_encode()
    return Labelled(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary.to_pylist())


def _length(name: str, column: Any) -> int:
    shape = getattr(column, "shape", None)
    if shape:  # a sparse matrix has a shape and no length
        return int(shape[0])
    try:
        return len(column)
    except TypeError:
        raise SplitError(f"{name} has no length: it is a {type(column).__name__}, give a list or an array") from None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Features:
    """Amounts per item, equal to others by their digest, so that a splitter that holds them stays a value."""

    amounts: Floats  # shape (n, features)
    digest: str  # of the amounts, 12 hexadecimal digits of SHA-256

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
                f"{name} is missing, infinite or above {LARGEST:g} in row {row} (from 0): it cannot be matched"
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
