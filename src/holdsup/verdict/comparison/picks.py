"""The best run of each system, picked by a column that is not the score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from holdsup.columns import Labels, Numbers
from holdsup.columns.crossing import cross
from holdsup.errors import ColumnError, ScoresError
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.results import Caution
from holdsup.scores import Scores
from holdsup.scores.assembly import name_runs
from holdsup.verdict.comparison.records import PickedRun
from holdsup.verdict.phrases import join_names


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """The best run of each system."""

    scores: Scores  # of these runs alone
    runs: tuple[PickedRun, ...]  # which they are
    reasons: dict[str, int]  # why rows of other runs are not used, and how many these are
    cautions: tuple[Caution, ...]  # what the pick does to a comparison

    @property
    def passed_over(self) -> bool:
        """Whether there were other runs to pick."""
        return any(each.runs > 1 for each in self.runs)


def pick_best(scores: Scores, column: str, *, lower_is_better: bool, nested_runs: bool = False) -> Pick:
    """Return the run of each system that is best by `column`, and what that does to a comparison.

    Where datasets have runs of their own, it is the best of each dataset.
    """
    dataset = scores.dataset if nested_runs else None
    runs = cross(scores.system, scores.run, *([] if dataset is None else [dataset]))
    own = (
        ", or --nested-runs if each dataset has its own runs" if scores.dataset is not None and not nested_runs else ""
    )
    by_run = _of_runs(_values(scores, column), runs.codes, runs.first, column, own)
    names = [_name(scores, dataset, row) for row in runs.first]
    owner = cross(scores.system, *([] if dataset is None else [dataset]))
    kept, picked = np.zeros(runs.count, bool), []
    for code, row in enumerate(owner.first):
        if scores.system.codes[row] < 0:
            continue
        mine = np.flatnonzero((owner.codes[runs.first] == code) & np.isfinite(by_run))
        system = scores.system.names[scores.system.codes[row]]
        if not len(mine):
            on = f" on {dataset.names[dataset.codes[row]]!r}" if dataset is not None else ""
            raise ScoresError(
                f"--best {column}: no run of {system!r}{on} has a value, so none can be picked: fill the column, or "
                "leave --best out"
            )
        best = by_run[mine].min() if lower_is_better else by_run[mine].max()
        tied = mine[by_run[mine] == best]
        kept[tied[0]] = True
        picked.append(
            PickedRun(
                system=system, run=names[tied[0]], value=float(best),
                runs=len(mine), tied=len(tied),
            )
        )  # fmt: skip
    unknown = ~np.isfinite(by_run) & (scores.system.codes[runs.first] >= 0)
    lacking = [names[run] for run in np.flatnonzero(unknown)]
    counts = {
        f"a run without {column}, which cannot be picked": int(unknown[runs.codes].sum()),
        f"a run that is not its system's best by {column}": int((~kept & ~unknown)[runs.codes].sum()),
    }
    return Pick(
        scores=scores.take(kept[runs.codes]),
        runs=tuple(picked),
        reasons={why: count for why, count in counts.items() if count},
        cautions=tuple(_caution(picked, lacking, column, "lowest" if lower_is_better else "highest")),
    )


def _name(scores: Scores, dataset: Labels | None, row: int) -> str:
    """Return what the run of a row is called, and of which dataset it is where these have runs of their own."""
    run = scores.run.names[scores.run.codes[row]]
    return run if dataset is None or dataset.codes[row] < 0 else f"{run} on {dataset.names[dataset.codes[row]]}"


def join_picks(scores: Scores) -> Scores:
    """Return the scores with what was picked on the datasets of a system as one run, whatever its seeds."""
    return replace(
        scores,
        facets={},
        others={**scores.others, **scores.facets},
        roles=replace(scores.roles, run=None, facets=(), replicates=(), shared=()),
        run=name_runs(scores.system, None, {}),
    )


def _values(scores: Scores, column: str) -> Numbers:
    """Return the column of numbers that runs are picked by; any other is refused."""
    known = {**scores.others, **scores.properties, **scores.facets}
    if column in scores.roles.score_columns:
        raise ScoresError(
            f"--best {column}: this is the score being compared, so the pick would win by luck: give another column, "
            "such as the score on development data"
        )
    if column in scores.roles.columns() and column not in known:
        role = scores.roles.columns()[column]
        raise ScoresError(
            f"--best {column}: this column holds the {role}: give a numeric column with one value per run"
        )
    if column not in known:
        raise ColumnError.not_found(column, (*scores.roles.columns(), *scores.others), where=scores.source)
    values = known[column]
    if isinstance(values, Labels):
        raise ScoresError(f"--best {column}: it holds labels such as {values.names[0]!r}: give a numeric column")
    return values


def _of_runs(values: Numbers, run: np.ndarray, shown: np.ndarray, column: str, more: str) -> np.ndarray:
    """Return the value of each run; one that changes within a run is an error, with `more` that may be done."""
    by_run = values.values[shown]
    same = (values.values == by_run[run]) | (np.isnan(values.values) & np.isnan(by_run[run]))
    if not same.all():
        number = format_counted(int((~same).sum()), "row")
        raise ScoresError(
            f"--best {column}: it changes within runs ({number}): give a column with one value per run, or name the "
            f"columns that tell runs apart (--facets, --run){more}"
        )
    return np.asarray(by_run)


def _caution(picked: Sequence[PickedRun], lacking: Sequence[str], column: str, which: str) -> Iterator[Caution]:
    nested = " on each dataset" if len({each.system for each in picked}) < len(picked) else ""
    chosen = join_names([f"{each.run} (of {each.runs})" for each in picked])
    yield Caution(
        code="picked-runs",
        message=f"Only the best run of each system{nested} by {column}, the {which}, is compared: {chosen}.",
        effect="Picking flatters, the more so the more runs there are: this compares the picked runs, not the systems.",
    )
    if tied := [each for each in picked if each.tied > 1]:
        shared = join_names([f"{e.system} has {e.tied} runs with {format_number(e.value)}" for e in tied])
        message = f"Runs tie for the best {column}: {shared}. The first is used, as named above."
        yield Caution(code="tied-picks", severity="note", message=message)
    if lacking:
        message = f"{format_counted(len(lacking), 'run')} without {column} can't be picked: {join_names(lacking)}."
        yield Caution(code="runs-without-pick", message=message)
