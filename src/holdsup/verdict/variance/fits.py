"""One system's scores as a mixed model of the sources of their variance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns.crossing import cross
from holdsup.errors import FitError, ScoresError
from holdsup.fit import LmmFit, fit_lmm
from holdsup.scores import Scores
from holdsup.verdict.evaluation import Evaluation
from holdsup.verdict.properties import find_property
from holdsup.verdict.variance.properties import cross_with_property
from holdsup.verdict.variance.records import FacetByProperty, SystemScores
from holdsup.verdict.variance.sentences import name_of
from holdsup.verdict.variance.study import Study, find_hosts
from holdsup.verdict.variance.terms import Term, choose_terms

__all__ = ["Decomposed", "LeftOut", "decompose_system"]

NOTHING = 1e-12  # share of the total below which a variance is the rounding of zero


@dataclass(frozen=True, slots=True, eq=False)
class Decomposed:
    """One system by one metric.

    Attributes
    ----------
    evaluation : the scores of all systems
    scores : those of this one
    item : what the items are called, "" if runs have one score each
    codes : item of each row, numbered as in the evaluation
    terms : the sources of variance that the scores can tell apart, the items first
    fit : the mixed model of these
    """

    evaluation: Evaluation
    scores: Scores
    item: str
    codes: NDArray[np.int64]
    terms: tuple[Term, ...]
    fit: LmmFit

    @property
    def system(self) -> str:
        """Its name."""
        return self.scores.system.names[0]

    @property
    def metric(self) -> str | None:
        """The metric, None if there is only one."""
        return self.evaluation.metric

    @property
    def facets(self) -> tuple[Term, ...]:
        """The terms that are facets: neither the items nor interactions."""
        return tuple(term for term in self.terms if len(term.parts) == 1 and term.name != self.item)

    @property
    def variances(self) -> tuple[float, ...]:
        """The variance of each term, the residual's last; what is rounding is zero."""
        found = [component.variance for component in self.fit.random]
        return tuple(variance if variance > NOTHING * sum(found) else 0.0 for variance in found)

    def summary(self) -> SystemScores:
        """Return what was decomposed."""
        random = " + ".join(f"(1 | {term.name})" for term in self.terms)
        return SystemScores(
            system=self.system,
            metric=self.metric,
            model=f"score ~ 1 + {random}",
            scores=len(self.scores),
            items=self.terms[0].levels.count if self.item else 0,
            runs=len(self.evaluation.system(self.system).runs),
            mean=self.fit.fixed[0].estimate,
            variance=sum(self.variances),
        )

    def study(self) -> Study:
        """Return the variances, ready to be divided by other numbers of levels."""
        parts = [*(term.parts for term in self.terms), ()]
        return Study(
            item=self.item,
            items=self.terms[0].levels.count,
            variances=dict(zip(parts, self.variances, strict=True)),
            facets={term.name: term.levels.count for term in self.facets},
            hosts=find_hosts(self.facets),
            repeats=self._repeats(),
        )

    def _repeats(self) -> float:
        """Return how many scores an item has at a combination of levels, the harmonic mean where numbers differ."""
        cells = cross(self.codes, *(term.levels.codes for term in self.facets))
        return float(cells.count / (1 / cells.sizes()).sum())

    def by(self, name: str, level: float) -> Iterator[FacetByProperty]:
        """Yield how the effect of each facet changes with a property."""
        found = find_property(self.evaluation, name)
        values = found.values[self.codes]
        lacking = int(np.isnan(values).sum())
        if lacking:
            raise ScoresError(
                f"--by {name}: {lacking:,} of {self.system!r}'s scores are of items without a value: fill it"
            )
        return cross_with_property(self, found, values, level=level)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A system whose scores have no variance that could be told apart.

    Attributes
    ----------
    system : its name
    metric : the metric, None if there is only one
    scores : how many scores it has
    why : what is lacking
    advice : what to do about it
    """

    system: str
    metric: str | None
    scores: int
    why: str
    advice: str


def decompose_system(
    evaluation: Evaluation, system: str, interactions: Sequence[str], said: list[str], *, level: float
) -> Decomposed | LeftOut:
    """Return a system's decomposition, or why there is none; `said` gets a line for every term that is left out."""
    everyone = evaluation.scores
    mine = everyone.system.codes == everyone.system.names.index(system)
    scores, (item, codes) = everyone.only(mine), _items(everyone, mine)
    atoms = {item: codes, **_facets(scores, system)} if item else _facets(scores, system)
    terms, left_out = choose_terms(atoms, interactions, item=item, system=name_of(system, evaluation.metric))
    lacking = _lacking(scores, terms, item)
    if lacking:
        return LeftOut(system, evaluation.metric, len(scores), *lacking)
    try:
        fit = _fit(scores.score, atoms, terms, level)
    except FitError:  # nothing is left for the residual
        names = " and ".join(term.name for term in terms)
        return LeftOut(
            system,
            evaluation.metric,
            len(scores),
            f"{names} give every score exactly",
            "are runs copies of one? See holdsup check",
        )
    said.extend(left_out)
    if not fit.converged:
        raise ScoresError(
            f"the mixed model of {system!r} did not converge ({fit.optimizer.reason}): ask for fewer terms"
        )
    return Decomposed(evaluation, scores, item, codes, terms, fit)


