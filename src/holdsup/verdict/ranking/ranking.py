"""`rank_systems`: which system is best, once datasets and nuisance factors are isolated?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdsup.arguments import check_pairs, check_progress, list_names_given
from holdsup.numerics.threads import blas_threads
from holdsup.progress import Progress, no_progress
from holdsup.scores import Scores, read_scores
from holdsup.verdict.ranking.answering import answer
from holdsup.verdict.ranking.fits import fit_form
from holdsup.verdict.ranking.limits import check_runs
from holdsup.verdict.ranking.notes import note_table
from holdsup.verdict.ranking.pairing import LEFT_OUT
from holdsup.verdict.ranking.question import Question
from holdsup.verdict.ranking.report import Ranking
from holdsup.verdict.ranking.table import lay_out_runs
from holdsup.verdict.repeats import check_rows
from holdsup.verdict.rows import leave_out, select_rows

__all__ = ["rank_systems"]


EXAMPLE = "{'system': 'A', 'dataset': 'X'}"


def rank_systems(
    data: Any,
    *,
    nuisance: Iterable[str] | str | None = None,
    formula: str | None = None,
    paper: bool = False,
    treat: Mapping[str, str] | None = None,
    contribution: Iterable[str] | str = (),
    predict: Mapping[str, Any] | None = None,
    pair: Sequence[str] | None = None,
    compare_forms: bool = False,
    where: Mapping[str, Iterable[str] | str] | None = None,
    last: str | None = None,
    nested_runs: bool = False,
    lower_is_better: bool | None = None,
    level: float = 0.95,
    seed: int = 0,
    folds: int = 10,
    progress: Progress = no_progress,
    **roles: Any,
) -> Ranking:
    """Return systems ranked by their means over datasets, with datasets and nuisance factors isolated.

    Parameters
    ----------
    data : `Scores`, or anything that `read_scores` takes: a row for each system, dataset and run. Scores of items are
        averaged to one a run
    nuisance : columns in which runs differ; by default replicates (seed) and those named like settings
    formula : a model of your own, with the system as a fixed or a random effect
    paper : equation 1 of Sanchez Carmona et al. as printed, instead of the default form
    treat : nuisance columns as "fixed", "numeric", "log" or "random", where the default is another
    contribution : columns of numbers that describe systems, such as 0 and 1 for an ingredient
    predict : a configuration, ``{"system": "A", "dataset": "X", "lr": 0.1}``, whose score is predicted term by term
    pair : the two systems whose raw gap is explained; by default the first two of the ranking
    compare_forms : whether to add cross-validated errors of other forms
    where : columns and the values that rows must have
    last : a column that counts, such as "step": of each run on each dataset only the rows at its largest value are used
    nested_runs : whether each dataset has training runs of its own, though their names recur: seed 1 of two datasets is
        then two trainings; by default a run whose name recurs is one training that was evaluated on all
    lower_is_better : whether the lowest mean is the best; by default as the name of the score says (ter, loss, ...)
    level : coverage of limits
    seed : of the draws of means and of nulls, and of the folds
    folds : of the cross-validation; 0 for none
    roles : passed on to `read_scores`; ``shared`` names columns whose levels are the same in all systems (a fold)

    Examples
    --------
    >>> from holdsup.data import text_classifiers
    >>> found = rank_systems(text_classifiers(), folds=0)
    >>> [system.name for system in found.systems], found.form
    (['softmax', 'hinge', 'vectors', 'hidden'], 'default')
    """
    check_progress(progress)
    question = Question(
        nuisance=None if nuisance is None else list_names_given(nuisance, "nuisance"), formula=formula, paper=paper,
        treat=check_pairs(treat, "treat", "{'lr': 'log'}"),
        contribution=list_names_given(contribution, "contribution"),
        predict=None if predict is None else {k: str(v) for k, v in check_pairs(predict, "predict", EXAMPLE).items()},
        pair=None if pair is None else list_names_given(pair, "pair"), compare_forms=compare_forms, where=where or {},
        last=last, nested_runs=nested_runs,
        lower_is_better=lower_is_better, level=level, seed=seed, folds=folds,
    )  # fmt: skip
    question.check()
    read = data if isinstance(data, Scores) else _read(data, question, roles, progress)
    scores, rows = select_rows(read, question.where, question.last)
    columns = question.find_columns(scores)
    check_rows(scores.only(scores.usable), question.chosen(columns))
    runs = lay_out_runs(scores, columns, question.contribution, nested_runs=nested_runs)
    check_runs(runs)
    rows = leave_out(rows, runs.pairing.rows, LEFT_OUT)
    said = [*scores.notes, *note_table(scores, runs, question)]
    with blas_threads(1):  # matrices are small: threads would cost more than they bring
        fits = fit_form(question.make_form(runs, scores), runs, level=level)
        return answer(fits, _with_facets(scores, columns), question, rows, said, progress)


def _read(data: Any, question: Question, roles: Mapping[str, Any], progress: Progress) -> Scores:
    """Return the scores; columns that are named for something else have no role by their names."""
    facets = dict.fromkeys((*list_names_given(roles.get("facets"), "facets"), *(question.nuisance or ())))
    properties = dict.fromkeys((*list_names_given(roles.get("properties"), "properties"), *question.contribution))
    return read_scores(data, progress=progress, **{**roles, "facets": tuple(facets), "properties": tuple(properties)})


def _with_facets(scores: Scores, names: Iterable[str]) -> Scores:
    """Return the scores with nuisance columns that were found as facets, so that the signature knows them."""
    found = {name: column for name, column in scores.others.items() if name in set(names)}
    return replace(
        scores,
        properties={**scores.properties, **found},
        roles=replace(scores.roles, facets=tuple(dict.fromkeys((*scores.roles.facets, *found)))),
    )
