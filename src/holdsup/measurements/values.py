"""A measured value as people write it: 0.91, .91, 91 %, 0,91."""

from __future__ import annotations

import math
import re

from holdsup.columns.layout import THOUSANDS
from holdsup.errors import quote_text

__all__ = ["parse_unit", "parse_value"]

NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
COMMA_NUMBER = re.compile(r"[-+]?[0-9]*,[0-9]+")
PERCENT = re.compile(r"\s*(%|per ?cent|pct\.?)$", flags=re.IGNORECASE)
UNITS = {
    **dict.fromkeys(("%", "percentage", "per cent", "pct", "pct."), "percent"),
    "fraction": "proportion",
}


def parse_value(text: str) -> tuple[float, str]:
    """Return the number that `text` is, and its unit: "percent" after a percent sign, otherwise empty.

    A decimal comma is read where it cannot be anything else: 0,91 and 91,5, but not 1,234.

    Raises
    ------
    ValueError : it is no number; the message says why, to follow the words "the value"

    >>> parse_value("91 %"), parse_value(".91"), parse_value("0,91")
    ((91.0, 'percent'), (0.91, ''), (0.91, ''))
    """
    bare = PERCENT.sub("", text.strip()).replace("\N{MINUS SIGN}", "-")
    unit = "percent" if PERCENT.search(text.strip()) else ""
    if COMMA_NUMBER.fullmatch(bare):
        if THOUSANDS.fullmatch(bare):
            raise ValueError(
                f"{quote_text(text)} may be {bare.replace(',', '.')} or {bare.replace(',', '')}: write one of these"
            )
        bare = bare.replace(",", ".")
    if not NUMBER.fullmatch(bare):
        raise ValueError(
            f"{quote_text(text)} is not a finite number: write the number that was measured, and nothing else"
        )
    number = float(bare)
    if not math.isfinite(number):
        raise ValueError(f"{quote_text(text)} is beyond what a number can be: write the number that was measured")
    return number, unit


def parse_unit(text: str) -> str:
    """Return the unit that a cell names: "percent" and "proportion" by these names, any other word as it is."""
    word = text.strip()
    return UNITS.get(word.lower(), word.lower() if word.lower() in UNITS.values() else word)
