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
from holdsup.rendering.numbers import SMALLEST_P
from holdsup.rendering.spreadsheet import render_csv
from holdsup.rendering.table import Cell, Estimate, Interval, Percent, PValue, Table, has_long_word
from holdsup.report.pictures import draw_pictures
from holdsup.report.references import REFERENCES, write_bibtex
from holdsup.report.view import Block, Section, View

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

__all__ = ["render_webpage"]

ENLARGED = 1.5  # times its size on paper that a picture is shown at: letters of 7 points, as tall as the text
LARGEST_SVG = 200_000  # characters; a larger picture is shown as pixels, which take less
POINTS_TO_PIXELS = 4 / 3


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


class GridCell(NamedTuple):
    """A cell: its text, the number that it is sorted by, and whether it has a word that must be broken to fit."""

    text: str
    key: float | None
    long: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table as the page sets it.

    Attributes
    ----------
    title, columns, notes : as in `Table.shown()`
    warnings : what limits trust in it
    numeric : whether each column is flush right
    rows : the cells
    sortable : whether rows may change their order: not where one belongs to the row above it
    csv, latex : what is copied
    pictures : a caption, an alternative text and the picture, each
    """

    title: str
    columns: tuple[str, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[GridCell, ...], ...]
    sortable: bool
    csv: str
    latex: str
    pictures: tuple[tuple[str, str, Markup], ...]


def _show(section: Section, pictures: Mapping[str, Markup]) -> dict[str, Any]:
    return {"section": section, "grids": [_grid(block, pictures) for block in section.blocks]}


def _grid(block: Block, pictures: Mapping[str, Markup]) -> Grid:
    table, shown = block.table, block.table.shown()
    return Grid(
        title=shown.title,
        columns=shown.columns,
        notes=shown.notes,
        warnings=block.warnings,
        numeric=tuple(table.is_numeric(i) for i in range(len(shown.columns))),
        rows=tuple(
            tuple(GridCell(text, _sort_key(cell), has_long_word(text)) for text, cell in zip(texts, cells, strict=True))
            for texts, cells in zip(shown.rows, table.rows, strict=True)
        ),
        sortable=_is_sortable(table),
        csv=render_csv(table),
        latex=render_latex(table),
        pictures=tuple((picture.caption, picture.alt, pictures[picture.name]) for picture in block.pictures),
    )


def _is_sortable(table: Table) -> bool:
    nested = any(row and row[0].startswith(" ") for row in table.cells())
    return len(table.rows) > 1 and not nested


def _sort_key(cell: Cell) -> float | None:
    """Return the number that a cell is sorted by, None for words; a very small p counts by its logarithm."""
    value: float | None = None
    if isinstance(cell, PValue):
        small = cell.log10_p is not None and cell.p is not None and cell.p < SMALLEST_P
        value = cell.log10_p if small else cell.p
    elif isinstance(cell, Interval):
        value = cell.low if cell.estimate is None else cell.estimate
    elif isinstance(cell, Estimate | Percent):
        value = cell.value
    elif isinstance(cell, int | float) and not isinstance(cell, bool):
        value = float(cell)
    return value if value is not None and math.isfinite(value) else None


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
