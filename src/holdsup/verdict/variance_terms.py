"""Which sources of variance a system's scores can tell apart.

Under REML the variances of random terms are identified when the matrices P Z_i Z_i' P, P taking out the
mean, are linearly independent of each other and of P itself, the residual's. Their inner products
need only counts: how often level a of one term and level b of another occur together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.columns.crossing import Crossing, cross
from holdsup.errors import ScoresError, list_names

__all__ = ["Term", "choose_terms"]

DEPENDENT = 1e-9  # share of a term's matrix that lies outside the span of the others, below which it is rounding


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A source of variance: the items, a facet, or an interaction of these.

    Attributes
    ----------
    name : what it is called, such as item:seed
    parts : the items and facets that it is made of
    levels : its levels, row by row
    """

    name: str
    parts: tuple[str, ...]
    levels: Crossing


def choose_terms(
    atoms: Mapping[str, NDArray[np.int64]], interactions: Sequence[str], *, system: str
) -> tuple[tuple[Term, ...], tuple[str, ...]]:
    """Return the terms that the scores can tell apart, and a line about each that they cannot.

    Parameters
    ----------
    atoms : level of each row by the items and each facet, in the order in which they go before each other
    interactions : names of atoms joined by ":"
    system : whose scores they are, for the lines
    """
    kept: list[Term] = []
    said: list[str] = []
    for name in (*atoms, *interactions):
        parts = _parts(name, atoms)
        term = Term(name, parts, cross(*(atoms[part] for part in parts)))
        reason = _reason_against(term, kept)
        if reason:
            said.append(f"{system}: {name} is left out. {reason}")
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


def _reason_against(term: Term, kept: Sequence[Term]) -> str:
    """Return why a term cannot be told from those before it, "" if it can."""
    rows = len(term.levels.codes)
    if term.levels.count == 1:
        return "It has one level, so nothing is known of how much its levels differ."
    if term.levels.count == rows:
        return "It has a level for each score, so it cannot be told from the residual."
    for other in kept:
        if cross(term.levels.codes, other.levels.codes).count == term.levels.count == other.levels.count:
            return f"It puts the same scores together as {other.name}, which therefore stands for both."
    if _is_dependent(term, kept):
        names = ", ".join(other.name for other in kept)
        return f"There are too few runs to tell its variance from those of {names} and the residual."
    return ""


def _is_dependent(term: Term, kept: Sequence[Term]) -> bool:
    """Return whether the covariance of a term is a combination of the others' and the residual's."""
    codes = [np.arange(len(term.levels.codes)), *(other.levels.codes for other in kept), term.levels.codes]
    products = np.array([[_inner(a, b) for b in codes] for a in codes])
    size = np.sqrt(np.diag(products))
    products = products / np.outer(size, size)
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
