"""Is the promise kept anywhere? False positives, coverage, power and width in 300 designs that fill the space.

    python benchmarks/calibration_grid.py [--tables 2000] [--above 0.06] [--peers 200] [--evalstats PYTHON] [--r]
        [--seconds 3600] [--cells 0:128] [--systems 2] [--results FILE] [--warned 200] [--few-runs]

One line a cell in results/calibration_grid.jsonl; a cell that has fewer tables than asked for gets the rest, so that a
run that was cut off goes on. `compare` quotes the nearest cell: src/holdsup/data/calibration.csv is written anew.
`--warned 200` looks in how many tables a cell that is above 6% is found; `--few-runs` measures a few designs instead.
Families are drawn 2,000 times (the library: 10,000).
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
from scipy import special, stats

from cells import Floats
from contestants import bootstrap_items, kenward_roger, likelihood_ratio, welch_run_means, with_evalstats
from grid_cells import CELLS, FEW_RUNS, GridCell, draw_tables, find_clusters_of
from holdsup.data.calibration import Likeness
from holdsup.numerics import families
from holdsup.verdict.comparison.likeness import describe, find_nearest, is_broken
from holdsup.verdict.scales import Scale
from together import Pairs, cover_means, measure_pairs

RESULTS = Path(__file__).parent / "results"
SHIPPED = Path(__file__).parent.parent / "src/holdsup/data/calibration.csv"
LIKENESS = tuple(field.name for field in fields(Likeness))
FEW = 5  # systems, of which it is looked up whether there is a warning
LIKE = 100  # tables that show what an evaluation of a kind looks like
BATCH, MOST = 500, 4e6  # tables, and scores, that are simulated together
MOST_FITTED, MOST_IN_R = 5_000, 400  # scores of a table: of more, 200 fits take minutes
FEWEST_EVALSTATS = 15  # items, of fewer it says nothing
SEED = 1
DRAWS = 2_000  # of families
ROOM = ("0/1", "Likert", "zero-one inflated", "lognormal")  # scores whose runs vary less near an end


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--peers", type=int, default=0, help="tables of the peers; 0 for none")
    parser.add_argument("--evalstats", default="", help="path of a Python interpreter that has evalstats")
    parser.add_argument("--r", action="store_true", help="whether Kenward and Roger's test is made by R")
    parser.add_argument("--seconds", type=float, default=np.inf, help="after which no cell is begun")
    parser.add_argument("--above", type=float, default=0.0, help="only cells with more false positives than this")
    parser.add_argument("--systems", type=int, default=0, help="only cells with so many systems")
    parser.add_argument(
        "--warned", type=int, default=0, help="tables in which to look for the answer's warning instead"
    )
    parser.add_argument("--few-runs", action="store_true")
    parser.add_argument("--cells", default=":", help="the first and the end of the cells that are measured")
    parser.add_argument("--results", type=Path, help="file of the results, so that parts can be measured side by side")
    options = parser.parse_args()
    families.DRAWS = DRAWS
    cells = dict(FEW_RUNS) if options.few_runs else {str(place): cell for place, cell in enumerate(CELLS)}
    first, end = (int(place) if place else None for place in options.cells.split(":"))
    file = options.results or RESULTS / ("calibration_few_runs.jsonl" if options.few_runs else "calibration_grid.jsonl")
    rows = read_rows(file)
    if options.warned:
        warn(rows, cells, options.warned)
        return
    begun = time.monotonic()
    for place, (name, cell) in list(enumerate(cells.items()))[first:end]:
        row = rows.setdefault(name, {"cell": name, **say_design(cell), "counts": {}, "cpu": 0.0})
        if rate(row, "false_positives") < options.above or options.systems not in (0, cell.systems):
            continue
        while row["counts"].get("tables", 0) < options.tables and time.monotonic() - begun < options.seconds:
            spent = time.process_time()
            add(row, measure(cell, np.random.default_rng([SEED, place, row["counts"].get("tables", 0)])))
            row["cpu"] += time.process_time() - spent
            write_rows(file, rows)
        if not options.few_runs and "like" not in row and row["counts"]:
            row["like"] = measure_likeness(cell, np.random.default_rng([SEED + 1, place]))
            write_rows(file, rows)
        if options.peers and cell.systems == 2 and time.monotonic() - begun < options.seconds:
            spent = cpu()
            if add_peers(row, cell, np.random.default_rng([SEED, place]), options):
                row["peers_cpu"] = row.get("peers_cpu", 0.0) + cpu() - spent
                write_rows(file, rows)
    if file == RESULTS / "calibration_grid.jsonl":
        SHIPPED.write_text(ship(rows), encoding="utf-8")
    report(rows)


def measure_likeness(cell: GridCell, rng: np.random.Generator) -> dict[str, object]:
    """Return what an evaluation of this kind looks like: medians over tables of what the answer measures."""
    scores, _ = draw_tables(cell, rng, LIKE, 0.0)
    found = [
        asdict(describe([each[table] for each in scores], scale_of(cell), clusters=cell.clustered))
        for table in range(LIKE)
    ]
    kinds = [each["scores"] for each in found]
    medians = {
        name: float(f"{np.median([each[name] for each in found]):.4g}") for name in ("loudness", "lean", "rarer")
    }
    return {**found[0], "scores": max(sorted(set(kinds)), key=kinds.count), **medians}


def warn(rows: dict[str, dict], cells: dict[str, GridCell], tables: int) -> None:
    """Print how often the answer warns of a broken promise, and how often where the null was rejected in vain."""
    for place, (name, cell) in enumerate(cells.items()):
        if not (low := rate(rows[name], "false_positives")) or cell.systems > FEW:
            continue
        scores, _ = draw_tables(cell, np.random.default_rng([SEED + 2, place]), tables, 0.0)
        wrong = find_pairs(cell, scores)
        wrong = wrong.reject(np.zeros(len(wrong.left))).any(-1)
        near = [find_nearest(describe([each[t] for each in scores], scale_of(cell), clusters=cell.clustered))
                for t in range(tables)]  # fmt: skip
        warned, quoted = (np.array([each is not None and test(each) for each in near]) for test in (is_broken, bool))
        in_vain = f"{100 * warned[wrong].mean():.0f}" if wrong.any() else "-"
        print(
            name,
            f"{100 * low:.1f}",
            f"{100 * warned.mean():.0f}",
            in_vain,
            f"{100 * quoted.mean():.0f}",
            say_cell(rows[name]),
        )


def scale_of(cell: GridCell) -> Scale:
    return Scale(*cell.ends, two_valued=cell.kind == "0/1") if cell.ends else Scale()


def ship(rows: dict[str, dict]) -> str:
    """Return the cells as the file that the package has."""
    lines = [f"cell,{','.join(LIKENESS)},tables,false_positives,coverage"]
    for row in rows.values():
        like = {**row["like"], "clusters": int(row["like"]["clusters"])}
        counts = (row["counts"]["tables"], row["counts"].get("false_positives", 0), f"{rate(row, 'covered'):.4f}")
        lines.append(",".join(map(str, (row["cell"], *(like[name] for name in LIKENESS), *counts))))
    return "\n".join(lines) + "\n"


def cpu() -> float:
    """Return the CPU seconds of this process and of those that it has started."""
    return sum(os.times()[:4])


def read_rows(file: Path) -> dict[str, dict]:
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {row["cell"]: row for row in map(json.loads, lines)}


def write_rows(file: Path, rows: dict[str, dict]) -> None:
    """Write the cells that were measured, all or nothing: a run may be cut off at any time."""
    part = file.with_suffix(".part")
    part.write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows.values() if row["counts"] or "peers" in row), encoding="utf-8"
    )
    part.replace(file)


def say_design(cell: GridCell) -> dict[str, object]:
    return {
        "items": cell.items, "runs": cell.runs, "systems": cell.systems, "sd": cell.sd, "scores": cell.kind,
        "share": cell.share if cell.kind == "0/1" else None, "clusters": cell.clustered, "effect": cell.effect,
    }  # fmt: skip


def measure(cell: GridCell, rng: np.random.Generator) -> Counter:
    """Return counts over a batch of tables without a difference, and over as many with one,"""
    counts: Counter = Counter()
    size = max(1, int(MOST / (cell.items * sum(cell.runs))))
    done = 0
    while done < BATCH:
        count = min(size, BATCH - done)
        scores, means = draw_tables(cell, rng, count, 0.0)
        found = find_pairs(cell, scores)
        counts["tables"] += count
        counts["false_positives"] += int(found.reject(np.zeros(len(found.left))).any(-1).sum())
        covered = [_cover(cell, each, mean) for each, mean in zip(scores, means, strict=True)]
        counts["means"] += count * cell.systems
        counts["means_covered"] += int(np.sum(covered))
        if done == 0:
            widths = found.widths()
            counts["width_tables"] += 1
            counts["width"] += float(np.median(widths))
        counts += _with_difference(cell, rng, count, found)
        done += count
    return counts


def find_pairs(cell: GridCell, scores: list[Floats]) -> Pairs:
    return measure_pairs(scores, find_clusters_of(cell), two_valued=cell.kind == "0/1", room=cell.kind in ROOM)


def _with_difference(cell: GridCell, rng: np.random.Generator, count: int, found: object) -> Counter:
    """Return how often a true difference of the first system is found, a pair, and all differences are covered."""
    if cell.shifts:  # the same tables do: coverage is that without a difference
        first = found.left == 0
        hits = found.reject(np.where(first, cell.effect, 0.0))[:, first]
        return Counter(power_pairs=hits.size, power=int(hits.sum()))
    scores, means = draw_tables(cell, rng, count, cell.effect)
    found = find_pairs(cell, scores)
    means = np.array(means)
    first = found.left == 0
    hits = found.reject(np.zeros(len(found.left)))[:, first]
    missed = found.reject(means[found.right] - means[found.left]).any(-1)
    return Counter(
        power_pairs=hits.size, power=int(hits.sum()), coverage_tables=count, covered=count - int(missed.sum())
    )


def _cover(cell: GridCell, scores: Floats, mean: float) -> Floats:
    return cover_means(scores, find_clusters_of(cell), mean, cell.ends, two_valued=cell.kind == "0/1")


def add(row: dict, counts: Counter) -> None:
    row["counts"] = dict(Counter(row["counts"]) + counts)


def rate(row: dict, name: str) -> float:
    """Return a rate of a cell; 1 where nothing was measured."""
    counts = row["counts"]
    if name == "covered" and not counts.get("coverage_tables"):  # a shift changes nothing
        return 1 - rate(row, "false_positives")
    wholes = {"false_positives": "tables", "means_covered": "means", "power": "power_pairs", "width": "width_tables"}
    whole = wholes.get(name, "coverage_tables")
    if not counts.get(whole):
        return 1.0
    return counts.get(name, 0) / counts[whole]


def add_peers(row: dict, cell: GridCell, rng: np.random.Generator, options: argparse.Namespace) -> bool:
    """Add how often others reject, of those that are asked for and not there; return if any.

    Where nothing differs, of the few designs also where a difference is true, next to ours on the same tables.
    """
    new = False
    for state, effect in (("peers", 0.0), ("peers_power", cell.effect))[: 1 + options.few_runs]:
        scores, _ = draw_tables(cell, rng, options.peers, effect)
        there, peers = row.setdefault(state, {}), list_peers(cell, scores, rng, options)
        found = {name: [int(np.sum(test())), options.peers] for name, test in peers.items() if name not in there}
        there |= found
        new |= bool(found)
    return new


def list_peers(
    cell: GridCell, scores: list[Floats], rng: np.random.Generator, options: argparse.Namespace
) -> dict[str, Callable[[], Floats]]:
    """Return what others reject in some tables, the slow ones only of few scores."""
    left, right = scores
    peers: dict[str, Callable[[], Floats]] = {"bootstrap": lambda: bootstrap_items(left, right, 0.95, rng)[0]}
    runs, size = min(cell.runs), left[0].size + right[0].size
    if options.few_runs:
        peers["holdsup"] = lambda: find_pairs(cell, scores).reject(np.zeros(1))
        peers["paired t"] = lambda: stats.ttest_rel(left.mean(2), right.mean(2), axis=1).pvalue < 0.05
    if runs > 1:
        peers["run means"] = lambda: welch_run_means(left, right, 0.95)[0]
    if cell.kind == "0/1":
        peers["McNemar"] = lambda: mcnemar(left, right)
    if size <= MOST_FITTED and not options.few_runs:
        peers["GLRT"] = lambda: likelihood_ratio(left, right, 0.95)[0]
    if size <= MOST_FITTED and cell.items >= FEWEST_EVALSTATS and options.evalstats:
        peers["evalstats"] = lambda: with_evalstats(left, right, options.evalstats)[0]
    if (size <= MOST_IN_R or options.few_runs) and runs > 1 and options.r:
        peers["Kenward-Roger"] = lambda: kenward_roger(left, right, 0.95)
    return peers


def mcnemar(left: Floats, right: Floats) -> Floats:
    """McNemar's test on items x repeats, the repeats of both in the order of their runs."""
    runs = min(left.shape[2], right.shape[2])
    wins, losses = (
        (a > b).sum((1, 2)) for a, b in ((left[..., :runs], right[..., :runs]), (right[..., :runs], left[..., :runs]))
    )
    return np.abs(wins - losses) / np.sqrt(np.maximum(wins + losses, 1)) > special.ndtri(0.975)


def report(rows: dict[str, dict]) -> None:
    """Print the cells, the worst first, and what they cost."""
    done = sorted((row for row in rows.values() if row["counts"]), key=lambda row: -rate(row, "false_positives"))
    for row in done:
        numbers = [f"{100 * rate(row, name):.1f}" for name in ("false_positives", "covered", "means_covered", "power")]
        print(
            row["cell"],
            row["counts"]["tables"],
            *numbers,
            f"{rate(row, 'width'):.3g}",
            say_cell(row),
            row.get("peers", ""),
        )
    hours = sum(row["cpu"] for row in done) / 3600
    print(f"{len(done)} cells, {hours:.2f} CPU hours")


def say_cell(row: dict) -> str:
    """Return the design of a cell in words."""
    runs, sds = ("-".join(f"{end:g}" for end in sorted({min(each), max(each)})) for each in (row["runs"], row["sd"]))
    scores = row["scores"] if row["share"] is None else f"0/1 at {row['share']:g}"
    clusters = ", clusters" if row["clusters"] else ""
    return f"{row['systems']} systems, {row['items']} items, runs {runs}, {scores}, run sd {sds}{clusters}"


if __name__ == "__main__":
    main()
