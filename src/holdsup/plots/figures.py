"""`plot(result)`: the figure that belongs to a result, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdsup.errors import ResultError, list_names
from holdsup.plots.comparison import panels_of_comparison, plot_comparison
from holdsup.plots.contest import panels_of_contest, plot_contest
from holdsup.plots.coverage import panels_of_audit, plot_coverage
from holdsup.plots.drawing import draw_bytes, draw_svg
from holdsup.plots.forest import panels_of_fit, plot_effects
from holdsup.plots.panels import Panel
from holdsup.plots.ranking import panels_of_ranking, plot_ranking
from holdsup.plots.reproduction import panels_of_reproduction, plot_reproduction
from holdsup.plots.style import COLUMN
from holdsup.plots.tuning import panels_of_tuning, plot_tuning
from holdsup.plots.tuning_studies import panels_of_estimates, panels_of_study, plot_choices, plot_estimates
from holdsup.plots.variance import panels_of_variance, plot_variance
from holdsup.results import Result, write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_file", "find_panels", "plot", "save_figure", "save_plot"]

FIGURES: dict[str, Callable[..., Figure]] = {
    "check": plot_coverage,
    "compare": plot_comparison,
    "contest": plot_contest,
    "estimate-study": plot_estimates,
    "fit": plot_effects,
    "qra": plot_reproduction,
    "rank": plot_ranking,
    "tune": plot_tuning,
    "tune-study": plot_choices,
    "variance": plot_variance,
}
PANELS: dict[str, Callable[..., list[Panel]]] = {
    "check": panels_of_audit,
    "compare": panels_of_comparison,
    "contest": panels_of_contest,
    "estimate-study": panels_of_estimates,
    "fit": panels_of_fit,
    "qra": panels_of_reproduction,
    "rank": panels_of_ranking,
    "tune": panels_of_tuning,
    "tune-study": panels_of_study,
    "variance": panels_of_variance,
}
ENDINGS = (".svg", ".pdf", ".png")


def plot(result: Result, *, ax: Axes | None = None) -> Figure:
    """Return the figure of a result, drawn on `ax` if given."""
    if not isinstance(result, Result):
        raise ResultError(f"plot takes a result, not a {type(result).__name__}: {_way_to_a_result(result)}")
    if result.kind not in FIGURES:
        raise ResultError(f"there is no figure for {result.kind!r}; there is one for {list_names(FIGURES)}")
    return FIGURES[result.kind](result, ax=ax)


def _way_to_a_result(given: Any) -> str:
    if isinstance(given, str | Path):
        return "read a saved one with holdsup.read_result(path) first"
    return "make one first, with holdsup.audit_scores(...) say"


def find_panels(result: Result) -> list[Panel]:
    """Return the pictures of a result one by one, each with the table that it stands beside; none if it has none."""
    if result.kind in PANELS:
        return PANELS[result.kind](result)
    if result.kind not in FIGURES:
        return []
    draw = partial(FIGURES[result.kind], result)
    return [Panel(name="figure", shows="", beside="", draw=draw, height=0.0, width=COLUMN)]


def save_plot(result: Result, path: str | Path) -> None:
    """Write the figure of a result as SVG, PDF or PNG, by the ending of `path`."""
    file = Path(path)
    if file.suffix.lower() not in ENDINGS:
        raise ResultError(f"cannot write a picture to {file}: its name must end in {', '.join(ENDINGS)}")
    save_figure(plot(result), file)


def save_figure(figure: Figure, file: Path) -> None:
    """Write a figure as SVG, PDF or PNG, by the ending of the file's name."""
    write_file(file, draw_file(figure, file.suffix.lower()))


def draw_file(figure: Figure, ending: str) -> bytes:
    """Return the content of a file with this ending; the same figure gives the same bytes."""
    if ending == ".svg":
        head = '<?xml version="1.0" encoding="utf-8"?>\n'
        return f"{head}{draw_svg(figure, follow_page=False)}\n".encode()
    return draw_bytes(figure, ending[1:])
