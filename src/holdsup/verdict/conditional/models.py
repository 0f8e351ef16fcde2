"""Mixed models with a property of the items: the paper's, and the one that allows for runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from holdsup.fit import fit_lmm, likelihood_ratio_test
from holdsup.verdict.comparison.likelihood_settings import quote
from holdsup.verdict.comparison.likelihoods import item_term
from holdsup.verdict.conditional.records import PaperConditional
from holdsup.verdict.evaluation import Evaluation
from holdsup.verdict.properties import ItemProperty

__all__ = ["Ratio", "Ratios", "compare_models", "condition_as_published"]


@dataclass(frozen=True, slots=True)
class Ratio:
    """A likelihood ratio: its statistic, degrees of freedom, and p by the chi-square."""

    statistic: float
    df: int
    p: float
    log10_p: float


@dataclass(frozen=True, slots=True)
class Ratios:
    """Systems and a property in one model, against two smaller ones.

    Attributes
    ----------
    alternative : the model of both and their interaction
    without_interaction : without the interaction
    null : without the systems
    joint : the alternative against the null
    interaction : the alternative against the model without the interaction
    converged : whether all three have a certain optimum
    """

    alternative: str
    without_interaction: str
    null: str
    joint: Ratio
    interaction: Ratio
    converged: bool


def condition_as_published(evaluation: Evaluation, given: ItemProperty) -> PaperConditional:
    """Return the paper's test of eq. 6 against eq. 7, and of the interaction alone."""
    found = _ratios(evaluation, given, "")
    return PaperConditional(
        property=given.name,
        alternative=found.alternative,
        null=found.null,
        without_interaction=found.without_interaction,
        statistic=found.joint.statistic,
        df=found.joint.df,
        p=found.joint.p,
        log10_p=found.joint.log10_p,
        interaction_statistic=found.interaction.statistic,
        interaction_df=found.interaction.df,
        interaction_p=found.interaction.p,
        interaction_log10_p=found.interaction.log10_p,
    )


def compare_models(evaluation: Evaluation, given: ItemProperty, *, new_runs: bool) -> Ratios | str:
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
    found = _ratios(evaluation, given, more)
    return found if found.converged else "our mixed model did not converge"


def _ratios(evaluation: Evaluation, given: ItemProperty, more: str) -> Ratios:
    scores = evaluation.scores
    assert scores.items is not None
    d = _name(evaluation, given)
    values = given.values[scores.items.codes]
    known = np.isfinite(values)
    table = _with_property(scores.only(known).to_arrow(), d, given, values[known])
    random = f"(1 | {item_term(scores)}){more}"
    fixed = (f"system * {d}", f"system + {d}", d)
    large, additive, null = (fit_lmm(f"score ~ {each} + {random}", table, "ml") for each in fixed)
    tests = [likelihood_ratio_test(small, large) for small in (null, additive)]
    joint, interaction = (Ratio(test.statistic, test.df, test.p, test.log10_p) for test in tests)
    converged = large.converged and additive.converged and null.converged
    return Ratios(large.formula, additive.formula, null.formula, joint, interaction, converged)


def _name(evaluation: Evaluation, given: ItemProperty) -> str:
    """Return the property's own name where a formula can hold it, else d, as in the paper."""
    taken = {"score", "system", "run", "item", "dataset", "metric", "status", "cluster", *evaluation.scores.facets}
    return given.name if given.name.isidentifier() and given.name not in taken else "d"


def _with_property(table: Any, name: str, given: ItemProperty, values: np.ndarray) -> Any:
    column = pa.array(values)
    if given.classes:
        column = pa.DictionaryArray.from_arrays(values.astype(np.int32), list(given.classes))
    return (table.drop_columns([name]) if name in table.column_names else table).append_column(name, column)
