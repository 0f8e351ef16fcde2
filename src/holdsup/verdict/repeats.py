"""Scores that repeat a run and an item, and the column that may tell them apart.

Checkpoints of one training are no trainings of their own: five of them taken for runs reject 16 to 43% of true nulls.
A table in which a column tells repeated scores apart is refused by `compare`, `variance` and `rank` alike, until it is
said what the column is.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

import numpy as np

from holdsup.columns.crossing import Crossing, cross
from holdsup.errors import ScoresError, list_names, shell_names
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.scores import Scores
from holdsup.scores.roles import is_progress
from holdsup.scores.suggestions import suggest_facets, suggest_part, suggest_replicates
from holdsup.scores.telling import code_column, find_differing
from holdsup.verdict.evaluation import Evaluation
from holdsup.verdict.phrases import join_names

__all__ = ["caution_progress", "caution_repeats", "caution_rows", "check_repeats", "check_rows", "count_repeats"]

AVERAGED = "averaged"
KEPT = "taken for scores of their own at the same levels"


def caution_repeats(evaluation: Evaluation, *, averaged: bool) -> Iterator[str]:
    """Yield a line about scores that repeat a run and an item, and what was done with them."""
    scores = evaluation.scores
    where = "a run" if evaluation.per_run else f"a run and {'an item' if scores.item is not None else 'a dataset'}"
    yield from _say_repeats(scores, _cells(evaluation), where, averaged=averaged)


def count_repeats(evaluation: Evaluation) -> int:
    """Return how many scores repeat a run and an item."""
    return len(evaluation.scores) - _cells(evaluation).count


def caution_rows(scores: Scores, names: Iterable[str], *, averaged: bool) -> Iterator[str]:
    """Yield the same about a table that is used row by row, and how many rows repeat the score as well.

    Besides runs, items and datasets, the columns of `names` tell rows apart.
    """
    columns = {"a run": scores.run, "a dataset": scores.dataset, "an item": scores.item}
    cells = _rows(scores, names)
    copies = len(scores) - cross(cells.codes, np.unique(scores.score, return_inverse=True)[1]).count
    where = join_names([name for name, labels in columns.items() if labels is not None])
    if copies:
        where += f" ({format_count(copies)} with the same score: copies of rows?)"
    yield from _say_repeats(scores, cells, where, averaged=averaged)


def _say_repeats(scores: Scores, cells: Crossing, where: str, *, averaged: bool) -> Iterator[str]:
    repeated = len(scores) - cells.count
    if not repeated:
        return
    what = f"{format_counted(repeated, 'score')} {'repeats' if repeated == 1 else 'repeat'} {where}"
    advice = "name the columns that tell them apart (--replicates, --facets, --run), or see holdsup check"
    if name := next(_telling(scores, cells), None):
        first = "" if scores.item is not None else f"--item {shlex.quote(name)} if it names the items, "
        if part := suggest_part(scores, [name]):
            first = f"{part} to use one of them alone, "
        advice = (
            f"{name} tells them apart; give {first}{suggest_replicates(scores, [name])} if it only repeats runs, as a "
            f"seed does, or {suggest_facets(scores, [name])} if it is a setting"
        )
    yield f"{what} and {'was' if repeated == 1 else 'were'} {AVERAGED if averaged else KEPT}: {advice}."


def check_repeats(evaluation: Evaluation, *, averaged: bool) -> None:
    """Refuse an evaluation in which columns without a role tell apart several scores of a run and an item.

    These are checkpoints, runs that nobody named, or items of several kinds: their average is no score of any. Where
    they are not averaged, as in a decomposition, whose residual they are, checkpoints alone are refused.
    """
    unit = None if evaluation.per_run else "item" if evaluation.scores.item is not None else "dataset"
    _refuse(evaluation.scores, _cells(evaluation), unit, needed=averaged and not evaluation.per_run)


def check_rows(scores: Scores, names: Iterable[str]) -> None:
    """Refuse the same of a table that is used row by row; the columns of `names` tell rows apart, too."""
    _refuse(scores, _rows(scores, names), "item" if scores.item is not None else "dataset", needed=True)


def caution_progress(scores: Scores) -> Iterator[str]:
    """Yield what it means that a column named like the progress of a training was asked for as a setting."""
    for name in scores.facets:
        if is_progress(name):
            yield (
                f"{name} is taken as a setting, as asked: each of its values counts as a training of its own. If they "
                f"are checkpoints of one training, p is too small: give --last {shell_names([name])} instead."
            )


def _cells(evaluation: Evaluation) -> Crossing:
    return cross(evaluation.scores.run.codes.astype(np.int64), evaluation.item)


def _rows(scores: Scores, names: Iterable[str]) -> Crossing:
    there = [labels for labels in (scores.run, scores.dataset, scores.item) if labels is not None]
    more = {**scores.others, **scores.properties}
    return cross(*there, *(code_column(more[name]) for name in names if name in more))


def _refuse(scores: Scores, cells: Crossing, unit: str | None, *, needed: bool) -> None:
    """Refuse cells with several scores; `unit` is what a cell is of besides a run, None if nothing.

    A column that is named like the progress of a training is enough, wherever it differs; any other counts where it is
    `needed`, and every unit of some system has several scores.
    """
    for name in scores.roles.replicates:
        if is_progress(name) and scores.facets[name].count > 1:
            raise ScoresError(
                f"--replicates {shell_names([name])}: values of {name!r} are stages of one training, not trainings of "
                f"their own: give --last {shell_names([name])} for the last one of each run, or --facets "
                f"{shell_names([name])} if each is a training of its own at a setting that you chose"
            )
    sizes = cells.sizes()
    if sizes.max(initial=0) < 2:
        return
    least = np.full(scores.system.count, len(scores))
    np.minimum.at(least, scores.system.codes[cells.first], sizes)
    differing = list(find_differing(scores, cells))
    names = [name for name in differing if is_progress(name)] or (differing if needed and least.max() > 1 else [])
    if not names:
        return
    of = f"{unit} of " if unit else "run of "
    system, count = scores.system.names[int(least.argmax())], int(least.max())
    in_run = " in each run" if unit else ""
    many = f"every {of}{system!r} has {count} scores or more{in_run}" if count > 1 else (
        f"{format_counted(len(scores) - cells.count, 'score')} repeat a run{f' and its {unit}' if unit else ''}"
    )  # fmt: skip
    tell = "tells" if len(names) == 1 else "tell"
    raise ScoresError(f"{many}, and {list_names(names)} {tell} them apart: {_ways(scores, names)}")


def _ways(scores: Scores, names: list[str]) -> str:
    """Return what may be said about columns that tell repeated scores apart."""
    if is_progress(names[0]):
        return (
            f"give --last {shell_names(names[:1])} for the last one of each run, or --where to choose one, or "
            f"{suggest_facets(scores, names[:1])} if each is a training of its own at a setting that you chose"
        )
    it, repeat, setting = ("it", "repeats", "is a setting") if len(names) == 1 else ("they", "repeat", "are settings")
    part = suggest_part(scores, names)
    one = f"{part} to use one part of the data alone, " if part else ""
    return (
        f"give {one}{suggest_replicates(scores, names)} if {it} only {repeat} runs, as a seed does, or "
        f"{suggest_facets(scores, names)} if {it} {setting} that you chose (repetitions stand for new runs, "
        "settings for themselves alone); if items differ in them, join them with the item's id in one column, or "
        f"name the one that is the --dataset"
    )


def _telling(scores: Scores, cells: Crossing) -> Iterator[str]:
    """Yield the columns, no outcomes, that have a value of its own in every row of a run and an item."""
    for name in find_differing(scores, cells):
        if cross(cells.codes, code_column(scores.others[name])).count == len(scores):
            yield name
