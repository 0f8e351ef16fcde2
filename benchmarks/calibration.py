"""How often is a true null rejected, the truth covered, a real difference found, at 5%?

    python benchmarks/calibration.py [--cells base,clusters] [--simulations 10000] [--peers 1000] [--seed 1]
        [--evalstats PYTHON] [--slow 200] [--jobs 2]

Simulated evaluations with the truth known (`cells.py`), our rule and other candidates (`rules.py`), and
what others would do (`contestants.py`): the paper's likelihood ratio test, the paired bootstrap over
items, Welch's test on run means, evalstats where the path of an interpreter that has it is given, and for
new settings a mixed model with random facets.
With five systems a false positive is any of ten pairs, and coverage is of all ten: ours by the family of pairs
(`together.py`), the other candidates each at 5%/10. Peers that are not run are shown as they were last stored.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from cells import CELLS, Cell, Sample, simulate
from contestants import bootstrap_items, likelihood_ratio, mixed_model, welch_run_means, with_evalstats
from holdsup.numerics import families
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import RESULTS, record
from rules import OURS, RULES, check, measure
from together import measure_pairs

ALPHA = 0.05
DRAWS = 2_000  # of families; the library: 10,000
MOST, LEAST = 0.06, 0.94  # what our rule may reject at most and must cover at least
BATCH = 2e6  # cells of a table simulated at once
QUANTITIES = {
    "false_positives": "False positives at 5%, %",
    "coverage": "Coverage of 95% CIs, %",
    "power": "Power, %",
}
WIDTH = 160
PEERS = ("mixed model", "GLRT", "bootstrap", "run means", "evalstats")
Tally = dict[str, np.ndarray]  # by method: simulations, rejections, coverings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default="", help="parts of the names of cells, comma-separated; all if empty")
    parser.add_argument("--simulations", type=int, default=10_000)
    parser.add_argument(
        "--peers", type=int, default=1000, help="simulations of the likelihood ratio test; 0 for no peers"
    )
    parser.add_argument("--slow", type=int, default=200, help="simulations of evalstats")
    parser.add_argument("--evalstats", default="", help="path of a Python interpreter that has evalstats")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    wanted = [cell for cell in CELLS if any(part in cell.name for part in options.cells.split(","))]
    with ProcessPoolExecutor(options.jobs) as pool:
        found = list(pool.map(calibrate, wanted, itertools.repeat(options)))
    rows = [row for cell in found for row in cell]
    shown = [*rows, *find_stored(rows)]
    for quantity, title in QUANTITIES.items():
        print(render_text(tabulate(shown, quantity, title), width=WIDTH), flush=True)
    record("calibration", [{"seed": options.seed, **row} for row in rows])


def find_stored(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the last stored results of peers in the same cells that have none now."""
    there, cells, stored = {(row["cell"], row["method"]) for row in rows}, {row["cell"] for row in rows}, {}
    file = RESULTS / "calibration.jsonl"
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        stored |= {(row["cell"], row["method"]): row for row in json.loads(line)["rows"]}
    return [
        row for (cell, method), row in stored.items()
        if cell in cells and method in PEERS and (cell, method) not in there
    ]  # fmt: skip


def calibrate(cell: Cell, options: argparse.Namespace) -> list[dict[str, object]]:
    """Return a row for each method: rates, each with its Wilson interval."""
    families.DRAWS = DRAWS
    tallies = {}
    for state, effect in (("null", 0.0), ("effect", cell.effect)):
        rng = np.random.default_rng([options.seed, CELLS.index(cell), int(effect > 0)])
        tallies[state] = tally_cell(cell, options, rng, effect)
    rows = []
    for method, (count, rejected, _) in tallies["null"].items():
        again, hits, covered = tallies["effect"][method]
        rates = {"false_positives": (rejected, count), "coverage": (covered, again), "power": (hits, again)}
        row: dict[str, object] = {"cell": cell.name, "method": method, "simulations": int(count), "effect": cell.effect}
        for quantity, (part, whole) in rates.items():
            low, high = wilson(part, whole)
            row |= {quantity: part / whole, f"{quantity}_low": low, f"{quantity}_high": high}
        rows.append(row)
    return rows


