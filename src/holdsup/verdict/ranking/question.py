"""`rank_systems`: which system is best, once datasets and nuisance factors are isolated?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from holdsup.arguments import check_count, check_level, check_pairs, check_progress, check_text, list_names_given
from holdsup.errors import ScoresError, list_names
from holdsup.fit import r_squared
from holdsup.numerics.threads import blas_threads
from holdsup.progress import Progress, no_progress
from holdsup.results import Asked, Caution, order_cautions
from holdsup.results.extras import find_extra, list_extras
from holdsup.scores import Scores
from holdsup.scores.audit import list_roles
from holdsup.scores.mixtures import refuse_mixtures
from holdsup.scores.raters import take_raters_as_facet
from holdsup.scores.roles import FILE, is_progress, is_usual
from holdsup.verdict.intake import Intake, caution_missing, leave_out, list_where, take_in
from holdsup.verdict.ranking.cautions import caution_fits, caution_table
from holdsup.verdict.ranking.contrasts import contrast_systems, find_contributions
from holdsup.verdict.ranking.fits import ROUNDING, RankFits, fit_form
from holdsup.verdict.ranking.forms import Form, make_default, make_own, make_paper, mentioned_columns
from holdsup.verdict.ranking.means import rank_means
from holdsup.verdict.ranking.records import CrossValidation
from holdsup.verdict.ranking.result import Ranking
from holdsup.verdict.ranking.robustness import find_influence, find_quantiles, make_companion, validate_forms
from holdsup.verdict.ranking.table import LEFT_OUT, RunTable, find_nuisance, lay_out_runs, name_of_role
from holdsup.verdict.ranking.terms import find_effects, find_interactions, predict_configuration, share_variance
from holdsup.verdict.ranking.waterfall import choose_pair, isolate_gap
from holdsup.verdict.repeats import check_rows
from holdsup.verdict.scales import find_scale

EXAMPLE = "{'system': 'A', 'dataset': 'X'}"
FEWEST_FOLDS = 2
ROLES = ("score", "system", "dataset")
OF_ITEMS = ("grouped-items", "clusters-by-name")  # cautions that concern no mean over a dataset


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
    level : coverage of the intervals
    seed : of the draws of means and of nulls, and of the folds
    folds : of the cross-validation; 0 for none
    roles : passed on to `read_scores`; ``shared`` names columns whose levels are the same in all systems (a fold)

    Examples
    --------
    >>> from holdsup.data import text_classifiers
    >>> found = rank_systems(text_classifiers(), folds=0)
    >>> [system.name for system in found.systems], found.state
    (['softmax', 'hinge', 'vectors', 'hidden'], 'unclear')
    """
    check_progress(progress)
    question = RankQuestion(
        nuisance=None if nuisance is None else list_names_given(nuisance, "nuisance"), formula=formula, paper=paper,
        treat=check_pairs(treat, "treat", "{'lr': 'log'}"),
        contribution=list_names_given(contribution, "contribution"),
        predict=None if predict is None else {k: str(v) for k, v in check_pairs(predict, "predict", EXAMPLE).items()},
        pair=None if pair is None else list_names_given(pair, "pair"), compare_forms=compare_forms, where=where or {},
        last=last, nested_runs=nested_runs,
        lower_is_better=lower_is_better, level=level, seed=seed, folds=folds,
    )  # fmt: skip
    question.check()
    taken = take_in(
        data, question.read_as(roles), where=question.where, last=last, lower_is_better=lower_is_better,
        raters=True, progress=progress,
    )  # fmt: skip
    taken = replace(taken, scores=take_raters_as_facet(taken.scores))
    refuse_mixtures(taken.faults)
    columns = question.find_columns(taken.scores)
    check_rows(taken.scores.only(taken.scores.usable), question.choose(columns))
    runs = lay_out_runs(taken.scores, columns, question.contribution, nested_runs=nested_runs)
    check_runs(runs)
    with blas_threads(1):  # matrices are small: threads would cost more than they bring
        fits = fit_form(question.make_form(runs, taken.scores), runs, level=level)
        return answer(fits, taken, question, progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankQuestion:
    """What is asked of a table, apart from the roles of its columns: see `rank_systems`."""

    nuisance: tuple[str, ...] | None
    formula: str | None
    paper: bool
    treat: Mapping[str, str]
    contribution: tuple[str, ...]
    predict: Mapping[str, str] | None
    pair: tuple[str, ...] | None
    compare_forms: bool
    where: Mapping[str, Iterable[str] | str]
    last: str | None
    nested_runs: bool
    lower_is_better: bool | None
    level: float
    seed: int
    folds: int

    def check(self) -> None:
        """Refuse options that mean nothing, or nothing together."""
        check_level(self.level)
        check_text(self.formula, "formula")
        check_count(self.seed, "seed")
        if check_count(self.folds, "folds") and self.folds < FEWEST_FOLDS:
            raise ScoresError(f"folds is {self.folds!r}; give 2 or more, or 0 for no cross-validation")
        if self.paper and self.formula is not None:
            raise ScoresError("--paper and --formula are two forms: give one of them")
        if self.formula is not None and self.nuisance is not None:
            raise ScoresError("--formula names its nuisance columns itself: leave --nuisance out")
        for option, names in (("--nuisance", self.nuisance or ()), ("--contribution", self.contribution)):
            if twice := [name for name in names if names.count(name) > 1]:
                raise ScoresError(f"{option} names {twice[0]!r} twice: name each column once")

    def read_as(self, roles: Mapping[str, Any]) -> dict[str, Any]:
        """Return the roles by which the table is read; columns named for something else have none by their names."""
        facets = dict.fromkeys((*list_names_given(roles.get("facets"), "facets"), *(self.nuisance or ())))
        properties = dict.fromkeys((*list_names_given(roles.get("properties"), "properties"), *self.contribution))
        return {**roles, "facets": tuple(facets), "properties": tuple(properties)}

    def find_columns(self, scores: Scores) -> tuple[str, ...]:
        """Return the nuisance columns: those of the formula, those asked for, or those found by their names."""
        if self.formula is not None:
            taken = [name_of_role(scores, role) for role in ROLES]
            mentioned = mentioned_columns(self.formula, *taken)
            others = {**scores.others, **scores.properties, **scores.facets}
            for role, name in zip(ROLES, taken, strict=True):
                if role in mentioned and role not in others:
                    raise ScoresError(
                        f"--formula: there is no column {role!r}; the {role}s are in {name!r}: write {name}"
                    )
            return mentioned
        if self.nuisance is not None:
            self._check_roles(scores)
            repeated = [name for name in scores.facets if name in (*scores.roles.shared, *scores.roles.replicates)]
            return tuple(dict.fromkeys((*self.nuisance, *repeated)))
        return tuple(name for name in find_nuisance(scores, self.treat) if name not in (*self.contribution, self.last))

    @property
    def names_columns(self) -> bool:
        """Whether nuisance columns were named."""
        return self.nuisance is not None or self.formula is not None

    def choose(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Return the nuisance columns that tell runs apart; one named like a training's progress must be asked for."""
        return tuple(name for name in columns if self.names_columns or not is_progress(name))

    def _check_roles(self, scores: Scores) -> None:
        """Refuse a nuisance column that by its name is that of the systems or datasets, where no other is."""
        for role in ("system", "dataset"):
            name = next((name for name in self.nuisance or () if is_usual(role, name)), None)
            if name is not None and getattr(scores.roles, role) in (None, FILE):
                raise ScoresError(
                    f"--nuisance {name}: by its name it is the column of the {role}s, and there is no other: leave it "
                    f"out, or name the {role}s with --{role}"
                )

    def make_form(self, runs: RunTable, scores: Scores) -> Form:
        """Return the form that is asked for."""
        unknown = [name for name in self.treat if name not in runs.factors]
        if unknown:
            raise ScoresError(
                f"--treat {unknown[0]}={self.treat[unknown[0]]}: {unknown[0]!r} isn't a nuisance column; the table has "
                f"{list_names(runs.factors)} (name others with --nuisance)"
            )
        if self.formula is not None:
            return make_own(runs, self.formula, treat=self.treat)
        if self.paper:
            return make_paper(runs, treat=self.treat)
        return self._make_default(runs, scores)

    def _make_default(self, runs: RunTable, scores: Scores, *, by_system: bool = False) -> Form:
        roles = scores.roles
        return make_default(
            runs, treat=self.treat, replicates=roles.replicates, shared=roles.shared, by_system=by_system
        )

    def make_others(self, runs: RunTable, scores: Scores, form: Form) -> tuple[Form, ...]:
        """Return the forms that a form is compared with: none unless this is asked for."""
        if not self.compare_forms:
            return ()
        default, by_system = (self._make_default(runs, scores, by_system=by_system) for by_system in (False, True))
        forms = (default, by_system, make_paper(runs, treat=self.treat))
        return tuple(other for other in forms if other.name != form.name)

    def asked(self, scores: Scores, form: Form) -> Asked:
        """Return what was asked of which data; nuisance columns that were found are facets of it."""
        found = {name: column for name, column in scores.others.items() if name in form.columns()}
        roles = replace(scores.roles, facets=tuple(dict.fromkeys((*scores.roles.facets, *found))))
        scores = replace(scores, properties={**scores.properties, **found}, roles=roles)
        return Asked.about(
            "rank", data=scores.digest, roles=list_roles(scores), form=form.name, formula=self.formula,
             contribution=tuple(self.contribution), pair=tuple(self.pair or ()), treat=self.treat,
            where=list_where(self.where),
            predict={name: str(value) for name, value in (self.predict or {}).items()}, last=self.last,
            nested_runs=self.nested_runs or None, forms=self.compare_forms or None,
            lower_is_better=self.lower_is_better, method="reml", folds=self.folds or None, level=self.level,
            seed=self.seed,
        )  # fmt: skip


def check_runs(runs: RunTable) -> None:
    """Refuse a table in which no two systems can be compared on the same dataset."""
    for what, labels, name in (("system", runs.system, runs.system_name), ("dataset", runs.dataset, runs.dataset_name)):
        if labels.count < 2:
            raise ScoresError(
                f"there is only one {what}, {labels.names[0]!r}: a ranking needs two systems on two datasets or more "
                f"(is --{what} {name} right?)"
            )
    if not ((runs.cells() > 0).sum(axis=0) > 1).any():
        raise ScoresError(
            f"every dataset has scores of one system only ({runs.system.count} systems, {runs.dataset.count} "
            "datasets), so nothing can be compared: run systems on the same datasets"
        )
    if np.ptp(runs.score) == 0:
        raise ScoresError(f"all scores equal {runs.score[0]:g}: there is nothing to rank (see holdsup check)")
    cells = np.column_stack([runs.system.codes, runs.dataset.codes, runs.settings])
    _, cell, sizes = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    cell = cell.reshape(-1)
    apart = np.abs(runs.score - (np.bincount(cell, runs.score) / sizes)[cell]).max()
    if sizes.max() > 1 and apart <= ROUNDING * np.abs(runs.score).max():
        raise ScoresError(
            "all runs of a system on a dataset have the same score, so they say no more than one of them: keep "
            "one, such as --where seed=1"
        )


def answer(fits: RankFits, taken: Intake, question: RankQuestion, progress: Progress) -> Ranking:
    """Return all answers of a form that is fitted."""
    runs, form, scores, level = fits.runs, fits.form, taken.scores, question.level
    lower = taken.directions.of_all("rank")
    contrasts = contrast_systems(fits, level=level, lower_is_better=lower)
    systems = rank_means(fits, contrasts, level=level, seed=question.seed, lower_is_better=lower)
    scale = find_scale(scores.only(scores.usable), scores.metric.names[0] if scores.metric is not None else None)
    systems = tuple(map(scale.limit, systems))
    random = share_variance(fits.variances, seed=question.seed)
    told = {("outcome-not-setting", f"column:{name}") for name in question.treat}
    said = [
        *caution_missing(taken.scores),
        *(each for each in taken.cautions if each.code not in OF_ITEMS and (each.code, each.about) not in told),
        *caution_fits(fits, contrasts, random),
        *caution_table(scores, runs, chosen=question.names_columns, aside=(question.last,)),
        *taken.directions.assumptions(),
    ]
    errors = find_extra(
        "the cross-validated errors", lambda: _validate(fits, scores, question, said, progress), said, (),
        asked=question.compare_forms,
    )  # fmt: skip
    companion = find_extra(
        "the average ranks", partial(make_companion, runs, order=[s.name for s in systems], said=said,
                                     lower_is_better=lower, level=level), said, None
    )  # fmt: skip
    influence = find_extra(
        "the ranking without each dataset and system",
        partial(find_influence, fits, said, lower_is_better=lower, progress=progress), said, (),
    )  # fmt: skip
    asked = question.predict
    return Ranking(
        asked=question.asked(scores, form),
        seed=question.seed,
        rows=leave_out(taken.rows(), runs.pairing.rows, LEFT_OUT),
        level=level,
        lower_is_better=lower,
        score=runs.score_name,
        form=form.name,
        means_formula=form.means,
        formula=form.variances,
        datasets=runs.dataset.count,
        nested_runs=runs.nested_runs,
        scope="new datasets" if fits.interacts() and not fits.has_fixed_datasets() else "these datasets",
        covers=("datasets", *(["runs"] if fits.repeats else [])) if fits.interacts() else (),
        systems=systems,
        contrasts=contrasts,
        fixed=find_effects(fits),
        contributions=find_contributions(fits, level=level),
        random=random,
        interactions=find_interactions(fits, level=level),
        waterfall=isolate_gap(fits, systems, choose_pair(systems, question.pair)),
        r2=r_squared(fits.variances),
        cv=next(iter(errors), None),
        forms=errors,
        treatments=form.treatments,
        influence=influence,
        companion=companion,
        prediction=() if asked is None else predict_configuration(fits, asked),
        diagnostics=list_extras("the Q-Q plots", lambda: find_quantiles(fits.variances), said),
        cautions=order_cautions(said),
    )


def _validate(
    fits: RankFits, scores: Scores, question: RankQuestion, said: list[Caution], progress: Progress
) -> tuple[CrossValidation, ...]:
    """Return cross-validated errors: of the form, and of others if they are to be compared."""
    if not question.folds:
        return ()
    compared = {fits.form.name: fits.variances}
    for other in question.make_others(fits.runs, scores, fits.form):
        compared[other.name] = fit_form(other, fits.runs, level=question.level).variances
    return validate_forms(compared, fits.runs, said, folds=question.folds, seed=question.seed, progress=progress)
