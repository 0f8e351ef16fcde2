"""Texts that a spreadsheet would run: an apostrophe before them when CSV is written, and off again when it is read."""

from __future__ import annotations

import re

import pyarrow as pa

__all__ = ["disarm_text", "rearm_texts"]

FORMULA = re.compile(r"'*[=+\-@\t\r]")  # with these a spreadsheet begins to compute, unless an apostrophe is before


def disarm_text(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula.

    One that already begins so gets a second apostrophe, so that each can be told from the other afterwards.

    >>> disarm_text("=2"), disarm_text("'=2"), disarm_text("a=2")
    ("'=2", "''=2", 'a=2')
    """
    return f"'{text}" if FORMULA.match(text) else text


def rearm_texts(levels: pa.StringArray) -> pa.StringArray:
    """Return the different texts of a column as they were before `disarm_text`.

    A column in which a text begins like a formula was not written so, and is left as it is: no two texts become one.
    """
    texts = levels.to_pylist()
    marked = [text is not None and FORMULA.match(text) is not None for text in texts]
    if not any(marked) or any(mark and not text.startswith("'") for mark, text in zip(marked, texts, strict=True)):
        return levels
    return pa.array([text[1:] if mark else text for mark, text in zip(marked, texts, strict=True)], pa.string())
