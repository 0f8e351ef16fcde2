"""A formula is data: nothing in it is evaluated, and every refusal points at a character."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import example, given, settings, strategies as st

from holdsup.design import Formula, parse_formula
from holdsup.errors import FormulaError

FORBIDDEN = ("exec", "compile", "import", "open", "os.", "subprocess", "socket", "ctypes", "code.", "pickle", "shutil")


class Guard:
    """An audit hook (which cannot be taken out again) that is awake only while a formula is parsed."""

    awake = False
    seen: list[str] = []  # noqa: RUF012  # one hook, one list

    @classmethod
    def hook(cls, event: str, _: object) -> None:
        if cls.awake and event.startswith(FORBIDDEN):
            cls.seen.append(event)


sys.addaudithook(Guard.hook)


@contextmanager
def nothing_runs() -> Iterator[None]:
    Guard.seen, Guard.awake = [], True
    try:
        yield
    finally:
        Guard.awake = False
    assert Guard.seen == []


def parse_guarded(text: str) -> Formula | None:
    """Parse under guard; a refusal must be one line that names a character of the formula."""
    formula: Formula | None = None
    message = ""
    with nothing_runs():
        try:
            formula = parse_formula(text)
        except FormulaError as error:
            message = str(error)
    if formula is None:
        assert len(message.splitlines()) == 1, message
        assert message.isprintable(), message
        place = re.search(r"at character (\d+) of the formula: ", message)
        assert place is not None, message
        assert 1 <= int(place[1]) <= len(text) + 1
    return formula


def test_the_guard_would_notice() -> None:
    with pytest.raises(AssertionError), nothing_runs():
        eval("1")


@pytest.mark.parametrize(
    "text",
    [
        "y ~ __import__('os').system('x')",
        "__import__('os').system('x') ~ x",
        "y ~ {__import__('os')}",
        "y ~ {x}",
        "y ~ I(x + 1)",
        "y ~ I(x)",
        "y ~ x.__class__()",
        "y ~ x[0]",
        "y ~ x['a']",
        "y ~ lambda: 0",
        "y ~ (lambda x: x)(1)",
        "y ~ eval(x)",
        "y ~ exec(x)",
        "y ~ log(log(x))",
        "y ~ log(x, 2)",
        "y ~ log(x + 1)",
        "y ~ log('x')",
        "y ~ 'x'",
        'y ~ "x"',
        "y ~ x; z",
        "y ~ x # z",
        "y ~ x == z",
        "y ~ x := z",
        "y ~ x %in% z",
        "y ~ $x",
        "y ~ @x",
        "y ~ f'{x}'",
        "y ~ x\\n",
        "y ~ np.log(x)",
        "y ~ poly(x)",
        "y ~ poly(x, 0)",
        "y ~ poly(x, 7)",
        "y ~ poly(x, 2.0)",
        "y ~ poly(x, ²)",
        "y ~ x^²",
        "y ~ x^" + "9" * 5000,
        "y ~ poly(x, " + "9" * 5000 + ")",
        "y ~ x^-1",
        "y ~ x^y",
        "y ~ 2",
        "y ~ 1.5",
        "y ~ ١",
        "y ~ `x",
        "y ~ ``",
        "y ~ `log`(x)",
        "y",
        "~ x",
        "y ~",
        "",
        " ",
        "y ~ x ~ z",
        "y ~ (x",
        "y ~ x)",
        "y ~ x +",
        "y ~ x y",
        "y ~ x | g",
        "y ~ (1 | g",
        "y ~ (1 | )",
        "y ~ (| g)",
        "y ~ (1 | 1)",
        "y ~ (1 | 0 + g)",
        "y ~ (1 | (0 + g))",
        "y ~ (1 | log(g))",
        "y ~ (1 | g + h)",
        "y ~ (0 | g)",
        "y ~ (x - x - 1 | g)",
        "y ~ (1 | g) * x",
        "y ~ x:(1 | g)",
        "y ~ (1 | g)^2",
        "y ~ x - (1 | g)",
        "y ~ ((1 | g) | h)",
        "y ~ (1 ||| g)",
        "y ~ y",
        "y ~ x + x:y",
        "y ~ (y | g)",
        "log(y) ~ log(y)",
        "poly(y, 2) ~ x",
        "factor(y) ~ x",
        "1 ~ x",
        "y ~ " + "(" * 60 + "x" + ")" * 60,
        "y ~ " + "(" * 5000,
        "y ~ (a + b + c + d + e + f + g + h + i + j + k + l)^6",
        "y ~ " + " + ".join(f"x{i}" for i in range(600)),
        "y ~ " + ":".join(f"x{i}" for i in range(600)),
        "y ~ " + "/".join(f"x{i}" for i in range(600)),
        "y ~ " + "*".join(f"x{i}" for i in range(600)),
        "y ~ (1 | " + "/".join(f"x{i}" for i in range(600)) + ")",
        "y ~ " + "x" * 10_000,
        "y ~ x\n+ %",
        "y ~ `a\nb\x1b[31m`(",
        "y ~ poly(`a\nb`)",
    ],
)
def test_refused_in_one_line_without_running_anything(text: str) -> None:
    assert parse_guarded(text) is None


@pytest.mark.parametrize(
    ("text", "character"),
    [("y ~ 2", 5), ("y ~ x + 2", 9), ("y ~ x + eval(z)", 9), ("y ~ x^9", 7), ("y ~ x +", 8), ("y ~ a - (1 | g)", 9), ("y ~ `x", 5),
     ("y ~ poly(x, 9)", 13), ("y ~ x ? z", 7), ("y ~ (0 | g)", 8)],
)  # fmt: skip
def test_the_character_named_is_the_one_at_fault(text: str, character: int) -> None:
    with pytest.raises(FormulaError, match=rf"at character {character} of the formula"):
        parse_formula(text)


@pytest.mark.parametrize(
    ("text", "character", "advice"),
    [
        ("y ~ scale(log(w))", 11, "functions can't be nested: compute log(w) as a column of the table first"),
        ("y ~ poly(log(w), 2)", 10, "compute log(w) as"),
        ("y ~ scale(log(w", 11, "compute log(w) as"),
        ("log(exp(y)) ~ x", 5, "compute exp(y) as"),
        ("y ~ x + 1|g", 10, "put a random term in parentheses: (1|g)"),
        ("y ~ x || g", 7, "put a random term in parentheses: (1|g)"),
        ("y ~ (a+b)**2", 10, "write ^ for a power"),
        ("y ~ 1 + (x**2 | g)", 11, "write ^ for a power"),
    ],
)
def test_what_other_languages_allow_is_refused_with_what_to_write(text: str, character: int, advice: str) -> None:
    with pytest.raises(FormulaError, match=rf"{re.escape(advice)}.* at character {character} of the formula"):
        parse_formula(text)


@pytest.mark.parametrize(
    "name",
    [
        "my x",
        "a:b",
        "x + z",
        "__import__('os')",
        "{x}",
        "naïve",
        "名前",
        "लेख",
        "ñ_1",
        "x.y",
        "_",
        ".5a",
        "2x",
        "a\nb",
        "log",
        "0",
        "~",
        "é",
    ],
)
def test_any_column_can_be_named_between_back_quotes(name: str) -> None:
    formula = parse_guarded(f"y ~ `{name}` + log(`{name}`) + (1 | `{name}`)")
    assert formula is not None
    assert formula.variables() == ("y", name)
    assert formula.random[0].group == (name,)


@pytest.mark.parametrize("name", ["naïve", "名前", "लेख", "ñ_1", "x.y", "_", "x²", "log", "I", "e\u0301"])
def test_names_of_letters_need_no_quotes(name: str) -> None:
    assert parse_formula(f"y ~ {name}").variables() == ("y", name)


def test_a_formula_on_several_lines_is_shown_on_one() -> None:
    assert parse_formula("y ~\n   x +\t `a  b`\n").text == "y ~ x + `a  b`"


TOKENS = ["y", "x", "z", "g", "`a b`", "0", "1", "2", "+", "-", "*", ":", "/", "^", "(", ")", "|", "||", "~", ",", "log(", "poly(", "I(", "{", "}",
          "[", ".", "'", "__import__", " ", "\n", "\x00", "²", "\u2028", "\ud800"]  # fmt: skip


@settings(max_examples=2000)
@given(st.text(max_size=60))
@example("y ~ x\x85")
def test_any_text_is_parsed_or_refused(text: str) -> None:
    parse_guarded(text)
    parse_guarded(f"y ~ {text}")


@settings(max_examples=2000)
@given(st.lists(st.sampled_from(TOKENS), max_size=25))
def test_any_tokens_are_parsed_or_refused(tokens: list[str]) -> None:
    parse_guarded("y ~ " + "".join(tokens))


def test_thousands_of_damaged_formulas_are_parsed_or_refused() -> None:
    rng = random.Random(1)
    whole = [
        "y ~ a*b + poly(x, 2):z - a:b + (1 + x || g/h) + (0 + a | g:h)",
        "log(y) ~ (a + b + c)^2 + factor(w) + (1 | `my g`)",
    ]
    for _ in range(5000):
        text = list(rng.choice(whole))
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(text))
            match rng.randrange(3):
                case 0:
                    del text[place]
                case 1:
                    text.insert(place, rng.choice(TOKENS))
                case _:
                    text[place] = rng.choice(TOKENS)
        parse_guarded("".join(text))


def recombine(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(["a", "b", "x", "1", "0", "log(x)", "poly(x, 2)", "factor(w)"])
    left, right = recombine(rng, depth - 1), recombine(rng, rng.randrange(depth))
    return rng.choice([f"{left} + {right}", f"{left} - {right}", f"({left}):({right})", f"({left}) * ({right})",
                       f"({left}) / ({right})", f"({left})^2", f"({left})"])  # fmt: skip


def test_terms_are_sets_and_sums_are_idempotent() -> None:
    rng = random.Random(2)
    for _ in range(500):
        text = recombine(rng, 3)
        formula = parse_guarded(f"y ~ {text}")
        if formula is None:
            continue
        assert len({frozenset(term) for term in formula.fixed}) == len(formula.fixed)
        assert [len(term) for term in formula.fixed] == sorted(len(term) for term in formula.fixed)
        twice = parse_guarded(f"y ~ ({text}) + ({text})")
        assert twice is not None
        assert set(map(frozenset, twice.fixed)) == set(map(frozenset, formula.fixed))
