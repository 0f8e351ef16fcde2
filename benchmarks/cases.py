"""Tables of the sizes that evaluations have, drawn by seeded rules."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

__all__ = ["large_evaluation"]


def large_evaluation(items: int = 100_000, *, seed: int = 5) -> pa.Table:
    """Return 2 systems x 5 settings x 5 seeds on every item (50 rows an item), with a property of items."""
    rng = np.random.default_rng(seed)
    system, lam, run = (axis.ravel() for axis in np.indices((2, 5, 5)))
    item = np.repeat(np.arange(items), 50)
    system, lam, run = (np.tile(codes, items) for codes in (system, lam, run))
    readability = rng.normal(size=items)
    score = (
        0.4 + 0.01 * system + rng.normal(0, 0.01, 5)[lam] + rng.normal(0, 0.004, 5)[run]
        + (rng.normal(0, 0.1, items) - 0.02 * readability)[item] + rng.normal(0, 0.07, len(item))
    )  # fmt: skip
    return pa.table(
        {
            "item": item,
            "system": _labels(system, ["baseline", "sota"]),
            "lam": _labels(lam, [f"l{i}" for i in range(5)]),
            "seed": _labels(run, [f"s{i}" for i in range(5)]),
            "readability": np.round(readability, 6)[item],
            "y": np.round(score, 6),
        }
    )


def _labels(codes: np.ndarray, names: list[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), names).cast(pa.string())
