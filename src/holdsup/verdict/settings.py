"""Settings: facets that vary, systems over new draws of them, and facets that are none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from holdsup.columns.crossing import cross
from holdsup.numerics.decisions import Difference
from holdsup.numerics.settings import compare_settings
from holdsup.scores import Scores
from holdsup.verdict.evaluation import Evaluation, SystemRuns, is_repetition


def compare_new_settings(
    evaluation: Evaluation, a: SystemRuns, b: SystemRuns, up: float, *, level: float
) -> Difference:
    """Return the difference over new items, runs and settings, the scores of `a` raised by an amount."""
    shared = evaluation.scored(evaluation.system(a.name)) & evaluation.scored(evaluation.system(b.name))
    return compare_settings(
        a.scores,
        b.scores,
        left_facets=facet_codes(evaluation, a),
        right_facets=facet_codes(evaluation, b),
        clusters=None if evaluation.clusters is None else evaluation.clusters[shared],
        room=evaluation.room,
        up=up,
        level=level,
    )


def mean_over_settings(evaluation: Evaluation, system: SystemRuns, *, level: float) -> Difference:
    """Return the mean of a system whose settings vary over new items, runs and settings."""
    held = evaluation.scored(system)
    clusters = None if evaluation.clusters is None else evaluation.clusters[held]
    return compare_settings(
        system.on(held).scores, left_facets=facet_codes(evaluation, system), clusters=clusters, level=level
    )


def facet_codes(evaluation: Evaluation, system: SystemRuns) -> NDArray[np.int64] | None:
    """Return the level of each run by each facet that varies, shape (facets, runs); None if none does."""
    scores = evaluation.scores
    mine = scores.system.codes == scores.system.names.index(system.name)
    shown = np.flatnonzero(mine)[cross(scores.run.take(mine)).first]
    found = [cross(scores.facets[name].take(shown)).codes for name in varying_facets(scores, mine)]
    return np.stack(found) if found else None


def sparse_facets(evaluation: Evaluation, system: SystemRuns) -> tuple[str, ...]:
    """Return the facets that have two levels in a system, which say next to nothing about new ones."""
    scores = evaluation.scores
    mine = scores.system.codes == scores.system.names.index(system.name)
    return tuple(name for name in varying_facets(scores, mine) if cross(scores.facets[name].take(mine)).count == 2)


def varying_facets(scores: Scores, mine: NDArray[np.bool_]) -> Iterator[str]:
    """Yield each facet that is a setting and varies in some rows; of two that vary together, the first."""
    seen: list[bytes] = []
    for name, labels in scores.facets.items():
        if is_repetition(scores, name):
            continue
        found = cross(labels.take(mine))
        grouping = found.first[found.codes].tobytes()  # the same for the same groups, whatever their names
        if found.count > 1 and grouping not in seen:
            seen.append(grouping)
            yield name
