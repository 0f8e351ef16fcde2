"""One system's scores as a mixed model of the sources of their variance, as far as these can be separated.

Under REML the variances of random terms are identified when the matrices P Z_i Z_i' P, P taking out the
mean, are linearly independent of each other and of P itself, the residual's. Their inner products
need only counts: how often level a of one term and level b of another occur together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns.crossing import Crossing, cross
from holdsup.errors import FitError, ScoresError, list_names
from holdsup.fit import LmmFit, fit_lmm
from holdsup.results import Caution
from holdsup.scores import Scores
from holdsup.verdict.evaluation import Evaluation
from holdsup.verdict.variance.records import SystemScores, name_of
from holdsup.verdict.variance.study import Study

Codes = NDArray[np.int64]
NOTHING = 1e-12  # share of the total below which a variance is the rounding of zero

DEPENDENT = 1e-9  # share of a term's matrix that lies outside the span of the others, below which it is rounding
MOST_LOOKED_AT = 500  # rows of a table whose levels may be as many as its scores


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A source of variance: the items, what they lie in, a facet, or an interaction of these."""

    name: str  # what it is called, such as item:seed
    parts: tuple[str, ...]  # the objects and facets that it is made of
    levels: Crossing  # its levels, row by row

    def lies_within(self, other: Term) -> bool:
        """Return whether each level lies within one level of another term."""
        return cross(self.levels.codes, other.levels.codes).count == self.levels.count


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
            objects={term.name: _tell_as_many(term.levels.codes, self.codes) for term in self.measured},
            variances=dict(zip(parts, self.variances, strict=True)),
            facets={term.name: term.levels.count for term in self.facets},
            hosts=_find_hosts(self.facets),
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
    scores, objects = everyone.only(mine), _find_objects(everyone, mine)
    facets = _facets(scores, system, objects)
    atoms = {**objects, **facets}
    crossed = _cross_datasets(objects, facets, interactions)
    terms, left_out = _choose_terms(atoms, crossed, objects=objects, system=name_of(system, evaluation.metric))
    lacking = _lacking(scores, terms, next(iter(objects), ""))
    if lacking:
        return LeftOut(system, evaluation.metric, len(scores), *lacking)
    try:
        fit = _fit(scores.score, atoms, terms, level)
    except FitError:  # nothing is left for the residual
        why = f"{' and '.join(term.name for term in terms)} fit every score exactly"
        advice = "check whether runs are copies of one another (holdsup check)"
        return LeftOut(system, evaluation.metric, len(scores), why, advice)
    said.extend(left_out)
    if not fit.converged:
        raise ScoresError(
            f"the mixed model of {system!r} did not converge ({fit.optimizer.reason}): ask for fewer terms"
        )
    return Decomposed(evaluation, scores, objects, terms, fit)


