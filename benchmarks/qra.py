"""How often do limits of the spread cover the truth, as published and beside it, with few measurements?

    python benchmarks/qra.py [--simulations 10000] [--seed 1]

Measurements are drawn from a normal distribution whose standard deviation is 10% of its mean (and, in the last rows,
from a skewed one and from one with heavy tails). For each number of measurements: coverage of 95% limits of the
standard deviation by Student's t (Belz et al. 2022) and by chi-square, of stdev/mean by noncentral t, and of the next
measurement; the mean of s*, of CV* as published and of s*/mean over the truth; and how often the published lower limit
is negative.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from holdsup.numerics.precision import measure_precision
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import record

SIZES = (2, 3, 5, 8, 20)
SD = 0.1  # of a mean of 1
COLUMNS = ("stdev, t", "below 0", "stdev, chi-square", "stdev/mean", "next", "s*", "CV*", "s*/mean")
Draw = Callable[[np.random.Generator, int], np.ndarray]


def normal(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(1, SD, n)


def skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    return 1 + SD * (rng.exponential(1, n) - 1)


def heavy(rng: np.random.Generator, n: int) -> np.ndarray:
    return 1 + SD * rng.standard_t(5, n) / np.sqrt(5 / 3)  # with a standard deviation of 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    cases = [*(("normal", normal, n) for n in SIZES), *((f.__name__, f, n) for f in (skewed, heavy) for n in (3, 8))]
    rows = [(name, n, *cover(rng, draw, n, options.simulations)) for name, draw, n in cases]
    shown = tuple(
        (name, n, *(f"{100 * x:.1f}%" for x in row[:5]), *(f"{x:.3f}" for x in row[5:])) for name, n, *row in rows
    )
    title = f"Coverage of 95% CIs, and means over the truth ({options.simulations:,} draws)"
    print(render_text(Table(title=title, columns=("values", "n", *COLUMNS), rows=shown), width=120))
    record(
        "qra",
        [
            {
                "values": name,
                "n": n,
                "simulations": options.simulations,
                "seed": options.seed,
                "columns": COLUMNS,
                "found": row,
            }
            for name, n, *row in rows
        ],
    )


def cover(rng: np.random.Generator, draw: Draw, n: int, simulations: int) -> tuple[float, ...]:
    """Return shares of draws whose limits cover, and means of estimates over what they estimate."""
    totals = np.zeros(len(COLUMNS))
    for _ in range(simulations):
        *values, new = draw(rng, n + 1)
        found = measure_precision(values)
        totals += (
            found.sd_low <= SD <= found.sd_high,
            found.sd_low < 0,
            found.sd_low_chi2 <= SD <= found.sd_high_chi2,
            found.cv_low <= 100 * SD <= found.cv_high,
            found.next_low <= new <= found.next_high,
            found.sd / SD,
            found.cv / (100 * SD),
            found.cv_plain / (100 * SD),
        )
    return tuple(float(x) for x in totals / simulations)


if __name__ == "__main__":
    main()
