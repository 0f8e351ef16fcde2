"""A report as one HTML page that stands alone: no network, no script but its own, every name shown as text."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from holdsup import __version__
from holdsup.plots import draw_bytes, draw_svg
from holdsup.rendering.markup import render_latex
from holdsup.rendering.spreadsheet import render_csv
from holdsup.rendering.table import Cell, Estimate, Interval, Percent, PValue, Table, has_long_word
from holdsup.report.references import REFERENCES, write_bibtex
from holdsup.report.view import Block, Picture, Section, View, draw_pictures

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

ENLARGED = 1.5  # times its size on paper that a picture is shown at: letters of 7 points, as tall as the text
LARGEST_SVG = 200_000  # characters; a larger picture is shown as pixels, which take less
POINTS_TO_PIXELS = 4 / 3
MOST_COPIED = 500  # rows
HEADS = {"holds for": "Holds for", "settle it": "To settle it"}


def render_webpage(view: View) -> str:
    """Return the page. Style and script are allowed by their hashes, and nothing else is."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("holdsup.report"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    style, script = _template("page.css"), _template("page.js")
    view, pictures = draw_pictures(view, _draw)
    return environment.get_template("page.html").render(
        view=view,
        sections=[_show(section, pictures) for section in view.sections],
        references=[(key, REFERENCES[key].line()) for key in view.citations],
        cite={key: REFERENCES[key].cite() for key in view.citations},
        bibtex=write_bibtex(view.citations),
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        style=_raw(style),
        script=_raw(script),
        version=__version__,
    )


class Shown(NamedTuple):
    """A picture as the page sets it."""

    caption: str
    alt: str
    drawing: Markup


class GridCell(NamedTuple):
    """A cell: its text, the number that it is sorted by, and whether it has a word that must be broken to fit."""

    text: str
    key: str | None
    long: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table as the page sets it."""

    title: str  # as in `Table.shown()`
    columns: tuple[str, ...]
    notes: tuple[str, ...]
    cautions: tuple[str, ...]  # what limits it
    numeric: tuple[bool, ...]  # whether each column is flush right
    rows: tuple[tuple[GridCell, ...], ...]  # the cells
    sortable: bool  # whether rows may change their order: not where one belongs to the row above it
    # what is copied, by the name of its form; nothing of very long tables, which the JSON has
    copies: Mapping[str, str]
    pictures: tuple[Shown, ...]  # the pictures


def _show(section: Section, pictures: Mapping[str, Markup]) -> dict[str, Any]:
    """Return a section with its tables and pictures; the foot as lines under one heading each."""
    foot: dict[str, list[str]] = {}
    for label, said in section.foot:
        foot.setdefault(HEADS.get(label, f"{label[:1].upper()}{label[1:]}"), []).append(said)
    return {
        "section": section,
        "foot": foot,
        "picture": None if section.picture is None else _picture(section.picture, pictures),
        "small": [_grid(block, pictures) for block in section.small],
        "grids": [_grid(block, pictures) for block in section.blocks],
        "beside": sum(said not in section.caveats for block in section.blocks for said in block.cautions),
    }


def _picture(picture: Picture, drawn: Mapping[str, Markup]) -> Shown:
    return Shown(picture.caption, picture.alt, drawn[picture.name])


def _grid(block: Block, pictures: Mapping[str, Markup]) -> Grid:
    table, shown = block.table, block.table.shown()
    return Grid(
        title=shown.title,
        columns=shown.columns,
        notes=shown.notes,
        cautions=block.cautions,
        numeric=tuple(table.is_numeric(i) for i in range(len(shown.columns))),
        rows=tuple(
            tuple(GridCell(text, _sort_key(cell), has_long_word(text)) for text, cell in zip(texts, cells, strict=True))
            for texts, cells in zip(shown.rows, table.rows, strict=True)
        ),
        sortable=_is_sortable(table),
        copies={"CSV": render_csv(table), "LaTeX": render_latex(table)} if len(table.rows) <= MOST_COPIED else {},
        pictures=tuple(_picture(picture, pictures) for picture in block.pictures),
    )


def _is_sortable(table: Table) -> bool:
    nested = any(row and row[0].startswith(" ") for row in table.cells())
    return len(table.rows) > 1 and not nested


def _sort_key(cell: Cell) -> str | None:
    """Return the number that a cell is sorted by, to the digits that can matter; None for words."""
    value: float | None = None
    if isinstance(cell, PValue):
        value = cell.p
    elif isinstance(cell, Interval):
        value = cell.low if cell.estimate is None else cell.estimate
    elif isinstance(cell, Estimate | Percent):
        value = cell.value
    elif isinstance(cell, int | float) and not isinstance(cell, bool):
        value = float(cell)
    return f"{value:.7g}" if value is not None and math.isfinite(value) else None


def _draw(figure: Figure) -> Markup:
    """Return a picture as SVG that follows the colours of the page, or as pixels where that is smaller."""
    svg = draw_svg(figure, follow_page=True)
    if len(svg) <= LARGEST_SVG:
        return _raw(re.sub(r'(width|height)="([\d.]+)pt"', _enlarge, svg, count=2))
    width = round(ENLARGED * POINTS_TO_PIXELS * 72 * figure.get_size_inches()[0])
    pixels = base64.b64encode(draw_bytes(figure, "png")).decode("ascii")
    return _raw(f'<img alt="" width="{width}" src="data:image/png;base64,{pixels}">')


def _enlarge(size: re.Match[str]) -> str:
    return f'{size[1]}="{ENLARGED * POINTS_TO_PIXELS * float(size[2]):.0f}"'


def _template(name: str) -> str:
    return (files("holdsup.report") / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


def _raw(text: str) -> Markup:
    """Return what this package wrote itself, and must not be escaped again."""
    from markupsafe import Markup

    return Markup(text)
