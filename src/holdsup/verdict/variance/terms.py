"""The sources of variance of a system's scores: what is measured, facets, interactions; and which can be separated.

Under REML the variances of random terms are identified when the matrices P Z_i Z_i' P, P taking out the
mean, are linearly independent of each other and of P itself, the residual's. Their inner products
need only counts: how often level a of one term and level b of another occur together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.columns.crossing import Crossing, cross
from holdsup.errors import ScoresError, list_names
from holdsup.results import Caution
from holdsup.scores import Scores

Codes = NDArray[np.int64]

DEPENDENT = 1e-9  # share of a term's matrix that lies outside the span of the others, below which it is rounding


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A source of variance: the items, what they lie in, a facet, or an interaction of these."""

    name: str  # what it is called, such as item:seed
    parts: tuple[str, ...]  # the objects and facets that it is made of
    levels: Crossing  # its levels, row by row


def choose_terms(
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
        parts = _parts(name, atoms)
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


def _parts(name: str, atoms: Mapping[str, NDArray[np.int64]]) -> tuple[str, ...]:
    if name in atoms:
        return (name,)
    parts = tuple(part.strip() for part in name.split(":"))
    unknown = [part for part in parts if part not in atoms]
    if unknown or len(set(parts)) < 2:
        raise ScoresError(
            f"the interaction {name!r} must join two or more of {list_names(atoms)} by ':', such as "
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


def find_objects(scores: Scores, mine: NDArray[np.bool_]) -> dict[str, Codes]:
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


def cross_datasets(
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


def tell_as_many(groups: Codes, items: Codes) -> float:
    """Return how many groups of equal size tell as much of the mean over the items, 1 / (sum of squared shares).

    >>> tell_as_many(np.array([0, 0, 1, 1, 1, 1]), np.array([0, 1, 2, 3, 4, 5]))
    1.8
    """
    sizes = np.bincount(cross(groups[cross(items).first]).codes).astype(float)
    return float(sizes.sum() ** 2 / (sizes @ sizes))
