"""`Page`: the whole of a result: the answer, every table with the cautions that limit it, the rows, the signature."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass

from holdsup.rendering.answer import Answer
from holdsup.rendering.markup import (
    escape_latex,
    escape_markdown,
    render_html,
    render_latex,
    render_markdown,
    sign_latex,
    sign_markdown,
)
from holdsup.rendering.table import Table, visible
from holdsup.rendering.text import UNICODE, Ink, render_text, wrap_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """All of a result, as a person reads it."""

    answer: Answer  # what it says in ten seconds
    tables: tuple[Table, ...]  # every table, in the order in which they are read
    cautions: tuple[str, ...]  # what limits the whole
    beside: dict[int, tuple[str, ...]]  # what limits one table, by the number of the table
    rows: str  # how many rows were used

    def text(self, *, width: int = 100, ink: Ink = UNICODE) -> str:
        """Return plain text no wider than `width`, drawn with `ink`; the signature is the last line."""
        head = self.answer.head(min(width, 100), ink)
        foot = self.answer.lines(min(width, 100), without=("caveat", "error", "warning"))  # they follow in full
        parts = ["\n".join(head), *(["\n".join(foot)] if foot else []), *self._wrapped(self.cautions, width)]
        for table, cautions in self._tables():
            parts.append("\n".join([render_text(table, width=width, ink=ink), *self._wrapped(cautions, width)]))
        parts.append("\n".join([*wrap_text(self.rows, width), visible(self.answer.signature)]))
        return "\n\n".join(parts) + "\n"

    def _tables(self) -> Iterator[tuple[Table, tuple[str, ...]]]:
        for place, table in enumerate(self.tables):
            yield table, self.beside.get(place, ())

    @staticmethod
    def _wrapped(cautions: tuple[str, ...], width: int) -> list[str]:
        lines = [line for each in cautions for line in wrap_text(f"! {visible(each)}", width, indent="  ")]
        return ["\n".join(lines)] if lines else []

    def markdown(self) -> str:
        """Return Markdown for a README, an issue or a lab book."""
        parts = [*self.answer.markdown().strip().split("\n\n")[:-1]]  # the signature comes last
        parts += _quote(self.cautions)
        for table, cautions in self._tables():
            parts += [render_markdown(table), *_quote(cautions)]
        return "\n\n".join([*parts, escape_markdown(self.rows), sign_markdown(self.answer.signature)]) + "\n"

    def html(self, *, folded: bool = True) -> str:
        """Return an HTML fragment, what a notebook shows: the answer, and the rest, folded or not."""
        parts = [_mark(self.cautions)]
        for table, cautions in self._tables():
            parts.append(f'<div class="scroll">{render_html(table)}</div>\n{_mark(cautions)}')
        return self.answer.html(details=f"{''.join(parts)}<p>{html.escape(self.rows)}</p>\n", folded=folded)

    def latex(self) -> str:
        """Return LaTeX that needs booktabs and, for very wide or long tables, the packages graphicx and longtable."""
        parts = [rf"\textbf{{{escape_latex(visible(self.answer.sentence()))}}}", *_emphasise(self.cautions)]
        for table, cautions in self._tables():
            parts += [render_latex(table), *_emphasise(cautions)]
        return "\n\n".join([*parts, escape_latex(self.rows), sign_latex(self.answer.signature)]) + "\n"


def _quote(cautions: tuple[str, ...]) -> list[str]:
    return [f"> **Caveat:** {escape_markdown(visible(each))}" for each in cautions]


def _mark(cautions: tuple[str, ...]) -> str:
    return "".join(f'<p class="warning">{html.escape(visible(each))}</p>\n' for each in cautions)


def _emphasise(cautions: tuple[str, ...]) -> list[str]:
    return [rf"\emph{{Caveat: {escape_latex(visible(each))}}}" for each in cautions]
