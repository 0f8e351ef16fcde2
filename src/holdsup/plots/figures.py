"""`plot(result)`: the picture that answers a result's question, or another one by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdsup.errors import ResultError, list_names
from holdsup.plots.comparison import panels_of_comparison
from holdsup.plots.contest import panels_of_contest
from holdsup.plots.coverage import panels_of_audit
from holdsup.plots.drawing import draw_bytes, draw_svg
from holdsup.plots.forest import panels_of_fit
from holdsup.plots.gate import panels_of_gate
from holdsup.plots.panels import Panel
from holdsup.plots.places import panels_of_places
from holdsup.plots.plan import panels_of_plan
from holdsup.plots.ranking import panels_of_ranking
from holdsup.plots.reproduction import panels_of_reproduction
from holdsup.plots.style import INK, STATES, in_style, plain
from holdsup.plots.tuning import panels_of_estimates, panels_of_study, panels_of_tuning
from holdsup.plots.variance import panels_of_variance
from holdsup.rendering.text import shorten, wrap_text
from holdsup.results import Result, write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The pictures of each kind of result: the first answers its question.
FIGURES: dict[str, Callable[..., Iterable[Panel]]] = {
    "check": panels_of_audit,
    "compare": panels_of_comparison,
    "contest": panels_of_contest,
    "estimate-study": panels_of_estimates,
    "fit": panels_of_fit,
    "gate": panels_of_gate,
    "plan": panels_of_plan,
    "glmm": panels_of_fit,
    "qra": panels_of_reproduction,
    "rank": panels_of_ranking,
    "rank_runs": panels_of_places,
    "tune": panels_of_tuning,
    "tune-study": panels_of_study,
    "variance": panels_of_variance,
    "votes": panels_of_places,
}
ENDINGS = (".svg", ".pdf", ".png")
TITLE_LINE = 0.155  # inches
TITLE_LETTERS = 12  # an inch
TITLE_LINES = 3


def plot(result: Result, *, figure: str | None = None, ax: Axes | None = None) -> Figure:
    """Return the picture that answers the result's question, with the answer as its title; drawn on `ax` if given.

    Parameters
    ----------
    result : what a function answered, or `read_result` read
    figure : the name of another of its pictures, such as "pairs"; a wrong name lists them
    ax : the matplotlib Axes to draw on
    """
    if not isinstance(result, Result):
        raise ResultError(f"plot takes a result, not a {type(result).__name__}: {_way_to_a_result(result)}")
    if result.kind not in FIGURES:
        raise ResultError(f"there is no figure for {result.kind!r}; there is one for {list_names(FIGURES)}")
    panels = {panel.name: panel for panel in find_panels(result)}
    if not panels:
        raise ResultError(f"this {result.kind} result has nothing to draw")
    if figure is not None and figure not in panels:
        raise ResultError(f"there is no figure {figure!r} of this {result.kind} result; it has {list_names(panels)}")
    first = next(iter(panels))
    drawn = panels[figure or first].draw(ax=ax)
    if figure in (None, first):
        _entitle(drawn, ax, result)
    return drawn


def _way_to_a_result(given: Any) -> str:
    if isinstance(given, str | Path):
        return "read a saved one with holdsup.read_result(path) first"
    return "make one first, with holdsup.audit_scores(...) say"


@in_style
def _entitle(drawn: Figure, ax: Axes | None, result: Result) -> None:
    """Write the question and its answer above a picture, in the colour and with the shape of the answer."""
    answer = result.answer()
    shape, colour = STATES[answer.state] if answer.state else ("", INK)
    word = f"{shape} {answer.state.upper()}  " if answer.state else ""
    width, height = drawn.get_size_inches()
    line = round(TITLE_LETTERS * width)
    lines = [plain(each) for each in wrap_text(f"{word}{shorten(answer.question, TITLE_LINES * line)}", line)]
    look: dict[str, Any] = {"color": colour, "fontsize": 8, "fontweight": "bold"}
    if ax is not None:
        ax.set_title("\n".join(lines), loc="left", **look)
        return
    drawn.set_size_inches(width, height + TITLE_LINE * (len(lines) + 0.4))
    drawn.suptitle("\n".join(lines), x=0.01, ha="left", **look)


def find_panels(result: Result) -> list[Panel]:
    """Return the pictures of a result, the one that answers its question first; none if it has none."""
    return list(FIGURES[result.kind](result)) if result.kind in FIGURES else []


def save_plot(result: Result, path: str | Path, *, figure: str | None = None) -> None:
    """Write the picture of a result, or the one that is named, as SVG, PDF or PNG by the ending of the name."""
    file = Path(path)
    if file.suffix.lower() not in ENDINGS:
        raise ResultError(f"cannot write a picture to {file}: its name must end in {', '.join(ENDINGS)}")
    save_figure(plot(result, figure=figure), file)


def save_plots(result: Result, folder: str | Path) -> list[Path]:
    """Write every picture of a result as an SVG file of its own into a folder, which is made if need be."""
    panels = find_panels(result)
    if not panels:
        raise ResultError(f"there is no figure for {result.kind!r}; there is one for {list_names(FIGURES)}")
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultError(f"cannot make the folder {place}: {error.strerror or error}") from error
    files = [place / f"{panel.name}.svg" for panel in panels]
    for panel, file in zip(panels, files, strict=True):
        save_plot(result, file, figure=panel.name)
    return files


def save_figure(figure: Figure, file: Path) -> None:
    """Write a figure as SVG, PDF or PNG, by the ending of the file's name."""
    write_file(file, draw_file(figure, file.suffix.lower()))


def draw_file(figure: Figure, ending: str) -> bytes:
    """Return the content of a file with this ending; the same figure gives the same bytes."""
    if ending == ".svg":
        head = '<?xml version="1.0" encoding="utf-8"?>\n'
        return f"{head}{draw_svg(figure, follow_page=False)}\n".encode()
    return draw_bytes(figure, ending[1:])
