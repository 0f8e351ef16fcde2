"""A formula as tokens, each with its place, so that errors can point at the character."""

from __future__ import annotations

from dataclasses import dataclass

from holdsup.errors import FormulaError

__all__ = ["LONGEST", "Token", "split_tokens"]

LONGEST = 10_000  # characters; a formula is written by a person
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
        raise FormulaError(f"the formula has {len(formula):,} characters; at most {LONGEST:,} are read")
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
            raise FormulaError.at(formula, place, "this back-quote is never closed")
        if end == place + 1:
            raise FormulaError.at(formula, place, "a name between back-quotes cannot be empty")
        return Token("name", formula[place + 1 : end], place)
    for symbol in SYMBOLS:
        if formula.startswith(symbol, place):
            return Token(symbol, symbol, place)
    if char.isdigit() or (char == "." and formula[place + 1 : place + 2].isdigit()):
        return Token("number", _run(formula, place, lambda c: c.isdigit() or c == "."), place)
    if char.isalpha() or char in "_.":
        return Token("name", _run(formula, place, lambda c: c.isalnum() or c in "_."), place)
    raise FormulaError.at(formula, place, f"{char!r} has no meaning here; a name with such a character goes in `...`")


def _run(formula: str, place: int, belongs) -> str:  # type: ignore[no-untyped-def]  # a predicate on characters
    end = place
    while end < len(formula) and belongs(formula[end]):
        end += 1
    return formula[place:end]
