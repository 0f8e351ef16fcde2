"""Looking early: tests that keep their promise though somebody looks, adds scores, and looks again.

Two ways, and the theory of each is in docs/maths/looking-early.md:

- over items, one at a time in an order drawn beforehand: a confidence sequence (`numerics.betting`), for these runs;
- over runs, at numbers of them that were planned beforehand: group-sequential levels (`numerics.looks`) for the test
  that is taken anyway.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import ScoresError
from holdsup.numerics.betting import find_limit, find_p
from holdsup.numerics.decisions import Difference
from holdsup.numerics.differences import mean_of_settings
from holdsup.numerics.looks import find_levels, repeat_p
from holdsup.verdict.evaluation import Evaluation, SystemRuns
from holdsup.verdict.looking import Looking, order_items
from holdsup.verdict.samples import OF_THESE_RUNS
from holdsup.verdict.scales import find_scale

Test = Callable[[float, float], Difference]  # for an amount by which the scores of left are raised, and a level
BETS = "bets on paired differences, item by item (Waudby-Smith & Ramdas 2024)"
SEVERAL = "--peek over items takes one {}, and there are several: choose one with --where, or plan looks with --looks"


def look_early(
    looking: Looking, evaluation: Evaluation, a: SystemRuns, b: SystemRuns, shared: NDArray[np.bool_], claim: str,
    method: str, test: Test,
) -> tuple[str, Test]:  # fmt: skip
    """Return the test that keeps its promise over all looks, in words and as such, in place of that for one look."""
    if not looking.looks:
        return BETS, _bet_on_items(looking, evaluation, a, b, shared, claim)
    if claim in OF_THESE_RUNS:
        raise ScoresError("--looks counts runs, and what is claimed is about these runs alone: leave --looks out")
    growing = {s.name: len(s.runs) for s in (a, b) if not s.deterministic}
    at, last = looking.place(growing), looking.looks[-1]
    shares = tuple(n / last for n in looking.looks)

    def retest(up: float, level: float) -> Difference:
        nominal = find_levels(shares, (1 - level) / 2)[at]
        found = test(up, 1 - 2 * nominal)
        log10_p = repeat_p(shares, at, found.log10_p) if math.isfinite(found.log10_p) else found.log10_p
        return replace(found, p=10.0**log10_p, log10_p=log10_p)

    return f"{method}, look {at + 1} of {len(shares)} (error spent over all looks)", retest


def _bet_on_items(
    looking: Looking, evaluation: Evaluation, a: SystemRuns, b: SystemRuns, shared: NDArray[np.bool_], claim: str
) -> Test:
    if evaluation.per_run or evaluation.unit != "items":
        raise ScoresError(
            "--peek looks at one item more, and there are no items: plan looks at runs, with --looks 4,6,8"
        )
    if claim != "these-runs":
        raise ScoresError(f"--peek over items holds for these runs, not for {claim}: plan looks at runs, with --looks")
    for what, several in (("dataset", evaluation.datasets is not None), ("cluster", evaluation.clusters is not None)):
        if several:
            raise ScoresError(SEVERAL.format(what))
    scale = find_scale(evaluation.scores, evaluation.metric)
    if not math.isfinite(scale.low + scale.high):
        raise ScoresError(
            "--peek over items needs scores whose lowest and highest value are known, such as shares, percentages or 0 "
            "and 1: plan looks at runs, with --looks 4,6,8"
        )
    width = scale.high - scale.low
    order = place_items(evaluation, shared, looking.seed)
    differences = (mean_of_settings(a.scores, a.several) - mean_of_settings(b.scores, b.several))[order]
    x = (differences / width + 1) / 2
    error = float(differences.std(ddof=1)) / math.sqrt(len(x)) if len(x) > 1 else math.nan

    def bet(up: float, level: float) -> Difference:
        low, high = (
            width * (2 * float(find_limit(x, (1 - level) / 2, lower=lower)) - 1) + up for lower in (True, False)
        )
        log10_p = float(find_p(x, (1 - up / width) / 2))
        return Difference(
            estimate=float(differences.mean()) + up, se=error, df=math.inf, p=10.0**log10_p, log10_p=log10_p,
            low=low, high=high, claim="these-runs",
        )  # fmt: skip

    return bet


def place_items(evaluation: Evaluation, shared: NDArray[np.bool_], seed: int) -> NDArray[np.intp]:
    """Return the places of the items, among those that are shared, in the order drawn by a seed."""
    names = name_items_of(evaluation, shared)
    place = {name: i for i, name in enumerate(names)}
    return np.array([place[name] for name in order_items(names, seed)])


def name_items_of(evaluation: Evaluation, shared: NDArray[np.bool_]) -> list[str]:
    """Return the names of some of the items of one dataset."""
    items = evaluation.scores.item
    assert items is not None
    return [items.names[items.codes[row]] for row in evaluation.scores.units.first[shared]]
