"""The data of the comparison with glmer, made by rules: the tests and `scripts/reference/make_glmer.py` make the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from lme4_cases import labels

__all__ = ["CASES", "Case", "evaluation"]

Columns = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Case:
    """A model and the rule of its data; `one_factor`: glmer has 25 nodes for it."""

    name: str
    formula: str  # ours
    make: Callable[[], Columns]
    r_formula: str | None = None  # glmer's
    trials: str | None = None
    one_factor: bool = False


def evaluation(
    seed: int, systems: int, items: int, runs: int, *, sd: tuple[float, float, float] = (1.2, 0.6, 0.2),
    mean: float = 0.6, gap: float = 0.3, keep: float = 1.0, size: int = 1,
) -> Columns:  # fmt: skip
    """Right and wrong of systems on items in runs; sd of items, of systems on them, of runs."""
    state = np.random.RandomState(seed)
    s, i, r = np.indices((systems, items, runs)).reshape(3, -1)
    kept = state.random_sample(len(s)) < keep
    s, i, r = s[kept], i[kept], r[kept]
    x = np.round(state.standard_normal(len(s)), 2)
    slope = 0.5 * state.standard_normal(items)[i] * x
    eta = mean + gap * s + sd[0] * state.standard_normal(items)[i]
    eta += sd[1] * state.standard_normal((systems, items))[s, i] + sd[2] * state.standard_normal((systems, runs))[s, r]
    eta += 0.4 * x + slope
    n = state.randint(1, size + 1, len(s))
    y = state.binomial(n, 1 / (1 + np.exp(-eta)))
    return {
        "y": y.astype(float), "n": n.astype(float), "x": x, "system": labels("s", s), "item": labels("i", i),
        "run": labels("r", r), "doc": labels("d", i // 5),
    }  # fmt: skip


CASES = (
    Case("one factor", "y ~ system + (1 | item)", lambda: evaluation(1, 3, 60, 2), one_factor=True),
    Case("high accuracy", "y ~ system + (1 | item)", lambda: evaluation(2, 2, 150, 4, mean=3.6), one_factor=True),
    Case("number", "y ~ x * system + (1 | item)", lambda: evaluation(3, 2, 80, 3), one_factor=True),
    Case("runs", "y ~ system + (1 | item) + (1 | system:run)", lambda: evaluation(4, 2, 80, 4, sd=(1.2, 0.6, 0.5))),
    Case("nested", "y ~ system + (1 | item) + (1 | system:item)", lambda: evaluation(5, 3, 60, 4)),
    Case(
        "evaluation", "y ~ system + (1 | item) + (1 | system:item) + (1 | system:run)",
        lambda: evaluation(6, 3, 70, 4, sd=(1.3, 0.9, 0.4)),
    ),
    Case("missing", "y ~ 0 + system + (1 | item) + (1 | system:item)", lambda: evaluation(7, 4, 50, 3, keep=0.6)),
    Case("documents", "y ~ x + (1 | doc / item)", lambda: evaluation(8, 3, 100, 2), "y ~ x + (1 | doc) + (1 | doc:item)"),
    Case("slope", "y ~ x + (1 + x | item)", lambda: evaluation(9, 3, 60, 4)),
    Case("slope, uncorrelated", "y ~ x + system + (x || item)", lambda: evaluation(10, 3, 60, 4)),
    Case("slopes of runs", "y ~ x + (1 | item) + (1 + x | run)", lambda: evaluation(11, 3, 60, 9)),
    Case(
        "trials", "y ~ system * x + (1 | item)", lambda: evaluation(12, 3, 50, 1, size=6),
        "cbind(y, n - y) ~ system * x + (1 | item)", trials="n",
    ),
    Case(
        "trials, nested", "y ~ system + (1 | item) + (1 | system:item)", lambda: evaluation(13, 3, 50, 2, size=5),
        "cbind(y, n - y) ~ system + (1 | item) + (1 | system:item)", trials="n",
    ),
    Case("singular", "y ~ system + (1 | item) + (1 | run)", lambda: evaluation(14, 2, 60, 8, sd=(1.0, 0.3, 0.0))),
    Case("crossed", "y ~ x + (1 | item) + (1 | run)", lambda: evaluation(15, 1, 40, 30, sd=(1.0, 0.0, 0.8), keep=0.8)),
)  # fmt: skip
