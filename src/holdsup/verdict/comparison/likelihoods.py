"""Likelihood-ratio tests of the systems: the paper's, and the one that allows for runs and settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns.crossing import cross
from holdsup.design.formulas import quote
from holdsup.errors import FitError, FormulaError
from holdsup.fit import LmmFit, fit_lmm, fit_within, likelihood_ratio_test
from holdsup.numerics.distributions import Tail, chi2_tail
from holdsup.scores import Scores
from holdsup.verdict.comparison.conditional_records import PaperConditional
from holdsup.verdict.comparison.records import PaperTest
from holdsup.verdict.evaluation import Evaluation
from holdsup.verdict.properties import ItemProperty
from holdsup.verdict.repeats import count_samples
from holdsup.verdict.samples import THESE_ITEMS
from holdsup.verdict.settings import varying_facets
from holdsup.verdict.trainings import has_nested_runs

MOST_SYSTEMS = 12  # beyond them the items of every system are a second large factor, for a check that decides nothing
MOST_PUBLISHED = 300  # systems, each a fixed effect: the time of a fit grows with their third power
MOST_SETTINGS = 100  # of all systems together: each is a fixed effect
MOST_PATTERNS = 1000  # of missing scores: items that lack the same ones are worked on together
NOTE = "It counts several {repeats} on one {unit} as independent, and its chi-square assumes many runs."


@dataclass(frozen=True, slots=True, eq=False)
class OurFits:
    """The model of a claim with and without the systems, both by ML."""

    null: LmmFit  # without
    alternative: LmmFit  # with
    shown: str  # the alternative in words


def item_term(scores: Scores) -> str:
    """Return the name of the items in a formula: an item belongs to its dataset."""
    if scores.item is None:
        return "dataset"
    return "dataset:item" if scores.dataset is not None and scores.dataset.count > 1 else "item"


def ratio_as_published(evaluation: Evaluation) -> PaperTest | None:
    """Return the paper's generalized likelihood-ratio test; None where there are no items or one score an item.

    Raises
    ------
    FitError : there are more systems than its fit is made for
    """
    if evaluation.per_run or len(evaluation.scores) <= evaluation.items:
        return None
    if len(evaluation.systems) > MOST_PUBLISHED:
        raise FitError(f"it is fitted to {MOST_PUBLISHED} systems at most, and so there are no sizes d")
    item = item_term(evaluation.scores)
    null, alternative = f"score ~ 1 + (1 | {item})", f"score ~ system + (1 | {item})"
    table = evaluation.scores.to_arrow()
    try:
        large = fit_lmm(alternative, table, "ml")
        test = likelihood_ratio_test(fit_within(large, null), large)
    except (FitError, FormulaError):  # no residual is left, or items are the rows: there is no such test
        return None
    return PaperTest(
        metric=evaluation.metric,
        null=null,
        alternative=alternative,
        statistic=test.statistic,
        df=test.df,
        p=test.p,
        log10_p=test.log10_p,
        sigma=large.sigma,
        note=NOTE.format(repeats="runs" if _have_runs(evaluation) else "samples", unit=(evaluation.unit or "")[:-1])
        if _repeat_items(evaluation)
        else "",
    )


def fit_ours(evaluation: Evaluation, claim: str) -> OurFits | str:
    """Return the fits of the claim's model, or why there are none: what the claim draws anew is random in it.

    A term that the data cannot tell from the residual is left out: with one run a system there is neither.
    """
    if evaluation.per_run:
        return "runs have one score each"
    if len(evaluation.scores) <= evaluation.items:
        return f"there is one score for each of the {evaluation.unit}"
    if why := _find_obstacle(evaluation, claim):
        return why
    table, random = evaluation.scores.to_arrow(), _random_terms(evaluation, claim)
    settings = Settings(table)
    if claim != "these-runs" and any(system.setting_count > 1 for system in evaluation.systems):
        if evaluation.datasets is not None:
            return "runs differ in settings, and there are several datasets"
        if sum(system.setting_count for system in evaluation.systems) > MOST_SETTINGS:
            return f"it is fitted to {MOST_SETTINGS} settings at most"
        settings = draw_settings(evaluation, table) if claim == "new-settings" else fix_settings(evaluation, table)
    try:
        small, large = (
            f"score ~ {' + '.join((each, *settings.columns, *random, *settings.random))}" for each in ("1", "system")
        )
        alternative = fit_lmm(large, settings.table, "ml")
        null = fit_within(alternative, small)
    except (FitError, FormulaError):
        return "its terms leave no residual, or two of them can't be separated"
    if not (null.converged and alternative.converged):
        return "its fit did not converge"
    shown = f"score ~ {' + '.join(('system', *settings.words, *random, *settings.random))}"
    return OurFits(null, alternative, shown)


def _find_obstacle(evaluation: Evaluation, claim: str) -> str:
    """Return why a model can't be fitted to all of the scores, "" if it can."""
    if claim == THESE_ITEMS:
        return "items are as they are, and a model draws them anew"
    if claim != "these-runs" and any(system.deterministic for system in evaluation.systems):
        return "a system is deterministic, and the model has one run variance for all"
    if len(evaluation.systems) > MOST_SYSTEMS:
        return f"it is fitted to {MOST_SYSTEMS} systems at most"
    if _count_patterns(evaluation) > MOST_PATTERNS:
        return f"scores are missing in more than {MOST_PATTERNS:,} different patterns"
    return ""