def _lacking(scores: Scores, terms: Sequence[Term], item: str) -> tuple[str, str] | None:
    """Return why there is nothing to decompose in a system's scores and what to do, None if there is something."""
    if item and (not terms or terms[0].name != item):
        article = "an" if item == "item" else "a"
        return f"one score {article} {item} cannot tell {item}s from chance", "add runs, or other scores of the same"
    if not terms and len(scores) == scores.run.count > 1:
        return (
            "there are no items, and one score a run cannot tell a facet from chance",
            "say which column holds the items with --item, or add runs at the same levels",
        )
    if not terms:
        return "no facet has two levels", "name facets with --facets, or add runs"
    if np.ptp(scores.score) == 0:
        return f"all scores equal {scores.score[0]:g}", "see holdsup check"
    return None


def _items(scores: Scores, mine: NDArray[np.bool_]) -> tuple[str, NDArray[np.int64]]:
    """Return what the items are called and the item of each row; "" where runs have one score each."""
    if scores.items is not None:
        return "item", scores.items.codes[mine]
    if scores.dataset is not None and scores.dataset.count > 1:
        return "dataset", scores.dataset.codes[mine].astype(np.int64)
    return "", np.zeros(int(mine.sum()), np.int64)


def _facets(scores: Scores, system: str) -> dict[str, NDArray[np.int64]]:
    """Return the level of each row by each facet; a facet that the system does not have has one level."""
    found = {}
    for name, labels in scores.facets.items():
        lacking = int((labels.codes < 0).sum())
        if 0 < lacking < len(scores):
            raise ScoresError(
                f"{lacking:,} of {system!r}'s {len(scores):,} scores have no {name}: fill the column, or choose rows "
                "with --where"
            )
        found[name] = np.maximum(labels.codes, 0).astype(np.int64)
    return found


def _fit(
    score: NDArray[np.float64], atoms: Mapping[str, NDArray[np.int64]], terms: Sequence[Term], level: float
) -> LmmFit:
    """Return the fit; columns get names of our own, which no name of a user's can upset."""
    names = {atom: f"t{i}" for i, atom in enumerate(atoms)}
    columns: dict[str, Any] = {names[atom]: pa.array(codes).cast(pa.string()) for atom, codes in atoms.items()}
    random = " + ".join(f"(1 | {':'.join(names[part] for part in term.parts)})" for term in terms)
    return fit_lmm(f"score ~ 1 + {random}", pa.table({"score": score, **columns}), "reml", level=level)
