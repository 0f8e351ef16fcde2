"""The grammar of formulas. A formula is data: nothing in it is ever evaluated as Python.

    formula  =  factor "~" sum
    sum      =  ["-"] product { ("+" | "-") product }
    product  =  inter { ("*" | "/") inter }
    inter    =  power { ":" power }
    power    =  atom [ "^" number ]
    atom     =  "0" | "1" | factor | "(" sum ")" | "(" sum ("|" | "||") group ")"
    group    =  sum of names with ":" and "/"
    factor   =  name | function "(" name [ "," number ] ")"

Binding, from loose to tight: ``+ -``, ``*`` and ``/``, ``:``, ``^``; as in R.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from holdsup.design.terms import INTERCEPT, Factor, Term, Terms, cross_terms, nest_terms, sort_terms
from holdsup.design.tokens import Token, split_tokens
from holdsup.errors import FormulaError

__all__ = ["FUNCTIONS", "Formula", "RandomTerm", "parse_formula"]

# Each with whether it takes a number: the only functions there are.
FUNCTIONS = {
    "log": False, "log2": False, "log10": False, "log1p": False, "exp": False, "sqrt": False, "abs": False,
    "center": False, "scale": False, "factor": False, "poly": True,
}  # fmt: skip
LARGEST_POWER = 6
MOST_TERMS = 500


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """``(terms | group)``: effects that vary between the levels of `group`.

    Attributes
    ----------
    terms : what varies, the intercept () among them unless it was taken out
    group : the variables whose combinations are the levels
    correlated : false for ``||``, where every column has a variance of its own and no correlations
    """

    terms: tuple[Term, ...]
    group: tuple[str, ...]
    correlated: bool


@dataclass(frozen=True, slots=True)
class Formula:
    """A parsed formula.

    Attributes
    ----------
    text : as it was written
    response : the left side
    fixed : the fixed terms, by degree
    random : the random terms, in the order in which they were written
    """

    text: str
    response: Factor
    fixed: tuple[Term, ...]
    random: tuple[RandomTerm, ...]

    def variables(self) -> tuple[str, ...]:
        """Return every column that the formula mentions, the response first."""
        named = [self.response.variable]
        named.extend(f.variable for term in self.fixed for f in term)
        for random in self.random:
            named.extend(f.variable for term in random.terms for f in term)
            named.extend(random.group)
        return tuple(dict.fromkeys(named))


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

    def formula(self) -> Formula:
        response = self.factor()
        self.expect("~", "after the response there must be a '~'")
        part = self.sum()
        self.expect("end", "the formula should end here")
        fixed = part.terms
        if INTERCEPT not in fixed and frozenset() not in fixed.removed:
            fixed = Terms((INTERCEPT,)).plus(fixed)
        return Formula(self.text, response, sort_terms(fixed), part.random)

    def sum(self) -> _Part:
        self.depth += 1
        if self.depth > 50:
            self.fail("the parentheses are nested too deeply")
        part = _Part()
        minus = self.take("-")
        while True:
            piece = self.product()
            if minus:
                if piece.random:
                    self.fail("a random term cannot be subtracted", back=1)
                part = _Part(part.terms.minus(piece.terms), part.random)
            else:
                part = _Part(part.terms.plus(piece.terms), (*part.random, *piece.random))
            if len(part.terms.kept) > MOST_TERMS:
                self.fail(f"this stands for more than {MOST_TERMS} terms")
            if self.peek().kind not in ("+", "-"):
                self.depth -= 1
                return part
            minus = self.advance().kind == "-"

    def product(self) -> _Part:
        left = self.inter()
        while self.peek().kind in ("*", "/"):
            operator = self.advance()
            right = self.inter()
            a, b = self.plain(left, operator), self.plain(right, operator)
            self.limit(a, b)
            left = _Part(nest_terms(a, b) if operator.kind == "/" else a.plus(b).plus(cross_terms(a, b)))
        return left

    def inter(self) -> _Part:
        left = self.power()
        while self.peek().kind == ":":
            operator = self.advance()
            right = self.power()
            a, b = self.plain(left, operator), self.plain(right, operator)
            self.limit(a, b)
            left = _Part(cross_terms(a, b))
        return left

    def power(self) -> _Part:
        base = self.atom()
        if not self.take("^"):
            return base
        token = self.advance()
        if token.kind != "number" or not token.text.isdigit() or not 1 <= int(token.text) <= LARGEST_POWER:
            self.fail(f"after '^' comes a whole number from 1 to {LARGEST_POWER}", back=1)
        terms = plain = self.plain(base, token)
        for _ in range(int(token.text) - 1):
            self.limit(terms, plain)
            terms = terms.plus(cross_terms(terms, plain))
        return _Part(terms)

    def atom(self) -> _Part:
        token = self.peek()
        if token.kind == "number":
            self.advance()
            if token.text == "1":
                return _Part(Terms((INTERCEPT,)))
            if token.text == "0":
                return _Part(Terms((), frozenset({frozenset()})))
            self.fail("the only numbers that can stand here are 0 and 1", back=1)
        if token.kind == "(":
            return self.parenthesis()
        return _Part(Terms(((self.factor(),),)))

    def parenthesis(self) -> _Part:
        self.expect("(", "a '(' should stand here")
        inside = self.sum()
        bar = self.peek()
        if bar.kind not in ("|", "||"):
            self.expect(")", "this parenthesis is not closed: a ')' should stand here")
            return inside
        self.advance()
        if inside.random:
            self.fail("a random term cannot hold another one", back=1)
        groups = self.group()
        self.expect(")", "after the group there must be a ')'")
        terms = inside.terms
        if INTERCEPT not in terms and frozenset() not in terms.removed:
            terms = Terms((INTERCEPT,)).plus(terms)
        if not terms.kept:
            self.fail("nothing is left to vary in this random term", back=1)
        kept = sort_terms(terms)
        return _Part(random=tuple(RandomTerm(kept, group, bar.kind == "|") for group in groups))

    def group(self) -> list[tuple[str, ...]]:
        """Return the groups that ``a``, ``a:b`` or ``a/b`` stand for: the last is ``a`` and ``a:b``."""
        start = self.peek()
        part = self.product()
        terms = self.plain(part, start)
        if INTERCEPT in terms or not terms.kept:
            self.fail("a group is made of columns, not of 0 or 1", at=start)
        for term in terms.kept:
            for factor in term:
                if factor.function not in ("", "factor"):
                    self.fail("a group is made of columns, not of functions of them", at=start)
        return [tuple(factor.variable for factor in term) for term in sort_terms(terms)]

    def factor(self) -> Factor:
        token = self.advance()
        if token.kind != "name":
            what = "the formula ends" if token.kind == "end" else f"there is {token.text!r}"
            self.fail(f"a column should stand here, but {what}", back=1)
        quoted = self.text[token.place] == "`"
        if self.peek().kind != "(" or quoted:
            return Factor(token.text)
        if token.text not in FUNCTIONS:
            known = ", ".join(FUNCTIONS)
            self.fail(f"{token.text!r} is no function of formulas; there are {known}", back=1)
        self.expect("(", "a '(' should stand here")
        variable = self.expect("name", "the name of a column should stand here").text
        argument = None
        if FUNCTIONS[token.text]:
            self.expect(",", f"{token.text} takes a column and a number: {token.text}({variable}, 2)")
            number = self.expect("number", "a whole number should stand here")
            if not number.text.isdigit() or not 1 <= int(number.text) <= LARGEST_POWER:
                self.fail(f"this must be a whole number from 1 to {LARGEST_POWER}", back=1)
            argument = int(number.text)
        self.expect(")", f"{token.text}({variable} is not closed: a ')' should stand here")
        return Factor(variable, token.text, argument)

    def plain(self, part: _Part, at: Token) -> Terms:
        if part.random:
            self.fail("a random term can be added, and nothing else", at=at)
        return part.terms

    def limit(self, left: Terms, right: Terms) -> None:
        if len(left.kept) * len(right.kept) > MOST_TERMS:
            self.fail(f"this stands for more than {MOST_TERMS} terms")

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

    def fail(self, message: str, *, back: int = 0, at: Token | None = None) -> NoReturn:
        token = at or (self.tokens[max(0, self.next - back)] if back and self.peek().kind != "end" else self.peek())
        raise FormulaError.at(self.text, token.place, message)
