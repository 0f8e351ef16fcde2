"""How often does `--by PROPERTY --scale logit` find that a lead depends on a property where its log-odds do not?

    python benchmarks/conditional_logit.py [--simulations 300] [--seed 1] [--all]

Two systems are right or wrong on 200 items (standard deviations of log-odds: items 1, systems on items .5), and both
depend on the property alike; runs vary (.15), and so do their slopes on the property (with `--all`, also where they do
not). Accuracy is that of the worse one. Where one leads, its log-odds lead by 1 at every value of the property. Counted
are rejections at 5%, over new runs: that the lead depends on the property, on log-odds and, beside it, on scores (which
it does where there is a lead: nothing can lead by much where all are right), and that there is any lead on log-odds.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter

import numpy as np
from scipy.special import expit, logit

from calibration import wilson
from conditional import standardize
from holdsup.numerics.spread import find_clusters
from holdsup.numerics.trends import SLOPE, decide_direction, joint_tail, measure_trends
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import record

ALPHA, ITEMS, SLOPE_OF_ALL = 0.05, 200, 0.7
TESTS = ("interaction, log-odds", "interaction, scores", "any lead, log-odds")
SPREADS = ((0.15, 0.15), (0.15, 0.0), (0.0, 0.0))  # of runs, and of their slopes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="runs and slopes that do not vary, too")
    options = parser.parse_args()
    rows = []
    for cell in itertools.product((0.5, 0.9), (3, 5), SPREADS if options.all else SPREADS[:1], (0.0, 1.0)):
        rows.append(calibrate(*cell, simulations=options.simulations, seed=options.seed))
        print(rows[-1], flush=True)
    print(render_text(tabulate(rows), width=200))
    record("conditional_logit", [{"seed": options.seed, **row} for row in rows])


def calibrate(
    accuracy: float, runs: int, sd: tuple[float, float], lead: float, *, simulations: int, seed: int
) -> dict[str, object]:
    """Return how often each test rejects; `sd` of runs, and of their slopes on the property."""
    rng = np.random.default_rng([seed, int(100 * accuracy), runs, int(100 * sum(sd)), int(lead)])
    hits: Counter[str] = Counter()
    without_end = 0
    for _ in range(simulations):
        z, arms = draw(accuracy, runs, sd, lead, rng)
        try:
            hits.update(name for name, p in test(z, arms).items() if p <= ALPHA)
        except ValueError:
            without_end += 1
    return {
        "accuracy": accuracy, "runs": runs, "sd_run": sd[0], "sd_slope": sd[1], "lead": lead,
        "simulations": simulations, "without_end": without_end, **{name: hits[name] for name in TESTS},
    }  # fmt: skip


def draw(
    accuracy: float, runs: int, sd: tuple[float, float], lead: float, rng: np.random.Generator
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the property, and what is right of each system, items x runs."""
    z = standardize(rng.normal(size=ITEMS))
    # log-odds of an average item at which the rate over all items is about what is asked for
    middle = logit(accuracy) * np.sqrt(1 + 0.346 * (1 + 0.5**2 + SLOPE_OF_ALL**2))
    item = rng.normal(size=ITEMS) + SLOPE_OF_ALL * z
    arms = []
    for ahead in (0.0, lead):
        own = middle + ahead + item + 0.5 * rng.normal(size=ITEMS)
        along = sd[0] * rng.normal(size=runs) + np.outer(z, sd[1] * rng.normal(size=runs))
        arms.append((rng.random((ITEMS, runs)) < expit(own[:, None] + along)).astype(float))
    return z, arms


def test(z: np.ndarray, arms: list[np.ndarray]) -> dict[str, float]:
    """Return the p of each test."""
    X, clusters = np.column_stack([np.ones(ITEMS), z]), find_clusters(None, ITEMS)
    of = {
        scale: measure_trends(arms, X, settings=(None, None), clusters=clusters, log_odds=scale == "log-odds")
        for scale in ("log-odds", "scores")
    }
    found = {
        f"interaction, {scale}": decide_direction(trends, SLOPE, new_runs=True, level=0.95).p
        for scale, trends in of.items()
    }
    return {**found, "any lead, log-odds": joint_tail(of["log-odds"], new_runs=True).p}


def tabulate(rows: list[dict[str, object]]) -> Table:
    count = int(str(rows[0]["simulations"]))
    low, high = wilson(round(ALPHA * count), count)
    return Table(
        title=f"Rejected at 5%, % of {count:,} (chance alone makes {100 * low:.1f} to {100 * high:.1f} of 5)",
        columns=("accuracy", "runs", "run sd", "sd of slopes", "lead", *TESTS),
        rows=tuple(
            (
                f"{row['accuracy']:g}", row["runs"], f"{row['sd_run']:g}", f"{row['sd_slope']:g}", f"{row['lead']:g}",
                *(f"{100 * row[name] / row['simulations']:.1f}" for name in TESTS),
            )
            for row in rows
        ),
    )  # fmt: skip


if __name__ == "__main__":
    main()
