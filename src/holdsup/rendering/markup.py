"""A table as Markdown, HTML and LaTeX (booktabs); every cell escaped for where it goes."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from holdsup.rendering.table import Shown, Table, has_long_word, visible
from holdsup.rendering.text import fit_widths


@dataclass(frozen=True, slots=True)
class Size:
    """A size of letters in LaTeX: the command, how many fit a line of an article, and as how many a gap counts."""

    command: str
    line: int
    gap: int


MOST_ROWS = 45  # of a table that stands on one page in LaTeX
# Tried in this order. A table that no size makes narrow enough is scaled to the width of the text.
SIZES = (Size("", 75, 3), Size(r"\small", 83, 3), Size(r"\footnotesize\setlength{\tabcolsep}{4pt}", 93, 2))


def render_markdown(table: Table) -> str:
    """Return the table as a Markdown pipe table under its title in bold."""
    shown = table.shown()
    rule = ["---:" if table.is_numeric(i) else "---" for i in range(len(shown.columns))]
    head, *body = [[escape_markdown(cell, within="|") for cell in line] for line in (shown.columns, *shown.rows)]
    grid = "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *body))
    notes = "".join(f"\n\n{escape_markdown(note)}" for note in shown.notes)
    return f"**{escape_markdown(shown.title)}**\n\n{grid}{notes}"


def render_html(table: Table) -> str:
    """Return the table as an HTML element with a caption, headers scoped for screen readers."""
    shown = table.shown()
    numeric = [table.is_numeric(i) for i in range(len(shown.columns))]

    def cells(tag: str, texts: Sequence[str]) -> str:
        return "".join(
            f"<{tag}{_class(text, is_number)}>{html.escape(text)}</{tag[:2]}>"
            for text, is_number in zip(texts, numeric, strict=True)
        )

    head = cells('th scope="col"', shown.columns)
    body = "".join(f"<tr>{cells('td', row)}</tr>\n" for row in shown.rows)
    notes = "".join(f'<p class="note">{html.escape(note)}</p>\n' for note in shown.notes)
    return (
        f'<table class="holdsup">\n<caption>{html.escape(shown.title)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n{notes}"
    )


def _class(text: str, is_number: bool) -> str:
    """Return the class of a cell: numbers are set flush right, and words may break that are longer than any column."""
    return ' class="number"' if is_number else ' class="long"' if has_long_word(text) else ""


def render_latex(table: Table) -> str:
    """Return the table as LaTeX with booktabs rules and the title as caption, as wide as the text at most.

    One that is longer than a page goes on on the next, for which it needs the package longtable. Advice is left out.
    """
    shown = replace(table, advice=()).shown()
    size, widths = _fit_line(table, shown)
    alignments = _alignments(table, shown, size, widths)
    head, *body = [_line(cells, alignments) for cells in (shown.columns, *shown.rows)]
    caption, columns = rf"\caption{{{escape_latex(shown.title)}}}", f"{{{''.join(alignments)}}}"
    letters = [size.command] if size.command else []
    notes = [
        *([r"\par\smallskip"] if shown.notes else []),
        *(rf"\par\raggedright\footnotesize {escape_latex(note)}" for note in shown.notes),
    ]
    if len(body) > MOST_ROWS:
        begin = [
            "{",
            *letters,
            rf"\begin{{longtable}}{columns} % of the package longtable",
            rf"{caption}\tabularnewline",
        ]
        top, end = [r"\toprule", head, r"\midrule", r"\endhead"], [r"\end{longtable}", *notes, r"\par}"]
    else:
        scale = r"\resizebox{\linewidth}{!}{% of the package graphicx" if widths is None else ""
        begin = [r"\begin{table}", r"\centering", caption, *letters, *([scale] if scale else [])]
        begin.append(rf"\begin{{tabular}}{columns}")
        top = [r"\toprule", head, r"\midrule"]
        end = [r"\end{tabular}" + ("}" if scale else ""), *notes, r"\end{table}"]
    return "\n".join([*begin, *top, *body, r"\bottomrule", *end])


def _fit_line(table: Table, shown: Shown) -> tuple[Size, list[int] | None]:
    """Return the largest letters with which a table fits the line, and how wide its columns are then; None if none do.

    Text too long for the line is wrapped, as in a terminal.
    """
    numeric = [table.is_numeric(i) for i in range(len(shown.columns))]
    natural = _natural(shown)
    for size in SIZES:
        if fitted := fit_widths(natural, numeric, size.line - size.gap * len(natural)):
            return size, fitted
    return SIZES[-1], None


def _natural(shown: Shown) -> list[int]:
    return [max(map(len, column)) for column in zip(shown.columns, *shown.rows, strict=True)]


def _line(cells: Sequence[str], alignments: Sequence[str]) -> str:
    """Return a row. Text that wraps is set ragged, which takes away the usual sign for the end of a row."""
    wraps = [kind.startswith("p") for kind in alignments]
    shown = [(r"\raggedright " if wrap else "") + _cell(cell) for cell, wrap in zip(cells, wraps, strict=True)]
    return " & ".join(shown) + (r" \tabularnewline" if any(wraps) else r" \\")


def _cell(text: str) -> str:
    """Return a cell; blanks before it, which LaTeX drops, are an indent."""
    return (r"\quad " if text.startswith(" ") else "") + escape_latex(text.lstrip(" "))


def _alignments(table: Table, shown: Shown, size: Size, widths: list[int] | None) -> list[str]:
    """Return the kind of each column: one that is narrower than its text wraps it."""
    natural = _natural(shown)
    return [
        "r" if table.is_numeric(i) else "l" if width == natural[i] else rf"p{{{width / size.line:.2f}\linewidth}}"
        for i, width in enumerate(widths or natural)
    ]


def escape_markdown(text: str, *, within: str = "") -> str:
    r"""Return `text` so that Markdown shows it as it is; what is no markup where it stands is left alone.

    `within` are characters that mean something in the place where the text goes: "|" in a table, "[]" in a link.

    >>> escape_markdown("y ~ a_b + (1 | *c*) <d>")
    'y ~ a_b + (1 | \\*c\\*) \\<d>'
    """
    pattern = re.compile(f"{_INLINE} | {f'[{re.escape(within)}]' if within else _FIRST}", flags=re.VERBOSE)
    return pattern.sub(lambda found: _escaped(found[0]) if found["plain"] is None else found[0], text)


def _escaped(markup: str) -> str:
    return re.sub(r"(\W|_)", r"\\\1", markup)


# What Markdown (CommonMark, and the tables, strikes and mathematics of its dialects) would take for more than text:
# anywhere, and at the beginning of a paragraph.
_INLINE = r"""
    (?P<plain>(?<=[^\W_])_+(?=[^\W_]))  # within_a_word
    | (?<!\s)[*_~]+ | [*_~]+(?!\s)  # emphasis touches what it stresses
    | [`$] | \](?=[(\[:]) | <(?=[A-Za-z/!?]) | &(?=\#?\w+;)
    | \\(?=[!-/:-@\[-`{-~]|\Z)
