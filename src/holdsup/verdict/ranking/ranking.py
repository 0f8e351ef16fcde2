"""`rank_systems`: which system is best, once datasets and nuisance factors are isolated?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from holdsup.errors import list_names
from holdsup.fit import r_squared
from holdsup.numerics.threads import blas_threads
from holdsup.progress import Progress, no_progress
from holdsup.results import Rows
from holdsup.scores import Scores, read_scores
from holdsup.verdict.directions import choose_directions
from holdsup.verdict.ranking.companion import NONE, make_companion
from holdsup.verdict.ranking.configuration import predict_configuration
from holdsup.verdict.ranking.contributions import find_contributions
from holdsup.verdict.ranking.effects import find_effects
from holdsup.verdict.ranking.fits import RankFits, fit_form
from holdsup.verdict.ranking.influence import find_influence
from holdsup.verdict.ranking.interactions import find_interactions
from holdsup.verdict.ranking.limits import check_runs, find_limits
from holdsup.verdict.ranking.means import contrast_systems, rank_means
from holdsup.verdict.ranking.quality import Validation, find_quantiles, validate_forms
from holdsup.verdict.ranking.question import Question
from holdsup.verdict.ranking.report import Ranking
from holdsup.verdict.ranking.sentences import NO_CELLS, answer_questions, write_ranking_verdict
from holdsup.verdict.ranking.table import RunTable, lay_out_runs
from holdsup.verdict.ranking.terms import share_variance
from holdsup.verdict.ranking.waterfall import choose_pair, isolate_gap
from holdsup.verdict.rows import select_rows

__all__ = ["rank_systems"]


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
    lower_is_better: bool = False,
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
    treat : nuisance columns as "fixed", "random" or "numeric", where the default is another
    contribution : columns of numbers that describe systems, such as 0 and 1 for an ingredient
    predict : a configuration, ``{"system": "A", "dataset": "X", "lr": 0.1}``, whose score is predicted term by term
    pair : the two systems whose raw gap is explained; by default the first two by raw means
    compare_forms : whether to add cross-validated errors of other forms
    where : columns and the values that rows must have
    lower_is_better : whether the lowest mean is the best
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
    question = Question(
        nuisance=None if nuisance is None else _names(nuisance), formula=formula, paper=paper, treat=dict(treat or {}),
        contribution=_names(contribution), predict=None if predict is None else {k: str(v) for k, v in predict.items()},
        pair=None if pair is None else tuple(pair), compare_forms=compare_forms, where=where or {},
        lower_is_better=lower_is_better, level=level, seed=seed, folds=folds,
    )  # fmt: skip
    question.check()
    read = data if isinstance(data, Scores) else _read(data, question, roles, progress)
    scores, rows = select_rows(read, question.where)
    columns = question.find_columns(scores)
    runs = lay_out_runs(scores, columns, question.contribution)
    check_runs(runs)
    said = [*scores.notes, *_notes(scores, runs, question)]
    with blas_threads(1):  # matrices are small: threads would cost more than they bring
        fits = fit_form(question.make_form(runs, scores), runs, level=level)
        return _answer(fits, _with_facets(scores, columns), question, rows, said, progress)


def _read(data: Any, question: Question, roles: Mapping[str, Any], progress: Progress) -> Scores:
    """Return the scores; columns that are named for something else have no role by their names."""
    facets = dict.fromkeys((*_names(roles.get("facets", ())), *(question.nuisance or ())))
    properties = dict.fromkeys((*_names(roles.get("properties", ())), *question.contribution))
    return read_scores(data, progress=progress, **{**roles, "facets": tuple(facets), "properties": tuple(properties)})


def _interacts(fits: RankFits) -> bool:
    """Return whether contrasts let systems differ from dataset to dataset.

    By the differences between datasets they do; so they do where a system has one score on each, as the residual.
    """
    if fits.form.averages or int(fits.runs.cells().max()) == 1:
        return True
    system, dataset = fits.runs.system_name, fits.runs.dataset_name
    slopes = any(c.group == dataset and c.term.startswith(system) for c in fits.means.random)
    return slopes or any(set(group.split(":")) == {system, dataset} for group in fits.means.levels)


def _answer(
    fits: RankFits, scores: Scores, question: Question, rows: Rows, said: list[str], progress: Progress
) -> Ranking:
    """Return all answers of a form that is fitted."""
    runs, form, level = fits.runs, fits.form, question.level
    directions = choose_directions(scores, question.lower_is_better)
    lower = directions.of_all("rank")
    contrasts = contrast_systems(fits, level=level, lower_is_better=lower)
    systems = rank_means(fits, contrasts, level=level, seed=question.seed, lower_is_better=lower)
    waterfall = isolate_gap(fits, systems, choose_pair(systems, question.pair, lower_is_better=lower))
    random = share_variance(fits.variances, seed=question.seed)
    fixed, interactions = find_effects(fits), find_interactions(fits, level=level)
    contributions = find_contributions(fits, level=level)
    validation = _validate(fits, scores, question, progress)
    order = [system.name for system in systems]
    companion = make_companion(runs, order=order, lower_is_better=lower, level=level)
    influence = find_influence(fits, lower_is_better=lower, progress=progress)
    answers = answer_questions(
        fixed, contributions, random, interactions, systems, contrasts,
        names=(runs.system_name, runs.dataset_name), datasets=runs.dataset.count, level=level, lower_is_better=lower,
    )  # fmt: skip
    verdict = write_ranking_verdict(
        systems, contrasts, waterfall, datasets=runs.dataset.count, level=level, lower_is_better=lower,
        interacts=_interacts(fits), left_out=[t.name for t in form.treatments if t.treated == "left out"],
    )  # fmt: skip
    missing = [*([] if companion else [NONE]), *([] if interactions else [NO_CELLS])]
    warnings = (
        *said,
        *directions.cautions(),
        *find_limits(fits, contrasts, random),
        *missing,
        *validation.notes,
        *influence.notes,
    )
    return Ranking(
        signature=question.sign(scores, form),
        seed=question.seed,
        warnings=tuple(dict.fromkeys(warnings)),
        rows=rows,
        verdict=directions.doubt() + verdict,
        level=level,
        lower_is_better=lower,
        score=runs.score_name,
        form=form.name,
        means_formula=form.means,
        formula=form.variances,
        datasets=runs.dataset.count,
        systems=systems,
        contrasts=contrasts,
        fixed=fixed,
        contributions=contributions,
        random=random,
        interactions=interactions,
        waterfall=waterfall,
        answers=answers,
        r2=r_squared(fits.variances),
        cv=next(iter(validation.rows), None),
        forms=validation.rows,
        treatments=form.treatments,
        influence=influence.rows,
        companion=companion,
        prediction=() if question.predict is None else predict_configuration(fits, question.predict),
        diagnostics=find_quantiles(fits.variances),
    )


def _names(given: Iterable[str] | str) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _with_facets(scores: Scores, names: Iterable[str]) -> Scores:
    """Return the scores with nuisance columns that were found as facets, so that the signature knows them."""
    found = {name: column for name, column in scores.others.items() if name in set(names)}
    return replace(
        scores,
        properties={**scores.properties, **found},
        roles=replace(scores.roles, facets=tuple(dict.fromkeys((*scores.roles.facets, *found)))),
    )


def _validate(fits: RankFits, scores: Scores, question: Question, progress: Progress) -> Validation:
    """Return cross-validated errors: of the form, and of others if they are to be compared."""
    if not question.folds:
        return Validation((), ())
    compared = {fits.form.name: fits.variances}
    for other in question.make_others(fits.runs, scores, fits.form):
        compared[other.name] = fit_form(other, fits.runs, level=question.level).variances
    return validate_forms(compared, fits.runs, folds=question.folds, seed=question.seed, progress=progress)


def _notes(scores: Scores, runs: RunTable, question: Question) -> Iterator[str]:
    if runs.items:
        yield f"The scores of items were averaged: {len(runs):,} means, one for each system, dataset and run."
    left = [name for name in scores.others if name not in (*runs.factors, *runs.ingredients)]
    if question.nuisance is None and question.formula is None and left:
        yield (
            f"Columns that were not looked at: {list_names(left, most=6)}; name those in which runs differ with "
            "--nuisance."
        )
