"""Which rows the differences of a comparison rest on, and why not on the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from holdsup.results import Rows
from holdsup.scores import Scores
from holdsup.verdict.comparison.answers import Answer
from holdsup.verdict.copies import COPY

__all__ = ["count_rows"]


def count_rows(scores: Scores, found: Sequence[Answer], passed_over: Mapping[str, int]) -> Rows:
    """Return the rows planned and used; `passed_over` were left out before, with the reasons."""
    rows = scores.rows()
    reasons = {**rows.reasons, **passed_over}
    unused = 0
    for answer in found:
        counts = {reason: int(mask.sum()) for reason, mask in _unused(answer).items()}
        for reason, count in {COPY: answer.distinct.rows, **counts}.items():
            unused += count
            if count:
                reasons[reason] = reasons.get(reason, 0) + count
    return Rows(rows.planned + sum(passed_over.values()), rows.used - unused, reasons)


def _unused(answer: Answer) -> dict[str, NDArray[np.bool_]]:
    """Return the rows that are in no difference, each under the first reason that holds."""
    evaluation = answer.evaluation
    scores = evaluation.scores
    compared, on_item, by_seed = (np.zeros(len(scores), bool) for _ in range(3))
    for pair in answer.covering:
        sides = [evaluation.system(side.name) for side in (pair.left, pair.right)]
        shared = pair.shared[evaluation.item]
        for side, other in (sides, sides[::-1]):
            mine = scores.system.codes == scores.system.names.index(side.name)
            compared |= mine
            on_item |= mine & shared
            if pair.paired and evaluation.seeds is not None and other.seeds is not None:
                mine = mine & np.isin(evaluation.seeds, other.seeds)
            by_seed |= mine
    unit = "a dataset" if evaluation.unit == "datasets" else "an item"
    whole = ", in each setting" if any(system.setting_count > 1 for system in evaluation.systems) else ""
    return {
        "a system that can be compared with no other": ~compared,
        f"{unit} that no two systems compared both have{whole}: in no difference": compared & ~on_item,
        "a shared seed that no system compared with it has: in no difference": on_item & ~by_seed,
    }