"""
_FIRST = r"\A[\#>%] | \A[+-](?=[\s+-]|\Z) | \A\d{1,9}[.)](?=\s|\Z) | \A\[(?=[\sxX]\])"


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"$\sim$",  # as in formulas; \textasciitilde is an accent above nothing
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",  # as long as the font is one of LaTeX's own; \textquotedbl needs another encoding
    "[": "{[}",  # "\\ [1]" would be read as an optional argument of the line break
    "]": "{]}",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "≈": r"$\approx$",
    "×": r"$\times$",
    "±": r"$\pm$",
    **{char: "\\" + char for char in "&%$#_"},
}


def escape_latex(text: str) -> str:
    r"""Return `text` so that LaTeX sets it as it is; names in backticks, as formulas quote them, as typewriter letters.

    >>> escape_latex("x_1 & 50%"), escape_latex("`F1 (%)` ~ a")
    ('x\\_1 \\& 50\\%', '\\texttt{F1 (\\%)} $\\sim$ a')
    """
    return re.sub("`([^`]+)`", r"\\texttt{\1}", _plain_latex(text))


def sign_markdown(signature: str) -> str:
    """Return a signature, or another line of code, as Markdown shows code; a backtick would end it."""
    return f"`{visible(signature).replace('`', chr(39))}`"


def sign_latex(signature: str) -> str:
    """Return a signature as a small paragraph of LaTeX."""
    return rf"\noindent{{\footnotesize\ttfamily\raggedright {break_latex(visible(signature))}\par}}"


def _plain_latex(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in text).replace("--", "-{}-{}")


def break_latex(text: str) -> str:
    r"""Return `text` escaped, with places where LaTeX may break the line: a signature has no blanks.

    >>> break_latex("a|b,c")
    'a\\textbar{}\\allowbreak{}b,\\allowbreak{}c'
    """
    exact = _plain_latex(text).replace("`", r"\`{}")  # an accent on nothing
    return re.sub(r"(\\textbar\{\}|[,=(])", r"\1\\allowbreak{}", exact)