def _count_patterns(evaluation: Evaluation) -> int:
    """Return how many different sets of runs the items of a dataset have scores of: a fit's time grows with them."""
    there = np.concatenate([~np.isnan(system.scores) for system in evaluation.systems], axis=1)
    if there.all():
        return 1
    datasets = np.zeros(evaluation.items, int) if evaluation.datasets is None else evaluation.datasets
    return len(set(zip(map(bytes, np.packbits(there, axis=1)), datasets.tolist(), strict=True)))


def _random_terms(evaluation: Evaluation, claim: str) -> list[str]:
    """Return what is random in the model of a claim, settings left aside."""
    scores, item = evaluation.scores, item_term(evaluation.scores)
    terms = [f"(1 | {item})"]
    if evaluation.datasets is not None:
        terms += ["(1 | dataset)", "(1 | system:dataset)"]
    if evaluation.clusters is not None:
        terms += ["(1 | cluster)", "(1 | system:cluster)"]
    if _repeat_items(evaluation):
        terms.append(f"(1 | system:{item})")
    if _have_runs(evaluation):
        nested = any(has_nested_runs(evaluation, system) for system in evaluation.systems)
        if claim != "these-runs" and not (nested and scores.item is None):
            terms.append("(1 | system:dataset:run)" if nested else "(1 | system:run)")
            terms.extend(f"(1 | {quote(name)})" for name in scores.roles.shared)
    return terms


def _have_runs(evaluation: Evaluation) -> bool:
    """Return whether some system has several runs."""
    return any(len(system.runs) > 1 for system in evaluation.systems)


def _repeat_items(evaluation: Evaluation) -> bool:
    """Return whether a system has several scores of an item: of several runs, or of several samples."""
    return _have_runs(evaluation) or any(count_samples(evaluation)[s.name] > 1 for s in evaluation.systems)


