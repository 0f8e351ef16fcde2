"""Systems along a property of the items: a line along a number, a mean in each class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import ScoresError
from holdsup.numerics.decisions import Difference
from holdsup.numerics.differences import Codes
from holdsup.numerics.spread import find_clusters
from holdsup.numerics.trends import (
    CENTRE,
    SLOPE,
    Trends,
    bound_line,
    decide_direction,
    find_ranges,
    half_width,
    joint_tail,
    measure_trends,
)  # fmt: skip
from holdsup.verdict.claims import Pair, align_seeds
from holdsup.verdict.comparison.trend_records import Line, PairTrend, SystemTrend, Where
from holdsup.verdict.evaluation import Evaluation, Floats, SystemRuns, has_scores
from holdsup.verdict.properties import ItemProperty

__all__ = ["LIMITS", "Subject", "follow_pair", "follow_system", "slope_given", "subject_of_pair", "subject_of_system"]

LIMITS = {
    "these-runs": "Working and Hotelling's band",
    "new-runs": "Graybill and Bowden's band",
}
POINTS = 41  # of a line that is drawn and saved


@dataclass(frozen=True, slots=True)
class _Scale:
    """From the unit of a property to standard deviations from its mean."""

    low: float
    high: float
    mean: float
    sd: float

    @classmethod
    def of(cls, values: Floats) -> _Scale:
        return cls(float(values.min()), float(values.max()), float(values.mean()), float(values.std()))

    def z(self, x: Floats | float) -> Floats:
        """Return values in standard deviations from the mean."""
        return (np.asarray(x) - self.mean) / self.sd

    def x(self, z: float) -> float:
        """Return a value in its own unit."""
        return float(self.mean + z * self.sd)

    def points(self) -> Floats:
        """Return the values at which a line is drawn."""
        return np.linspace(self.low, self.high, POINTS)


def follow_system(subject: Subject, given: ItemProperty, *, level: float) -> SystemTrend:
    """Return a system's line, with limits for each place alone, and its slope."""
    values = subject.values(given)
    scale, trends = _Scale.of(values), _line(subject, values)
    points, z = scale.points(), scale.z(scale.points())
    half = [half_width(trends, CENTRE + at * SLOPE, new_runs=subject.new_runs, level=level) for at in z]
    return SystemTrend(
        system=subject.name,
        claim=subject.claim,
        **_in_units(decide_direction(trends, SLOPE, new_runs=subject.new_runs, level=level), scale),
        line=Line.around(points, trends.coefficients[0] + trends.coefficients[1] * z, np.array(half)),
    )


def follow_pair(
    subject: Subject, given: ItemProperty, names: tuple[str, str], claim: str, *, level: float, pairs: int,
    lower_is_better: bool,
) -> tuple[PairTrend, tuple[Where, ...]]:  # fmt: skip
    """Return how a difference changes along a number, and where it holds, at once over `pairs` pairs."""
    values = subject.values(given)
    scale, trends = _Scale.of(values), _line(subject, values)
    shared = 1 - (1 - level) / pairs

    def line(z: Floats) -> Floats:
        return np.asarray(trends.coefficients[0] + trends.coefficients[1] * z)

    def half(z: Floats) -> Floats:
        return bound_line(trends, z, new_runs=subject.new_runs, level=shared)

    joint, points = joint_tail(trends, new_runs=subject.new_runs), scale.points()
    slope = decide_direction(trends, SLOPE, new_runs=subject.new_runs, level=level)
    z = scale.z(points)
    trend = PairTrend(
        left=names[0],
        right=names[1],
        claim=claim,
        **_in_units(slope, scale),
        p_joint=joint.p,
        log10_p_joint=joint.log10_p,
        p_interaction=slope.p,
        log10_p_interaction=slope.log10_p,
        line=Line.around(points, line(z), half(z)),
    )
    ends = find_ranges(line, half, float(scale.z(scale.low)), float(scale.z(scale.high)))
    found = [(scale.x(a), scale.x(b), (sign < 0) == lower_is_better) for a, b, sign in ends]
    return trend, tuple(_ranges(found, values, names))


def slope_given(subject: Subject, given: ItemProperty, others: list[ItemProperty], *, level: float) -> Difference:
    """Return the slope of a number when others are in the same regression."""
    columns = [subject.columns(each) for each in (given, *others)]
    trends = subject.trends(np.column_stack([np.ones(len(subject.places)), *columns]))
    return decide_direction(trends, np.eye(trends.design.shape[1])[1], new_runs=subject.new_runs, level=level)


def _line(subject: Subject, values: Floats) -> Trends:
    return subject.trends(np.column_stack([np.ones(len(values)), _Scale.of(values).z(values)]))


def _in_units(found: Difference, scale: _Scale) -> dict[str, float]:
    """Return a slope in the property's own unit."""
    each = {"slope": found.estimate, "se": found.se, "low": found.low, "high": found.high}
    return {**{name: value / scale.sd for name, value in each.items()}, "df": found.df}


def _ranges(found: list[tuple[float, float, bool]], values: Floats, names: tuple[str, str]) -> Iterator[Where]:
    for low, high, left_wins in found:
        # The ends of the whole range come back from standard deviations with a rounding error.
        slack = 1e-9 * (values.max() - values.min())
        inside = int(((values >= low - slack) & (values <= high + slack)).sum())
        yield Where(
            left=names[0],
            right=names[1],
            better=names[0] if left_wins else names[1],
            low=low,
            high=high,
            level=None,
            items=inside,
            percent=100 * inside / len(values),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """The scores of a system, or of two, on the items whose properties are known."""

    name: str  # for messages
    arms: tuple[Floats, ...]  # scores of each system, shape (I, k); of shared seeds, their differences
    settings: tuple[Codes | None, ...]  # of each arm, the setting of each run; None where there is one only
    places: NDArray[np.intp]  # which items of the evaluation these are
    clusters: NDArray[np.int64] | None  # cluster of each item, None if there are none
    new_runs: bool  # whether new runs are claimed

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
