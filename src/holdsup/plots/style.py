"""One look for all figures: colours, sizes, letters, names as labels, and what points say of themselves.

Figures are drawn as wide as a column of a two-column paper, with letters that can be read there. On a page they grow.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

from holdsup.plots.look import INK as INK, SMALL as SMALL, TELLS as TELLS, in_style as in_style
from holdsup.rendering.numbers import format_interval, format_number
from holdsup.rendering.table import visible
from holdsup.rendering.text import display_width, first_columns, shorten

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart with any kind of colour vision; those with the most contrast come first. Lines
# also differ in their marks or dashes, for print without colour.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
MARKS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")
MARK = COLOURS[0]  # of what has no colour of its own
UNSURE = "#8C8C8C"  # what can't be told apart
BETTER, WORSE = "#1457A8", "#B0370F"  # the two sides of a difference; blue and vermilion are equally dark
STATES = {"yes": ("●", BETTER), "no": ("■", WORSE), "unclear": ("◆", "#765700")}  # a shape, a colour, beside the word
MUTED, FAINT = "#8C8C8C", "#BDBDBD"  # what is only there for comparison

COLUMN = 3.3  # inches: one column of a paper of two
ROW, FRAME = 0.22, 0.55  # inches a line of a figure takes, and what stands around the lines
LINE = 52  # letters below the axes that fit a column
LONGEST = 26  # letters of a label
PLACES, TURNED = 44, 12  # letters below axes that stand side by side, and of a name that is turned
LEGEND_LETTERS, LEGEND_ROW = 50, 0.15  # letters of a legend that stand side by side, and inches a line of it takes
MOST_POINTS = 400  # of one artist; more are drawn as one picture, which stays small


def new_axes(height: float, *, width: float = COLUMN) -> Axes:
    """Return the axes of a figure of its own."""
    from holdsup.plots.notebook import NotebookFigure

    return NotebookFigure(figsize=(width, height), layout="constrained").add_subplot()


def figure_of(ax: Axes) -> Figure:
    """Return the figure that an Axes sits on."""
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure


_palette: ContextVar[tuple[str, ...]] = ContextVar("palette", default=())


@contextmanager
def one_palette(systems: Iterable[str]) -> Iterator[None]:
    """Give each of these systems one colour in all figures that are drawn meanwhile."""
    token = _palette.set(tuple(systems))
    try:
        yield
    finally:
        _palette.reset(token)


def system_colours(systems: Iterable[str], *, first: str = "") -> dict[str, str]:
    """Return a colour for each system, by the order of their names; within `one_palette`, of all names there.

    No colour is given twice, for that would say that two systems belong together: of more systems than there are
    colours the `first` is highlighted, and all others are grey.

    >>> system_colours(["B", "A"]) == {"A": COLOURS[0], "B": COLOURS[1]}
    True
    """
    names = sorted({*systems, *_palette.get()})
    if len(names) > len(COLOURS):
        return {name: MARK if name == first else UNSURE for name in names}
    return dict(zip(names, COLOURS, strict=False))


def line_looks(count: int) -> list[dict[str, Any]]:
    """Return the looks of so many lines, each of which can be told from all others, also without colours."""
    many = count > len(COLOURS)
    return [
        {
            "color": (UNSURE if place else MARK) if many else COLOURS[place],
            "marker": MARKS[place % len(MARKS)],
            "linestyle": DASHES[(place // len(MARKS) if many else place) % len(DASHES)],
        }
        for place in range(count)
    ]


def draw_intervals(
    ax: Axes,
    labels: Sequence[str],
    limits: Sequence[tuple[float, float, float]],
    colours: Sequence[str],
    says: Sequence[str],
) -> None:
    """Draw (low, middle, high) of each label as a line with a dot, the first on top, each with what it `says`."""
    for place, ((low, middle, high), colour, text) in enumerate(zip(limits, colours, says, strict=True)):
        (line,) = ax.plot([low, high], [place, place], color=colour, linewidth=1.6, solid_capstyle="butt")
        (dot,) = ax.plot(middle, place, "o", color=colour)
        tell(line, [text])
        tell(dot, [text])
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)


def explain_axis(ax: Axes, *lines: str) -> None:
    """Say below the axes what is drawn along them; flush right, so that long lines have the whole width."""
    ax.set_xlabel("\n".join(line for line in lines if line), loc="right")
    ax.xaxis.label.set_multialignment("right")


def write_beside(ax: Axes, place: float, words: str, *, aside: float = 0.0, family: str = "sans-serif") -> None:
    """Write at the right of a line, some points `aside`."""
    ax.annotate(
        words, (1.0, place), (4 + aside, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
        va="center", fontsize=SMALL - 1, family=family, annotation_clip=False,
    )  # fmt: skip


def tell(artist: Artist, says: Sequence[str]) -> None:
    """Have the points of an artist say what they are: as titles in SVG, which a page shows under the pointer."""
    artist.set_gid(TELLS + json.dumps([visible(text) for text in says]))


def rasterize_many(artist: Artist, count: int, *, most: int = MOST_POINTS) -> None:
    """Draw an artist of very many points as one picture."""
    if count > most:
        artist.set_rasterized(True)


def add_legend(ax: Axes, *, title: str | None = None, flush: Literal["left", "right"] = "left") -> None:
    """Put the legend above the axes, in as many columns as the width of the figure has room for.

    Beside long names of lines the axes are narrow: a legend that is `flush` right has the room above the names, too.
    """
    names = [str(text) for text in ax.get_legend_handles_labels()[1]]
    if names:
        ax.legend(
            loc="lower right" if flush == "right" else "lower left", bbox_to_anchor=(float(flush == "right"), 1.0),
            borderaxespad=0.2,
            ncols=_legend_columns(names), title=title, alignment="left",
        )  # fmt: skip


def legend_height(names: Iterable[str]) -> float:
    """Return the inches that the legend of these names takes above the axes."""
    shown = list(names)
    return LEGEND_ROW * -(-len(shown) // _legend_columns(shown)) if shown else 0.0


def _legend_columns(names: Sequence[str]) -> int:
    longest = max((min(display_width(name), LONGEST) for name in names), default=0)
    return max(1, min(len(names), LEGEND_LETTERS // (longest + 6)))


def say_estimate(value: float, low: float, high: float) -> str:
    """Return an estimate and its interval, as tables write them.

    >>> say_estimate(0.7123, 0.7001, 0.7246)
    '0.712 (0.700 to 0.725)'
    """
    if not math.isfinite(high - low):
        return format_number(value)
    return f"{format_number(value, uncertainty=(high - low) / 2)} ({format_interval(low, high)})"


def plain(name: str) -> str:
    r"""Return a label that is not read as mathematics, and not left out of a legend because of its first letter.

    >>> plain("_b$")
    ' _b\\$'
    """
    shown = visible(name).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def short(name: str, longest: int = LONGEST) -> str:
    """Return a label that leaves room for the picture: of a long name its beginning.

    >>> short("questions-on-law", 12), short("模型模型模型", 8)
    ('questions-o…', '模型模…')
    """
    shown = visible(name)
    return plain(shown if display_width(shown) <= longest else f"{first_columns(shown, longest - 1)}…")


def short_apart(names: Iterable[str], longest: int = LONGEST) -> list[str]:
    """Return labels of several names; where the same beginning would make two alike, the middle is left out instead.

    >>> short_apart(["questions-on-law", "word"], 12), short_apart(["questions-on-law", "questions-on-art"], 12)
    (['questions-o…', 'word'], ['questi…n-law', 'questi…n-art'])
    """
    known = list(names)
    cut = [short(name, longest) for name in known]
    if len(set(cut)) == len(set(known)):
        return cut
    return [plain(shorten(name, longest)) for name in known]


def name_places(ax: Axes, names: Sequence[str]) -> None:
    """Write names below the places 0, 1, ... of an axis; those that have no room side by side are turned."""
    room = PLACES // max(len(names), 1) - 2
    if room >= TURNED or all(display_width(name) <= room for name in names):
        ax.set_xticks(range(len(names)), short_apart(names, room))
    else:
        ax.set_xticks(range(len(names)), short_apart(names, TURNED), rotation=45, ha="right", rotation_mode="anchor")


def short_pair(left: str, right: str) -> str:
    r"""Return "left - right", on two lines where one is too short for it.

    >>> short_pair("A", "B"), short_pair("a" * 20, "b" * 10)
    ('A - B', 'aaaaaaaaaaaaaaaaaaaa\n- bbbbbbbbbb')
    """
    gap = " - " if display_width(left) + display_width(right) <= LONGEST else "\n- "
    return f"{short(left)}{gap}{short(right)}"
