"""The best run of each system, picked by a column that is not the score."""

from __future__ import annotations

import numpy as np

from holdsup.columns import Labels, Numbers
from holdsup.columns.crossing import cross
from holdsup.errors import ColumnError, ScoresError
from holdsup.rendering.numbers import format_counted
from holdsup.scores import Scores

__all__ = ["pick_best"]


def pick_best(scores: Scores, column: str, *, lower_is_better: bool) -> tuple[Scores, str]:
    """Return the scores of the run of each system that is best by `column`, and what that does to a comparison."""
    known = {**scores.others, **scores.properties, **scores.facets}
    if column in scores.roles.score_columns:
        raise ScoresError(
            f"--best {column}: it is the score that is compared, and a run picked by it wins by luck; give a column of "
            "its own, such as the score on development data"
        )
    if column in scores.roles.columns() and column not in known:
        role = scores.roles.columns()[column]
        raise ScoresError(
            f"--best {column}: it is the column of the {role}; runs are picked by a number, one for each run"
        )
    if column not in known:
        raise ColumnError.not_found(column, tuple(known), where=scores.source)
    values = known[column]
    if isinstance(values, Labels):
        raise ScoresError(f"--best {column}: it holds labels such as {values.names[0]!r}; runs are picked by a number")
    runs = cross(scores.system, scores.run)
    by_run = _of_runs(values, runs.codes, runs.first, column)
    kept = np.zeros(runs.count, bool)
    system = scores.system.codes[runs.first]
    counts = []
    for code in range(scores.system.count):
        mine = np.flatnonzero((system == code) & np.isfinite(by_run))
        if not len(mine):
            raise ScoresError(f"--best {column}: no run of {scores.system.names[code]!r} has a value")
        kept[mine[np.argmin(by_run[mine]) if lower_is_better else np.argmax(by_run[mine])]] = True
        counts.append(f"{scores.system.names[code]} {len(mine)}")
    note = (
        f"Only the best run of each system by {column}, the {'lowest' if lower_is_better else 'highest'}, is compared "
        f"(of {', '.join(counts)} runs). A pick flatters, the more so the more runs there were to pick from: this is "
        "no claim about the systems, only about these runs."
    )
    return scores.take(kept[runs.codes]), note


def _of_runs(values: Numbers, run: np.ndarray, shown: np.ndarray, column: str) -> np.ndarray:
    """Return the value of each run; one that changes within a run is an error."""
    by_run = values.values[shown]
    same = (values.values == by_run[run]) | (np.isnan(values.values) & np.isnan(by_run[run]))
    if not same.all():
        number = format_counted(int((~same).sum()), "row")
        raise ScoresError(f"--best {column}: it changes within runs ({number}); give a column with one value a run")
    return np.asarray(by_run)
