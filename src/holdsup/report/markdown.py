"""A report as Markdown, with its pictures in a folder beside it."""

from __future__ import annotations

from collections.abc import Iterator

from holdsup import __version__
from holdsup.rendering.markup import escape_markdown, render_markdown
from holdsup.report.references import REFERENCES
from holdsup.report.view import Section, View

__all__ = ["render_markdown_report"]


def render_markdown_report(view: View, *, pictures: str) -> str:
    """Return the report; `pictures` is the folder that its SVG files are in, as seen from the document."""
    parts = [f"# {escape_markdown(view.title)}"]
    parts.extend(map(escape_markdown, view.introduction))
    parts.append(
        "\n".join(
            f"{i}. {escape_markdown(s.subject)}: {escape_markdown(s.verdict)}"
            for i, s in enumerate(view.sections, start=1)
        )
    )
    for section in view.sections:
        parts.extend(_section(section, pictures))
    parts.append("## References")
    parts.append("\n".join(f"- {escape_markdown(REFERENCES[key].line())}" for key in view.citations))
    parts.append(f"Made by holdsup {__version__}.")
    return "\n\n".join(parts) + "\n"


def _section(section: Section, pictures: str) -> Iterator[str]:
    yield f"## {escape_markdown(section.title)}"
    for word, text in section.notes:
        yield f"**{escape_markdown(word)}** {escape_markdown(text)}" if word else escape_markdown(text)
    yield f"**{escape_markdown(section.verdict)}**"
    if section.gist:
        yield f"**In plain words:** {escape_markdown(section.gist)}"
    for warning in (*section.warnings, *section.remarks):
        yield f"> **Note:** {escape_markdown(warning)}"
    for block in section.blocks:
        for warning in block.warnings:
            yield f"> **Note:** {escape_markdown(warning)}"
        for picture in block.pictures:
            yield f"![{escape_markdown(picture.caption, within='[]')}](<{pictures}/{picture.name}.svg>)"
        yield render_markdown(block.table)
    cited = "; ".join(REFERENCES[key].cite() for key in section.citations)
    yield "### How it was done"
    yield escape_markdown(f"{' '.join(section.method)} See {cited}.")
    yield escape_markdown(section.rows + (f" Read from {section.source}." if section.source else ""))
    yield "### How to redo it"
    yield _code(section.signature)
    if section.command:
        yield _code(section.command)


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`"
