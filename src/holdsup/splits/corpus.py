"""What a splitter must know of a corpus: how many items, their classes, their groups, and what to match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.errors import SplitError

__all__ = ["Codes", "Corpus", "Floats", "Labelled", "count_items", "encode_column"]

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """A column of labels, as codes into the levels in the order in which they first occur.

    Attributes
    ----------
    codes : level of each item, shape (n,)
    levels : the labels themselves
    """

    codes: Codes
    levels: Sequence[Any]

    def sizes(self) -> Codes:
        """Return how many items each level has."""
        return np.bincount(self.codes, minlength=len(self.levels))

    def take(self, items: NDArray[np.bool_]) -> Labelled:
        """Return the labels of some of the items, with the levels that these have."""
        kept, codes = np.unique(self.codes[items], return_inverse=True)
        return Labelled(codes, [self.levels[level] for level in kept.tolist()])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corpus:
    """What is known of the items when they are dealt into parts.

    Attributes
    ----------
    n : how many items
    classes : the class of each item, if its share is to be the same in all parts
    groups : what each item belongs to (a document), if that must stay together
    features : amounts to be the same in all parts, shape (n, features)
    """

    n: int
    classes: Labelled | None = None
    groups: Labelled | None = None
    features: Floats | None = None

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
            raise SplitError(f"{first} has {n:,} items, but {name} has {length:,}: give one value for each item")
    return n


def encode_column(column: Any, name: str) -> Labelled:
    """Return a column of labels (a list, an array, a series) as codes; an item without a label is refused."""
    try:
        values = column if isinstance(column, pa.Array) else pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        raise SplitError(f"{name} cannot be read as labels: give one string, number or truth value per item") from None
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):  # it may hold levels that no item has
        values = values.dictionary_decode()
    if pa.types.is_nested(values.type):
        raise SplitError(f"{name} holds several values per item: give one string, number or truth value per item")
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
