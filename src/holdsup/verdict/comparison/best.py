"""The best run of each system, picked by a column that is not the score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from holdsup.columns import Labels, Numbers
from holdsup.columns.crossing import cross
from holdsup.errors import ColumnError, ScoresError
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.scores import Scores
from holdsup.verdict.comparison.records import PickedRun
from holdsup.verdict.phrases import join_names

__all__ = ["Pick", "pick_best"]


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """The best run of each system.

    Attributes
    ----------
    scores : of these runs alone
    runs : which they are
    reasons : why rows of other runs are not used, and how many these are
    warnings : what the pick does to a comparison
    """

    scores: Scores
    runs: tuple[PickedRun, ...]
    reasons: dict[str, int]
    warnings: tuple[str, ...]

    @property
    def passed_over(self) -> bool:
        """Whether there were other runs to pick."""
        return any(each.runs > 1 for each in self.runs)


def pick_best(scores: Scores, column: str, *, lower_is_better: bool) -> Pick:
    """Return the run of each system that is best by `column`, and what that does to a comparison."""
    runs = cross(scores.system, scores.run)
    by_run = _of_runs(_values(scores, column), runs.codes, runs.first, column)
    system, names = scores.system.codes[runs.first], scores.run.take(runs.first)
    kept, picked = np.zeros(runs.count, bool), []
    for code in range(scores.system.count):
        mine = np.flatnonzero((system == code) & np.isfinite(by_run))
        if not len(mine):
            raise ScoresError(
                f"--best {column}: no run of {scores.system.names[code]!r} has a value, so none can be picked: fill "
                "the column, or leave --best out"
            )
        best = by_run[mine].min() if lower_is_better else by_run[mine].max()
        tied = mine[by_run[mine] == best]
        kept[tied[0]] = True
        picked.append(
            PickedRun(
                system=scores.system.names[code], run=names.names[names.codes[tied[0]]], value=float(best),
                runs=len(mine), tied=len(tied),
            )
        )  # fmt: skip
    unknown = ~np.isfinite(by_run) & (system >= 0)
    lacking = [names.names[names.codes[run]] for run in np.flatnonzero(unknown)]
    counts = {
        f"a run without {column}, which cannot be picked": int(unknown[runs.codes].sum()),
        f"a run that is not its system's best by {column}": int((~kept & ~unknown)[runs.codes].sum()),
    }
    return Pick(
        scores=scores.take(kept[runs.codes]),
        runs=tuple(picked),
        reasons={why: count for why, count in counts.items() if count},
        warnings=tuple(_warnings(picked, lacking, column, "lowest" if lower_is_better else "highest")),
    )


def _values(scores: Scores, column: str) -> Numbers:
    """Return the column of numbers that runs are picked by; any other is refused."""
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
        raise ColumnError.not_found(column, (*scores.roles.columns(), *scores.others), where=scores.source)
    values = known[column]
    if isinstance(values, Labels):
        raise ScoresError(f"--best {column}: it holds labels such as {values.names[0]!r}; runs are picked by a number")
    return values


def _of_runs(values: Numbers, run: np.ndarray, shown: np.ndarray, column: str) -> np.ndarray:
    """Return the value of each run; one that changes within a run is an error."""
    by_run = values.values[shown]
    same = (values.values == by_run[run]) | (np.isnan(values.values) & np.isnan(by_run[run]))
    if not same.all():
        number = format_counted(int((~same).sum()), "row")
        raise ScoresError(
            f"--best {column}: it changes within runs ({number}): give a column with one value a run or, if runs are "
            "not told apart, name the columns that do (--facets, --run)"
        )
    return np.asarray(by_run)


def _warnings(picked: Sequence[PickedRun], lacking: Sequence[str], column: str, which: str) -> Iterator[str]:
    chosen = join_names([f"{each.run} (of {each.runs})" for each in picked])
    yield (
        f"Only the best run of each system by {column}, the {which}, is compared: {chosen}. A pick flatters, the more "
        "so the more runs there were to pick from: this is no claim about the systems, only about these runs."
    )
    if tied := [each for each in picked if each.tied > 1]:
        shared = join_names([f"{e.system} has {e.tied} runs with {format_number(e.value)}" for e in tied])
        yield f"More than one run is the best by {column}: {shared}. One of them is taken, as named above."
    if lacking:
        yield f"{format_counted(len(lacking), 'run')} without {column} cannot be picked: {join_names(lacking)}."
