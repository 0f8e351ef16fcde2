"""Scores that repeat a run and an item, and the column that may tell them apart."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

import numpy as np

from holdsup.columns.crossing import Crossing, cross
from holdsup.errors import ScoresError, list_names
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.scores import Scores
from holdsup.scores.suggestions import suggest_facets, suggest_replicates
from holdsup.scores.telling import code_column, find_differing
from holdsup.verdict.evaluation import Evaluation
from holdsup.verdict.phrases import join_names

__all__ = ["caution_repeats", "caution_rows", "check_repeats"]

AVERAGED = "averaged"
KEPT = "taken for scores of their own at the same levels"


def caution_repeats(evaluation: Evaluation, *, averaged: bool) -> Iterator[str]:
    """Yield a line about scores that repeat a run and an item, and what was done with them."""
    scores = evaluation.scores
    cells = cross(scores.run.codes.astype(np.int64), evaluation.item)
    where = "a run" if evaluation.per_run else f"a run and {'an item' if scores.item is not None else 'a dataset'}"
    yield from _say_repeats(scores, cells, where, averaged=averaged)


def caution_rows(scores: Scores, names: Iterable[str], *, averaged: bool) -> Iterator[str]:
    """Yield the same about a table that is used row by row, and how many rows repeat the score as well.

    Besides runs, items and datasets, the columns of `names` tell rows apart.
    """
    columns = {"a run": scores.run, "a dataset": scores.dataset, "an item": scores.item}
    there = {name: labels for name, labels in columns.items() if labels is not None}
    more = {**scores.others, **scores.properties}
    cells = cross(*there.values(), *(code_column(more[name]) for name in names if name in more))
    copies = len(scores) - cross(cells.codes, np.unique(scores.score, return_inverse=True)[1]).count
    where = join_names(list(there))
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
        item = "" if scores.item is not None else f"--item {shlex.quote(name)} if it names the items, "
        advice = (
            f"{name} tells them apart; give {item}{suggest_replicates(scores, [name])} if it only repeats runs, as a "
            f"seed does, or {suggest_facets(scores, [name])} if it is a setting"
        )
    yield f"{what} and {'was' if repeated == 1 else 'were'} {AVERAGED if averaged else KEPT}: {advice}."


def check_repeats(evaluation: Evaluation) -> None:
    """Refuse a system whose every item has several scores in a run, which columns without a role tell apart.

    These are runs that nobody named, or items of several kinds: their average is no score of either.
    """
    scores = evaluation.scores
    if evaluation.per_run:
        return
    cells = cross(scores.run.codes.astype(np.int64), evaluation.item)
    least = np.full(scores.system.count, len(scores))
    np.minimum.at(least, scores.system.codes[cells.first], cells.sizes())
    names = list(find_differing(scores, cells)) if least.max() > 1 else []
    if names:
        system, count = scores.system.names[int(least.argmax())], int(least.max())
        unit = "item" if scores.item is not None else "dataset"
        tell, it, repeat = ("tells", "it", "repeats") if len(names) == 1 else ("tell", "they", "repeat")
        setting = "is a setting" if len(names) == 1 else "are settings"
        raise ScoresError(
            f"every {unit} of {system!r} has {count} scores or more in each run, and {list_names(names)} {tell} them "
            f"apart: give {suggest_replicates(scores, names)} if {it} only {repeat} runs, as a seed does, or "
            f"{suggest_facets(scores, names)} if {it} {setting} that you chose (repetitions stand for new runs, "
            "settings for themselves alone); if items differ in them, join them with the item's id in one column, or "
            "name the one that is the --dataset"
        )


def _telling(scores: Scores, cells: Crossing) -> Iterator[str]:
    """Yield the columns, no outcomes, that have a value of its own in every row of a run and an item."""
    for name in find_differing(scores, cells):
        if cross(cells.codes, code_column(scores.others[name])).count == len(scores):
            yield name
