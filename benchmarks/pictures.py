"""The figures of `growth.py`, and the page of the documents that shows them beside the printed tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from curves import LABELS, Curve, cost_table, growth_table
from holdsup.plots import save_figure
from holdsup.rendering.text import render_text
from sweeps import SWEEPS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "printed", "replace_tables", "write_documents"]

# Okabe and Ito's colours: told apart by people with any kind of colour vision.
COLOURS = {"holdsup": "#0072B2", "file": "#56B4E9", "mixedlm": "#E69F00", "lme4": "#D55E00"}
MARKS = {"holdsup": "o", "file": "D", "mixedlm": "s", "lme4": "^"}
PANELS = {"cpu": "CPU seconds", "peak_mb": "peak memory, MB"}
WIDTH = 120  # columns of a printed table
LINE = 0.06  # height of a line of text, as a share of an axis


def printed(curves: Sequence[Curve], sweep: str) -> str:
    """Return the tables of one sweep as text."""
    mine = [curve for curve in curves if curve.sweep == sweep]
    return f"{render_text(cost_table(mine), width=WIDTH)}\n{render_text(growth_table(mine), width=WIDTH)}"


def draw(curves: Sequence[Curve]) -> Figure:
    """Return time and memory against size, a line a tool, each named where it ends."""
    from matplotlib.figure import Figure as NewFigure

    figure = NewFigure(figsize=(8.5, 3.4), layout="constrained")
    for place, name in enumerate(PANELS):
        _draw_panel(figure.add_subplot(1, 2, place + 1), [curve for curve in curves if curve.points], name)
    return figure


def _draw_panel(ax: Axes, curves: Sequence[Curve], name: str) -> None:
    sweep = SWEEPS[curves[0].sweep]
    for curve in curves:
        style = {"color": COLOURS[curve.tool], "marker": MARKS[curve.tool], "markersize": 4, "linewidth": 1.5}
        ax.plot(curve.of("size"), curve.of(name), **style)
    if sweep.power:
        ax.set_xscale("log")
    ax.set_yscale("log")
    costs = np.log10([cost for curve in curves for cost in curve.of(name)])
    ax.set_ylim(10 ** np.floor(costs.min()), 10 ** (np.floor(costs.max()) + 1))  # whole decades
    ax.yaxis.set_major_formatter("{x:,g}")
    ax.set_xlabel(sweep.axis)
    ax.set_title(PANELS[name], fontsize="medium", loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, color="0.9", linewidth=0.6)
    _name_ends(ax, curves, name)


def _name_ends(ax: Axes, curves: Sequence[Curve], name: str) -> None:
    """Write each tool's name beside its last point; names of lines that end together are moved apart."""
    low, high = np.log10(ax.get_ylim())
    taken: dict[float, float] = {}
    for curve in sorted(curves, key=lambda curve: curve.of(name)[-1]):
        size, cost = curve.of("size")[-1], curve.of(name)[-1]
        place = max(np.log10(cost), taken.get(size, -np.inf) + LINE * (high - low))
        taken[size] = float(place)
        style = {"color": COLOURS[curve.tool], "fontsize": "small", "va": "center"}
        ax.annotate(LABELS[curve.tool], (size, 10**place), (6, 0), textcoords="offset points", **style)


def write_documents(curves: Sequence[Curve], docs: Path) -> None:
    """Write a figure for each sweep, and its tables into growth.md below the comment that names the sweep."""
    page = docs / "growth.md"
    text = page.read_text(encoding="utf-8")
    for sweep in dict.fromkeys(curve.sweep for curve in curves):
        (docs / "figures").mkdir(exist_ok=True)
        save_figure(draw([c for c in curves if c.sweep == sweep]), docs / "figures" / f"growth-{sweep}.svg")
        text = replace_tables(text, page, sweep, printed(curves, sweep))
    page.write_text(text, encoding="utf-8")


def replace_tables(text: str, page: Path, name: str, tables: str) -> str:
    """Return the text of a page with the block of tables below the comment that names it replaced."""
    start = f"<!-- {name} -->\n```text\n"
    replaced, count = re.subn(rf"{start}.*?```", lambda _: f"{start}{tables}\n```", text, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(
            f"{page.name} has {count} places for the tables of {name!r}; it needs one: {start!r}, then ```"
        )
    return replaced
