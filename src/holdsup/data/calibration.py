"""The calibration grid: in simulated evaluations whose truth is known, how often the rule of `compare` was wrong.

`calibration.csv` is made by `benchmarks/calibration_grid.py` from its results; what the cells are: docs/calibration.md.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["CalibrationCell", "Likeness", "calibration_cells"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """What two evaluations must have in common for their false positives to be alike."""

    scores: str  # two-valued, at-ends (of their scale), skewed or other
    systems: int
    items: int
    fewest_runs: int  # of a system
    most_runs: int
    clusters: bool  # whether items come in clusters
    loudness: float  # the largest standard deviation of a system's runs over the smallest, no less than 1
    lean: float  # how skewed run means must be where they vary near an end of the scale, or in proportion
    rarer: float  # of two values, the share of the rarer one, the smallest of any system; 1/2 of other scores


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationCell:
    """One design of the grid."""

    cell: str  # its number
    like: Likeness  # medians over tables, measured as in an evaluation whose truth nobody knows
    tables: int  # simulated evaluations
    false_positives: int  # in how many of them a pair was told apart at 5%, though none differs
    coverage: float  # share of them in which all simultaneous 95% CIs covered the truth


@cache
def calibration_cells() -> tuple[CalibrationCell, ...]:
    """Return the cells of the grid.

    >>> cells = calibration_cells()
    >>> 250 < len(cells) <= 300, min(cell.tables for cell in cells) >= 2000
    (True, True)
    """
    lines = (files("holdsup.data") / "calibration.csv").read_text(encoding="utf-8").splitlines()
    return tuple(map(_read, csv.DictReader(lines)))


def _read(row: dict[str, str]) -> CalibrationCell:
    like = Likeness(
        scores=row["scores"], systems=int(row["systems"]), items=int(row["items"]),
        fewest_runs=int(row["fewest_runs"]), most_runs=int(row["most_runs"]), clusters=row["clusters"] == "1",
        loudness=float(row["loudness"]), lean=float(row["lean"]), rarer=float(row["rarer"]),
    )  # fmt: skip
    return CalibrationCell(
        cell=row["cell"], like=like, tables=int(row["tables"]), false_positives=int(row["false_positives"]),
        coverage=float(row["coverage"]),
    )  # fmt: skip
