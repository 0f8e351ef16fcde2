"""A report as Markdown, with its pictures in a folder beside it."""

from __future__ import annotations

from collections.abc import Iterator

from holdsup import __version__
from holdsup.rendering.markup import escape_markdown, render_markdown, sign_markdown
from holdsup.rendering.text import UNICODE
from holdsup.report.references import REFERENCES
from holdsup.report.view import Picture, Section, View


def render_markdown_report(view: View, *, pictures: str) -> str:
    """Return the report; `pictures` is the folder that its SVG files are in, as seen from the document."""
    parts = [f"# {escape_markdown(view.title)}"]
    parts.extend(map(escape_markdown, view.introduction))
    parts.append(
        "\n".join(
            f"{i}. {escape_markdown(s.heading)} {_answer(s)} {escape_markdown(s.subject)}"
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
    yield _answer(section)
    if section.gist:
        yield escape_markdown(section.gist)
    lines = [*section.foot, *(("caveat", said) for said in section.caveats)]
    if lines:
        yield "\n".join(f"- **{label}:** {escape_markdown(said)}" for label, said in lines)
    for remark in section.remarks:
        yield f"> {escape_markdown(remark)}"
    if section.picture is not None:
        yield _picture(section.picture, pictures)
    yield from (render_markdown(block.table) for block in section.small)
    yield "### Details"
    for block in section.blocks:
        for caution in block.cautions:
            yield f"> **Caveat:** {escape_markdown(caution)}"
        yield from (_picture(picture, pictures) for picture in block.pictures)
        yield render_markdown(block.table)
    cited = "; ".join(REFERENCES[key].cite() for key in section.citations)
    yield "### How it was done"
    yield escape_markdown(f"{' '.join(section.method)} See {cited}.")
    yield escape_markdown(section.rows + (f" Read from {section.source}." if section.source else ""))
    yield "### Reproduce it"
    yield sign_markdown(section.signature)
    if section.command:
        yield sign_markdown(section.command)


def _answer(section: Section) -> str:
    word = f"**{UNICODE.mark(section.state)}.** " if section.state else ""
    return f"{word}**{escape_markdown(section.headline)}**"


def _picture(picture: Picture, folder: str) -> str:
    return f"![{escape_markdown(picture.caption, within='[]')}](<{folder}/{picture.name}.svg>)"
