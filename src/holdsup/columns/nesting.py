"""How deep JSON text nests, found before Arrow's parser (recursive, with a fixed stack) sees it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns.limits import DEEPEST, LONGEST_LINE

__all__ = ["is_shallow"]

OPENING, CLOSING, NEWLINE, RETURN = (ord(mark) for mark in "{}\n\r")


def is_shallow(data: pa.Buffer) -> bool:
    """Return whether text is lines of JSON objects that nest too little to overrun a parser's stack.

    Each line must begin with "{" and end with "}": no value can then go on in the next line, so that no
    line is nested deeper than it has opening brackets, those in its text included.
    """
    text = np.frombuffer(data, np.uint8)
    start = 0
    while start < len(text):
        piece = text[start : start + LONGEST_LINE]
        breaks = np.flatnonzero(piece == NEWLINE)
        if start + len(piece) < len(text):
            if not len(breaks):
                return True  # a line beyond the limit: the reader refuses it before it parses it
            piece = piece[: breaks[-1] + 1]
        if not _has_shallow_lines(piece, breaks):
            return False
        start += len(piece)
    return True


def _has_shallow_lines(piece: NDArray[np.uint8], breaks: NDArray[np.intp]) -> bool:
    ends = breaks if len(breaks) and breaks[-1] == len(piece) - 1 else np.append(breaks, len(piece))
    starts = np.append(0, ends[:-1] + 1)
    ends = ends - (piece[ends - 1] == RETURN)  # at the very first byte this looks at the last one: no harm
    filled = ends > starts
    starts, ends = starts[filled], ends[filled]
    if not len(starts):
        return True
    if (piece[starts] != OPENING).any() or (piece[ends - 1] != CLOSING).any():
        return False
    opened = (piece | 0x20) == OPENING  # "[" becomes "{"
    return bool(np.add.reduceat(opened, starts, dtype=np.int32).max() <= DEEPEST)
