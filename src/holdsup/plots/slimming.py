"""Lean SVG: the same picture in fewer letters.

A drawing repeats itself: every mark says its colours, every letter its font, every number has six decimals. What all
parts of a group say is said once, by the group; a hundredth of a point is finer than any printer.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

__all__ = ["slim"]

SVG = "{http://www.w3.org/2000/svg}"
# What a part takes from the group that it is in, unless it says so itself.
INHERITED = (
    "fill", "fill-opacity", "fill-rule", "font-family", "font-size", "font-weight", "font-style", "stroke",
    "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit",
    "stroke-opacity", "stroke-width", "text-anchor",
)  # fmt: skip
PLACES = ("x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "d", "points", "transform")
DECIMALS = re.compile(r"-?\d+\.\d{3,}")
NO_TURN = re.compile(r"rotate\(-?0(\.0+)?[ ,)][^)]*\)?")


def slim(root: ElementTree.Element) -> None:
    """Make a drawing lean; it looks the same, and its points say the same."""
    for element in root.iter():
        _shorten(element)
    _share_font(root)
    _share(root)
    _unwrap(root)


def _shorten(element: ElementTree.Element) -> None:
    """Round places, and forget blanks that are there for readers of the source."""
    for key in PLACES:
        if key in element.attrib:
            element.set(key, DECIMALS.sub(_rounded, element.attrib[key]))
    if "d" in element.attrib:
        element.set("d", re.sub(r"\s*([A-Za-z])\s*", r"\1", element.attrib["d"]).strip())
    if "transform" in element.attrib and not (turned := NO_TURN.sub("", element.attrib["transform"]).strip()):
        del element.attrib["transform"]
    elif "transform" in element.attrib:
        element.set("transform", turned)
    if element.tag not in (f"{SVG}text", f"{SVG}tspan", f"{SVG}title"):
        element.text = (element.text or "").strip() or None
    element.tail = None if not (element.tail or "").strip() else element.tail


def _rounded(found: re.Match[str]) -> str:
    """Return a number with two decimals; one below 1 may be a scale, and keeps five."""
    number = float(found[0])
    text = f"{number:.2f}" if abs(number) >= 1 else f"{number:.5f}"
    return text.rstrip("0").rstrip(".") or "0"


def _share_font(root: ElementTree.Element) -> None:
    """Say once which font all letters have; it is nothing to lines and areas."""
    letters = [element for element in root.iter() if "font-family" in element.attrib]
    if len({element.get("font-family") for element in letters}) == 1:
        root.set("font-family", letters[0].attrib["font-family"])
        for element in letters:
            del element.attrib["font-family"]


def _share(element: ElementTree.Element) -> None:
    """Move what all parts of a group say to the group, the innermost groups first.

    What stands in `defs` is drawn elsewhere, and takes nothing from where it stands.
    """
    parts = [part for part in element if part.tag not in (f"{SVG}defs", f"{SVG}title")]
    for part in parts:
        if part.tag == f"{SVG}g":
            _share(part)
    for key in INHERITED if len(parts) > 1 else ():
        values = {part.get(key) for part in parts if part.tag != f"{SVG}image"}
        if key not in element.attrib and len(values) == 1 and (value := values.pop()) is not None:
            element.set(key, value)
            for part in parts:
                part.attrib.pop(key, None)


def _unwrap(element: ElementTree.Element) -> None:
    """Put the parts of groups that say nothing in the place of the group."""
    place = 0
    while place < len(element):
        part = element[place]
        if part.tag == f"{SVG}g" and not part.attrib:
            element[place : place + 1] = list(part)
        else:
            _unwrap(part)
            place += 1
