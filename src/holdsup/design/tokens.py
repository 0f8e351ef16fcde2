"""A formula as tokens, each with its place, so that errors can point at the character."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from holdsup.errors import FormulaError

__all__ = ["LONGEST", "Token", "one_line", "point_at", "split_tokens"]

LONGEST = 10_000  # characters; a formula is written by a person
DIGITS = "0123456789"  # the others that Unicode has are no numbers here
SYMBOLS = ("||", "~", "+", "-", "*", ":", "/", "^", "(", ")", "|", ",")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a formula: its kind ("name", "number", "end" or the symbol itself), text and place."""

    kind: str
    text: str
    place: int


def split_tokens(formula: str) -> list[Token]:
    """Return the tokens of a formula, closed by one of kind "end"."""
    if len(formula) > LONGEST:
        raise point_at(formula, LONGEST, f"the formula has {len(formula):,} characters and is not read further")
    tokens: list[Token] = []
    place = 0
    while place < len(formula):
        char = formula[place]
        if char.isspace():
            place += 1
            continue
        token = _next(formula, place)
        tokens.append(token)
        place += len(token.text) + (2 if char == "`" else 0)
    return [*tokens, Token("end", "", len(formula))]


def _next(formula: str, place: int) -> Token:
    char = formula[place]
    if char == "`":
        end = formula.find("`", place + 1)
        if end < 0:
            raise point_at(formula, place, "this back-quote is never closed")
        if end == place + 1:
            raise point_at(formula, place, "a name between back-quotes cannot be empty")
        return Token("name", formula[place + 1 : end], place)
    for symbol in SYMBOLS:
        if formula.startswith(symbol, place):
            return Token(symbol, symbol, place)
    if char in DIGITS or (char == "." and formula[place + 1 : place + 2] in tuple(DIGITS)):
        return Token("number", _run(formula, place, lambda c: c in DIGITS or c == "."), place)
    if char.isidentifier() or char == ".":
        return Token("name", _run(formula, place, _in_name), place)
    raise point_at(formula, place, f"{char!r} has no meaning here; a name with such a character goes in `...`")


def _in_name(char: str) -> bool:
    return char == "." or char.isalnum() or f"_{char}".isidentifier()


def _run(formula: str, place: int, belongs: Callable[[str], bool]) -> str:
    end = place
    while end < len(formula) and belongs(formula[end]):
        end += 1
    return formula[place:end]


def point_at(formula: str, place: int, message: str) -> FormulaError:
    """Return the error that points at a character; line breaks and control characters are shown as spaces."""
    return FormulaError.at(_printable(formula), place, _printable(message))


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


def one_line(formula: str) -> str:
    """Return a formula with the white space between its tokens made single spaces; names stay as they are."""
    pieces = formula.split("`")
    pieces[::2] = [re.sub(r"\s+", " ", piece) for piece in pieces[::2]]
    return "`".join(pieces).strip()
