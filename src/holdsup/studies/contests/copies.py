"""Items that are the same: on both sides of a split they are tested by what was trained on them."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from holdsup.rendering.numbers import format_count
from holdsup.splits import Split
from holdsup.studies.contests.identities import as_plain

__all__ = ["warn_of_copies"]


def warn_of_copies(inputs: Any, splits: Sequence[Split]) -> str | None:
    """Return a warning that counts the items tested in some split after training on equal inputs; None without any."""
    numbers: dict[Hashable, int] = {}
    same = np.array([numbers.setdefault(key, len(numbers)) for key in _keys(inputs)])
    if len(numbers) == len(same):
        return None
    torn = np.zeros(len(same), dtype=bool)
    for split in splits:
        torn[split.test] |= np.isin(same[split.test], same[split.train])
    if not torn.any():
        return None
    return (
        f"{format_count(int(torn.sum()))} of {format_count(len(same))} items have the same inputs as others on the"
        " other side of a split, so that systems are tested on what they have seen. If these are copies, leave them"
        " out, or keep them together: give groups."
    )


def _keys(inputs: Any) -> Iterator[Hashable]:
    """Yield what is equal for equal inputs."""
    if isinstance(inputs, np.ndarray) and inputs.dtype != object:
        yield from (row.tobytes() for row in np.ascontiguousarray(inputs))
    elif hasattr(inputs, "tocsr"):
        rows = inputs.tocsr().sorted_indices()
        for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
            yield rows.indices[start:end].tobytes(), rows.data[start:end].tobytes()
    elif hasattr(inputs, "columns"):  # a frame of whatever make
        columns = pa.table(inputs).columns[: len(inputs.columns)]  # what follows is an index
        yield from map(_key, zip(*(column.to_pylist() for column in columns), strict=True))
    else:
        yield from map(_key, _as_list(inputs))


def _as_list(inputs: Any) -> Iterable[Any]:
    return inputs if isinstance(inputs, list) else list(inputs)


def _key(value: Any) -> Hashable:
    return value if isinstance(value, str | int | float) else json.dumps(value, default=as_plain)
