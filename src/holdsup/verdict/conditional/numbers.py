"""Systems along a number: lines, slopes, and where a difference holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from holdsup.numerics.bands import CENTRE, SLOPE, bound_line, decide_direction, find_ranges, half_width, test_line
from holdsup.numerics.differences import Difference
from holdsup.numerics.trends import Trends
from holdsup.verdict.conditional.records import Line, PairTrend, SystemTrend, Where
from holdsup.verdict.conditional.subjects import Subject
from holdsup.verdict.evaluation import Floats
from holdsup.verdict.properties import ItemProperty

__all__ = ["LIMITS", "follow_pair", "follow_system", "slope_given"]

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

    joint, points = test_line(trends, new_runs=subject.new_runs), scale.points()
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
