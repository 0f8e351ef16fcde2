"""A figure as PDF, as PNG, or as SVG that can stand in any page: no names that clash, no styles, letters as letters.

A strict page allows no inline styles, so they become attributes. What is drawn in `INK` takes the colour of the text
around it, which is what makes one picture fit light and dark pages. Points that tell what they are get titles.

A drawing repeats itself: every mark says its colours, every letter its font, every number has six decimals. What all
parts of a group say is said once, by the group; a hundredth of a point is finer than any printer.
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

from holdsup.plots.look import INK, TELLS, in_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SVG, LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
KEEP_BLANKS = "{http://www.w3.org/XML/1998/namespace}space"
SANS = "'DejaVu Sans', Verdana, Geneva, sans-serif"  # the font that the layout is made for, and those as wide
PREFIX = 8 * "0"  # of names, until what is drawn gives them one
REFERENCE = re.compile(r"url\(#([^)]+)\)")

TAG = f"{{{SVG}}}"
# What a part takes from the group that it is in, unless it says so itself.
INHERITED = (
    "fill", "fill-opacity", "fill-rule", "font-family", "font-size", "font-weight", "font-style", "stroke",
    "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit",
    "stroke-opacity", "stroke-width", "text-anchor",
)  # fmt: skip
PLACES = ("x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "d", "points", "transform")
DECIMALS = re.compile(r"-?\d+\.\d{3,}")
NO_TURN = re.compile(r"rotate\(-?0(\.0+)?[ ,)][^)]*\)?")

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
            if child.tag in {f"{TAG}{name}" for name in names}:
                parent.remove(child)


def _tell(root: ElementTree.Element) -> None:
    """Give points their titles: each mark of an artist that has one text a mark, else the artist as a whole."""
    for artist in root.iter():
        name = artist.get("id", "")
        if not name.startswith(TELLS):
            continue
        says = json.loads(name.removeprefix(TELLS))
        marks = list(artist.iter(f"{TAG}use"))
        for place, text in zip(marks if len(marks) == len(says) else [artist], says, strict=False):
            title = ElementTree.Element(f"{TAG}title")
            title.text = text
            place.insert(0, title)
            place.set("class", "point")


def _plain_styles(root: ElementTree.Element, ink: str) -> None:
    """Turn style attributes into attributes of their own, which mean the same and need no permission."""
    root.set("stroke-linejoin", "round")  # what matplotlib says once, in a style element
    for element in root.iter():
        for key, value in _styles(element.attrib.pop("style", "")):
            element.set(key, ink if value.lower() == INK else value)
        if element.tag == f"{TAG}text":
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
    if element.tag not in (f"{TAG}text", f"{TAG}tspan", f"{TAG}title"):
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
    parts = [part for part in element if part.tag not in (f"{TAG}defs", f"{TAG}title")]
    for part in parts:
        if part.tag == f"{TAG}g":
            _share(part)
    for key in INHERITED if len(parts) > 1 else ():
        values = {part.get(key) for part in parts if part.tag != f"{TAG}image"}
        if key not in element.attrib and len(values) == 1 and (value := values.pop()) is not None:
            element.set(key, value)
            for part in parts:
                part.attrib.pop(key, None)


def _unwrap(element: ElementTree.Element) -> None:
    """Put the parts of groups that say nothing in the place of the group."""
    place = 0
    while place < len(element):
        part = element[place]
        if part.tag == f"{TAG}g" and not part.attrib:
            element[place : place + 1] = list(part)
        else:
            _unwrap(part)
            place += 1
