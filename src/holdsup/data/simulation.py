"""Evaluations drawn from a model whose every parameter is known, to try methods on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from holdsup.arguments import check_count, check_finite, check_pairs
from holdsup.errors import ScoresError


def simulate_scores(
    means: Mapping[str, float],
    *,
    items: int = 200,
    runs: int = 5,
    sd_item: float = 0.10,
    sd_run: float = 0.01,
    sd_system_item: float = 0.03,
    sd_residual: float = 0.05,
    seed: int = 0,
) -> pa.Table:
    """Return a table of system, seed, item and score, drawn from a crossed model with normal effects.

    The score of a system in a run on an item is the system's mean plus an effect of the item (shared
    by all systems), of the run, of the item in that system, and chance; each has the standard
    deviation given. A gap between two systems of equal mean is therefore luck, and its size is known.

    Parameters
    ----------
    means : each system's true mean
    items, runs : how many items there are, and how many runs each system has
    seed : a whole number, 0 or more; the same seed gives the same table

    Examples
    --------
    >>> simulate_scores({"A": 0.7, "B": 0.7}, items=3, runs=2).num_rows
    12
    """
    means = check_pairs(means, "means", "{'A': 0.7, 'B': 0.7}")
    for name, count in (("items", items), ("runs", runs), ("seed", seed)):
        check_count(count, name)
    if items < 1 or runs < 1 or not means:
        raise ScoresError(f"cannot simulate {len(means)} systems, {items} items, {runs} runs: each must be 1 or more")
    for name, mean in means.items():
        check_finite(mean, f"the mean of {name!r}")
    for name, sd in (("sd_item", sd_item), ("sd_run", sd_run), ("sd_system_item", sd_system_item),
                     ("sd_residual", sd_residual)):  # fmt: skip
        check_finite(sd, name, least=0)
    rng = np.random.default_rng(seed)
    names = list(means)
    shape = (len(names), runs, items)
    item_effect = rng.normal(0, sd_item, items)
    run_effect = rng.normal(0, sd_run, shape[:2])
    system_item = rng.normal(0, sd_system_item, (len(names), items))
    score = np.array(list(means.values()))[:, None, None] + item_effect + run_effect[:, :, None]
    score = score + system_item[:, None, :] + rng.normal(0, sd_residual, shape)
    system, run, item = (axis.ravel() for axis in np.indices(shape))
    return pa.table(
        {
            "system": pa.DictionaryArray.from_arrays(system, names),
            "seed": run + 1,
            "item": item + 1,
            "score": score.ravel(),
        }
    )
