"""A table as Markdown, HTML and LaTeX (booktabs); every cell escaped for where it goes."""

from __future__ import annotations

import html
import re

from holdsup.rendering.table import Shown, Table
from holdsup.rendering.text import fit_widths

__all__ = ["escape_latex", "escape_markdown", "render_html", "render_latex", "render_markdown"]


LATEX_LINE = 75  # letters that fit a line of an article
LATEX_GAP = 3  # letters' worth of blank between columns


def render_markdown(table: Table) -> str:
    """Return the table as a Markdown pipe table under its title in bold."""
    shown = table.shown()
    rule = ["---:" if table.is_numeric(i) else "---" for i in range(len(shown.columns))]
    head, *body = [[escape_markdown(cell) for cell in line] for line in (shown.columns, *shown.rows)]
    grid = "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *body))
    notes = "".join(f"\n\n{escape_markdown(note)}" for note in shown.notes)
    return f"**{escape_markdown(shown.title)}**\n\n{grid}{notes}"


def render_html(table: Table) -> str:
    """Return the table as an HTML element with a caption, headers scoped for screen readers."""
    shown = table.shown()
    classes = [' class="number"' if table.is_numeric(i) else "" for i in range(len(shown.columns))]
    head = "".join(f'<th scope="col"{c}>{html.escape(n)}</th>' for n, c in zip(shown.columns, classes, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{c}>{html.escape(cell)}</td>' for cell, c in zip(row, classes, strict=True))}</tr>\n"
        for row in shown.rows
    )
    notes = "".join(f'<p class="note">{html.escape(note)}</p>\n' for note in shown.notes)
    return (
        f'<table class="holdsup">\n<caption>{html.escape(shown.title)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n{notes}"
    )


def render_latex(table: Table) -> str:
    """Return the table as a LaTeX table with booktabs rules and the title as caption."""
    shown = table.shown()
    alignment = "".join(_alignments(table, shown))
    head, *body = [" & ".join(map(_cell, line)) + r" \\" for line in (shown.columns, *shown.rows)]
    notes = [rf"\par\footnotesize {escape_latex(note)}" for note in shown.notes]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape_latex(shown.title)}}}",
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *notes,
            r"\end{table}",
        ]
    )


def _cell(text: str) -> str:
    """Return a cell; blanks before it, which LaTeX drops, are an indent."""
    return (r"\quad " if text.startswith(" ") else "") + escape_latex(text.lstrip(" "))


def _alignments(table: Table, shown: Shown) -> list[str]:
    """Return the kind of each column: text too long for the line goes into columns that wrap."""
    numeric = [table.is_numeric(i) for i in range(len(shown.columns))]
    natural = [max(map(len, column)) for column in zip(shown.columns, *shown.rows, strict=True)]
    fitted = fit_widths(natural, numeric, LATEX_LINE - LATEX_GAP * len(natural)) or natural
    return [
        "r" if right else "l" if width == wanted else rf"p{{{width / LATEX_LINE:.2f}\linewidth}}"
        for right, width, wanted in zip(numeric, fitted, natural, strict=True)
    ]


def escape_markdown(text: str) -> str:
    r"""Return `text` so that Markdown shows it as it is.

    >>> escape_markdown("a|b *c* <d>")
    'a\\|b \\*c\\* \\<d\\>'
    """
    return re.sub(r"([\\`*_\[\]<>|~#&$!])", r"\\\1", text)


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
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
    r"""Return `text` so that LaTeX sets it as it is.

    >>> escape_latex("x_1 & 50%")
    'x\\_1 \\& 50\\%'
    """
    return "".join(_LATEX.get(char, char) for char in text).replace("--", "-{}-{}")
