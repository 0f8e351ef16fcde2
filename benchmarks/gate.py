"""How often `holdsup gate` is wrong: tables drawn from an unchanged system, and from one that is worse by the margin.

Every table goes through the functions behind `gate_release`: the parts of the variance, the two criteria of a claim for
new runs, the levels of planned looks, the bets on items. Run it with::

    nice -n 10 python benchmarks/gate.py [--tables 20000]

The tables that it prints are in docs/calibration.md.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from holdsup.numerics.betting import MOST, find_capital, place_bets
from holdsup.numerics.decisions import decide_all
from holdsup.numerics.differences import new_runs_test, these_runs_test
from holdsup.numerics.looks import find_levels
from holdsup.numerics.proportions import wilson
from holdsup.numerics.same_noise import share_noise
from holdsup.numerics.spread import at_common_mean, find_clusters, measure_arm, measure_spread
from holdsup.verdict.gate.records import SURE

Floats = NDArray[np.float64]
PASS = 0.05  # one-sided level of the limit that must be within the drop
CELLS = 4e6  # scores of one side that are drawn at a time


@dataclass(frozen=True)
class Case:
    """An evaluation: how many items and runs, and how scores vary."""

    items: int
    runs: tuple[int, int]  # of the candidate and the baseline
    two_valued: bool = False  # right or wrong, on items of which some are hard
    run: float = 0.01  # SD between runs (of two-valued scores in logits, where 0.06 moves an accuracy by 0.01)
    own: float = 0.0  # SD of item effects of each system's own
    noise: float = 0.1  # SD of the rest

    def draw(
        self, rng: np.random.Generator, tables: int, loss: float = 0.0, *, fixed: bool = False
    ) -> tuple[Floats, Floats]:
        """Return the scores of candidate and baseline, shape (tables, items, runs); the candidate's true mean is lower.

        `fixed`, all tables have the same items and the same baseline.
        """
        count = 1 if fixed else tables
        if self.two_valued:
            ease = rng.beta(3.2, 0.8, (count, self.items, 1))  # a mean of 0.8
            logit = np.log(ease / (1 - ease))
            sides = []
            for k, n, down in zip(self.runs, (tables, count), (loss, 0.0), strict=True):
                p = 1 / (1 + np.exp(-(logit + rng.normal(0, self.run, (n, 1, k)))))
                sides.append((rng.random((n, self.items, k)) < p * (1 - down / 0.8)).astype(float))
        else:
            item = rng.normal(0.7, 0.2, (count, self.items, 1))
            sides = [
                item - down + rng.normal(0, self.own, (n, self.items, 1)) + rng.normal(0, self.run, (n, 1, k))
                + rng.normal(0, self.noise, (n, self.items, k))
                for k, n, down in zip(self.runs, (tables, count), (loss, 0.0), strict=True)
            ]  # fmt: skip
        return sides[0], np.broadcast_to(sides[1], (tables, *sides[1].shape[1:]))

    def name(self) -> str:
        """Return the design in words."""
        kind = "right or wrong" if self.two_valued else f"scores, own item effects {self.own:g}"
        return f"{self.items:,} items, {self.runs[0]} + {self.runs[1]} runs, {kind}"


def limit(case: Case, x: Floats, y: Floats, alpha: float, *, lower: bool, same_noise: bool = False) -> Floats:
    """Return the one-sided limit of the difference for each table, by the rule of `compare` for new runs."""
    clusters = find_clusters(None, x.shape[1])
    arms = [measure_arm(each, None, clusters) for each in (x, y)]
    ends = (0.0, 1.0) if case.two_valued else None
    spread = measure_spread(arms, arms[0].items - arms[1].items, clusters, ends)
    if ends is not None:
        a, b = (arm.items.mean(-1) for arm in arms)
        spread = at_common_mean(spread, [(a, b), (b, a)], ends)
    tests = [these_runs_test([spread])]
    if same_noise:
        spread = share_noise(spread, (x.shape[2], y.shape[2]))
    if max(spread.run_df) > 0:
        tests.insert(0, new_runs_test([spread]))
    found = decide_all(spread.estimate, tests, 1.0, 1 - 2 * alpha, tails=False)
    return found.low if lower else found.high


def batches(case: Case, tables: int) -> Iterator[int]:
    """Yield how many tables to draw at a time."""
    size = max(1, int(CELLS / (case.items * max(case.runs))))
    for start in range(0, tables, size):
        yield min(size, tables - start)


def rate(hits: int, tables: int) -> str:
    """Return a rate with its 95% Wilson interval, in percent."""
    share = hits / tables
    low, high = wilson(share, share * (1 - share) / tables, tables, 1.96)
    return f"{100 * share:.2f} ({100 * float(low):.2f} to {100 * float(high):.2f})"


def margin_of(case: Case) -> float:
    """Return a drop that such an evaluation can just show: three standard errors of the difference."""
    v = sum(1 / k for k in case.runs)
    if case.two_valued:
        within = 0.128  # mean of p (1 - p) over items, which is what a logit moves an accuracy by as well
        return 3 * math.sqrt(v * (within / case.items + (within * case.run) ** 2))
    return 3 * math.sqrt(v * (case.run**2 + case.noise**2 / case.items) + 2 * case.own**2 / case.items)


def count_once(case: Case, tables: int, rng: np.random.Generator, **how: bool) -> tuple[int, int]:
    """Return how many of the tables fail though nothing changed, and how many pass though the loss is the drop."""
    fails = passes = 0
    drop = margin_of(case)
    for n in batches(case, tables):
        x, y = case.draw(rng, n)
        fails += int((limit(case, x, y, 1 - SURE, lower=False, **how) < 0).sum())
        x, y = case.draw(rng, n, loss=drop)
        passes += int((limit(case, x, y, PASS, lower=True, **how) > -drop).sum())
    return fails, passes


def count_looks(case: Case, looks: tuple[int, ...], tables: int, rng: np.random.Generator) -> tuple[int, int]:
    """Return the same where the candidate's runs are looked at at planned numbers; baselines have all their runs."""
    fails = passes = 0
    drop, shares = margin_of(case), tuple(n / looks[-1] for n in looks)
    levels = {alpha: find_levels(shares, alpha) for alpha in (PASS, 1 - SURE)}
    for n in batches(case, tables):
        x, y = case.draw(rng, n)
        worse = [limit(case, x[..., :k], y, a, lower=False) < 0 for k, a in zip(looks, levels[1 - SURE], strict=True)]
        fails += int(np.any(worse, 0).sum())
        x, y = case.draw(rng, n, loss=drop)
        good = [limit(case, x[..., :k], y, a, lower=True) > -drop for k, a in zip(looks, levels[PASS], strict=True)]
        passes += int(np.any(good, 0).sum())
    return fails, passes


