"""How the effect of a facet changes with a property of the items (Hagmann et al. 2023, Figure 2)."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.errors import FitError, ScoresError
from holdsup.fit import LmmFit, fit_lmm, likelihood_ratio_test
from holdsup.numerics.distributions import t_quantile
from holdsup.numerics.optimization import CERTAIN
from holdsup.results import Caution, find_extra
from holdsup.scores import Scores
from holdsup.verdict.properties import ItemProperty, find_property
from holdsup.verdict.variance.fits import Decomposed, Term
from holdsup.verdict.variance.records import PAPER, FacetByProperty, FacetPoint, PublishedInteraction

SHOWN = (0.05, 0.5, 0.95)  # quantiles of a number at which lines are predicted
NOTHING = 1e-12  # of the variance of scores, below which a variance is the rounding of zero


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """A facet, a property, and the columns of the fit: y, item, f, run, x or c, and g0, g1, ... for other facets.

    Levels of the facet lie within levels of those `around` it, which therefore have no place beside fixed levels.
    """

    system: Decomposed
    facet: str
    labels: Labels
    property: str
    columns: Mapping[str, Any]
    others: tuple[str, ...]
    around: tuple[str, ...]
    level: float
    said: list[Caution]

    def degrees(self) -> float:
        """Return the df of what lines of single runs differ by within levels; many where levels are runs."""
        runs = self.system.scores.run.count
        return float(runs - self.labels.count) if runs > self.labels.count else math.inf

    def fit(self, fixed: str, random: Sequence[str] = (), *, left_out: Collection[str] = ()) -> LmmFit:
        """Return the fit of a model with items and other facets, some of these left out."""
        names = [name for name in ("item", *self.others) if name not in left_out]
        random = " + ".join([*(f"(1 | {name})" for name in names), *random])
        try:
            fit = fit_lmm(f"y ~ {fixed} + {random}", pa.table(dict(self.columns)))
        except FitError as error:
            raise ScoresError(
                f"--by {self.property}: items, {self.facet} and {self.property} give every score of "
                f"{self.system.system!r} exactly, so nothing can be separated from noise: add runs, or leave --by out"
            ) from error
        # Where no variance is left beside a slope's, its factor may be turned at will; the criterion is sure.
        if not fit.converged and fit.model().engine.decrease > CERTAIN:
            raise ScoresError(
                f"{self.system.system}: the mixed model of {self.facet} by {self.property} did not converge: "
                f"{fit.optimizer.reason}"
            )
        return fit


def cross_with_property(system: Decomposed, name: str, level: float, said: list[Caution]) -> Iterator[FacetByProperty]:
    """Yield how the effect of each facet changes with a property of the items.

    Runs on one item are not independent evidence: an item's effect in a level, and a line of each run,
    have variances of their own where there are several runs a level. A facet that tells runs apart is that line's.
    """
    found, values = _find_values(system, name)
    scores, terms = system.scores, system.facets
    for term in terms:
        several = scores.run.count > scores.facets[term.name].count
        beside = [t for t in (*terms, *system.measured[1:]) if t is not term and not (several and _is_run(t, scores))]
        others = {f"g{i}": _text(t.levels.codes) for i, t in enumerate(beside)}
        labels = scores.facets[term.name]
        columns: dict[str, Any] = {
            "y": scores.score, "item": _text(system.codes), "f": _text(labels.codes), "run": _text(scores.run.codes),
            **others,
        }  # fmt: skip
        repeated = cross(system.codes, term.levels.codes).count < len(scores)
        crossed = (*others, "item:f") if repeated else tuple(others)
        around = tuple(name for name, t in zip(others, beside, strict=True) if term.lies_within(t))
        question = _Question(system, term.name, labels, found.name, columns, crossed, around, level, said)
        yield _interact(question, found, values, several)


def _find_values(system: Decomposed, name: str) -> tuple[ItemProperty, NDArray[np.float64]]:
    """Return a property, and its value in each row of a system's scores."""
    found = find_property(system.evaluation, name)
    values = found.values[system.codes]
    lacking = int(np.isnan(values).sum())
    if lacking:
        raise ScoresError(
            f"--by {name}: {lacking:,} of {system.system!r}'s scores are of items without a value: fill it"
        )
    if found.classes:
        classes = values[cross(system.codes).first].astype(np.int64)
        alone = [found.classes[code] for code in np.flatnonzero(np.bincount(classes) == 1)]
        if alone:
            raise ScoresError(
                f"--by {name}: class {alone[0]!r} has one item of {system.system!r}, and two are needed: merge it"
            )
    return found, values


def _is_run(term: Term, scores: Scores) -> bool:
    """Return whether a term puts the same scores together as runs do."""
    return term.levels.count == scores.run.count == cross(term.levels.codes, scores.run).count


