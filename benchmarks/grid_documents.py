"""The calibration grid in docs/calibration.md: a heat map and tables, made of the stored results.

python benchmarks/grid_documents.py
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from calibration import wilson
from holdsup.plots import save_figure
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import RESULTS
from pictures import replace_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOCS = Path(__file__).parent.parent / "docs"
WIDTH, MOST, LEAST = 150, 0.06, 0.025
PEERS = ("Kenward-Roger", "run means", "bootstrap", "McNemar", "GLRT", "evalstats")
# What an independent study found by the rule of decision 9 and, where it tried, by its moderated one, in percent:
# false positives and power by the first, then by the second.
BEFORE = {
    "2 systems, 3 runs": ("1 to 2", "35", "", ""),
    "2 systems, 3 runs, run sd 0": ("1 to 2", "48", "", ""),
    "3 systems, 3 runs": ("0.5", "16", "3.6", "57"),
    "5 systems, 3 runs": ("0.2", "2", "2.3", "43"),
    "5 systems, 3 runs, run sd 0": ("0.2", "14", "1.0", "93"),
    "5 systems, 5 runs": ("0.8", "51", "2.8", "84"),
    "10 systems, 3 runs": ("0.1", "0.1", "", ""),
    "10 systems, 5 runs": ("0.3", "12.5", "", ""),
    "runs 2, 3, 3, 5, 10, sd larger with fewer": ("0.4", "0", "8.9", "23"),
}
Row = dict
SCORES: dict[str, Callable[[Row], bool]] = {
    "normal": lambda row: row["scores"] == "normal",
    "beta": lambda row: row["scores"] == "beta",
    "zero-one inflated": lambda row: row["scores"] == "zero-one inflated",
    "lognormal": lambda row: row["scores"] == "lognormal",
    "Likert": lambda row: row["scores"] == "Likert",
    "0/1, .1 to .9": lambda row: row["scores"] == "0/1" and 0.1 <= row["share"] <= 0.9,
    "0/1, nearer the ends": lambda row: row["scores"] == "0/1" and not 0.1 <= row["share"] <= 0.9,
}
RUNS: dict[str, Callable[[Row], bool]] = {
    "1 run": lambda row: max(row["runs"]) == 1,
    "2 runs": lambda row: set(row["runs"]) == {2},
    "3 or 4": lambda row: len(set(row["runs"])) == 1 and row["runs"][0] in (3, 4),
    "5 to 10": lambda row: len(set(row["runs"])) == 1 and row["runs"][0] >= 5,
    "unequal": lambda row: len(set(row["runs"])) > 1,
}
SYSTEMS: dict[str, Callable[[Row], bool]] = {
    "2 systems": lambda row: row["systems"] == 2,
    "3 to 10 systems": lambda row: row["systems"] > 2,
}
CONTINUOUS = ("normal", "beta", "zero-one inflated", "lognormal")


def main() -> None:
    grid, few = read("grid"), read("few_runs")
    save_figure(draw(grid), DOCS / "figures" / "calibration_grid-rates.svg")
    page = DOCS / "calibration.md"
    page.write_text(fill(page.read_text(encoding="utf-8"), page), encoding="utf-8")
    for name, rows in (("grid", grid), ("few runs", few)):
        hours = [sum(row.get(part, 0.0) for row in rows) / 3600 for part in ("cpu", "peers_cpu")]
        print(f"{name}: {len(rows)} cells, {hours[0]:.2f} CPU hours, and {hours[1]:.2f} of peers")


def fill(text: str, page: Path) -> str:
    """Return the text of the page with today's tables."""
    grid = read("grid")
    for name, tables in (
        ("few-runs", [tabulate_few(read("few_runs"))]),
        ("grid", [each for each in (summarise(grid), tabulate_broken(grid)) if each.rows]),
    ):
        text = replace_tables(
            text, page, name, "\n\n".join(render_text(table, width=WIDTH).strip() for table in tables)
        )
    return text