def count_bets(case: Case, tables: int, rng: np.random.Generator) -> tuple[int, int]:
    """Return the same where every item is looked at, for these runs: runs do not vary, items of each system do."""
    fails = passes = 0
    drop = margin_of(replace(case, run=0.0))
    for n in batches(case, tables):
        for loss in (0.0, drop):
            x, y = case.draw(rng, n, loss=loss)
            scaled = (np.clip(x.mean(2) - y.mean(2), -1, 1) + 1) / 2
            bets = place_bets(scaled)
            if loss:
                passes += int((find_capital(scaled, bets, (1 - drop) / 2, above=True) >= math.log(1 / PASS)).sum())
            else:
                fails += int((find_capital(scaled, bets, 0.5, above=False) >= math.log(1 / (1 - SURE))).sum())
    return fails, passes


def count_given(case: Case, baselines: int, tables: int, rng: np.random.Generator) -> Floats:
    """Return the rate of FAIL for each of some committed baselines, each the same for all its candidates."""
    rates = []
    for _ in range(baselines):
        x, y = case.draw(rng, tables, fixed=True)
        rates.append(float((limit(case, x, y, 1 - SURE, lower=False) < 0).mean()))
    return np.array(rates)


def compare_designs(case: Case, looks: tuple[int, ...], tables: int, rng: np.random.Generator) -> str:
    """Return the power of planned looks where nothing changed, the runs they take, and those of one look like it."""
    drop, most = margin_of(replace(case, runs=(8, 8))), looks[-1] + 2
    shares = tuple(n / looks[-1] for n in looks)
    passed = dict.fromkeys(range(3, most + 1), 0)
    early, used = 0, 0.0
    wide = replace(case, runs=(most, most))
    for n in batches(wide, tables):
        x, y = wide.draw(rng, n)
        for k in passed:
            passed[k] += int((limit(case, x[..., :k], y[..., :k], PASS, lower=True) > -drop).sum())
        done, last = np.zeros(n, bool), np.full(n, looks[-1])
        for k, alpha in zip(looks, find_levels(shares, PASS), strict=True):
            now = (limit(case, x[..., :k], y[..., :k], alpha, lower=True) > -drop) & ~done
            last[now], done = k, done | now
        early, used = early + int(done.sum()), used + float(last.sum())
    power = early / tables
    fixed = np.interp(power, [passed[k] / tables for k in passed], list(passed))
    return f"| {case.name()} | {', '.join(map(str, looks))} | {100 * power:.1f} | {used / tables:.2f} | {fixed:.2f} |"


