"""How often can two-way Welch reject a true null at worst, whatever the variances?

    python benchmarks/caution.py [--simulations 40000] [--seed 1]

In normal theory the parts of the variance are independent chi-squares, so only their shares matter: of
the left system's runs, of the right one's, and of the items (taken as known). For every pair of run
counts the shares are searched for the worst rate, by the plain Satterthwaite df and by
`cautious_df`.
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np
from scipy import special

from holdsup.numerics.spread import Spread, cautious_df, satterthwaite_df, total_variance
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import record

RUNS = (2, 3, 4, 5, 10, 30)
RULES = ("plain", "cautious")
LEVELS = (0.05, 0.005, 0.001)
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.97, 1.0)
KNOWN = 1e9  # degrees of freedom of the item part


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=40_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    rows = [worst(rng, options.simulations, runs) for runs in itertools.combinations_with_replacement(RUNS, 2)]
    columns = ("runs", *(f"{100 * alpha:g}% {name}" for alpha in LEVELS for name in RULES))
    body = tuple((str(row["runs"]), *(f"{100 * rate:.2f}" for rate in row["rates"])) for row in rows)
    print(
        render_text(Table(title="Worst false positives, %, by level and rule", columns=columns, rows=body), width=120)
    )
    record("caution", [{"seed": options.seed, "columns": columns, **row} for row in rows])


def worst(rng: np.random.Generator, count: int, runs: tuple[int, int]) -> dict[str, object]:
    """Return the worst rate over all shares, for each level and rule."""
    rates = np.zeros((len(LEVELS), len(RULES)))
    estimate = rng.standard_normal(count)
    parts = [rng.chisquare(k - 1, count) / (k - 1) for k in runs]
    for shares in itertools.product(SHARES, SHARES):
        if 0 < sum(shares) <= 1:
            rates = np.maximum(rates, reject(estimate, parts, shares, runs))
    return {"runs": f"{runs[0]} v {runs[1]}", "simulations": count, "rates": rates.ravel().tolist()}


def reject(
    estimate: np.ndarray, parts: list[np.ndarray], shares: tuple[float, float], runs: tuple[int, int]
) -> np.ndarray:
    """Return how often each rule rejects at each level."""
    nothing = np.zeros_like(estimate)
    here = Spread(
        estimate=estimate,
        these=np.full_like(estimate, 1 - sum(shares)),
        item_df=KNOWN,
        runs=tuple(share * part for share, part in zip(shares, parts, strict=True)),
        noise=(nothing, nothing),
        run_df=(runs[0] - 1, runs[1] - 1),
    )
    t = np.abs(estimate) / np.sqrt(total_variance([here]))
    plain = 2 * special.stdtr(satterthwaite_df([here]), -t)
    rates = []
    for alpha in LEVELS:
        cautious = 2 * special.stdtr(cautious_df([here], alpha), -t)
        rates.append([(plain < alpha).mean(), (cautious < alpha).mean()])
    return np.array(rates)


if __name__ == "__main__":
    main()
