"""What a reader must know about how the table was taken, before anything was fitted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from holdsup.columns import Labels
from holdsup.errors import list_names
from holdsup.scores import Scores
from holdsup.scores.misleading import caution_faults
from holdsup.scores.roles import is_usual
from holdsup.verdict.phrases import join_names
from holdsup.verdict.ranking.question import Question
from holdsup.verdict.ranking.spellings import find_spellings
from holdsup.verdict.ranking.table import RunTable
from holdsup.verdict.repeats import caution_rows

__all__ = ["note_table"]


def note_table(scores: Scores, runs: RunTable, question: Question) -> Iterator[str]:
    """Yield what was averaged, repeated, left aside or doubtful in a table."""
    if runs.items:
        yield f"The scores of items were averaged: {len(runs):,} means, one for each system, dataset and run."
    yield from runs.pairing.say()
    yield from caution_faults(scores)
    yield from caution_rows(scores.only(scores.usable), runs.factors, averaged=runs.items > 0)
    yield from _doubt_copies(runs)
    yield from _doubt_datasets(scores)
    yield from _join_spellings(scores, runs)
    left = [name for name in scores.others if name not in (*runs.factors, *runs.ingredients, question.last)]
    if question.nuisance is None and question.formula is None and left:
        yield (
            f"Columns that were not looked at: {list_names(left, most=6)}; name those in which runs differ with "
            "--nuisance."
        )


def _join_spellings(scores: Scores, runs: RunTable) -> Iterator[str]:
    """Yield the numbers of nuisance columns that are written in several ways."""
    columns = {**scores.others, **scores.properties, **scores.facets}
    for name in runs.factors:
        column = columns[name]
        twice = find_spellings(column) if isinstance(column, Labels) else []
        if twice:
            said = [" and ".join(spellings) for spellings in twice]
            more = f" and {len(said) - 3} more" if len(said) > 3 else ""
            yield f"One number written in several ways is one level of {name}: {'; '.join(said[:3])}{more}."


def _doubt_copies(runs: RunTable) -> Iterator[str]:
    """Yield how many runs have the scores of another run of their system and setting on every dataset.

    They stay: without them levels would be spread unevenly, and a system with one run left has no spread of runs. A run
    whose scores are all equal may be at a ceiling, and is no copy.
    """
    scores: dict[tuple[int, int, int], list[tuple[int, float]]] = defaultdict(list)
    columns = (runs.system.codes, runs.settings, runs.trainings, runs.dataset.codes, runs.score)
    for system, setting, training, dataset, score in zip(*(column.tolist() for column in columns), strict=True):
        scores[system, setting, training].append((dataset, score))
    varied = {key: tuple(sorted(own)) for key, own in scores.items() if len({score for _, score in own}) > 1}
    seen = Counter((system, setting, own) for (system, setting, _), own in varied.items())
    copies: Counter[int] = Counter()
    for (system, _, _), count in seen.items():
        copies[system] += count - 1
    if said := [f"{count:,} of {runs.system.names[system]}" for system, count in sorted(copies.items()) if count]:
        yield (
            "Runs with exactly the scores of another run on every dataset (a deterministic system, or one file "
            f"copied): {join_names(said, most=3)}. They count as runs of their own here, and as one with the other in "
            "holdsup compare: remove those that are copies."
        )


def _doubt_datasets(scores: Scores) -> Iterator[str]:
    """Yield a doubt where another column than that of the datasets is named like one."""
    taken = scores.roles.dataset
    if taken is None or is_usual("dataset", taken):
        return
    others = [name for name in (*scores.others, *scores.facets, *scores.properties) if is_usual("dataset", name)]
    if others:
        yield (
            f"The datasets are the levels of {taken!r}, as asked, though {list_names(others)} is named like datasets: "
            f"the claim is about new levels of {taken!r}."
        )
