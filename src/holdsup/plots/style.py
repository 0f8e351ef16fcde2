"""One look for all figures: colours, sizes, letters, and where a figure says more than it can show.

Figures are drawn as wide as a column of a two-column paper, with letters that can be read there. On a page they grow.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from holdsup.plots.labels import LONGEST
from holdsup.rendering.numbers import format_interval, format_number
from holdsup.rendering.table import visible

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS", "COLUMN", "DASHES", "FAINT", "FRAME", "INK", "MARK", "MARKS", "MUTED", "ROW", "SMALL", "TELLS",
    "UNSURE", "add_legend", "draw_intervals", "explain_axis", "figure_of", "in_style", "legend_height", "new_axes",
    "one_palette", "rasterize_many", "say_estimate", "system_colours", "tell",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")

# Okabe and Ito's colours, told apart with any kind of colour vision; those with the most contrast come first. Lines
# also differ in their marks or dashes, for print without colour.
INK = "#222222"  # letters and axes; on a page, whatever colour its letters have
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK)
MARKS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")
MARK = COLOURS[0]  # of what has no colour of its own
UNSURE = "#8C8C8C"  # what cannot be told apart
MUTED, FAINT = "#8C8C8C", "#BDBDBD"  # what is only there for comparison

COLUMN = 3.3  # inches: one column of a paper of two
ROW, FRAME = 0.22, 0.55  # inches a line of a figure takes, and what stands around the lines
SMALL = 7  # points: letters that are still read there
LEGEND_LETTERS, LEGEND_ROW = 50, 0.15  # letters of a legend that stand side by side, and inches a line of it takes
MOST_POINTS = 400  # of one artist; more are drawn as one picture, which stays small

LOOK: dict[Any, Any] = {
    "font.size": 8,
    "axes.labelsize": 7.5,
    "axes.titlesize": 7.5,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "legend.title_fontsize": SMALL,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "legend.columnspacing": 1.2,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.useoffset": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "hatch.linewidth": 0.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
}

TELLS = "tells:"  # begins the name of an artist whose points say what they are


def in_style(draw: Callable[P, R]) -> Callable[P, R]:
    """Return a function that draws in the look that all figures share, whatever the user's settings are."""

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        import matplotlib.style

        with matplotlib.style.context(["default", LOOK]):
            return draw(*args, **kwargs)

    return drawn


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


def system_colours(systems: Iterable[str], *, repeat: bool = False) -> dict[str, str]:
    """Return a colour for each system, by the order of their names; within `one_palette`, of all names there.

    More systems than there are colours all have the same one: a repeated colour would say that two belong together.
    Only lines that differ in something else, too, may `repeat` them.

    >>> system_colours(["B", "A"]) == {"A": COLOURS[0], "B": COLOURS[1]}
    True
    """
    names = sorted({*systems, *_palette.get()})
    if len(names) > len(COLOURS) and not repeat:
        return dict.fromkeys(names, MARK)
    return {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(names)}


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
    longest = max((min(len(name), LONGEST) for name in names), default=0)
    return max(1, min(len(names), LEGEND_LETTERS // (longest + 6)))


def say_estimate(value: float, low: float, high: float) -> str:
    """Return an estimate and its limits, as tables write them.

    >>> say_estimate(0.7123, 0.7001, 0.7246)
    '0.712 [0.700, 0.725]'
    """
    if not math.isfinite(high - low):
        return format_number(value)
    return f"{format_number(value, uncertainty=(high - low) / 2)} {format_interval(low, high)}"