def _lacking(scores: Scores, terms: Sequence[Term], item: str) -> tuple[str, str] | None:
    """Return why there is nothing to decompose in a system's scores and what to do, None if there is something."""
    if item and (not terms or terms[0].name != item):
        if scores.units.count == 1:
            return f"there is one {item}", f"score more {item}s"
        return f"with one score per {item}, {item}s can't be separated from noise", f"score each {item} in several runs"
    if not terms and len(scores) == scores.run.count > 1:
        return (
            "there are no items, and with one score per run, facets can't be separated from noise",
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
                f"the facet {name!r} has the same name as the {name}s that {system!r} is scored on: rename its column"
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


def _find_hosts(facets: Sequence[Term]) -> dict[str, frozenset[str]]:
    """Return for each facet those that it is nested in: a level of it lies within one level of them."""
    return {
        inner.name: frozenset(outer.name for outer in facets if outer is not inner and inner.lies_within(outer))
        for inner in facets
    }


def _choose_terms(
    atoms: Mapping[str, NDArray[np.int64]], interactions: Sequence[str], *, objects: Collection[str], system: str
) -> tuple[tuple[Term, ...], tuple[Caution, ...]]:
    """Return the terms that the scores can tell apart, and a caution about each that they can't.

    Parameters
    ----------
    atoms : level of each row by the objects and each facet, in the order in which they go before each other
    interactions : names of atoms joined by ":"
    objects : which of the atoms are measured: the items, and what they lie in
    system : whose scores they are, for the cautions
    """
    kept: list[Term] = []
    said: list[Caution] = []
    rows = len(next(iter(atoms.values()), ()))
    runs = cross(*(codes for name, codes in atoms.items() if name not in objects), rows=rows).count
    for name in (*atoms, *interactions):
        parts = (name,) if name in atoms and name not in interactions else _split(name, atoms)
        term = Term(name, parts, cross(*(atoms[part] for part in parts)))
        beside = [other for other in kept if not set(objects) & set(other.parts)]
        # Runs have that many degrees of freedom.
        crowded = not set(objects) & set(parts) and len(beside) >= runs - 1
        reason = _reason_against(term, kept, crowded)
        if reason:
            said.append(
                Caution(
                    code="term-left-out",
                    severity="note",
                    about="table:components",
                    message=f"{system}: {name} is left out. {reason}",
                )
            )
        else:
            kept.append(term)
    return tuple(kept), tuple(said)


def _split(name: str, atoms: Mapping[str, NDArray[np.int64]]) -> tuple[str, ...]:
    parts = tuple(part.strip() for part in name.split(":"))
    unknown = [part for part in parts if part not in atoms]
    if unknown or len(set(parts)) < 2:
        raise ScoresError(
            f"{name!r} is not an interaction: join two or more of {list_names(atoms)} by ':', such as "
            f"{':'.join(list(atoms)[:2])}"
        )
    return parts


def _reason_against(term: Term, kept: Sequence[Term], crowded: bool) -> str:
    """Return why a term can't be separated from those before it, "" if it can."""
    rows = len(term.levels.codes)
    if term.levels.count == 1:
        return "It has one level, so there is no variance to measure."
    if term.levels.count == rows:
        return "Every score has a level of its own, so it can't be separated from noise."
    for other in kept:
        if cross(term.levels.codes, other.levels.codes).count == term.levels.count == other.levels.count:
            return f"It groups the scores exactly as {other.name} does, so their variances can't be separated."
    if crowded or _is_dependent(term, kept):
        names = ", ".join([*(other.name for other in kept), "noise"])
        return f"There are too few runs to separate its variance from those of {names}."
    return ""


def _is_dependent(term: Term, kept: Sequence[Term]) -> bool:
    """Return whether the covariance of a term is a combination of the others' and the residual's."""
    codes = [*(other.levels.codes for other in kept), term.levels.codes]
    n, k = len(term.levels.codes), len(codes)
    products = np.empty((k + 1, k + 1))
    products[0, 0] = n - 1
    for i, own in enumerate(codes, start=1):
        sizes = np.bincount(own).astype(float)
        products[0, i] = products[i, 0] = n - sizes @ sizes / n
        for j in range(i, k + 1):
            products[i, j] = products[j, i] = _inner(own, codes[j - 1])
    lengths = np.sqrt(np.diag(products))
    products = products / np.outer(lengths, lengths)
    known, new = products[:-1, :-1], products[:-1, -1]
    left = 1.0 - new @ np.linalg.lstsq(known, new, rcond=None)[0]
    return bool(left < DEPENDENT)


def _inner(a: NDArray[np.int64], b: NDArray[np.int64]) -> float:
    """Return the inner product of P Z_a Z_a' P and P Z_b Z_b' P, which is the sum of squares of Z_a' P Z_b."""
    n = len(a)
    together = cross(a, b)
    cells = together.sizes().astype(float)
    size_a, size_b = np.bincount(a).astype(float), np.bincount(b).astype(float)
    expected = size_a[a[together.first]] * size_b[b[together.first]] / n
    return float(cells @ cells - 2 * cells @ expected + (size_a @ size_a) * (size_b @ size_b) / n**2)


def _find_objects(scores: Scores, mine: NDArray[np.bool_]) -> dict[str, Codes]:
    """Return the item, the cluster and the dataset of each row of `mine`, items first; nothing if runs have one score.

    Items are those of all systems. Without items, datasets are; clusters and items belong to their dataset.
    """
    datasets = scores.dataset if scores.dataset is not None and scores.dataset.count > 1 else None
    if scores.items is not None:
        found = {"item": scores.items.codes[mine]}
    elif datasets is not None:
        found = {"dataset": datasets.codes[mine].astype(np.int64)}
    else:
        return {}
    if scores.cluster is not None:
        found["cluster"] = cross(*(labels for labels in (datasets, scores.cluster) if labels is not None)).codes[mine]
    if datasets is not None and "item" in found:
        found["dataset"] = datasets.codes[mine].astype(np.int64)
    return found


def _cross_datasets(
    objects: Mapping[str, Codes], facets: Mapping[str, Codes], interactions: Sequence[str]
) -> tuple[str, ...]:
    """Return the interactions, with that of datasets and runs if there are items in several datasets.

    A run's training may turn out well for one dataset and not for another; without a variance of its own that would
    count once for every item.
    """
    varied = [name for name, codes in facets.items() if np.ptp(codes) > 0]
    parts = {"dataset", *varied}
    asked = [{part.strip() for part in name.split(":")} for name in interactions]
    if not {"item", "dataset"} <= set(objects) or not varied or np.ptp(objects["dataset"]) == 0 or parts in asked:
        return tuple(interactions)
    return (*interactions, ":".join(["dataset", *varied]))


def _tell_as_many(groups: Codes, items: Codes) -> float:
    """Return how many groups of equal size tell as much of the mean over the items, 1 / (sum of squared shares).

    >>> _tell_as_many(np.array([0, 0, 1, 1, 1, 1]), np.array([0, 1, 2, 3, 4, 5]))
    1.8
    """
    sizes = np.bincount(cross(groups[cross(items).first]).codes).astype(float)
    return float(sizes.sum() ** 2 / (sizes @ sizes))
