"""The pictures of a report, drawn; one that fails is left out, and the table it belongs to says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from holdsup.plots import one_palette
from holdsup.report.view import Block, Picture, View
from holdsup.results.extras import find_extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_pictures"]

Drawn = TypeVar("Drawn")


def draw_pictures(view: View, draw: Callable[[Figure], Drawn]) -> tuple[View, dict[str, Drawn]]:
    """Return the report without the pictures that failed, and what `draw` makes of each of the others, by its name."""
    drawn: dict[str, Drawn] = {}
    with one_palette(view.systems):
        sections = tuple(
            replace(section, blocks=tuple(_drawn_block(block, draw, drawn) for block in section.blocks))
            for section in view.sections
        )
    return replace(view, sections=sections), drawn


def _drawn_block(block: Block, draw: Callable[[Figure], Drawn], drawn: dict[str, Drawn]) -> Block:
    said: list[str] = []
    for picture in block.pictures:

        def compute(picture: Picture = picture) -> tuple[Drawn]:
            return (draw(picture.draw()),)

        found = find_extra(f"the picture {picture.name}", compute, said, None, asked=True)
        if found is not None:
            (drawn[picture.name],) = found
    there = tuple(picture for picture in block.pictures if picture.name in drawn)
    return replace(block, pictures=there, warnings=(*block.warnings, *said))
