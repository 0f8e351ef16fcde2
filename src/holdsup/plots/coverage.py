"""How much of the table each system has, and where its runs lie: the picture of an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.plots.labels import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.scores import Audit
    from holdsup.scores.coverage import SystemCoverage

__all__ = ["plot_coverage"]

# Okabe and Ito's colours: told apart by people with any kind of colour vision.
USED, UNUSABLE, MISSING = "#0072B2", "#E69F00", "#D9D9D9"
MOST_BARS = 60  # more would be too thin to be read on a page


def plot_coverage(audit: Audit, *, ax: Axes | None = None) -> Figure:
    """Draw a bar a system: rows used, rows without a usable score, cells without a row.

    Of more than 60 systems, those with the most missing or unusable rows are drawn.
    """
    from matplotlib.figure import Figure as NewFigure

    systems = _drawn(audit.systems)
    if ax is None:
        ax = NewFigure(figsize=(6.5, 0.28 * len(systems) + 1.5), layout="constrained").add_subplot()
    places = range(len(systems))
    used = [s.used for s in systems]
    unusable = [s.rows - s.used for s in systems]
    ax.barh(places, used, color=USED, label="used")
    ax.barh(places, unusable, left=used, color=UNUSABLE, hatch="//", edgecolor="white", label="no usable score")
    ax.barh(places, [s.missing for s in systems], left=[s.rows for s in systems], color=MISSING, label="no row")
    ax.set_yticks(places, [short(s.name if s.metric is None else f"{s.name}, {s.metric}") for s in systems])
    ax.set_ylim(len(systems) - 0.4, -0.6)  # the first on top, no empty margin
    ax.set_xlabel("rows (one for each item in each run)")
    ax.spines[["top", "right"]].set_visible(False)
    figure = ax.get_figure(root=True)
    assert figure is not None  # an Axes always sits on a figure
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, frameon=False, borderaxespad=0.2)
    if len(systems) < len(audit.systems):
        count = f"{len(systems)} of {len(audit.systems):,} systems: those with the most missing or unusable rows"
        ax.set_title(count, fontsize="medium", loc="left", pad=24)
    return figure


def _drawn(systems: tuple[SystemCoverage, ...]) -> list[SystemCoverage]:
    if len(systems) <= MOST_BARS:
        return list(systems)
    return sorted(systems, key=lambda s: s.used - s.rows - s.missing)[:MOST_BARS]
