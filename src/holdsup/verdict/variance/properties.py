"""How the effect of a facet changes with a property of the items (Hagmann et al. 2023, Figure 2)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.errors import FitError, ScoresError
from holdsup.fit import LikelihoodRatioTest, LmmFit, fit_lmm, likelihood_ratio_test, random_effects
from holdsup.numerics.quantiles import t_quantile
from holdsup.verdict.properties import ItemProperty
from holdsup.verdict.variance.records import FacetByProperty, FacetPoint

if TYPE_CHECKING:
    from holdsup.verdict.variance.fits import Decomposed

__all__ = ["cross_with_property"]

SHOWN = (0.05, 0.5, 0.95)  # quantiles of a number at which lines are predicted
NOTHING = 1e-12  # of the variance of scores, below which a variance is the rounding of zero


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """A facet, a property, and the columns of the fit: y, item, f, run, x or c, and g0, g1, ... for other facets."""

    system: Decomposed
    facet: str
    labels: Labels
    property: str
    columns: Mapping[str, Any]
    others: tuple[str, ...]
    level: float

    def fit(self, interaction: str, columns: Mapping[str, Any] | None = None) -> LmmFit:
        fixed = "x" if "x" in self.columns else "c"
        random = " + ".join(f"(1 | {name})" for name in ("item", *self.others))
        try:
            fit = fit_lmm(f"y ~ {fixed} + {random} + {interaction}", pa.table(dict(columns or self.columns)))
        except FitError as error:
            raise ScoresError(
                f"--by {self.property}: items, {self.facet} and {self.property} give every score of "
                f"{self.system.system!r} exactly, so nothing can be told from chance: add runs, or leave --by out"
            ) from error
        if not fit.converged:
            raise ScoresError(
                f"{self.system.system}: the mixed model of {self.facet} by {self.property} did not converge: "
                f"{fit.optimizer.reason}"
            )
        return fit


def cross_with_property(
    system: Decomposed, found: ItemProperty, values: NDArray[np.float64], *, level: float
) -> Iterator[FacetByProperty]:
    """Yield the interaction of each facet with a property, whose value in each row is given.

    Runs on one item are not taken for independent evidence: an item's effect in a level, and a slope of each run,
    have variances of their own where there are several runs a level.
    """
    scores, terms = system.scores, system.facets
    for term in terms:
        beside = [t for t in (*terms, *system.measured[1:]) if t is not term]
        others = {f"g{i}": _text(t.levels.codes) for i, t in enumerate(beside)}
        labels = scores.facets[term.name]
        columns: dict[str, Any] = {
            "y": scores.score, "item": _text(system.codes), "f": _text(labels.codes), "run": _text(scores.run.codes),
            **others,
        }  # fmt: skip
        repeated = cross(system.codes, term.levels.codes).count < len(scores)
        crossed = (*others, "item:f") if repeated else tuple(others)
        question = _Question(system, term.name, labels, found.name, columns, crossed, level)
        several = scores.run.count > labels.count
        yield _by_classes(question, found, values, several) if found.classes else _by_slopes(question, values, several)


def _text(codes: NDArray[np.integer]) -> pa.Array:
    return pa.array(codes).cast(pa.string())


def _by_slopes(question: _Question, values: NDArray[np.float64], several: bool) -> FacetByProperty:
    """Return the interaction with a number: every level has a line of its own."""
    spread = float(values.std())
    runs = " + (0 + x | run)" if several else ""
    question = replace(question, columns={**question.columns, "x": (values - values.mean()) / spread})
    fit = question.fit("(1 + x | f)" + runs)
    test = likelihood_ratio_test(question.fit("(1 | f)" + runs), fit)
    slope = next(effect.estimate for effect in fit.fixed if effect.name == "x") / spread
    points: list[FacetPoint] = []
    # With the property's zero moved to a value, a level's intercept is its line there, with its uncertainty.
    for at in dict.fromkeys(np.quantile(values, SHOWN).tolist()):
        there = question.fit("(1 + x | f)" + runs, {**question.columns, "x": (values - at) / spread})
        points.extend(_points(question, there, at, there.fixed[0].estimate))
    variance = next(c.variance for c in fit.random if (c.group, c.term) == ("f", "x"))
    formula = f"score ~ {question.property} + (1 + {question.property} | {question.facet}) + ..."
    return _record(question, fit, formula, variance, slope, test, points)


def _by_classes(
    question: _Question, found: ItemProperty, values: NDArray[np.float64], several: bool
) -> FacetByProperty:
    """Return the interaction with classes: every level has a mean of its own in each."""
    runs = " + (1 | run:c)" if several else ""
    coded = _text(values.astype(np.int64))
    question = replace(question, columns={**question.columns, "c": coded})
    fit = question.fit("(1 | f) + (1 | f:c)" + runs)
    test = likelihood_ratio_test(question.fit("(1 | f)" + runs), fit)
    fixed = {effect.name: effect.estimate for effect in fit.fixed}
    points: list[FacetPoint] = []
    for code, name in enumerate(found.classes):
        mean = fixed["(Intercept)"] + fixed.get(f"c{code}", 0.0)
        points.extend(_points(question, fit, name, mean, within=str(code)))
    variance = next(c.variance for c in fit.random if c.group == "f:c")
    formula = f"score ~ {question.property} + (1 | {question.facet}) + (1 | {question.facet}:{question.property}) + ..."
    return _record(question, fit, formula, variance, None, test, points)


def _points(
    question: _Question, fit: LmmFit, value: float | str, mean: float, *, within: str = ""
) -> Iterator[FacetPoint]:
    """Yield where each level is predicted to lie; `within` a class, where the effects of levels differ by class."""
    reach = t_quantile((1 + question.level) / 2, math.inf)
    effects = {effect.group: effect for effect in random_effects(fit)}
    own = effects["f"]
    inside = {labels: i for i, labels in enumerate(effects["f:c"].levels)} if within else {}
    for i, (code,) in enumerate(own.levels):
        predicted, variance = mean + float(own.values[i, 0]), float(own.sd[i, 0]) ** 2
        if within:
            if (code, within) not in inside:  # this level has no score in this class
                continue
            j = inside[code, within]
            predicted += float(effects["f:c"].values[j, 0])
            variance += (
                float(effects["f:c"].sd[j, 0]) ** 2
            )  # the two are negatively correlated: limits on the safe side
        half = reach * math.sqrt(variance) if variance > NOTHING * fit.sigma**2 else 0.0
        yield FacetPoint(
            level=question.labels.names[int(code)], value=value, mean=predicted, low=predicted - half,
            high=predicted + half,
        )  # fmt: skip


def _record(
    question: _Question, fit: LmmFit, formula: str, variance: float, slope: float | None,
    test: LikelihoodRatioTest, points: Sequence[FacetPoint],
) -> FacetByProperty:  # fmt: skip
    total = sum(c.variance for c in fit.random)
    variance = variance if variance > NOTHING * total else 0.0
    return FacetByProperty(
        system=question.system.system,
        metric=question.system.metric,
        facet=question.facet,
        property=question.property,
        model=formula,
        variance=variance,
        percent=100 * variance / total,
        slope=slope,
        statistic=test.statistic,
        p=test.p,
        log10_p=test.log10_p,
        points=tuple(points),
    )
