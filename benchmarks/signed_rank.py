"""How often do the t-test and the signed-rank test of dataset differences find one, where their noise is uneven?

    python benchmarks/signed_rank.py [--simulations 10000] [--seed 1]

The difference of two systems on each dataset is normal around the effect, with standard deviation 1 or one that is
lognormal, drawn for each dataset; or it is exponential, which is skewed. Both tests as `rank` has them, of one pair.
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt

from calibration import wilson
from holdsup.numerics.distributions import t_tails
from holdsup.numerics.ranks import signed_rank_test
from holdsup.rendering import Table
from holdsup.rendering.text import render_text

ALPHA = 0.05
Floats = npt.NDArray[np.float64]
# Name, datasets, sd of the logarithm of the noise's sd (None: exponential differences), effect where there is one.
CELLS = [
    ("even noise", 20, 0.0, 0.5),
    ("lognormal noise, sd of log .5", 20, 0.5, 0.5),
    ("lognormal noise, sd of log 1", 20, 1.0, 0.5),
    ("lognormal noise, sd of log 1", 10, 1.0, 0.5),
    ("lognormal noise, sd of log 1", 50, 1.0, 0.5),
    ("skewed: exponential differences", 20, None, 0.5),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    rows = []
    for name, datasets, uneven, effect in CELLS:
        noise = draw(rng, (options.simulations, datasets), uneven)
        null, power = (reject(noise + shift) for shift in (0.0, effect))
        shown = [f"{100 * share:.1f}%" for share in (*null, *power)]
        low, high = wilson(round(null[1] * options.simulations), options.simulations)
        rows.append((name, datasets, *shown, f"{100 * low:.1f} to {100 * high:.1f}%"))
    columns = ("differences", "datasets", "false positives: t", "signed-rank", "power: t", "signed-rank ",
               "95% CI of signed-rank's false positives")  # fmt: skip
    print(render_text(Table(name="", title="Rejected at 5%", columns=columns, rows=tuple(rows)), width=160))


def draw(rng: np.random.Generator, shape: tuple[int, int], uneven: float | None) -> Floats:
    """Return differences with mean zero."""
    if uneven is None:
        return np.asarray(rng.exponential(1.0, shape) - 1.0)
    return np.asarray(rng.standard_normal(shape) * np.exp(uneven * rng.standard_normal(shape)))


def reject(differences: Floats) -> tuple[float, float]:
    """Return the share of tables in which the t-test, and the signed-rank test, finds a difference."""
    count = differences.shape[1]
    t = differences.mean(axis=1) / (differences.std(axis=1, ddof=1) / np.sqrt(count))
    by_t = t_tails(t, np.full(len(t), count - 1.0))[0]
    by_rank = signed_rank_test(differences, scale=1.0)
    return float((by_t <= ALPHA).mean()), float((by_rank <= ALPHA).mean())


if __name__ == "__main__":
    main()
