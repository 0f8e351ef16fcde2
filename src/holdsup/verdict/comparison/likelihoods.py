"""Likelihood-ratio tests of the systems: the paper's, and the one that allows for runs and settings."""

from __future__ import annotations

from dataclasses import dataclass

from holdsup.errors import FitError, FormulaError
from holdsup.fit import LmmFit, fit_lmm, fit_within, likelihood_ratio_test
from holdsup.numerics.tails import Tail, chi2_tail
from holdsup.scores import Scores
from holdsup.verdict.comparison.likelihood_settings import Settings, draw_settings, fix_settings, quote
from holdsup.verdict.comparison.records import PaperTest
from holdsup.verdict.evaluation import Evaluation
from holdsup.verdict.trainings import has_nested_runs

__all__ = ["OurFits", "fit_ours", "item_term", "test_as_published"]

MOST_SYSTEMS = 12  # beyond them the items of every system are a second large factor, for a check that decides nothing
MOST_PUBLISHED = 300  # systems, each a fixed effect: the time of a fit grows with their third power
MOST_SETTINGS = 100  # of all systems together: each is a fixed effect
NOTE = "It takes several runs on one {unit} for independent evidence, and its chi-square assumes many runs."


@dataclass(frozen=True, slots=True, eq=False)
class OurFits:
    """The model of a claim with and without the systems, both by ML.

    Attributes
    ----------
    null : without
    alternative : with
    shown : the alternative in words
    """

    null: LmmFit
    alternative: LmmFit
    shown: str


def item_term(scores: Scores) -> str:
    """Return the name of the items in a formula: an item belongs to its dataset."""
    if scores.item is None:
        return "dataset"
    return "dataset:item" if scores.dataset is not None and scores.dataset.count > 1 else "item"


def test_as_published(evaluation: Evaluation) -> PaperTest | None:
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
        note=NOTE.format(unit=(evaluation.unit or "").removesuffix("s"))
        if any(len(system.runs) > 1 for system in evaluation.systems)
        else "",
    )


test_as_published.__test__ = False  # type: ignore[attr-defined]  # a function of ours, not one for pytest


def fit_ours(evaluation: Evaluation, claim: str) -> OurFits | str:
    """Return the fits of the claim's model, or why there are none: what the claim draws anew is random in it.

    A term that the data cannot tell from the residual is left out: with one run a system there is neither.
    """
    if evaluation.per_run:
        return "runs have one score each"
    if len(evaluation.scores) <= evaluation.items:
        return f"there is one score for each of the {evaluation.unit}"
    if len(evaluation.systems) > MOST_SYSTEMS:
        return f"it is fitted to {MOST_SYSTEMS} systems at most"
    table, random = evaluation.scores.to_arrow(), _random_terms(evaluation, claim)
    settings = Settings(table)
    if claim != "these-runs" and any(system.setting_count > 1 for system in evaluation.systems):
        if evaluation.datasets is not None:
            return "runs differ in settings, and there are several datasets"
        if sum(system.setting_count for system in evaluation.systems) > MOST_SETTINGS:
            return f"it is fitted to {MOST_SETTINGS} settings at most"
        settings = fix_settings(evaluation, table) if claim == "new-runs" else draw_settings(evaluation, table)
    try:
        small, large = (
            f"score ~ {' + '.join((each, *settings.columns, *random, *settings.random))}" for each in ("1", "system")
        )
        alternative = fit_lmm(large, settings.table, "ml")
        null = fit_within(alternative, small)
    except (FitError, FormulaError):
        return "no residual is left beside its terms, or two of them cannot be told apart"
    if not (null.converged and alternative.converged):
        return "its fit did not converge"
    shown = f"score ~ {' + '.join(('system', *settings.words, *random, *settings.random))}"
    return OurFits(null, alternative, shown)


def _random_terms(evaluation: Evaluation, claim: str) -> list[str]:
    """Return what is random in the model of a claim, settings left aside."""
    scores, item = evaluation.scores, item_term(evaluation.scores)
    terms = [f"(1 | {item})"]
    if evaluation.datasets is not None:
        terms += ["(1 | dataset)", "(1 | system:dataset)"]
    if evaluation.clusters is not None:
        terms += ["(1 | cluster)", "(1 | system:cluster)"]
    if any(len(system.runs) > 1 for system in evaluation.systems):
        terms.append(f"(1 | system:{item})")
        nested = any(has_nested_runs(evaluation, system) for system in evaluation.systems)
        if claim != "these-runs" and not (nested and scores.item is None):
            terms.append("(1 | system:dataset:run)" if nested else "(1 | system:run)")
            terms.extend(f"(1 | {quote(name)})" for name in scores.roles.shared)
    return terms


def chi2_p(fits: OurFits) -> tuple[float, int, Tail]:
    """Return the likelihood ratio of the systems, its degrees of freedom and its chi-square p."""
    statistic = max(0.0, fits.null.criterion - fits.alternative.criterion)
    df = fits.alternative.npar - fits.null.npar
    return statistic, df, chi2_tail(statistic, df) if df else Tail(1.0, 0.0)