def show_designs(tables: int, rng: np.random.Generator) -> None:
    """Print how often a gate is wrong, for each design, with one look and with several."""
    sizes, kinds = ((200, (3, 3)), (1000, (2, 2)), (1000, (3, 5)), (200, (5, 10))), list[dict[str, float]]()
    kinds += [{}, {"own": 0.1}, {"two_valued": True, "run": 0.06}]
    print("| design | false FAIL, % | PASS at the margin, % |\n|---|---|---|", flush=True)

    def show(name: str, found: tuple[int, int]) -> None:
        print(f"| {name} | {rate(found[0], tables)} | {rate(found[1], tables)} |", flush=True)

    for case in [Case(items, runs, **kind) for items, runs in sizes for kind in kinds]:  # type: ignore[arg-type]
        show(case.name(), count_once(case, tables, rng))
    for case in (Case(1000, (1, 5)), Case(1000, (1, 5), two_valued=True, run=0.06)):
        show(f"{case.name()}, --same-noise", count_once(case, tables, rng, same_noise=True))
    for case in (Case(200, (8, 8)), Case(200, (8, 8), own=0.1), Case(200, (8, 8), two_valued=True, run=0.06)):
        show(f"{case.name()}, --looks 4,6,8", count_looks(case, (4, 6, 8), tables, rng))
    for case in (Case(1000, (1, 1), run=0.0), Case(1000, (1, 1), run=0.0, two_valued=True)):
        show(f"{case.name()}, --peek at every item", count_bets(case, tables, rng))


def show_single(tables: int, rng: np.random.Generator) -> None:
    """Print what becomes of one run each, if runs vary and nobody says so."""
    print("\n| one run each, --claim these-runs | false FAIL, % | worse by a 5% test, % |\n|---|---|---|", flush=True)
    for items in (1000, 5000):
        case, hits = Case(items, (1, 1)), np.zeros(2, int)
        for n in batches(case, tables // 4):
            x, y = case.draw(rng, n)
            hits += [int((limit(case, x, y, a, lower=False) < 0).sum()) for a in (1 - SURE, PASS)]
        print(f"| {case.name()} | {rate(hits[0], tables // 4)} | {rate(hits[1], tables // 4)} |", flush=True)


def show_given(tables: int, rng: np.random.Generator) -> None:
    """Print how much the rate depends on the luck of a committed baseline."""
    heads = (
        "one committed baseline, candidates drawn anew",
        "mean false FAIL, %",
        "its worst twentieth above, %",
        "worst, %",
    )
    print(f"\n| {' | '.join(heads)} |\n|---|---|---|---|", flush=True)
    cases = [Case(200, runs) for runs in ((3, 3), (3, 5), (3, 10), (10, 5))]
    for case in [*cases, Case(200, (10, 5), own=0.1), Case(200, (3, 5), two_valued=True, run=0.06)]:
        found = 100 * count_given(case, 400, tables // 40, rng)
        print(
            f"| {case.name()} | {found.mean():.2f} | {np.quantile(found, 0.95):.1f} | {found.max():.1f} |", flush=True
        )


def show_looks(tables: int, rng: np.random.Generator) -> None:
    """Print what planned looks save."""
    print(
        "\n| design | looks | power, % | runs of each side | one look as powerful |\n|---|---|---|---|---|", flush=True
    )
    for case in (Case(200, (8, 8)), Case(200, (8, 8), own=0.1)):
        for looks in ((5, 7, 9), (6, 8, 10)):
            print(compare_designs(case, looks, tables // 4, rng), flush=True)


def show_items(tables: int, rng: np.random.Generator) -> None:
    """Print what it costs to look at every item: items until the gate passes, against one look as powerful."""
    heads = "shares of items won and lost", "drop", "items", "power, %", "items seen on average", "one look as powerful"
    print(f"\n| {' | '.join(heads)} |\n|---|---|---|---|---|---|", flush=True)
    for won, drop, items in ((0.05, 0.05, 1000), (0.1, 0.05, 1500), (0.1, 0.1, 500)):
        d = rng.choice([-1.0, 0.0, 1.0], (tables // 20, items), p=[won, 1 - 2 * won, won])
        x, m = (d + 1) / 2, (1 - drop) / 2
        growth = np.cumsum(np.log1p(np.minimum(place_bets(x), MOST / m) * (x - m)), 1)
        reached = growth >= math.log(1 / PASS)
        power, seen = reached.any(1).mean(), np.where(reached.any(1), reached.argmax(1) + 1, items).mean()
        z = float(special.ndtri(1 - PASS) + special.ndtri(power))
        fixed = 2 * won * (z / drop) ** 2
        print(f"| {won:g} | {drop:g} | {items:,} | {100 * power:.1f} | {seen:,.0f} | {fixed:,.0f} |", flush=True)


def main() -> None:
    """Print the tables, or one of them."""
    shown = {"designs": show_designs, "single": show_single, "given": show_given, "looks": show_looks,
             "items": show_items}  # fmt: skip
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=20_000)
    parser.add_argument("--only", choices=shown)
    asked = parser.parse_args()
    for name, show in shown.items():
        if asked.only in (None, name):
            show(asked.tables, np.random.default_rng(22))


if __name__ == "__main__":
    main()
