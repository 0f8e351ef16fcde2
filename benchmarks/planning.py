"""Does a plan keep what it promises: given the true variances, and from a pilot?

The first table takes designs whose difference has 80% power by the plan, and simulates how often the rule of `compare`
finds it. The second simulates pilots, plans from each, and asks how much power the cheapest design really has.

    python benchmarks/planning.py [--tables 4000] [--pilots 200] [--seed 0]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.numerics.arithmetic import find_root
from holdsup.numerics.decisions import decide_all
from holdsup.numerics.power import find_power
from holdsup.verdict import plan_evaluation
from holdsup.verdict.plan.basis import Basis, Variances
from holdsup.verdict.plan.search import Bounds, Search
from together import Pairs, measure_pairs

__all__ = ["CASES", "PILOTS", "Case", "Pilot", "find_rate", "list_powers"]

Floats = NDArray[np.float64]
CHUNK = 2_000_000  # scores that are drawn at a time
SHAPE = (2.4, 0.6)  # of the beta distribution of how easy items are: a mean of .8
SHARED = 0.7  # share of the items that are as easy for a system as for others


@dataclass(frozen=True, slots=True)
class Case:
    """An evaluation with known variances: standard deviations of runs, of items within a system, of the rest."""

    name: str
    systems: int
    runs: int
    items: int
    sd_run: float = 0.01
    sd_item: float = 0.1
    sd_noise: float = 0.15
    shape: str = "normal"  # or 0/1
    claim: str = "new-runs"
    goal: str = "difference"

    def variances(self) -> Variances:
        """Return the true variances."""
        if self.shape == "normal":
            return Variances(self.sd_run**2, 2 * self.sd_item**2, self.sd_noise**2)
        a, b = SHAPE
        easy = a * b / ((a + b) ** 2 * (a + b + 1))  # the variance of how easy items are
        return Variances(self.sd_run**2, 2 * (1 - SHARED**2) * easy, a * b / ((a + b) * (a + b + 1)))

    def search(self, target: float) -> Search:
        """Return the planner that knows the truth."""
        basis = Basis(self.variances(), "items", self.claim == "new-runs", {}, two_valued=self.shape == "0/1")
        bounds = Bounds((self.runs, self.runs), (self.items, self.items))
        return Search(basis, self.goal, target, 0.8, self.systems, 0.05, bounds)

    def target(self) -> float:
        """Return the difference, or the margin, with 80% power."""
        levels = self.search(1.0)
        levels.draw_level(self.runs, self.items, sure=True)

        def excess(target: float) -> float:
            asked = self.search(target)
            asked.levels.update(levels.levels)
            return asked.power(self.runs, self.items) - 0.8

        return find_root(excess, 1e-4, 0.4)

    def draw(self, rng: np.random.Generator, tables: int) -> list[Floats]:
        """Return scores of equal systems, each tables x items x runs."""
        shape = (tables, self.items, self.runs)
        if self.shape == "normal":
            return [
                rng.normal(0, self.sd_item, (tables, self.items, 1))
                + rng.normal(0, self.sd_run, (tables, 1, self.runs))
                + rng.normal(0, self.sd_noise, shape)
                for _ in range(self.systems)
            ]
        common = rng.beta(*SHAPE, (tables, self.items, 1))
        found = []
        for _ in range(self.systems):
            own = rng.beta(*SHAPE, common.shape)
            easy = np.where(rng.random(common.shape) < SHARED, common, own)
            luck = rng.normal(0, self.sd_run, (tables, 1, self.runs)) / self.variances().noise
            easy = easy + luck * easy * (1 - easy)  # on items that are sure to be right or wrong a run changes nothing
            found.append((rng.random(shape) < easy).astype(float))
        return found


CASES = (
    *(Case("two systems", 2, k, n) for k, n in ((2, 100), (3, 100), (3, 1000), (5, 100), (5, 1000), (10, 500))),
    Case("runs hardly vary", 2, 3, 200, sd_run=0.0005),
    Case("runs vary much", 2, 5, 500, sd_run=0.04),
    Case("three systems", 3, 3, 200),
    Case("five systems", 5, 3, 100),
    Case("five systems", 5, 5, 200),
    Case("right or wrong", 2, 3, 500, shape="0/1"),
    Case("right or wrong", 2, 5, 1000, shape="0/1"),
    Case("right or wrong, these runs", 2, 1, 300, sd_run=0.0, shape="0/1", claim="these-runs"),
    Case("right or wrong, these runs", 2, 1, 2000, sd_run=0.0, shape="0/1", claim="these-runs"),
    Case("these runs", 2, 1, 50, sd_run=0.0, claim="these-runs"),
    Case("these runs, five systems", 5, 1, 200, sd_run=0.0, claim="these-runs"),
    Case("equivalence", 2, 3, 200, goal="equivalence"),
    Case("equivalence", 2, 5, 500, goal="equivalence"),
    Case("equivalence, these runs", 2, 1, 500, sd_run=0.0, shape="0/1", claim="these-runs", goal="equivalence"),
)


def find_rate(case: Case, target: float, tables: int, seed: int) -> float:
    """Return how often the rule of `compare` finds the difference, or shows equivalence, in percent."""
    rng, found, done = np.random.default_rng(seed), 0, 0
    size = max(1, CHUNK // (case.systems * case.items * case.runs))
    while done < tables:
        count = min(size, tables - done)
        pairs = measure_pairs(case.draw(rng, count), None, two_valued=case.shape == "0/1")
        found += int(_show(pairs, target).sum() if case.goal == "equivalence" else _find(pairs, target).sum())
        done += count
    return 100 * found / tables


def _find(pairs: Pairs, difference: float) -> NDArray[np.bool_]:
    """Return in which tables the first pair is told apart, in the right direction."""
    up, count = np.full((1, len(pairs.left)), difference), len(pairs.left)
    right = pairs.spread.estimate[:, 0] + difference > 0
    if count == 1:
        return pairs._test(up, 0.05)[:, 0] & right
    sure, maybe = (pairs._test(up, alpha)[:, 0] for alpha in (0.05 / count, 0.05))
    for table in np.flatnonzero(maybe & ~sure):
        sure[table] = pairs.take(table)._test(up, pairs.share(table, 0.05))[0, 0]
    return sure & right


def _show(pairs: Pairs, margin: float) -> NDArray[np.bool_]:
    """Return in which tables both one-sided tests reject."""
    if pairs.shares is not None:
        z = 1.6448536269514722
        return ((pairs.shares.deviate(-margin) >= z) & (pairs.shares.deviate(margin) <= -z))[:, 0]
    wide = decide_all(pairs.spread.estimate, pairs._tests(), 1.0, 0.90, tails=False)
    return ((wide.low > -margin) & (wide.high < margin))[:, 0]


@dataclass(frozen=True, slots=True)
class Pilot:
    """A pilot, and what is to be found."""

    case: Case
    detect: float
    unlike: float = 1.0  # times as much as those of the other the runs of one system vary, on the scale of variances

    def power(self, runs: int, items: int) -> float:
        """Return the true power of a design."""
        case, known = self.case, self.case.variances()
        basis = Basis(known, "items", case.claim == "new-runs", {}, two_valued=case.shape == "0/1")
        if self.unlike > 1:
            alike = basis.at(runs, items, sure=False)
            more = known.run * (self.unlike - 1) / runs
            return find_power(replace(alike, runs=(alike.runs[0] + more, alike.runs[1])), self.detect, 0.05)
        asked = Search(basis, "difference", self.detect, 0.8, case.systems, 0.05, Bounds((2, 2), (10, 10)))
        asked.draw_level(runs, items, sure=True)
        return asked.power(runs, items)


PILOTS = (
    Pilot(Case("3 runs x 200 items", 2, 3, 200), 0.02),
    Pilot(Case("5 runs x 200 items", 2, 5, 200), 0.02),
    Pilot(Case("3 runs x 1,000 items", 2, 3, 1000, sd_run=0.005), 0.01),
    Pilot(Case("3 runs x 100 items, runs hardly vary", 2, 3, 100, sd_run=0.0005), 0.02),
    Pilot(Case("5 systems, 3 runs x 100 items", 5, 3, 100), 0.03),
    Pilot(Case("right or wrong, 3 runs x 300 items", 2, 3, 300, shape="0/1"), 0.04),
    Pilot(Case("right or wrong, 1 run x 200 items", 2, 1, 200, sd_run=0.0, shape="0/1", claim="these-runs"), 0.04),
    Pilot(Case("one system's runs vary 9 times as much", 2, 3, 200, sd_run=0.01), 0.03, unlike=9.0),
)


def list_powers(pilot: Pilot, pilots: int, seed: int) -> Iterator[float]:
    """Yield the true power of the cheapest design of each pilot's plan; NaN where it finds none."""
    case, rng = pilot.case, np.random.default_rng(seed)
    system, item, run = (axis.ravel() for axis in np.indices((case.systems, case.items, case.runs)))
    names = [f"S{i}" for i in range(case.systems)]
    for _ in range(pilots):
        drawn = np.stack([each[0] for each in case.draw(rng, 1)])
        extra = rng.normal(0, case.sd_run * np.sqrt(pilot.unlike - 1), (1, case.runs))
        drawn[0] += extra
        table = pa.table(
            {"system": np.array(names)[system], "item": item, "seed": run, "score": drawn.ravel()}
        )  # fmt: skip
        plan = plan_evaluation(
            table, detect=pilot.detect, claim=case.claim, runs=(2, 200) if case.runs > 1 else 1, items=(10, 1_000_000)
        )
        if not plan.reachable:
            yield np.nan
            continue
        yield pilot.power(plan.designs[0].runs, plan.designs[0].items)