def chi2_p(fits: OurFits) -> tuple[float, int, Tail]:
    """Return the likelihood ratio of the systems, its degrees of freedom and its chi-square p."""
    statistic = max(0.0, fits.null.criterion - fits.alternative.criterion)
    df = fits.alternative.npar - fits.null.npar
    return statistic, df, chi2_tail(statistic, df) if df else Tail(1.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """What settings add to a model."""

    table: Any  # the rows, with the columns that the terms name
    columns: tuple[str, ...] = ()  # fixed terms, in both models
    random: tuple[str, ...] = ()  # random terms, in both models
    words: tuple[str, ...] = ()  # the fixed terms, as a reader writes them


def fix_settings(evaluation: Evaluation, table: Any) -> Settings:
    """Return the settings of each system as fixed effects that sum to zero.

    The effect of a system is then its mean over settings, equally weighted, and the model without systems is the
    one in which these means are equal, whatever the settings do.
    """
    names: list[str] = []
    for number, system in enumerate(evaluation.systems):
        setting = _settings_of_rows(evaluation, number)
        for code in np.unique(system.settings)[:-1]:
            effect = (setting == code).astype(float) - (setting == system.settings.max())
            names.append(f"setting {len(names) + 1}")
            table = _with(table, names[-1], effect)
    return Settings(table, columns=tuple(map(quote, names)), words=("system:setting",))


def draw_settings(evaluation: Evaluation, table: Any) -> Settings:
    """Return the facets that are settings as random effects, each in the systems in which it varies."""
    scores, terms = evaluation.scores, list[str]()
    for number, system in enumerate(evaluation.systems):
        mine = scores.system.codes == number
        facets = list(varying_facets(scores, mine))
        if facets:
            name = f"is {system.name}" if "`" not in system.name else f"is system {number}"
            table = _with(table, name, mine.astype(float))
            terms.extend(f"(0 + {quote(name)} | {quote(facet)})" for facet in facets)
    return Settings(table, random=tuple(terms))


def _settings_of_rows(evaluation: Evaluation, number: int) -> NDArray[np.int64]:
    """Return the setting of each row of one system, -1 in the rows of others."""
    scores = evaluation.scores
    rows = np.flatnonzero(scores.system.codes == number)
    setting = np.full(len(scores), -1)
    setting[rows] = evaluation.systems[number].settings[cross(scores.run.take(rows)).codes]
    return setting


def _with(table: Any, name: str, values: Any) -> Any:
    return (table.drop_columns([name]) if name in table.column_names else table).append_column(name, pa.array(values))


def condition_as_published(evaluation: Evaluation, given: ItemProperty) -> PaperConditional:
    """Return the paper's test of eq. 6 against eq. 7, and of the interaction alone."""
    return _ratios(evaluation, given, "")[0]


def compare_models(evaluation: Evaluation, given: ItemProperty, *, new_runs: bool) -> PaperConditional | str:
    """Return the likelihood ratios in our model: the items of a system vary, and its runs along the property.

    Without a second run neither can be told from the residual, and the model is the paper's. Where runs differ in
    settings, which this model does not know, or a fit did not converge, the reason is returned instead.
    """
    if new_runs and any(system.setting_count > 1 for system in evaluation.systems):
        return "runs differ in settings, which our mixed model along a property does not hold"
    item, more = item_term(evaluation.scores), ""
    if any(len(system.runs) > 1 for system in evaluation.systems):
        more = f" + (1 | system:{item})"
        if new_runs:
            d = _name(evaluation, given)
            more += f" + (1 | system:run) + (1 | system:run:{d})" if given.classes else f" + (1 + {d} | system:run)"
            more += "".join(f" + (1 | {quote(name)})" for name in evaluation.scores.roles.shared)
    if evaluation.clusters is not None:
        more += " + (1 | cluster) + (1 | system:cluster)"
    found, converged = _ratios(evaluation, given, more)
    return found if converged else "our mixed model did not converge"


def _ratios(evaluation: Evaluation, given: ItemProperty, more: str) -> tuple[PaperConditional, bool]:
    """Return the likelihood ratios of systems along a property, and whether all three fits have a certain optimum.

    `more` is what our model has besides the paper's.
    """
    scores = evaluation.scores
    assert scores.items is not None
    d = _name(evaluation, given)
    values = given.values[scores.items.codes]
    known = np.isfinite(values)
    column = pa.array(values[known])
    if given.classes:
        column = pa.DictionaryArray.from_arrays(values[known].astype(np.int32), list(given.classes))
    table, random = _with(scores.only(known).to_arrow(), d, column), f"(1 | {item_term(scores)}){more}"
    fixed = (f"system * {d}", f"system + {d}", d)
    large, additive, null = (fit_lmm(f"score ~ {each} + {random}", table, "ml") for each in fixed)
    joint, interaction = (likelihood_ratio_test(small, large) for small in (null, additive))
    return PaperConditional(
        property=given.name, alternative=large.formula, null=null.formula, without_interaction=additive.formula,
        statistic=joint.statistic, df=joint.df, p=joint.p, log10_p=joint.log10_p,
        interaction_statistic=interaction.statistic, interaction_df=interaction.df, interaction_p=interaction.p,
        interaction_log10_p=interaction.log10_p,
    ), large.converged and additive.converged and null.converged  # fmt: skip


def _name(evaluation: Evaluation, given: ItemProperty) -> str:
    """Return the property's own name where a formula can hold it, else d, as in the paper."""
    taken = {"score", "system", "run", "item", "dataset", "metric", "status", "cluster", *evaluation.scores.facets}
    return given.name if given.name.isidentifier() and given.name not in taken else "d"
