"""From the fits of a form to all that is asked of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdsup.fit import r_squared
from holdsup.progress import Progress
from holdsup.results import Rows
from holdsup.results.extras import find_extra, list_extras
from holdsup.scores import Scores
from holdsup.scores.directions import choose_directions
from holdsup.verdict.ranking.answers import NO_CELLS, answer_questions, find_slopes
from holdsup.verdict.ranking.companion import NONE, make_companion
from holdsup.verdict.ranking.configuration import predict_configuration
from holdsup.verdict.ranking.confounding import find_tuned
from holdsup.verdict.ranking.contrasts import contrast_systems
from holdsup.verdict.ranking.contributions import find_contributions
from holdsup.verdict.ranking.effects import find_effects
from holdsup.verdict.ranking.fits import RankFits, fit_form
from holdsup.verdict.ranking.influence import Influences, find_influence
from holdsup.verdict.ranking.interactions import find_interactions
from holdsup.verdict.ranking.limits import find_limits
from holdsup.verdict.ranking.means import rank_means
from holdsup.verdict.ranking.quality import Validation, find_quantiles, validate_forms
from holdsup.verdict.ranking.question import Question
from holdsup.verdict.ranking.report import Ranking
from holdsup.verdict.ranking.sentences import say_isolated, say_settings, write_ranking_verdict
from holdsup.verdict.ranking.terms import share_variance
from holdsup.verdict.ranking.treatments import goes_with
from holdsup.verdict.ranking.waterfall import choose_pair, isolate_gap
from holdsup.verdict.scales import find_scale

__all__ = ["answer"]


def answer(
    fits: RankFits, scores: Scores, question: Question, rows: Rows, said: Sequence[str], progress: Progress
) -> Ranking:
    """Return all answers of a form that is fitted; `said` is what is known of the table."""
    runs, form, level = fits.runs, fits.form, question.level
    directions = choose_directions(scores, question.lower_is_better)
    lower = directions.of_all("rank")
    contrasts = contrast_systems(fits, level=level, lower_is_better=lower)
    systems = rank_means(fits, contrasts, level=level, seed=question.seed, lower_is_better=lower)
    scale = find_scale(scores.only(scores.usable), scores.metric.names[0] if scores.metric is not None else None)
    systems = tuple(map(scale.limit, systems))
    waterfall = isolate_gap(fits, systems, choose_pair(systems, question.pair))
    random = share_variance(fits.variances, seed=question.seed)
    fixed, interactions = find_effects(fits), find_interactions(fits, level=level)
    contributions = find_contributions(fits, level=level)
    lost: list[str] = []
    validation = find_extra(
        "the cross-validated errors", lambda: _validate(fits, scores, question, progress), lost, Validation((), ()),
        asked=question.compare_forms,
    )  # fmt: skip
    order = [system.name for system in systems]
    companion = find_extra(
        "average ranks", lambda: make_companion(runs, order=order, lower_is_better=lower, level=level), lost, ""
    )
    influence = find_extra(
        "the ranking without each dataset and system",
        lambda: find_influence(fits, lower_is_better=lower, progress=progress), lost, Influences((), ()),
    )  # fmt: skip
    diagnostics = list_extras("the Q-Q plots", lambda: find_quantiles(fits.variances), lost)
    asked = question.predict
    prediction = list_extras(
        "the prediction", lambda: () if asked is None else predict_configuration(fits, asked), lost, asked=True
    )
    limits = find_limits(fits, contrasts, random)
    names = (runs.system_name, runs.dataset_name)
    # Other forms than one's own formula say themselves why they lack the term.
    lacking = not interactions and form.name == "formula" and not find_slopes(random, names)
    missing = [*lost, *([NONE] if companion is None else []), *([NO_CELLS] if lacking else [])]
    warnings = (*said, *directions.cautions(), *limits, *missing, *validation.notes, *influence.notes)
    verdict = write_ranking_verdict(
        systems, contrasts, waterfall, datasets=runs.dataset.count, level=level, lower_is_better=lower,
        interacts=fits.interacts(), new_runs=fits.repeats, settings=say_settings(form.treatments, form.drawn),
        isolated=say_isolated(datasets=fits.isolates_datasets(), nuisance=bool(fits.isolated_columns())),
        confounded=list(_confounded(fits)), tuned=find_tuned(fits),
    )  # fmt: skip
    return Ranking(
        signature=question.sign(scores, form),
        seed=question.seed,
        warnings=tuple(dict.fromkeys(warnings)),
        rows=rows,
        verdict=directions.doubt() + runs.pairing.doubt() + verdict,
        level=level,
        lower_is_better=lower,
        score=runs.score_name,
        form=form.name,
        means_formula=form.means,
        formula=form.variances,
        datasets=runs.dataset.count,
        nested_runs=runs.nested_runs,
        scope="new datasets" if fits.interacts() and not fits.has_fixed_datasets() else "these datasets",
        systems=systems,
        contrasts=contrasts,
        fixed=fixed,
        contributions=contributions,
        random=random,
        interactions=interactions,
        waterfall=waterfall,
        answers=answer_questions(
            fixed, contributions, random, interactions, systems, contrasts,
            names=names, datasets=runs.dataset.count, level=level,
            lower_is_better=lower,
        ),
        r2=r_squared(fits.variances),
        cv=next(iter(validation.rows), None),
        forms=validation.rows,
        treatments=form.treatments,
        influence=influence.rows,
        companion=None if isinstance(companion, str) else companion,
        prediction=prediction,
        diagnostics=diagnostics,
    )  # fmt: skip


def _confounded(fits: RankFits) -> Iterator[str]:
    """Yield the nuisance columns that were left out because they are the same in all rows of a system."""
    for treatment in fits.form.treatments:
        labels = fits.runs.factors[treatment.name]
        if treatment.treated == "left out" and labels.count > 1 and goes_with(fits.runs.system, labels):
            yield treatment.name


def _validate(fits: RankFits, scores: Scores, question: Question, progress: Progress) -> Validation:
    """Return cross-validated errors: of the form, and of others if they are to be compared."""
    if not question.folds:
        return Validation((), ())
    compared = {fits.form.name: fits.variances}
    for other in question.make_others(fits.runs, scores, fits.form):
        compared[other.name] = fit_form(other, fits.runs, level=question.level).variances
    return validate_forms(compared, fits.runs, folds=question.folds, seed=question.seed, progress=progress)
