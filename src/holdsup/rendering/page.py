"""`Page`: what one result shows (a sentence, tables, warnings, a signature), in any rendering."""

from __future__ import annotations

import html
from dataclasses import dataclass

from holdsup.rendering.markup import (
    break_latex,
    escape_latex,
    escape_markdown,
    render_html,
    render_latex,
    render_markdown,
)
from holdsup.rendering.table import Table, visible
from holdsup.rendering.text import UNICODE, Ink, render_text, wrap_text

__all__ = ["Page"]

# What a notebook needs to show tables as tables: it sets all cells flush right, and lets wide tables run out of the
# cell. Colours are the notebook's own, light or dark.
STYLE = (
    ".holdsup .scroll { overflow-x: auto; } "
    ".holdsup table { margin: .5em 0; border-collapse: collapse; color: inherit; } "
    ".holdsup caption { caption-side: top; text-align: left; font-weight: 600; color: inherit; } "
    ".holdsup th, .holdsup td { text-align: left; vertical-align: top; max-width: 30em; white-space: pre-wrap; } "
    ".holdsup caption, .holdsup .long { overflow-wrap: anywhere; } "
    ".holdsup th { border-bottom: 1px solid; } "
    ".holdsup th.number, .holdsup td.number { text-align: right; white-space: nowrap; } "
    ".holdsup .note { font-size: .9em; opacity: .8; } .holdsup code { overflow-wrap: anywhere; } "
    ".holdsup .warning { border-left: 4px solid #b46f00; padding-left: .6em; }"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One result as a person reads it: the verdict first, then what stands behind it.

    All fields are text for people; `signature` is the line from which a stranger can redo the numbers.
    """

    verdict: str
    tables: tuple[Table, ...]
    warnings: tuple[str, ...]
    rows: str
    signature: str

    def text(self, *, width: int = 100, ink: Ink = UNICODE) -> str:
        """Return plain text no wider than `width`, drawn with `ink`."""
        parts = ["\n".join(wrap_text(visible(self.verdict), width))]
        parts.extend(render_text(table, width=width, ink=ink) for table in self.tables)
        if self.warnings:
            parts.append("\n".join(self._wrapped_warnings(width)))
        parts.append("\n".join([*wrap_text(self.rows, width), f"signature: {visible(self.signature)}"]))
        return "\n\n".join(parts) + "\n"

    def markdown(self) -> str:
        """Return Markdown for a README, an issue or a lab book."""
        parts = [f"**{escape_markdown(visible(self.verdict))}**"]
        parts.extend(render_markdown(table) for table in self.tables)
        parts.extend(f"> **Note:** {escape_markdown(visible(warning))}" for warning in self.warnings)
        signature = visible(self.signature).replace("`", "'")
        return "\n\n".join([*parts, escape_markdown(self.rows), f"`{signature}`"]) + "\n"

    def html(self) -> str:
        """Return an HTML fragment: what a notebook shows."""
        warnings = "".join(f'<p class="warning">{html.escape(visible(warning))}</p>\n' for warning in self.warnings)
        tables = "".join(f'<div class="scroll">{render_html(table)}</div>\n' for table in self.tables)
        return (
            f'<section class="holdsup">\n<style>{STYLE}</style>\n'
            f'<p class="verdict"><strong>{html.escape(visible(self.verdict))}</strong></p>\n'
            f"{tables}{warnings}"
            f"<p>{html.escape(self.rows)}</p>\n<p><code>{html.escape(visible(self.signature))}</code></p>\n</section>\n"
        )

    def latex(self) -> str:
        """Return LaTeX that needs booktabs and, for very wide or long tables, the packages graphicx and longtable."""
        warnings = [rf"\emph{{Note: {escape_latex(visible(warning))}}}" for warning in self.warnings]
        signature = break_latex(visible(self.signature))
        return (
            "\n\n".join(
                [
                    rf"\textbf{{{escape_latex(visible(self.verdict))}}}",
                    *map(render_latex, self.tables),
                    *warnings,
                    escape_latex(self.rows),
                    rf"\noindent{{\footnotesize\ttfamily\raggedright {signature}\par}}",
                ]
            )
            + "\n"
        )

    def _wrapped_warnings(self, width: int) -> list[str]:
        return [line for warning in self.warnings for line in wrap_text(f"! {visible(warning)}", width, indent="  ")]
