"""Whose scores are laid against a property: a system, or the difference of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import ScoresError
from holdsup.numerics.clusters import find_clusters
from holdsup.numerics.differences import Codes
from holdsup.numerics.trends import Trends, measure_trends
from holdsup.verdict.claims import Pair, align_seeds
from holdsup.verdict.evaluation import Evaluation, Floats, SystemRuns, has_scores
from holdsup.verdict.properties import ItemProperty

__all__ = ["Subject", "subject_of_pair", "subject_of_system"]


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """The scores of a system, or of two, on the items whose properties are known.

    Attributes
    ----------
    name : for messages
    arms : scores of each system, shape (I, k); of shared seeds, their differences
    settings : of each arm, the setting of each run; None where there is one only
    places : which items of the evaluation these are
    clusters : cluster of each item, None if there are none
    new_runs : whether new runs are claimed
    """

    name: str
    arms: tuple[Floats, ...]
    settings: tuple[Codes | None, ...]
    places: NDArray[np.intp]
    clusters: NDArray[np.int64] | None
    new_runs: bool

    @property
    def claim(self) -> str:
        """What is claimed."""
        return "new-runs" if self.new_runs else "these-runs"

    def values(self, given: ItemProperty) -> Floats:
        """Return the property of these items; one that does not vary here is refused."""
        values = given.values[self.places]
        if len(values) and values.min() == values.max():
            raise ScoresError(f"--by {given.name}: it is the same for all {len(values):,} items of {self.name}")
        return values

    def columns(self, given: ItemProperty) -> Floats:
        """Return what stands for the property in a regression on these items, the constant left out.

        A number is in standard deviations from its mean; of C classes there are C - 1 columns.
        """
        values = self.values(given)
        if given.classes:
            return np.asarray(values[:, None] == np.unique(values)[1:], float)
        return np.asarray((values - values.mean()) / values.std())[:, None]

    def trends(self, design: Floats, *, classes: bool = False) -> Trends:
        """Return the coefficients of these scores on the columns of a design, which may tell classes."""
        if np.linalg.matrix_rank(design) < design.shape[1]:
            raise ScoresError(f"{self.name}: the properties say the same of these items; leave one of them out of --by")
        try:
            clusters = find_clusters(self.clusters, len(self.places))
            return measure_trends(self.arms, design, settings=self.settings, clusters=clusters, classes=classes)
        except ValueError as error:
            raise ScoresError(f"{self.name} cannot be followed along a property: {str(error).rstrip('.')}") from error


def subject_of_pair(evaluation: Evaluation, pair: Pair, properties: Sequence[ItemProperty]) -> Subject:
    """Return the difference of two systems, on the items that both have and whose properties are known."""
    a, b = evaluation.system(pair.left.name), evaluation.system(pair.right.name)
    new_runs = pair.claim != "these-runs"
    arms, settings = (a.scores, b.scores), (_several(a), _several(b))
    if new_runs and a.seeds is not None and b.seeds is not None:
        x, y = align_seeds(a, b)
        arms, settings = (x - y,), (None,)  # type: ignore[assignment]  # one arm instead of two
    return _subject(evaluation, f"{a.name} and {b.name}", arms, settings, properties, new_runs=new_runs)


def subject_of_system(
    evaluation: Evaluation, system: SystemRuns, properties: Sequence[ItemProperty], *, new_runs: bool
) -> Subject:
    """Return the scores of one system, on its items whose properties are known."""
    new_runs = new_runs and system.repeats
    return _subject(evaluation, system.name, (system.scores,), (_several(system),), properties, new_runs=new_runs)


def _subject(
    evaluation: Evaluation,
    name: str,
    arms: tuple[Floats, ...],
    settings: tuple[Codes | None, ...],
    properties: Sequence[ItemProperty],
    *,
    new_runs: bool,
) -> Subject:
    kept = np.logical_and.reduce([given.known for given in properties])
    for arm, setting in zip(arms, settings, strict=True):
        kept = kept & has_scores(arm, setting)
    places = np.flatnonzero(kept)
    if len(places) < 3:
        asked = ", ".join(given.name for given in properties)
        raise ScoresError(f"--by {asked}: {name}: {len(places)} items have a value, and three or more are needed")
    clusters = None if evaluation.clusters is None else evaluation.clusters[places]
    return Subject(name, tuple(arm[places] for arm in arms), settings, places, clusters, new_runs)


def _several(system: SystemRuns) -> Codes | None:
    return system.settings if system.setting_count > 1 else None
