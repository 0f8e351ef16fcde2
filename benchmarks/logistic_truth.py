"""Does a logistic fit find the truth that its table was drawn from, whatever the accuracy?

    python benchmarks/logistic_truth.py [--tables 100] [--accuracies .5,.7,.9,.95,.98] [--laplace]

Tables of two equal systems on 300 items in several runs are drawn with known spreads of log-odds, at intercepts that
make the accuracy what is asked for, and fitted as `fit_glmm` does by default (with `--laplace`, by Laplace's
approximation as well). Shown are, beside the truth, the mean of each standard deviation over tables, the root of its
mean square (what is cut at zero is small on average where its square is not), and the mean rate.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from holdsup import fit_glmm
from holdsup.errors import Separation
from holdsup.numerics.quadrature import normal_nodes
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from measuring import record

ITEMS = 300
# formula, systems, runs, true standard deviations of its terms
DESIGNS = {
    "items": ("y ~ system + (1 | item)", 2, 6, (1.5, 0.0, 0.0)),
    "items, systems on them": ("y ~ system + (1 | item) + (1 | system:item)", 2, 6, (1.5, 0.7, 0.0)),
    "and runs": ("y ~ system + (1 | item) + (1 | system:item) + (1 | system:run)", 2, 10, (1.5, 0.7, 0.3)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--accuracies", default=".5,.7,.9,.95,.98")
    parser.add_argument("--laplace", action="store_true", help="Laplace's approximation, too")
    options = parser.parse_args()
    rows = []
    for design in DESIGNS:
        for accuracy in map(float, options.accuracies.split(",")):
            for method in ("auto", "laplace") if options.laplace else ("auto",):
                rows.append(recover(design, accuracy, method, options.tables))
    print(render_text(tabulate(rows), width=200))
    record("logistic_truth", rows)


def recover(design: str, accuracy: float, method: str, tables: int) -> dict[str, object]:
    """Return the means over tables of what is found, beside the truth."""
    formula, _, _, truth = DESIGNS[design]
    found, rates, refused = [], [], 0
    for table in draw(design, accuracy, tables):
        try:
            fit = fit_glmm(formula, table, method=method)
        except Separation:
            refused += 1
            continue
        found.append([component.sd for component in fit.random[:-1]])
        rates.append(np.mean([rate.estimate for rate in fit.rates]))
    sd = np.array(found)
    return {
        "design": design, "accuracy": accuracy, "method": method, "tables": tables, "refused": refused,
        "truth": [sd for sd in truth if sd], "mean": sd.mean(axis=0).tolist(),
        "se": (sd.std(axis=0, ddof=1) / np.sqrt(len(sd))).tolist(), "rate": float(np.mean(rates)),
    }  # fmt: skip


def draw(design: str, accuracy: float, tables: int) -> Iterator[dict[str, object]]:
    """Yield tables of a design."""
    _, systems, runs, (sd_item, sd_unit, sd_run) = DESIGNS[design]
    nodes, weight = normal_nodes(51)
    spread = np.sqrt(sd_item**2 + sd_unit**2 + sd_run**2)
    intercept = brentq(lambda b: float(expit(b + spread * nodes) @ weight) - accuracy, -20, 20)
    system, item, run = (axis.ravel() for axis in np.indices((systems, ITEMS, runs)))
    for number in range(tables):
        rng = np.random.default_rng([number, int(1000 * accuracy), len(design)])
        log_odds = (
            intercept + sd_item * rng.normal(size=ITEMS)[item] + sd_run * rng.normal(size=(systems, runs))[system, run]
        )
        log_odds += sd_unit * rng.normal(size=(systems, ITEMS))[system, item]
        yield {
            "y": (rng.random(len(item)) < expit(log_odds)).astype(int), "item": [f"q{i}" for i in item],
            "system": [f"s{s}" for s in system], "run": [f"r{r}" for r in run],
        }  # fmt: skip


def _roots(row: dict[str, object]) -> list[float]:
    """Return the roots of the mean variances, from the means of standard deviations and their standard errors."""
    used = row["tables"] - row["refused"]
    return [float(np.sqrt(m**2 + (used - 1) * e**2)) for m, e in zip(row["mean"], row["se"], strict=True)]


def tabulate(rows: list[dict[str, object]]) -> Table:
    return Table(
        title=f"Spreads of log-odds: means of {rows[0]['tables']} tables (standard error), truth",
        columns=("random terms", "accuracy", "method", "mean sd", "by square", "true sd", "farthest", "rate", "no fit"),
        rows=tuple(
            (
                row["design"], f"{row['accuracy']:g}", row["method"],
                ", ".join(f"{m:.3f} ({e:.3f})" for m, e in zip(row["mean"], row["se"], strict=True)),
                ", ".join(f"{root:.3f}" for root in _roots(row)),
                ", ".join(f"{t:g}" for t in row["truth"]),
                f"{max((abs(root / t - 1) for root, t in zip(_roots(row), row['truth'], strict=True))):.1%}",
                f"{row['rate']:.3f}", row["refused"],
            )
            for row in rows
        ),
    )  # fmt: skip


if __name__ == "__main__":
    main()