def tally_cell(cell: Cell, options: argparse.Namespace, rng: np.random.Generator, effect: float) -> Tally:
    """Return how often each method rejected and covered."""
    tally: Tally = defaultdict(lambda: np.zeros(3))
    batch = max(1, int(BATCH / (cell.items * sum(cell.runs) * cell.systems / 2)))
    done = 0
    while done < options.simulations:
        sample = simulate(cell, rng, min(batch, options.simulations - done), effect)
        if done == 0:
            check(cell, sample, 1 - ALPHA)
        tally_ours(tally, cell, sample, effect)
        if options.peers and cell.design != "run-scores":
            tally_peers(tally, cell, sample, options, rng, effect, done)
        done += len(sample.scores[0])
    return dict(tally)


def tally_ours(tally: Tally, cell: Cell, sample: Sample, effect: float) -> None:
    """Count what the rules reject and cover; of several pairs any and all, and for power the first."""
    pairs = list(itertools.combinations(range(cell.systems), 2))
    rejected: dict[str, list[np.ndarray]] = defaultdict(list)
    covered: dict[str, list[np.ndarray]] = defaultdict(list)
    for left, right in pairs:
        truth = effect if left == 0 else 0.0
        for name, (estimate, half) in measure(cell, sample, left, right, 1 - ALPHA / len(pairs)).items():
            if effect == 0 or (left, right) == pairs[0]:
                rejected[name].append(np.abs(estimate) > half)
            covered[name].append(np.abs(estimate - truth) <= half)
    if cell.systems > 2:
        family = measure_pairs(sample.scores, sample.clusters, two_valued=False)
        truths = np.where(family.left == 0, effect, 0.0)
        first = slice(None) if effect == 0 else slice(1)
        rejected[OURS], covered[OURS] = ([*each.T] for each in (
            family.reject(np.zeros(len(pairs)))[:, first], ~family.reject(-truths)
        ))  # fmt: skip
    for name in rejected:
        tally[name] += len(rejected[name][0]), np.any(rejected[name], axis=0).sum(), np.all(covered[name], axis=0).sum()


def tally_peers(
    tally: Tally,
    cell: Cell,
    sample: Sample,
    options: argparse.Namespace,
    rng: np.random.Generator,
    effect: float,
    done: int,
) -> None:
    """Count what others reject and cover, of two systems; slow ones on the first simulations only."""
    if cell.systems > 2:
        return
    level = 1 - ALPHA
    left, right = sample.scores
    answers = {"bootstrap": bootstrap_items(left, right, level, rng)}
    if min(cell.runs) > 1:
        answers["run means"] = welch_run_means(left, right, level)
    few, fewest = max(0, options.peers - done), max(0, options.slow - done)
    if few:
        answers["GLRT"] = likelihood_ratio(left[:few], right[:few], level)
    if few and cell.design == "new-settings":
        answers["mixed model"] = mixed_model(left[:few], right[:few], sample.facets, level)
    if fewest and options.evalstats:
        answers["evalstats"] = with_evalstats(left[:fewest], right[:fewest], options.evalstats)
    for name, (rejects, low, high) in answers.items():
        tally[name] += len(low), np.sum(rejects), np.sum((low <= effect) & (effect <= high))


def wilson(part: float, whole: float, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's 95% interval of a rate."""
    rate, weight = part / whole, z * z / whole
    centre = (rate + weight / 2) / (1 + weight)
    half = z / (1 + weight) * np.sqrt(rate * (1 - rate) / whole + weight / 4 / whole)
    return float(centre - half), float(centre + half)


def tabulate(rows: list[dict[str, object]], quantity: str, title: str) -> Table:
    """Return one quantity, cells by methods; a star where our rule breaks its promise."""
    methods = [name for name in (*RULES, *PEERS) if any(row["method"] == name for row in rows)]
    by_place = {(row["cell"], row["method"]): row for row in rows}
    cells = dict.fromkeys(row["cell"] for row in rows)
    body = tuple((str(cell), *(shown(by_place.get((cell, method)), quantity) for method in methods)) for cell in cells)
    widest = max(
        float(row[f"{quantity}_high"]) - float(row[f"{quantity}_low"]) for row in rows if row["method"] == OURS
    )
    note = f"Wilson's 95% interval of the first column is at most {50 * widest:.1f} to either side."
    return Table(title=title, columns=("cell", *methods), rows=body, notes=(note,))


def shown(row: dict[str, object] | None, quantity: str) -> str:
    if row is None:
        return ""
    rate = float(row[quantity])
    broken = (quantity == "false_positives" and rate > MOST) or (quantity == "coverage" and rate < LEAST)
    return f"{100 * rate:.1f}{'*' if broken and row['method'] == OURS else ''}"


if __name__ == "__main__":
    main()