def _print(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
    for row in (heads, *rows):
        cells = [
            f"{cell:<{w}}" if i == 0 else f"{cell:>{w}}" for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=4000)
    parser.add_argument("--pilots", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    started = time.process_time()
    rows = []
    for case in CASES if asked.tables else ():
        target = case.target()
        rate = find_rate(case, target, asked.tables, asked.seed)
        rows.append(
            (case.name, f"{case.runs} x {case.items:,}", f"{case.sd_run:g}", f"{target:.4f}", "80.0", f"{rate:.1f}")
        )
    if rows:
        _print(("true variances", "runs x items", "sd of runs", "to find", "promised", "found, %"), rows)
        print()
    rows = []
    for pilot in PILOTS if asked.pilots else ():
        count = asked.pilots if pilot.case.systems == 2 else asked.pilots // 4
        powers = np.array(list(list_powers(pilot, count, asked.seed)))
        some = powers[~np.isnan(powers)]
        kept = 100 * (some >= 0.8).mean()
        quantiles = np.quantile(100 * some, (0.1, 0.5, 0.9))
        rows.append(
            (pilot.case.name, f"{pilot.detect:g}", f"{kept:.1f}", *(f"{q:.0f}" for q in quantiles), str(len(some)))
        )
    if rows:
        _print(("pilot", "to find", "reach 80%, %", "10th", "median", "90th of power", "plans"), rows)
    print(f"\n{time.process_time() - started:.0f} s of CPU")


if __name__ == "__main__":
    main()
