"""`Answer`: what a result says in ten seconds: the question, yes or no, one sentence, one picture, one small table."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from holdsup.rendering.gauge import Gauge
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
from holdsup.rendering.text import UNICODE, Ink, render_text, shorten, wrap_text

State: TypeAlias = Literal["yes", "no", "unclear"]
LABELS = 11  # columns of what stands before a line at the foot: "holds for", "settle it", "caveat"
HOLDS = "holds for"  # the label of the line that says what the answer covers
CAVEAT = "caveat"  # that of a line that says what limits it
LENGTHS = (40, 30, 20, 14)  # columns that a name may take in a short answer: the first with which it is short
CUT = 30  # columns of a name that takes more: half a name is no better for being long
SCREEN = 24  # lines
WIDEST = 80  # columns of a short answer: what every terminal, mail and comment has

# What a notebook needs to show answers and tables as such: it sets all cells flush right, and lets wide tables run out
# of the cell. Colours are the notebook's own, light or dark, but for the answer's.
STYLE = (
    ".holdsup .scroll { overflow-x: auto; } "
    ".holdsup table { margin: .5em 0; border-collapse: collapse; color: inherit; } "
    ".holdsup caption { caption-side: top; text-align: left; font-weight: 600; color: inherit; } "
    ".holdsup th, .holdsup td { text-align: left; vertical-align: top; max-width: 30em; white-space: pre-wrap; } "
    ".holdsup p, .holdsup h2, .holdsup h3, .holdsup caption, .holdsup .long { overflow-wrap: anywhere; } "
    ".holdsup th { border-bottom: 1px solid; } "
    ".holdsup th.number, .holdsup td.number { text-align: right; white-space: nowrap; } "
    ".holdsup .note { font-size: .9em; opacity: .8; } .holdsup code { overflow-wrap: anywhere; } "
    ".holdsup .state { font-weight: 700; white-space: nowrap; } "
    ".holdsup .yes { color: #1457a8; } .holdsup .no { color: #b0370f; } .holdsup .unclear { color: #765700; } "
    "@media (prefers-color-scheme: dark) { "
    ".holdsup .yes { color: #82b4f6; } .holdsup .no { color: #f69a74; } .holdsup .unclear { color: #e6c35f; } } "
    ".holdsup dt { font-weight: 600; float: left; clear: left; width: 6em; } .holdsup dd { margin: 0 0 .2em 6.5em; } "
    ".holdsup .warning { border-left: 4px solid #b46f00; padding-left: .6em; }"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a result says in ten seconds."""

    question: str  # what was asked, ending in a question mark
    state: State | None  # the answer in one word; None where the question has no yes or no
    headline: str  # the answer in one sentence of at most 25 words
    parts: tuple[Gauge | Table, ...] = ()  # a picture and small tables, in this order
    foot: tuple[tuple[str, str], ...] = ()  # lines with a label: what it holds for, what would settle it, caveats
    more: tuple[str, ...] = ()  # where to look for more, such as "--full (tests, model)"
    signature: str  # the line from which a stranger can redo the numbers
    names: tuple[str, ...] = ()  # what users named, such as systems: text shortens them, nothing else does
    most_lines: int = SCREEN  # of the text with its signature: where it has more, names are shortened further

    def __post_init__(self) -> None:
        foot = ((label, self._continue(said) if label == CAVEAT else said) for label, said in self.foot)
        object.__setattr__(self, "foot", tuple(foot))

    def _continue(self, said: str) -> str:
        """Return a sentence as it follows a label: no capital unless it begins with a name, and no full stop."""
        first = said.split(" ", 1)[0].rstrip(":,")
        named = not first[1:].islower() or any(name and said.startswith(name) for name in self.names)
        return (said if named else said[0].lower() + said[1:]).removesuffix(".")

    def text(self, *, width: int = WIDEST, ink: Ink = UNICODE) -> str:
        """Return plain text no wider than `width`; the signature, which must stay whole, is the last line."""
        for longest in LENGTHS:
            short = self._shorten_names(min(longest, width // 2))
            said = short._write(width, ink)
            if said.count("\n") <= self.most_lines:
                break
        return said

    def _write(self, width: int, ink: Ink) -> str:
        head = "\n".join(self.head(width, ink))
        parts = [
            part.text(width, ink) if isinstance(part, Gauge) else render_text(part, width=width, ink=ink, compact=True)
            for part in self.parts
        ]
        more = wrap_text("more: " + "   ".join(self.more), width, indent="  ") if self.more else []
        return "\n\n".join([head, *parts, "\n".join([*self.lines(width), *more, visible(self.signature)])]) + "\n"

    def _shorten_names(self, longest: int) -> Answer:
        """Return the answer with the middle of long names left out; those that would look alike end in a number."""
        short: dict[str, str] = {}
        for name in dict.fromkeys(self.names):
            if shorten(name, longest) != visible(name):
                cut = shorten(name, min(CUT, longest))
                alike = cut in short.values()
                short[name] = f"{shorten(name, min(CUT, longest) - 5)} #{len(short) + 1}" if alike else cut
        if not short:
            return self
        known = re.compile("|".join(map(re.escape, sorted(short, key=len, reverse=True))))  # one may be part of another

        def cut_all(text: str) -> str:
            return known.sub(lambda found: short[found[0]], text)

        def cut_part(part: Gauge | Table) -> Gauge | Table:
            if isinstance(part, Gauge):
                return replace(part, left=cut_all(part.left), right=cut_all(part.right))
            rows = tuple(tuple(cut_all(cell) if isinstance(cell, str) else cell for cell in row) for row in part.rows)
            return replace(part, columns=cut_each(part.columns), rows=rows, notes=cut_each(part.notes))

        def cut_each(texts: Iterable[str]) -> tuple[str, ...]:
            return tuple(map(cut_all, texts))

        return replace(
            self,
            question=cut_all(self.question),
            headline=cut_all(self.headline),
            parts=tuple(map(cut_part, self.parts)),
            foot=tuple((label, cut_all(said)) for label, said in self.foot),
        )

    def head(self, width: int, ink: Ink) -> list[str]:
        """Return the question with the answer's word at the right edge, and the sentence below."""
        word = ink.mark(self.state) if self.state else ""
        question = wrap_text(visible(self.question), width - (len(word) + 2 if word else 0)) or [""]
        first = ink.paint("head", question[0])
        if word:
            first += " " * (width - len(question[0]) - len(word)) + ink.paint(self.state or "", word)
        rest = [ink.paint("head", line) for line in question[1:]]
        return [first, *rest, *(ink.paint("head", line) for line in wrap_text(visible(self.headline), width))]

    def lines(self, width: int, *, without: Collection[str] = ()) -> list[str]:
        """Return the lines at the foot, each behind its label, without those of some labels."""
        return [
            line
            for label, said in self.foot
            if label not in without
            for line in wrap_text(f"{label:<{LABELS}}{visible(said)}", width, indent=" " * LABELS)
        ]

    def sentence(self) -> str:
        """Return the answer in running text: the headline, and what it holds for."""
        holds = [f"Holds for {said.rstrip('.')}." for label, said in self.foot if label == HOLDS]
        return " ".join([self.headline, *holds])

    def markdown(self) -> str:
        """Return Markdown for a README, an issue or a lab book."""
        word = f" **{self.state.upper()}.**" if self.state else ""
        head = f"**{escape_markdown(visible(self.question))}**{word} {escape_markdown(visible(self.headline))}"
        parts = [
            f"```text\n{part.text(WIDEST, UNICODE)}\n```" if isinstance(part, Gauge) else render_markdown(part)
            for part in self.parts
        ]
        foot = "\n".join(f"- **{label}:** {escape_markdown(visible(said))}" for label, said in self.foot)
        return "\n\n".join([head, *parts, *([foot] if foot else []), sign_markdown(self.signature)]) + "\n"

    def html(self, *, details: str = "", folded: bool = True) -> str:
        """Return an HTML fragment, what a notebook shows; `details` are below it, and folded unless told otherwise."""
        word = f' <span class="state {self.state}">{UNICODE.mark(self.state)}</span>' if self.state else ""
        parts = [
            f"<pre>{html.escape(part.text(WIDEST, UNICODE))}</pre>\n"
            if isinstance(part, Gauge)
            else f'<div class="scroll">{render_html(part)}</div>\n'
            for part in self.parts
        ]
        foot = "".join(f"<dt>{label}</dt><dd>{html.escape(visible(said))}</dd>" for label, said in self.foot)
        if details and folded:
            details = f"<details><summary>details</summary>\n{details}</details>\n"
        return (
            f'<section class="holdsup">\n<style>{STYLE}</style>\n'
            f"<p><strong>{html.escape(visible(self.question))}</strong>{word}</p>\n"
            f'<p class="headline">{html.escape(visible(self.headline))}</p>\n{"".join(parts)}'
            f"{f'<dl>{foot}</dl>' if foot else ''}\n{details}"
            f"<p><code>{html.escape(visible(self.signature))}</code></p>\n</section>\n"
        )

    def latex(self, *, figure: str | None = None) -> str:
        """Return LaTeX for a paper: the sentence, one table, and the figure in a file if there is one."""
        table = next((part for part in self.parts if isinstance(part, Table)), None)
        drawn = [
            "\\begin{figure}\n\\centering\n"
            f"\\includegraphics[width=\\linewidth]{{{figure}}} % of the package graphicx\n"
            f"\\caption{{{escape_latex(visible(self.headline))}}}\n\\end{{figure}}"
        ]
        holds = [escape_latex(visible(f"{label[:1].upper()}{label[1:]}: {said}")) for label, said in self.foot]
        parts = [
            escape_latex(visible(self.headline)),
            *([render_latex(table)] if table is not None else []),
            *(drawn if figure else []),
            *holds,
            sign_latex(self.signature),
        ]
        return "\n\n".join(parts) + "\n"
