"""How much of the table each system has, and where its runs lie: the picture of an audit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from holdsup.plots import style
from holdsup.plots.panels import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.scores import Audit
    from holdsup.scores.audit import SystemCoverage

USED, UNUSABLE, MISSING = style.MARK, "#E69F00", "#D9D9D9"
LEGEND = ("used", "no usable score", "no row")
POINTS = 72  # an inch
MOST_BARS = 40  # more would be too thin to be read on a page


def panels_of_audit(audit: Audit) -> Iterator[Panel]:
    """Yield the bars of the systems."""
    yield Panel(
        name="coverage",
        shows="Rows of each system: used, without a usable score, and missing.",
        beside="systems",
        draw=partial(plot_coverage, audit),
    )


@style.in_style
def plot_coverage(audit: Audit, *, ax: Axes | None = None) -> Figure:
    """Draw a bar a system: rows used, rows without a usable score, cells without a row.

    Of more than 40 systems, those with the most missing or unusable rows are drawn.
    """
    systems = _drawn(audit.systems)
    title = 0.35 if len(systems) < len(audit.systems) else 0.0
    ax = ax or style.new_axes(style.ROW * len(systems) + style.FRAME + style.legend_height(LEGEND) + title)
    used = [s.used for s in systems]
    _bars(ax, systems, used, [0] * len(systems), color=USED, label=LEGEND[0])
    unusable = [s.rows - s.used for s in systems]
    _bars(ax, systems, unusable, used, color=UNUSABLE, hatch="//", edgecolor="white", label=LEGEND[1])
    _bars(ax, systems, [s.missing for s in systems], [s.rows for s in systems], color=MISSING, label=LEGEND[2])
    ax.set_yticks(range(len(systems)), style.short_apart(map(_name, systems)))
    ax.set_ylim(len(systems) - 0.4, -0.6)  # the first on top, no empty margin
    style.explain_axis(ax, "rows (one for each item in each run)")
    style.add_legend(ax, flush="right")
    if len(systems) < len(audit.systems):
        count = f"{len(systems)} of {len(audit.systems):,} systems: those with\nthe most missing or unusable rows"
        ax.set_title(count, loc="left", pad=POINTS * style.legend_height(LEGEND) + 6)
    return style.figure_of(ax)


def _bars(ax: Axes, systems: list[SystemCoverage], counts: list[int], start: list[int], **look: str) -> None:
    bars = ax.barh(range(len(systems)), counts, left=start, **look)  # type: ignore[arg-type]
    for bar, system, count in zip(bars, systems, counts, strict=True):
        style.tell(bar, [f"{_name(system)}, {look['label']}: {count:,}"])


def _name(system: SystemCoverage) -> str:
    return system.name if system.metric is None else f"{system.name}, {system.metric}"


def _drawn(systems: tuple[SystemCoverage, ...]) -> list[SystemCoverage]:
    if len(systems) <= MOST_BARS:
        return list(systems)
    return sorted(systems, key=lambda s: s.used - s.rows - s.missing)[:MOST_BARS]
