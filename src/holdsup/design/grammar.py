"""The grammar of formulas. A formula is data: nothing in it is ever evaluated as Python.

    formula  =  factor "~" sum
    sum      =  ["-"] product { ("+" | "-") product }
    product  =  inter { ("*" | "/") inter }
    inter    =  power { ":" power }
    power    =  atom [ "^" number ]
    atom     =  "0" | "1" | factor | "(" sum ")" | "(" sum ("|" | "||") group ")"
    group    =  product, of names
    factor   =  name | function "(" name [ "," number ] ")"

Binding, from loose to tight: ``+ -``, ``*`` and ``/``, ``:``, ``^``; as in R. `formulas.write_formula` is the way back.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from holdsup.design.formulas import INTERCEPT, Factor, Formula, RandomTerm, Terms, cross_terms, nest_terms, sort_terms
from holdsup.errors import FormulaError

LONGEST = 10_000  # characters; a formula is written by a person
DIGITS = "0123456789"  # the others that Unicode has are no numbers here
SYMBOLS = ("||", "~", "+", "-", "*", ":", "/", "^", "(", ")", "|", ",")
# Each with whether it takes a number: the only functions there are.
FUNCTIONS = {
    "log": False, "log2": False, "log10": False, "log1p": False, "exp": False, "sqrt": False, "abs": False,
    "center": False, "scale": False, "factor": False, "poly": True,
}  # fmt: skip
POWERS = ("1", "2", "3", "4", "5", "6")  # of ^ and poly
MOST_TERMS = 500
MOST_FACTORS = 30  # in one term


def parse_formula(text: str) -> Formula:
    """Return the formula that `text` writes, or raise a `FormulaError` that points at the character."""
    return _Parser(text).formula()


@dataclass(frozen=True, slots=True)
class _Part:
    """What a piece of the right side adds: fixed terms, random terms."""

    terms: Terms = field(default_factory=Terms)
    random: tuple[RandomTerm, ...] = ()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = split_tokens(text)
        self.next = 0
        self.depth = 0
        self.mentioned: list[Factor] = []  # in the fixed part so far, or in the random term at hand

    def formula(self) -> Formula:
        response = self.response()
        self.expect("~", "expected '~' after the response")
        part = self.sum()
        if self.peek().kind in ("|", "||"):
            self.fail("put a random term in parentheses: (1|g)")
        self.expect("end", "expected an operator (+, -, *, :, /) or the end")
        fixed = sort_terms(with_intercept(part.terms), self.mentioned)
        used = (*fixed, *(term for random in part.random for term in random.terms))
        if any(response in term for term in used):
            self.fail(f"{response} is the response and can't be a predictor as well", at=self.tokens[0])
        return Formula(one_line(self.text), response, fixed, part.random)

    def response(self) -> Factor:
        token = self.peek()
        response = self.factor()
        self.mentioned.clear()
        if response.function in ("factor", "poly"):
            self.fail(f"{response} can't be the response: a response is one number per row", at=token)
        return response

    def sum(self) -> _Part:
        self.depth += 1
        if self.depth > 50:
            self.fail("the parentheses are nested too deeply")
        part = _Part()
        minus = self.take("-")
        while True:
            start = self.peek()
            piece = self.product()
            if minus:
                if piece.random:
                    self.fail("a random term can't be subtracted", at=start)
                part = _Part(part.terms.minus(piece.terms), part.random)
            else:
                part = _Part(part.terms.plus(piece.terms), (*part.random, *piece.random))
            if len(part.terms.kept) > MOST_TERMS:
                self.fail(f"this expands to more than {MOST_TERMS} terms", at=start)
            if self.peek().kind not in ("+", "-"):
                self.depth -= 1
                return part
            minus = self.advance().kind == "-"

    def product(self) -> _Part:
        left = self.inter()
        while self.peek().kind in ("*", "/"):
            operator = self.advance()
            if operator.kind == self.peek().kind == "*":
                self.fail("write ^ for a power: (a + b)^2", at=operator)
            right = self.inter()
            a, b = self.plain(left, operator), self.plain(right, operator)
            self.limit(a, b, operator)
            terms = nest_terms(a, b) if operator.kind == "/" else a.plus(b).plus(cross_terms(a, b))
            left = _Part(self.narrow(terms, operator))
        return left

    def inter(self) -> _Part:
        left = self.power()
        while self.peek().kind == ":":
            operator = self.advance()
            right = self.power()
            a, b = self.plain(left, operator), self.plain(right, operator)
            self.limit(a, b, operator)
            left = _Part(self.narrow(cross_terms(a, b), operator))
        return left

    def power(self) -> _Part:
        base = self.atom()
        if not self.take("^"):
            return base
        token = self.advance()
        if token.text not in POWERS:
            self.fail(f"expected a whole number after '^', from 1 to {len(POWERS)}", at=token)
        terms = plain = self.plain(base, token)
        for _ in range(POWERS.index(token.text)):
            self.limit(terms, plain, token)
            terms = terms.plus(cross_terms(terms, plain))
        return _Part(terms)

    def atom(self) -> _Part:
        token = self.peek()
        if token.kind == "number":
            self.advance()
            if token.text == "1":
                return _Part(Terms((INTERCEPT,)))
            if token.text == "0":
                return _Part(Terms(no_intercept=True))
            self.fail("the only numbers allowed as terms are 0 and 1", at=token)
        if token.kind == "(":
            return self.parenthesis()
        return _Part(Terms(((self.factor(),),)))

    def parenthesis(self) -> _Part:
        outside, self.mentioned = self.mentioned, []
        self.expect("(", "expected '('")
        inside = self.sum()
        bar = self.peek()
        if bar.kind not in ("|", "||"):
            self.expect(")", "expected ')': a parenthesis is not closed")
            self.mentioned = outside + self.mentioned
            return inside
        self.advance()
        if inside.random:
            self.fail("a random term can't contain another random term", at=bar)
        terms = sort_terms(with_intercept(inside.terms), self.mentioned)
        if not terms:
            self.fail("this random term is empty", at=bar)
        groups = self.group()
        self.expect(")", "expected ')' after the group")
        self.mentioned = outside
        return _Part(random=tuple(RandomTerm(terms, group, bar.kind == "|") for group in groups))

    def group(self) -> list[tuple[str, ...]]:
        """Return the groups that ``a``, ``a:b`` or ``a/b`` stand for: the last is ``a`` and ``a:b``."""
        start = self.peek()
        self.mentioned = []
        terms = self.plain(self.product(), start)
        if INTERCEPT in terms or terms.no_intercept or not terms.kept:
            self.fail("a group must be a column, not 0 or 1", at=start)
        for term in terms.kept:
            for factor in term:
                if factor.function not in ("", "factor"):
                    self.fail("a group must be a column, not a function of one", at=start)
        return [tuple(factor.variable for factor in term) for term in sort_terms(terms, self.mentioned)]

    def factor(self) -> Factor:
        token = self.advance()
        if token.kind != "name":
            what = "the formula ends" if token.kind == "end" else f"there is {token.text!r}"
            self.fail(f"expected a column, but {what}", at=token)
        quoted = self.text[token.place] == "`"
        called = self.peek().kind == "(" and not quoted
        factor = self.function(token) if called else Factor(token.text)
        self.mentioned.append(factor)
        return factor

    def function(self, token: Token) -> Factor:
        name = token.text
        if name not in FUNCTIONS:
            self.fail(f"{name!r} is not a formula function; the functions are {', '.join(FUNCTIONS)}", at=token)
        self.expect("(", "expected '('")
        inner = self.expect("name", "expected a column name")
        if self.peek().kind == "(":
            self.fail(
                f"functions can't be nested: compute {self.call(inner):.60} as a column of the table first", at=inner
            )
        variable = inner.text
        argument = None
        if FUNCTIONS[name]:
            self.expect(",", f"{name} takes a column and a number: {name}({variable}, 2)")
            number = self.expect("number", "expected a whole number")
            if number.text not in POWERS:
                self.fail(f"expected a whole number from 1 to {len(POWERS)}", at=number)
            argument = int(number.text)
        self.expect(")", f"expected ')' to close {name}({variable}")
        return Factor(variable, name, argument)

    def call(self, name: Token) -> str:
        """Return how a function that begins at `name` is written, up to the first ')'."""
        return self.text[name.place : (self.text + ")").index(")", name.place)] + ")"

    def plain(self, part: _Part, at: Token) -> Terms:
        if part.random:
            self.fail("a random term can only be added with +", at=at)
        return part.terms

    def limit(self, left: Terms, right: Terms, at: Token) -> None:
        if not left.kept or not right.kept:
            self.fail("one side of this operator is empty", at=at)
        if len(left.kept) * len(right.kept) > MOST_TERMS:
            self.fail(f"this expands to more than {MOST_TERMS} terms", at=at)

    def narrow(self, terms: Terms, at: Token) -> Terms:
        if any(len(term) > MOST_FACTORS for term in terms.kept):
            self.fail(f"this multiplies more than {MOST_FACTORS} columns", at=at)
        return terms

    def peek(self) -> Token:
        return self.tokens[self.next]

    def advance(self) -> Token:
        token = self.tokens[self.next]
        self.next = min(self.next + 1, len(self.tokens) - 1)
        return token

    def take(self, kind: str) -> bool:
        if self.peek().kind != kind:
            return False
        self.advance()
        return True

    def expect(self, kind: str, message: str) -> Token:
        if self.peek().kind != kind:
            self.fail(message)
        return self.advance()

    def fail(self, message: str, *, at: Token | None = None) -> NoReturn:
        raise point_at(self.text, (at or self.peek()).place, message)


def with_intercept(terms: Terms) -> Terms:
    """Return terms with the intercept, which is meant unless it was taken out."""
    return terms if terms.no_intercept or INTERCEPT in terms else Terms((INTERCEPT, *terms.kept))


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a formula: its kind ("name", "number", "end" or the symbol itself), text and place, for errors."""

    kind: str
    text: str
    place: int


def split_tokens(formula: str) -> list[Token]:
    """Return the tokens of a formula, closed by one of kind "end"."""
    if len(formula) > LONGEST:
        raise point_at(formula, LONGEST, f"the formula has {len(formula):,} characters; the limit is {LONGEST:,}")
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
            raise point_at(formula, place, "a name in back-quotes can't be empty")
        return Token("name", formula[place + 1 : end], place)
    for symbol in SYMBOLS:
        if formula.startswith(symbol, place):
            return Token(symbol, symbol, place)
    if char in DIGITS or (char == "." and formula[place + 1 : place + 2] in tuple(DIGITS)):
        return Token("number", _run(formula, place, lambda c: c in DIGITS or c == "."), place)
    if char.isidentifier() or char == ".":
        return Token("name", _run(formula, place, _in_name), place)
    raise point_at(formula, place, f"{char!r} is not allowed here; put a name that contains it in back-quotes: `...`")


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
