"""`plot(result)`: the figure that belongs to a result, whatever its kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from holdsup.errors import ResultError, list_names
from holdsup.plots.coverage import plot_coverage
from holdsup.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot", "save_plot"]

FIGURES = {"check": plot_coverage}
ENDINGS = (".svg", ".pdf", ".png")


def plot(result: Result, *, ax: Axes | None = None) -> Figure:
    """Return the figure of a result, drawn on `ax` if given."""
    if result.kind not in FIGURES:
        raise ResultError(f"there is no figure for {result.kind!r}; there is one for {list_names(FIGURES)}")
    return FIGURES[result.kind](result, ax=ax)  # type: ignore[arg-type]  # the kind says which class it is


def save_plot(result: Result, path: str | Path) -> None:
    """Write the figure of a result as SVG, PDF or PNG, by the ending of `path`."""
    file = Path(path)
    if file.suffix.lower() not in ENDINGS:
        raise ResultError(f"cannot write a picture to {file}: its name must end in {', '.join(ENDINGS)}")
    import matplotlib

    # No date and a fixed salt: the same result gives the same bytes.
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(file.suffix.lower())
    try:
        with matplotlib.rc_context({"svg.hashsalt": "holdsup"}):
            plot(result).savefig(file, dpi=200, metadata=metadata)
    except OSError as error:
        raise ResultError(f"cannot write the picture {file}: {error.strerror or error}") from error
