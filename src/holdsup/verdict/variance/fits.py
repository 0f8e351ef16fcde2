"""One system's scores as a mixed model of the sources of their variance."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns.crossing import cross
from holdsup.errors import FitError, ScoresError
from holdsup.fit import LmmFit, fit_lmm
from holdsup.results import Caution
from holdsup.scores import Scores
from holdsup.verdict.evaluation import Evaluation
from holdsup.verdict.variance.records import SystemScores, name_of
from holdsup.verdict.variance.study import Study, find_hosts
from holdsup.verdict.variance.terms import Term, choose_terms, cross_datasets, find_objects, tell_as_many

Codes = NDArray[np.int64]
NOTHING = 1e-12  # share of the total below which a variance is the rounding of zero

MOST_LOOKED_AT = 500  # rows of a table whose levels may be as many as its scores


@dataclass(frozen=True, slots=True, eq=False)
class Decomposed:
    """One system by one metric."""

    evaluation: Evaluation  # the scores of all systems
    scores: Scores  # those of this one
    # what is measured, items first: item, cluster and dataset of each row; empty if runs have one score each
    objects: Mapping[str, Codes]
    terms: tuple[Term, ...]  # the sources of variance that the scores can tell apart, the objects first
    fit: LmmFit  # the mixed model of these

    @property
    def system(self) -> str:
        """Its name."""
        return self.scores.system.names[0]

    @property
    def metric(self) -> str | None:
        """The metric, None if there is only one."""
        return self.evaluation.metric

    @property
    def item(self) -> str:
        """What the items are called, "" if runs have one score each."""
        return next(iter(self.objects), "")

    @property
    def codes(self) -> Codes:
        """Item of each row, numbered as in the evaluation; without items all rows have the same."""
        return self.objects.get(self.item, np.zeros(len(self.scores), np.int64))

    @property
    def measured(self) -> tuple[Term, ...]:
        """The terms that are objects: the items, and what they lie in."""
        return tuple(term for term in self.terms if len(term.parts) == 1 and term.name in self.objects)

    @property
    def facets(self) -> tuple[Term, ...]:
        """The terms that are facets: neither objects nor interactions."""
        return tuple(term for term in self.terms if len(term.parts) == 1 and term.name not in self.objects)

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
            objects={term.name: tell_as_many(term.levels.codes, self.codes) for term in self.measured},
            variances=dict(zip(parts, self.variances, strict=True)),
            facets={term.name: term.levels.count for term in self.facets},
            hosts=find_hosts(self.facets),
            repeats=self._repeats(),
        )

    def _repeats(self) -> float:
        """Return how many scores an item has at a combination of levels, the harmonic mean where numbers differ."""
        cells = cross(self.codes, *(term.levels.codes for term in self.facets))
        return float(cells.count / (1 / cells.sizes()).sum())


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A system whose scores have no variance that could be told apart."""

    system: str  # its name
    metric: str | None  # the metric, None if there is only one
    scores: int  # how many scores it has
    why: str  # what is lacking
    advice: str  # what to do about it

    def caution(self) -> Caution:
        """Return what is said of it where other systems are decomposed."""
        return Caution(
            code="system-left-out",
            about=f"system:{self.system}",
            message=f"{name_of(self.system, self.metric)} is left out: {self.why}.",
            advice=f"{self.advice[:1].upper()}{self.advice[1:]}.",
        )


def decompose_system(
    evaluation: Evaluation, system: str, interactions: Sequence[str], said: list[Caution], *, level: float
) -> Decomposed | LeftOut:
    """Return a system's decomposition, or why there is none; `said` gets a line for every term that is left out."""
    everyone = evaluation.scores
    mine = everyone.system.codes == everyone.system.names.index(system)
    scores, objects = everyone.only(mine), find_objects(everyone, mine)
    facets = _facets(scores, system, objects)
    atoms = {**objects, **facets}
    crossed = cross_datasets(objects, facets, interactions)
    terms, left_out = choose_terms(atoms, crossed, objects=objects, system=name_of(system, evaluation.metric))
    lacking = _lacking(scores, terms, next(iter(objects), ""))
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
            f"{names} fit every score exactly",
            "check whether runs are copies of one another (holdsup check)",
        )
    said.extend(left_out)
    if not fit.converged:
        raise ScoresError(
            f"the mixed model of {system!r} did not converge ({fit.optimizer.reason}): ask for fewer terms"
        )
    return Decomposed(evaluation, scores, objects, terms, fit)


def _lacking(scores: Scores, terms: Sequence[Term], item: str) -> tuple[str, str] | None:
    """Return why there is nothing to decompose in a system's scores and what to do, None if there is something."""
    if item and (not terms or terms[0].name != item):
        article = "an" if item == "item" else "a"
        return (
            f"with one score {article} {item}, {item}s can't be separated from noise",
            f"score each {item} in several runs",
        )
    if not terms and len(scores) == scores.run.count > 1:
        return (
            "there are no items, and with one score a run a facet can't be separated from noise",
            "name the column of the items with --item, or add runs at the same levels",
        )
    if not terms:
        return "no facet has two levels", "name facets with --facets, or add runs"
    if np.ptp(scores.score) == 0:
        return f"all scores equal {scores.score[0]:g}", "see holdsup check"
    if _is_saturated(terms, len(scores)):
        names = " and ".join(term.name for term in terms)
        return f"{names} have as many levels as there are scores, which leaves nothing for noise", "add runs or items"
    return None


def _is_saturated(terms: Sequence[Term], rows: int) -> bool:
    """Return whether effects of all levels together would give any scores exactly, of a table that is small enough."""
    if rows > MOST_LOOKED_AT or 1 + sum(term.levels.count - 1 for term in terms) < rows:  # the most that they can be
        return False
    indicators = [np.equal.outer(term.levels.codes, np.arange(term.levels.count)) for term in terms]
    return int(np.linalg.matrix_rank(np.hstack(indicators).astype(float))) >= rows


def _facets(scores: Scores, system: str, objects: Collection[str]) -> dict[str, Codes]:
    """Return the level of each row by each facet; a facet that the system does not have has one level."""
    found = {}
    for name, labels in scores.facets.items():
        if name in objects:
            raise ScoresError(
                f"the facet {name!r} is called like the {name}s that {system!r} is scored on: rename its column"
            )
        lacking = int((labels.codes < 0).sum())
        if 0 < lacking < len(scores):
            raise ScoresError(
                f"{lacking:,} of {system!r}'s {len(scores):,} scores have no {name}: fill the column, or choose rows "
                "with --where"
            )
        found[name] = np.maximum(labels.codes, 0).astype(np.int64)
    return found


def _fit(score: NDArray[np.float64], atoms: Mapping[str, Codes], terms: Sequence[Term], level: float) -> LmmFit:
    """Return the fit; columns get names of our own, which no name of a user's can upset."""
    names = {atom: f"t{i}" for i, atom in enumerate(atoms)}
    columns: dict[str, Any] = {names[atom]: pa.array(codes).cast(pa.string()) for atom, codes in atoms.items()}
    random = " + ".join(f"(1 | {':'.join(names[part] for part in term.parts)})" for term in terms)
    return fit_lmm(f"score ~ 1 + {random}", pa.table({"score": score, **columns}), "reml", level=level)
