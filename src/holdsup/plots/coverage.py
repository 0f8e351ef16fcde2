"""How much of the table each system has, and where its runs lie: the picture of an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.rendering.table import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.scores import Audit

__all__ = ["plot_coverage"]

# Okabe and Ito's colours: told apart by people with any kind of colour vision.
USED, UNUSABLE, MISSING = "#0072B2", "#E69F00", "#D9D9D9"


def plot_coverage(audit: Audit, *, ax: Axes | None = None) -> Figure:
    """Draw a bar a system: rows used, rows without a usable score, cells without a row."""
    from matplotlib.figure import Figure as NewFigure

    systems = audit.systems
    if ax is None:
        ax = NewFigure(figsize=(6.5, 0.32 * len(systems) + 1.4), layout="constrained").add_subplot()
    places = range(len(systems))
    used = [s.used for s in systems]
    unusable = [s.rows - s.used for s in systems]
    ax.barh(places, used, color=USED, label="used")
    ax.barh(places, unusable, left=used, color=UNUSABLE, hatch="//", edgecolor="white", label="no usable score")
    ax.barh(places, [s.missing for s in systems], left=[s.rows for s in systems], color=MISSING, label="no row")
    ax.set_yticks(places, [_short(s.name) for s in systems])
    ax.invert_yaxis()
    ax.set_xlabel("rows (cells of item and run)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    return figure


def _short(name: str) -> str:
    """Return a label that cannot be read as mathematics and leaves room for the bars."""
    shown = visible(name).replace("$", r"\$")
    return shown if len(shown) <= 32 else f"{shown[:31]}…"