def _text(codes: NDArray[np.integer]) -> pa.Array:
    return pa.array(codes).cast(pa.string())


def _interact(question: _Question, found: ItemProperty, values: NDArray[np.float64], several: bool) -> FacetByProperty:
    """Return the interaction of a facet with a property: a number, x, gives every level a line, classes, c, a mean."""
    classes, centre, spread = values.astype(np.int64), float(values.mean()), float(values.std())
    axis, column = ("c", _text(classes)) if found.classes else ("x", (values - centre) / spread)
    own, runs = (
        [f"(1 | {group})", f"(1 | {group}:c)"] if found.classes else [f"(1 + x | {group})"] for group in ("f", "run")
    )
    runs = runs if several else []
    question = replace(question, columns={**question.columns, axis: column})
    fit = question.fit(axis, [*own, *runs])
    test = likelihood_ratio_test(question.fit(axis, ["(1 | f)", *runs]), fit)
    lines = _Lines(question, question.fit(f"f * {axis}", runs, left_out=question.around))
    points: list[FacetPoint] = []
    if found.classes:
        for code, name in enumerate(found.classes):
            scored = {str(level) for level in np.unique(question.labels.codes[classes == code])}
            points += lines.points(name, {"": 1.0, f"c{code}": 1.0}, [each for each in lines.codes if each in scored])
    else:
        for at in dict.fromkeys(np.quantile(values, SHOWN).tolist()):
            points += lines.points(at, {"": 1.0, "x": (at - centre) / spread}, lines.codes)
    total = sum(c.variance for c in fit.random)
    variance = next(c.variance for c in fit.random if c.group == "f:c" or (c.group, c.term) == ("f", "x"))
    variance = variance if variance > NOTHING * total else 0.0
    slope = None if found.classes else next(e.estimate for e in fit.fixed if e.name == "x") / spread
    written = {axis: question.property, "f": question.facet}
    return FacetByProperty(
        system=question.system.system,
        metric=question.system.metric,
        facet=question.facet,
        property=question.property,
        model=re.sub(r"\b[xcf]\b", lambda m: written[m[0]], f"score ~ {' + '.join([axis, *own, *runs])} + ..."),
        variance=variance,
        percent=100 * variance / total,
        slope=slope,
        statistic=test.statistic,
        p=test.p,
        log10_p=test.log10_p,
        points=tuple(points),
        paper=find_extra(f"the test of {PAPER}", lambda: retest_as_published(question, axis), question.said, None),
    )


def retest_as_published(question: _Question, found: str) -> PublishedInteraction:
    """Return the paper's test of the interaction, x or c: levels fixed, runs on one item independent evidence."""
    left_out = ("item:f", *question.around)
    small, large = (question.fit(f"f {sign} {found}", left_out=left_out) for sign in "+*")
    test = likelihood_ratio_test(small, large)
    return PublishedInteraction(
        model=f"score ~ {question.facet} * {question.property} + (1 | {question.system.item}) + ...",
        statistic=test.statistic, df=test.df, p=test.p, log10_p=test.log10_p,
    )  # fmt: skip


class _Lines:
    """A line, or a mean in each class, for every level: levels are fixed, so that none is drawn to the others."""

    def __init__(self, question: _Question, fit: LmmFit) -> None:
        self.question, self.fit = question, fit
        self.codes = sorted(set(question.columns["f"].to_pylist()), key=int)
        self.names = [effect.name for effect in fit.fixed]

    def points(self, value: float | str, place: Mapping[str, float], codes: Sequence[str]) -> Iterator[FacetPoint]:
        """Yield where levels lie at a value of the property, with limits of how far each is from their average.

        Runs within levels tell how sure that is, on as many degrees of freedom as there are more runs than levels.
        """
        rows = np.array([self._row(code, place) for code in codes])
        model, average = self.fit.model(), rows.mean(axis=0)
        for code, row in zip(codes, rows, strict=True):
            mean, off = float(row @ model.beta), row - average
            half = 0.0
            if off.any():
                df = min(self.question.degrees(), model.degrees(off))
                half = t_quantile((1 + self.question.level) / 2, df) * math.sqrt(float(off @ model.covariance @ off))
            name = self.question.labels.names[int(code)]
            yield FacetPoint(level=name, value=value, mean=mean, low=mean - half, high=mean + half)

    def _row(self, code: str, place: Mapping[str, float]) -> NDArray[np.float64]:
        """Return the weights of the fixed effects in a level's line at a place."""
        own = {name or "(Intercept)": weight for name, weight in place.items()}
        own |= {f"f{code}:{name}" if name else f"f{code}": weight for name, weight in place.items()}
        return np.array([own.get(name, 0.0) for name in self.names])
