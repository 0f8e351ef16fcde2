"""Cost against size: the curves that `growth.py` measured, their exponents and tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from holdsup.rendering import Table
from sweeps import SWEEPS

__all__ = ["LABELS", "Curve", "Exponent", "cost_table", "exponent", "growth_table", "load"]

LABELS = {"holdsup": "holdsup", "file": "holdsup, file", "mixedlm": "mixedlm", "lme4": "lme4"}
AGREED = 0.01  # units of -2 log-likelihood within which two optima are the same


@dataclass(frozen=True)
class Curve:
    """What one tool cost in one sweep.

    Attributes
    ----------
    sweep : name of the sweep
    tool : who was measured
    points : measurements, from small to large
    stopped : why the tool went no further; None if it reached the end
    """

    sweep: str
    tool: str
    points: tuple[dict[str, float], ...]
    stopped: str | None

    def of(self, name: str) -> list[float]:
        """Return one number of every point."""
        return [float(point[name]) for point in self.points]


class Exponent(NamedTuple):
    """The power of size by which cost grows: its value, the least and most between neighbours, and from which size."""

    value: float
    low: float
    high: float
    start: float


def load(file: Path) -> list[Curve]:
    """Return the curves of a file of results; of several runs, a tool's last in each sweep."""
    last: dict[tuple[str, str], list[dict[str, float]]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        run: dict[tuple[str, str], list[dict[str, float]]] = {}
        for row in json.loads(line)["rows"]:
            run.setdefault((row["sweep"], row["who"]), []).append(row)
        last.update(run)
    curves = []
    for (sweep, tool), rows in last.items():
        stopped = next((str(row["stopped"]) for row in rows if "stopped" in row), None)
        curves.append(Curve(sweep, tool, tuple(row for row in rows if "stopped" not in row), stopped))
    places = (list(SWEEPS), list(LABELS))
    return sorted(curves, key=lambda c: (places[0].index(c.sweep), places[1].index(c.tool)))


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> Exponent:
    """Return the slope of log cost against log size over the upper half of a curve of two points or more."""
    start = min(len(sizes) // 2, len(sizes) - 2)
    x, y = np.log(sizes[start:]), np.log(costs[start:])
    between = np.diff(y) / np.diff(x)
    return Exponent(float(np.polyfit(x, y, 1)[0]), float(between.min()), float(between.max()), sizes[start])


def cost_table(curves: Sequence[Curve]) -> Table:
    """Return seconds and memory of every tool at every size."""
    sweep = SWEEPS[curves[0].sweep]
    sizes = sorted({point["size"] for curve in curves for point in curve.points})
    cells = []
    for size in sizes:
        here = [next((point for point in curve.points if point["size"] == size), None) for curve in curves]
        seconds = ["stopped" if point is None else f"{point['cpu']:.3g}" for point in here]
        memory = ["" if point is None else f"{point['peak_mb']:,.0f}" for point in here]
        cells.append((f"{size:,g}" if size < 1e6 else f"{size:,.0f}", *seconds, *memory))
    names = [LABELS[curve.tool] for curve in curves]
    columns = (sweep.axis, *(f"{name}, s" for name in names), *(f"{name}, MB" for name in names))
    return Table(title=f"{sweep.name}: {sweep.held}", columns=columns, rows=tuple(cells))


def growth_table(curves: Sequence[Curve]) -> Table:
    """Return how cost grows: exponents, or multiples of the first point; and whether all found the same optimum."""
    long = [curve for curve in curves if len(curve.points) > 1]
    best = _best(curves)
    if SWEEPS[curves[0].sweep].power:
        columns = ["time ~ size^", "between neighbours", "memory ~ size^", "from size", "to"]
        cells = [_powers(curve) for curve in long]
    else:
        columns = ["time, most / first", "at", "memory, most / first", "at"]
        cells = [_multiples(curve) for curve in long]
    rows = tuple(
        (LABELS[curve.tool], *row, _gap(curve, best), curve.stopped or "")
        for curve, row in zip(long, cells, strict=True)
    )
    return Table(title="growth", columns=("who", *columns, "criterion", "stopped"), rows=rows)


def _powers(curve: Curve) -> list[str]:
    sizes = curve.of("size")
    time, memory = exponent(sizes, curve.of("cpu")), exponent(sizes, curve.of("peak_mb"))
    between = f"{time.low:.2f} to {time.high:.2f}"
    return [f"{time.value:.2f}", between, f"{memory.value:.2f}", f"{time.start:,.0f}", f"{sizes[-1]:,.0f}"]


def _multiples(curve: Curve) -> list[str]:
    cells = []
    for name in ("cpu", "peak_mb"):
        costs = curve.of(name)
        most = int(np.argmax(costs))
        cells.extend((f"{costs[most] / costs[0]:.2f}", f"{curve.points[most]['size']:g}"))
    return cells


def _best(curves: Sequence[Curve]) -> dict[float, float]:
    """Return the lowest criterion that any tool found on each table."""
    best: dict[float, float] = {}
    for point in (point for curve in curves for point in curve.points):
        best[point["size"]] = min(best.get(point["size"], np.inf), point["answer"])
    return best


def _gap(curve: Curve, best: dict[float, float]) -> str:
    """Return by how much a tool's criterion exceeds the best of the same table, at most."""
    gap = max(point["answer"] - best[point["size"]] for point in curve.points)
    return "as the best" if gap < AGREED else f"{gap:.2g} above"
