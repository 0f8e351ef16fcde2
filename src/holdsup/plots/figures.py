"""`plot(result)`: the figure that belongs to a result, whatever its kind."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdsup.errors import ResultError, list_names
from holdsup.plots.comparison import plot_comparison
from holdsup.plots.contest import plot_contest
from holdsup.plots.coverage import plot_coverage
from holdsup.plots.forest import plot_effects
from holdsup.plots.ranking import plot_ranking
from holdsup.plots.reproduction import plot_reproduction
from holdsup.plots.tuning import plot_tuning
from holdsup.plots.tuning_studies import plot_choices, plot_estimates
from holdsup.plots.variance import plot_variance
from holdsup.results import Result, write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot", "save_plot"]

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


def save_plot(result: Result, path: str | Path) -> None:
    """Write the figure of a result as SVG, PDF or PNG, by the ending of `path`."""
    file = Path(path)
    kind = file.suffix.lower()
    if kind not in ENDINGS:
        raise ResultError(f"cannot write a picture to {file}: its name must end in {', '.join(ENDINGS)}")
    import matplotlib

    # No date and a fixed salt: the same result gives the same bytes.
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(kind)
    drawn = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "holdsup"}), warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box; the tables show it as it is.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        plot(result).savefig(drawn, format=kind[1:], dpi=200, metadata=metadata)
    write_file(file, drawn.getvalue())
