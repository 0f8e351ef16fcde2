"""Runs and systems without a score that counts: a verdict is about those that have one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from holdsup.columns.crossing import cross
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.scores import Scores
from holdsup.scores.table import REASONS
from holdsup.verdict.phrases import join_names

__all__ = ["caution_losses", "lost_systems"]


def caution_losses(scores: Scores) -> Iterator[str]:
    """Yield how many runs of which systems have no score that counts."""
    if scores.usable.all():
        return
    if lost := lost_systems(scores):
        each = join_names([f"{name} ({why})" for name, why in lost.items()])
        yield f"Not compared, for want of a score that counts: {each}."
    said = []
    for number, name in enumerate(scores.system.names):
        rows = np.flatnonzero(scores.system.codes == number)
        if name in lost or not len(rows):
            continue
        runs = cross(scores.run.take(rows))
        ended = np.bincount(runs.codes, scores.usable[rows], runs.count) > 0
        if not ended.all():
            why = _reasons(scores, rows[~ended[runs.codes]])
            said.append(f"{format_count(int((~ended).sum()))} of {format_counted(runs.count, 'run')} of {name} ({why})")
    if said:
        yield f"Without a score that counts are {join_names(said)}: the verdict is about the runs that have one."


def lost_systems(scores: Scores) -> dict[str, str]:
    """Return the systems that have rows, but none that counts, and why."""
    having = np.bincount(scores.system.codes[scores.usable], minlength=scores.system.count)
    gone = {
        name: np.flatnonzero(scores.system.codes == n) for n, name in enumerate(scores.system.names) if not having[n]
    }
    return {name: _reasons(scores, rows) for name, rows in gone.items() if len(rows)}


def _reasons(scores: Scores, rows: np.ndarray) -> str:
    """Return why rows do not count, the commonest reason first."""
    names = Counter(scores.status.names[code] for code in scores.status.codes[rows])
    return join_names(
        [REASONS.get(name, "labels are missing" if name == "ok" else name) for name, _ in names.most_common()]
    )
