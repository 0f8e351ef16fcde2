"""Texts that a spreadsheet would run: the apostrophe that stands before them in CSV, off again when it is read."""

from __future__ import annotations

import pyarrow as pa

from holdsup.rendering.spreadsheet import FORMULA

__all__ = ["rearm_texts"]


def rearm_texts(levels: pa.StringArray) -> pa.StringArray:
    """Return the different texts of a column as they were before `disarm_text`.

    A column in which a text begins like a formula was not written so, and is left as it is: no two texts become one.
    """
    texts = levels.to_pylist()
    marked = [text is not None and FORMULA.match(text) is not None for text in texts]
    if not any(marked) or any(mark and not text.startswith("'") for mark, text in zip(marked, texts, strict=True)):
        return levels
    return pa.array([text[1:] if mark else text for mark, text in zip(marked, texts, strict=True)], pa.string())
