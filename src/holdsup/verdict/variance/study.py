"""The decision study: what averages over other numbers of facet levels would be worth (Brennan 2001)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from holdsup.columns.crossing import Crossing, cross
from holdsup.errors import ScoresError, list_names
from holdsup.verdict.variance.terms import Term

__all__ = ["Study", "find_hosts"]

USUAL = (2, 3, 5, 10)  # numbers of levels that are tried where none are asked for


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """The variances of a system's scores, ready to be divided by other numbers of levels.

    Attributes
    ----------
    objects : what is measured, the items and what they lie in, and how many there are of each; of groups of unequal
        size, as many as equal ones would tell
    variances : of each term, the objects' among them; the residual's under no name, ()
    facets : the facets, and how many levels each has now
    hosts : for each facet, those that each of its levels lies within one level of
    repeats : how many scores an item has at each combination of levels, now and in every plan
    """

    objects: Mapping[str, float]
    variances: Mapping[tuple[str, ...], float]
    facets: Mapping[str, int]
    hosts: Mapping[str, frozenset[str]]
    repeats: float = 1.0

    def plans(self, asked: Mapping[str, Sequence[int]]) -> Iterator[dict[str, int]]:
        """Yield numbers of levels of all facets: the current ones, then those asked for or the usual ones.

        The usual plans change one facet and leave the others at one level.
        """
        yield dict(self.facets)
        if asked:
            _check(asked, self.facets)
            for counts in itertools.product(*asked.values()):
                yield self._with(dict(zip(asked, counts, strict=True)))
            return
        yield self._with({})
        for facet in self.facets:
            yield from (self._with({facet: count}) for count in USUAL)

    def _with(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Return a plan, one level where nothing is said; a nested facet has at least its host's levels."""
        plan = {facet: counts.get(facet, 1) for facet in self.facets}
        return {facet: max(n, *(plan[host] for host in self.hosts[facet]), 1) for facet, n in plan.items()}

    def divisor(self, parts: tuple[str, ...], counts: Mapping[str, int]) -> float:
        """Return over how many levels of a term an item's score is averaged; for no parts, over how many scores."""
        own = [part for part in (parts or self.facets) if part not in self.objects]
        inner = [facet for facet in own if not any(facet in self.hosts[other] for other in own)]
        return math.prod(counts[facet] for facet in inner) * (1.0 if parts else self.repeats)

    def error(self, counts: Mapping[str, int]) -> float:
        """Return the absolute error variance of an item's average: everything but the objects' own variance."""
        return sum(
            variance / self.divisor(parts, counts)
            for parts, variance in self.variances.items()
            if not self._is_object(parts)
        )

    def phi(self, counts: Mapping[str, int]) -> float:
        """Return the reliability of an item's average."""
        own = sum(variance for parts, variance in self.variances.items() if self._is_object(parts))
        return own / (own + self.error(counts))

    def standard_error(self, counts: Mapping[str, int]) -> float:
        """Return the standard error of the mean over the items that there are."""
        items = max(self.objects.values())
        total = sum(
            variance / self.divisor(parts, counts) / max((self.objects.get(part, 1.0) for part in parts), default=items)
            for parts, variance in self.variances.items()
        )
        return math.sqrt(total)

    def _is_object(self, parts: tuple[str, ...]) -> bool:
        return bool(parts) and all(part in self.objects for part in parts)


def find_hosts(facets: Sequence[Term]) -> dict[str, frozenset[str]]:
    """Return for each facet those that it is nested in: a level of it lies within one level of them."""
    return {
        inner.name: frozenset(
            outer.name for outer in facets if outer is not inner and _within(inner.levels, outer.levels)
        )
        for inner in facets
    }


def _within(inner: Crossing, outer: Crossing) -> bool:
    return cross(inner.codes, outer.codes).count == inner.count


def _check(asked: Mapping[str, Sequence[int]], facets: Mapping[str, int]) -> None:
    for facet, counts in asked.items():
        if facet not in facets:
            raise ScoresError(
                f"levels are asked for of {facet!r}, which is no facet here; there are {list_names(facets)}"
            )
        if not counts or any(not isinstance(n, int | np.integer) or n < 1 for n in counts):
            raise ScoresError(f"{facet!r} cannot have {list(counts)} levels: give whole numbers, 1 or more")
