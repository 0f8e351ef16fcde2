"""A figure as PDF, as PNG, or as SVG that can stand in any page: no names that clash, no styles, letters as letters.

A strict page allows no inline styles, so they become attributes. What is drawn in `INK` takes the colour of the text
around it, which is what makes one picture fit light and dark pages. Points that tell what they are get titles.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from holdsup.plots.slimming import slim
from holdsup.plots.style import INK, TELLS, in_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_bytes", "draw_svg"]

SVG, LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
KEEP_BLANKS = "{http://www.w3.org/XML/1998/namespace}space"
SANS = "'DejaVu Sans', Verdana, Geneva, sans-serif"  # the font that the layout is made for, and those as wide
PREFIX = 8 * "0"  # of names, until what is drawn gives them one
REFERENCE = re.compile(r"url\(#([^)]+)\)")

ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", LINK)


@in_style
def draw_bytes(figure: Figure, kind: str) -> bytes:
    """Return a figure as a PDF or PNG file."""
    drawn = io.BytesIO()
    with warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box; the tables show it as it is.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure.savefig(drawn, format=kind, dpi=300, metadata={"CreationDate": None} if kind == "pdf" else None)
    return drawn.getvalue()


@in_style
def draw_svg(figure: Figure, *, follow_page: bool) -> str:
    """Return a figure as an `<svg>` element, the same for the same figure.

    With `follow_page`, letters and axes take the colour of the text around the picture; else they are dark, on white.
    """
    import matplotlib

    drawn = io.BytesIO()
    settings: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "holdsup"}
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # Letters that the font lacks have no width in the layout; a browser shows them all the same.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure.savefig(drawn, format="svg", transparent=follow_page, dpi=200, metadata={"Date": None})
    root = ElementTree.fromstring(drawn.getvalue())
    _drop(root, "metadata", "style")
    _tell(root)
    _plain_styles(root, "currentColor" if follow_page else INK)
    names = _number_names(root)
    slim(root)
    _own_names(root, names)
    root.attrib.pop("version", None)
    return ElementTree.tostring(root, encoding="unicode")


def _drop(root: ElementTree.Element, *names: str) -> None:
    for parent in root.iter():
        for child in list(parent):
            if child.tag in {f"{{{SVG}}}{name}" for name in names}:
                parent.remove(child)


def _tell(root: ElementTree.Element) -> None:
    """Give points their titles: each mark of an artist that has one text a mark, else the artist as a whole."""
    for artist in root.iter():
        name = artist.get("id", "")
        if not name.startswith(TELLS):
            continue
        says = json.loads(name.removeprefix(TELLS))
        marks = list(artist.iter(f"{{{SVG}}}use"))
        for place, text in zip(marks if len(marks) == len(says) else [artist], says, strict=False):
            title = ElementTree.Element(f"{{{SVG}}}title")
            title.text = text
            place.insert(0, title)
            place.set("class", "point")


def _plain_styles(root: ElementTree.Element, ink: str) -> None:
    """Turn style attributes into attributes of their own, which mean the same and need no permission."""
    root.set("stroke-linejoin", "round")  # what matplotlib says once, in a style element
    for element in root.iter():
        for key, value in _styles(element.attrib.pop("style", "")):
            element.set(key, ink if value.lower() == INK else value)
        if element.tag == f"{{{SVG}}}text":
            if "  " in f" {element.text or ''} ":  # blanks at an end, or several in a row
                element.set(KEEP_BLANKS, "preserve")
            element.attrib.setdefault("fill", "black")


def _styles(text: str) -> Iterator[tuple[str, str]]:
    for part in text.split(";"):
        key, _, value = (piece.strip() for piece in part.partition(":"))
        if key == "font":  # "7px 'DejaVu Sans', ...": what older versions of matplotlib write
            size = re.search(r"([\d.]+)px", value)
            yield "font-size", size[1] if size else "8"
            yield "font-family", SANS
        elif key.startswith("font-"):
            yield key, SANS if key == "font-family" else value.removesuffix("px")
        elif key:
            yield key, value


def _number_names(root: ElementTree.Element) -> list[str]:
    """Number what is referred to, in the order in which it is, and forget all other names; return the new ones."""
    used: dict[str, str] = {}
    for element in root.iter():
        for name in _references(element):
            used.setdefault(name, f"{PREFIX}-{len(used)}")
    _rename(root, used)
    return list(used.values())


def _own_names(root: ElementTree.Element, names: list[str]) -> None:
    """Rename what is referred to once more, so that several pictures can share a page.

    Names come from what is drawn, to the digits that are written: the last bits of a number are not the same on every
    run of a computation in several threads.
    """
    prefix = hashlib.sha256(ElementTree.tostring(root)).hexdigest()[: len(PREFIX)]
    _rename(root, {name: f"{prefix}{name[len(PREFIX) :]}" for name in names})


def _references(element: ElementTree.Element) -> list[str]:
    found = REFERENCE.findall(" ".join(element.attrib.values()))
    target = element.get(f"{{{LINK}}}href", "")
    return [*found, target[1:]] if target.startswith("#") else found


def _rename(root: ElementTree.Element, names: dict[str, str]) -> None:
    """Give what is referred to its new name, there and wherever it is referred to."""
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if key == "id" and value not in names:
                del element.attrib[key]
            elif key == "id":
                element.set(key, names[value])
            elif key == f"{{{LINK}}}href" and value.startswith("#"):
                element.set(key, f"#{names[value[1:]]}")
            elif "url(#" in value:
                element.set(key, REFERENCE.sub(lambda found: f"url(#{names[found[1]]})", value))
