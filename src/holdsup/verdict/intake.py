"""How every question takes in a table of scores: read, rows chosen, directions and faults found.

`compare`, `variance` and `rank` begin here, so that one table means the same to all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from holdsup.arguments import list_values_given
from holdsup.columns import Column, Labels
from holdsup.columns.crossing import cross
from holdsup.columns.values import parse_number, write_value
from holdsup.errors import ColumnError, ScoresError, list_names
from holdsup.progress import Progress, no_progress
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results import Caution, Rows
from holdsup.results.extras import list_extras
from holdsup.scores import Scores, read_scores
from holdsup.scores.audit import find_wrong_numbers
from holdsup.scores.column_faults import find_lookalikes
from holdsup.scores.costs import leave_out_costs
from holdsup.scores.directions import Directions, LowerIsBetter, choose_directions
from holdsup.scores.faults import refuse
from holdsup.scores.item_groups import find_groupings
from holdsup.scores.raters import set_raters_aside, settle_raters
from holdsup.scores.roles import NOTHING
from holdsup.scores.table import REASONS
from holdsup.verdict.checkpoints import keep_last
from holdsup.verdict.phrases import join_names
from holdsup.verdict.repeats import caution_progress
from holdsup.verdict.samples import caution_samples

Where: TypeAlias = Mapping[str, Iterable[str | float] | str | float] | None
ROLES = ("system", "item", "dataset", "metric", "cluster", "run", "rater")


@dataclass(frozen=True, slots=True, eq=False)
class Intake:
    """A table of scores as a question takes it."""

    scores: Scores  # the rows that were chosen
    directions: Directions  # which metrics are better when lower
    cautions: tuple[Caution, ...]  # how the table was read, and what is doubtful in it
    faults: tuple[Caution, ...] = ()  # those of the cautions that make numbers wrong, and that numbers do not show
    # why other rows were not chosen, and how many these are
    passed_over: Mapping[str, int] = field(default_factory=dict)

    def rows(self) -> Rows:
        """Return how many of all rows are used, and why others are not."""
        used = self.scores.rows()
        planned = used.planned + sum(self.passed_over.values())
        return Rows(planned, used.used, {**self.passed_over, **used.reasons})


def take_in(
    data: Any,
    roles: Mapping[str, Any],
    *,
    where: Where = None,
    last: str | None = None,
    lower_is_better: LowerIsBetter = None,
    raters: bool = False,
    corpora: bool = False,
    progress: Progress = no_progress,
) -> Intake:
    """Return a table of scores, ready to be asked.

    Parameters
    ----------
    data : `Scores`, or anything that `read_scores` takes
    roles : arguments of `read_scores`
    where, last : which rows are used, see `choose_rows`
    lower_is_better : which metrics are better when lower, see `choose_directions`
    raters : whether the question adjusts for raters; for others a column of raters has no role
    corpora : whether the question is asked of scores of whole corpora as well
    """
    given = isinstance(data, Scores)
    if not raters:
        refuse_raters(roles)
    everything = data if given else read_scores(data, progress=progress, **roles)
    everything = everything if raters else set_raters_aside(everything)
    scores, passed_over, stages = choose_rows(leave_out_costs(everything, asked=where or ()), where, last)
    if scores.corpus is not None:
        if not corpora:
            raise ScoresError(
                f"these are counts of {scores.corpus.title}, a score of whole corpora: only compare takes it"
            )
        from holdsup.scores.corpus import linearise  # only here: other tables need no metrics

        scores, left, noted = linearise(scores)
        passed_over, stages = passed_over | left, (*stages, *noted)
    asked_about = set() if scores.dataset is None else {f"dataset:{name}" for name in scores.dataset.names}
    wrong = (each for each in scores.notes if each.severity == "error")
    refuse(each for each in wrong if not each.about.startswith("dataset:") or each.about in asked_about)
    directions, said = choose_directions(scores, lower_is_better), list[Caution]()
    scores = settle_raters(scores, said)
    faults = (*find_wrong_numbers(scores), *find_lookalikes(scores))
    cautions = [
        *scores.notes,
        *stages,
        *said,
        *_find_losses(scores),
        *caution_progress(scores),
        *caution_samples(scores),
        *directions.cautions(),
        *faults,
    ]
    if not given and roles.get("cluster") is None:  # or else it was said what belongs together
        cautions.extend(_find_groups(scores))
    return Intake(scores, directions, tuple(cautions), faults, passed_over)


def refuse_raters(roles: Mapping[str, Any]) -> None:
    """Refuse a column of raters where a question does not adjust for them."""
    if roles.get("rater") not in (None, NOTHING):
        raise ScoresError("--rater: only compare, variance and rank adjust for raters; leave it out here")


def _find_groups(scores: Scores) -> Iterator[Caution]:
    """Yield that items may belong together, or that they do by a column that nobody named."""
    lost: list[Caution] = []
    looked = list_extras("the look for items that belong together", lambda: find_groupings(scores), lost, about="data")
    yield from looked
    yield from lost
    if scores.cluster is not None:
        yield Caution(
            code="clusters-by-name",
            severity="note",
            message=f"Items of one {scores.roles.cluster} count as related; the column was found by its name.",
            advice="--cluster - makes them independent.",
        )


def _find_losses(scores: Scores) -> Iterator[Caution]:
    """Yield how many runs of which systems have no score that counts."""
    if scores.usable.all():
        return
    if infinite := _count_status(scores, "infinite"):
        message = "One score is infinite and was left out."
        if infinite > 1:
            message = f"{format_count(infinite)} scores are infinite and were left out."
        advice = "Find out where they come from: a division by zero is no score."
        yield Caution(code="infinite-scores", about="data", message=message, advice=advice, count=infinite)
    if lost := lost_systems(scores):
        each = join_names([f"{name} ({why})" for name, why in lost.items()])
        yield Caution(code="systems-without-scores", message=f"Left out, with no usable score: {each}.")
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
        yield Caution(
            code="runs-without-scores",
            message=f"No usable score in {join_names(said)}.",
            effect="The answer is about the runs that have one.",
        )


def caution_missing(scores: Scores) -> Iterator[Caution]:
    """Yield how many rows have no score, where the answer goes on without them."""
    missing = _count_status(scores, "missing") + _count_status(scores, "nan")
    if missing and scores.usable.any():
        have = "has" if missing == 1 else "have"
        message = f"{format_count(missing)} of {format_counted(len(scores), 'row')} {have} no score."
        effect = "The answer rests on the others, as if scores were missing at random."
        yield Caution(code="missing-scores", about="data", message=message, effect=effect, count=missing)


def _count_status(scores: Scores, name: str) -> int:
    names = scores.status.names
    return int((scores.status.codes == names.index(name)).sum()) if name in names else 0


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


def choose_rows(
    scores: Scores, where: Where, last: str | None = None
) -> tuple[Scores, dict[str, int], tuple[Caution, ...]]:
    """Return the scores in which each column has one of its values, how many rows each condition takes out, cautions.

    A column is given by its own name or, if no column has that name, by its role. Of what is left `last` keeps, in each
    run and dataset, the rows at the largest value of a column.
    """
    if where is None:
        return keep_last(scores, last)
    if not isinstance(where, Mapping):
        raise ColumnError(f"where is {where!r:.60}: give a dict, such as {{'system': 'A'}}")
    mask = np.ones(len(scores), bool)
    reasons: dict[str, int] = {}
    known = _columns(scores)
    for name, given in where.items():
        values = write_values(name, given)
        if name not in known and name in scores.roles.columns():
            role = scores.roles.columns()[name]
            raise ScoresError(f"--where {name}: this column holds the {role}, and rows can't be chosen by it")
        if name not in known:
            raise ColumnError.not_found(name, known, where=scores.source)
        fits = _fits(name, known[name], values)
        reasons[f"another {name} than {' or '.join(values)}"] = int((mask & ~fits).sum())
        mask &= fits
    if not mask.any():
        asked = ", ".join(f"{name}={value}" for name, value in where.items())
        raise ScoresError(f"no row of {scores.source} has all of {asked}: give values that occur together")
    kept, earlier, cautions = keep_last(scores.only(mask), last)
    return kept, {why: count for why, count in reasons.items() if count} | earlier, cautions


def list_where(where: Where) -> dict[str, tuple[str, ...]]:
    """Return the values that each column may have."""
    return {name: tuple(write_values(name, values)) for name, values in (where or {}).items()}


def write_values(name: str, given: object) -> list[str]:
    """Return the values that a column may have as the labels they are: 1 and 1.0 as "1"."""
    return [write_value(value) or "" for value in list_values_given(given, name, "where")]


def leave_out(rows: Rows, count: int, why: str) -> Rows:
    """Return the rows without some that were to be used."""
    return replace(rows, used=rows.used - count, reasons={**rows.reasons, why: count}) if count else rows


def _columns(scores: Scores) -> dict[str, Column]:
    """Return every column that rows can be chosen by."""
    found: dict[str, Column] = {}
    for role in ROLES:
        labels = getattr(scores, role)
        if labels is not None:
            found[role] = labels
            column = getattr(scores.roles, role)
            if column is not None and role != "run":  # a run's own name is made longer by that of its system
                found[column] = labels
    return {**found, **scores.others, **scores.properties, **scores.facets}


def _fits(name: str, column: Column, values: list[str]) -> NDArray[np.bool_]:
    """Return in which rows a column has one of the values."""
    if isinstance(column, Labels):
        unknown = [value for value in values if value not in column.names]
        if unknown:
            raise ScoresError(f"no row has {name}={unknown[0]}: {name!r} has {list_names(column.names)}")
        return np.isin(column.codes, [column.names.index(value) for value in values])
    numbers = [parse_number(value) for value in values]
    for value, number in zip(values, numbers, strict=True):
        if number is None or not (column.values == number).any():
            raise ScoresError(f"no row has {name}={value}: {name!r} has numbers, and none equals it")
    return np.isin(column.values, [number for number in numbers if number is not None])