def read(name: str) -> list[Row]:
    lines = (RESULTS / f"calibration_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["counts"]]


def rate(row: Row, name: str = "false_positives", whole: str = "tables") -> float:
    return row["counts"].get(name, 0) / row["counts"][whole]


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


def tabulate_few(rows: Iterable[Row]) -> Table:
    body = tuple(
        (
            row["cell"], f"{row['counts']['tables']:,}", percent(rate(row)), percent(rate(row, "power", "power_pairs")),
            *BEFORE[row["cell"]],
        ) for row in rows
    )  # fmt: skip
    columns = ("design", "tables", "false positives", "power", "before", "power", "moderated", "power")
    return Table(title="Any pair at 5%; power for a difference of .04, %", columns=columns, rows=body)


def summarise(rows: Sequence[Row]) -> Table:
    """Return medians and the worst cells by systems and runs, ours and the peers'."""
    body = []
    for systems, of_systems in SYSTEMS.items():
        for runs, of_runs in RUNS.items():
            own = [row for row in rows if of_systems(row) and of_runs(row)]
            smooth = [rate(row) >= LEAST for row in own if row["scores"] in CONTINUOUS]
            enough = f"{sum(smooth)} of {len(smooth)}"
            peers = (say_range(find_peers(own, name)) for name in PEERS)
            body.append((f"{systems}, {runs}", str(len(own)), say_range([*map(rate, own)]), enough, *peers))
    note = (
        "Each entry: the median of the cells, and the highest. McNemar's is for 0/1 scores; peers compare two systems."
    )
    columns = ("cells", "number", "holdsup", "2.5% or more", *PEERS)
    return Table(title="False positives at 5%, %", columns=columns, rows=tuple(body), notes=(note,))


def find_peers(rows: Iterable[Row], name: str) -> list[float]:
    found = [row["peers"][name] for row in rows if name in row.get("peers", {})]
    return [wrong / tables for wrong, tables in found]


def say_range(rates: Sequence[float]) -> str:
    return f"{percent(statistics.median(rates))} to {percent(max(rates))}" if rates else ""


def tabulate_broken(rows: Iterable[Row]) -> Table:
    """Return the cells that are above 6% for certain."""
    found = [(row, *wilson(row["counts"].get("false_positives", 0), row["counts"]["tables"])) for row in rows]
    body = tuple(
        (
            row["cell"], str(row["systems"]), f"{row['items']:,}", "-".join(map(str, sorted(set(row["runs"])))),
            row["scores"] if row["share"] is None else f"0/1 at {row['share']:g}",
            " to ".join(f"{sd:g}" for sd in sorted(set(row["sd"]))), f"{row['counts']['tables']:,}",
            f"{percent(rate(row))} ({percent(low)} to {percent(high)})",
        ) for row, low, high in sorted(found, key=lambda each: -rate(each[0])) if low > MOST
    )  # fmt: skip
    columns = ("cell", "systems", "items", "runs", "scores", "run sd", "tables", "false positives, %")
    return Table(title="Cells above 6%, by Wilson's lower limit", columns=columns, rows=body)


def draw(rows: Sequence[Row]) -> Figure:
    """Return the median of each kind of design as a colour, and the worst cell as a number."""
    from matplotlib.figure import Figure as NewFigure

    columns = [(systems, runs) for systems in SYSTEMS for runs in RUNS]
    blocks = [
        [
            [rate(row) for row in rows if of(row) and SYSTEMS[systems](row) and RUNS[runs](row)]
            for systems, runs in columns
        ]
        for of in SCORES.values()
    ]
    medians = np.array([[100 * statistics.median(block) if block else np.nan for block in line] for line in blocks])
    figure = NewFigure(figsize=(9.5, 4.6), layout="constrained")
    ax = figure.add_subplot()
    image = ax.pcolormesh(medians, cmap="RdBu_r", vmin=-2.0, vmax=12.0, edgecolor="white", linewidth=1)  # white at 5
    ax.invert_yaxis()
    for line, of_scores in enumerate(blocks):
        for place, block in enumerate(of_scores):
            said = f"{len(block)} cell{'s' if len(block) > 1 else ''}"
            if block:
                said = f"{100 * statistics.median(block):.1f}\nworst {100 * max(block):.1f}\n{said}"
                ax.text(place + 0.5, line + 0.5, said, ha="center", va="center", fontsize=6.5)
    ax.set_xticks(np.arange(len(columns)) + 0.5, [runs for _, runs in columns], fontsize="small")
    ax.set_yticks(np.arange(len(SCORES)) + 0.5, SCORES, fontsize="small")
    for place, systems in enumerate(SYSTEMS):
        ax.text((place + 0.5) * len(RUNS), -0.15, systems, ha="center", va="bottom", fontsize="medium")
    ax.axvline(len(RUNS), color="black", linewidth=1)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    bar = figure.colorbar(image, ax=ax, shrink=0.8, boundaries=np.linspace(0, 12, 49), ticks=[0, 2.5, 5, 6, 9, 12])
    bar.set_label("false positives at 5%, median of cells, %", fontsize="small")
    return figure


if __name__ == "__main__":
    main()
