"""Systems along a property of the items: a line along a number, a mean in each class, and where differences hold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import ScoresError
from holdsup.numerics.decisions import Difference
from holdsup.numerics.differences import Codes
from holdsup.numerics.distributions import Tail
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
    tighten,
)  # fmt: skip
from holdsup.verdict.claims import Pair
from holdsup.verdict.comparison.conditional_records import Line, PairTrend, SystemTrend, Where
from holdsup.verdict.evaluation import Evaluation, Floats, SystemRuns, has_scores
from holdsup.verdict.properties import ItemProperty
from holdsup.verdict.trainings import align_seeds

# By what rule the CIs of differences hold at all places at once.
BAND_OF_CLASSES = "Bonferroni's CIs"
BANDS = {"these-runs": "Working and Hotelling's band", "new-runs": "Graybill and Bowden's band"}
POINTS = 41  # of a line that is drawn and saved


class _Place(NamedTuple):
    """A range of a number, or a class, in which a difference holds."""

    low: float | None
    high: float | None
    level: str | None
    inside: NDArray[np.bool_]  # which items are in it
    sign: float  # of the difference there


def follow_system(subject: Subject, given: ItemProperty, *, level: float) -> SystemTrend:
    """Return how a system's mean depends on a property, with limits for each place alone."""
    if given.classes:
        fields: dict[str, Any] = {"line": _line_of(_find_classes(subject, given, level)[1])}
    else:
        scale, trends = _fit_line(subject, given)
        points, z = scale.points(), scale.z(scale.points())
        half = [half_width(trends, CENTRE + at * SLOPE, new_runs=subject.new_runs, level=level) for at in z]
        line = Line.around(points, trends.coefficients[0] + trends.coefficients[1] * z, np.array(half))
        slope = decide_direction(trends, SLOPE, new_runs=subject.new_runs, level=level)
        fields = {**_in_units(slope, scale), "line": line}
    return SystemTrend(system=subject.name, claim=subject.claim, **fields)


def follow_pair(
    subject: Subject, given: ItemProperty, pair: Pair, *, level: float, pairs: int, lower_is_better: bool
) -> tuple[PairTrend, tuple[Where, ...]]:
    """Return how a difference depends on a property, and where it holds, at once over all places and `pairs` pairs."""
    names = (pair.left.name, pair.right.name)
    follow = _follow_classes if given.classes else _follow_line
    fields, places = follow(subject, given, level, pairs)
    where = tuple(
        Where(
            left=names[0],
            right=names[1],
            better=names[(each.sign < 0) != lower_is_better],
            low=each.low,
            high=each.high,
            level=each.level,
            items=int(each.inside.sum()),
            percent=100 * float(each.inside.mean()),
        )
        for each in places
    )
    return PairTrend(left=names[0], right=names[1], claim=claim_of(pair), **fields), where


def claim_of(pair: Pair) -> str:
    """Return what is claimed of a pair along a property: no rule for new settings was tried."""
    return "new-runs" if pair.claim == "new-settings" else pair.claim


def interaction_given(subject: Subject, given: ItemProperty, others: list[ItemProperty], *, level: float) -> Tail:
    """Return the p of no interaction with a property when others are in the same regression."""
    columns = [subject.columns(each) for each in others]
    if not given.classes:
        trends = subject.trends(np.column_stack([np.ones(len(subject.places)), subject.columns(given), *columns]))
        direction = np.eye(trends.design.shape[1])[1]
        found = decide_direction(trends, direction, new_runs=subject.new_runs, level=level)
        return Tail(found.p, found.log10_p)
    values = subject.values(given)
    used = np.unique(values)
    indicators = (values[:, None] == used).astype(float)
    trends = subject.trends(np.column_stack([indicators, *columns]))
    shares, rest = indicators.mean(axis=0), np.zeros(trends.design.shape[1] - len(used))
    return _differ(trends, [np.append(_against_rest(i, shares), rest) for i in range(len(used))], subject, level)


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


def _fit_line(subject: Subject, given: ItemProperty) -> tuple[_Scale, Trends]:
    values = subject.values(given)
    scale = _Scale.of(values)
    return scale, subject.trends(np.column_stack([np.ones(len(values)), scale.z(values)]))


def _in_units(found: Difference, scale: _Scale) -> dict[str, float]:
    """Return a slope in the property's own unit."""
    each = {"slope": found.estimate, "se": found.se, "low": found.low, "high": found.high}
    return {**{name: value / scale.sd for name, value in each.items()}, "df": found.df}


def _follow_line(
    subject: Subject, given: ItemProperty, level: float, pairs: int
) -> tuple[dict[str, Any], Iterator[_Place]]:
    """Return the line of a difference along a number, its tests, and the ranges in which it holds."""
    scale, trends = _fit_line(subject, given)
    shared = 1 - (1 - level) / pairs

    def line(z: Floats) -> Floats:
        return np.asarray(trends.coefficients[0] + trends.coefficients[1] * z)

    def half(z: Floats) -> Floats:
        return bound_line(trends, z, new_runs=subject.new_runs, level=shared)

    points, joint = scale.points(), joint_tail(trends, new_runs=subject.new_runs)
    z = scale.z(points)
    slope = decide_direction(trends, SLOPE, new_runs=subject.new_runs, level=level)
    ends = find_ranges(line, half, float(scale.z(scale.low)), float(scale.z(scale.high)))
    return {
        **_in_units(slope, scale),
        **_tails(joint, Tail(slope.p, slope.log10_p)),
        "line": Line.around(points, line(z), half(z)),
    }, (_range(scale.x(a), scale.x(b), sign, subject.values(given)) for a, b, sign in ends)


def _tails(joint: Tail, interaction: Tail) -> dict[str, float]:
    return {
        "p_joint": joint.p,
        "log10_p_joint": joint.log10_p,
        "p_interaction": interaction.p,
        "log10_p_interaction": interaction.log10_p,
    }


def _range(low: float, high: float, sign: float, values: Floats) -> _Place:
    slack = 1e-9 * (values.max() - values.min())  # ends come back from standard deviations with a rounding error
    return _Place(low, high, None, (values >= low - slack) & (values <= high + slack), sign)


def _follow_classes(
    subject: Subject, given: ItemProperty, level: float, pairs: int
) -> tuple[dict[str, Any], Iterator[_Place]]:
    """Return the difference in each class, the tests, and the classes in which it holds."""
    values = subject.values(given)
    count = len(np.unique(values))
    trends, found = _find_classes(subject, given, 1 - (1 - level) / (pairs * count))
    joint = tighten(min(found.values(), key=lambda each: each.log10_p), count)
    shares = (values[:, None] == list(found)).mean(axis=0)
    interaction = _differ(trends, [_against_rest(i, shares) for i in range(count)], subject, level)
    return {**_tails(joint, interaction), "line": _line_of(found)}, (
        _Place(None, None, given.classes[place], values == place, each.estimate)
        for place, each in found.items()
        if each.low > 0 or each.high < 0  # nor where there are no limits
    )


def _find_classes(subject: Subject, given: ItemProperty, level: float) -> tuple[Trends, dict[int, Difference]]:
    """Return the regression on classes, and what is found in each."""
    values = subject.values(given)
    used, sizes = np.unique(values.astype(int), return_counts=True)
    if sizes.min() < 2:
        alone = given.classes[used[np.argmin(sizes)]]
        raise ScoresError(
            f"--by {given.name}: class {alone!r} has one item of {subject.name}, and two are needed: merge classes"
        )
    trends = subject.trends((values[:, None] == used).astype(float), classes=True)
    found = [_decide(trends, row, subject, level) for row in np.eye(len(used))]
    return trends, dict(zip(used.tolist(), found, strict=True))


def _decide(trends: Trends, direction: Floats, subject: Subject, level: float) -> Difference:
    """Return what is found in one class; where all its differences are equal, neither a test nor limits."""
    try:
        found = decide_direction(trends, direction, new_runs=subject.new_runs, level=level)
        if found.low < found.high:
            return found
        raise ValueError("all differences are equal")
    except ValueError:
        estimate, nan = trends.estimate(direction), math.nan
        return Difference(estimate=estimate, se=nan, df=nan, p=1.0, log10_p=0.0, low=nan, high=nan, claim="")


def _line_of(found: dict[int, Difference]) -> Line:
    value = np.array([each.estimate for each in found.values()])
    half = np.array([(each.high - each.low) / 2 for each in found.values()])
    return Line.around(found, value, half)


def _against_rest(i: int, shares: Floats) -> Floats:
    """Return the weights of class i minus the mean over the items of all others."""
    rest = shares.copy()
    rest[i] = 0
    weights = np.asarray(-rest / rest.sum())
    weights[i] = 1.0
    return weights


def _differ(trends: Trends, directions: list[Floats], subject: Subject, level: float) -> Tail:
    """Return the p of no difference between classes, the smallest of each against the rest."""
    if len(directions) == 2:  # each is the other's opposite
        directions = directions[:1]
    found = [_decide(trends, each, subject, level) for each in directions]
    return tighten(min(found, key=lambda each: each.log10_p), len(found))


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """The scores of a system, or of two, on the items whose properties are known."""

    name: str  # for messages
    arms: tuple[Floats, ...]  # scores of each system, shape (I, k); of shared seeds, their differences
    settings: tuple[Codes | None, ...]  # of each arm, the setting of each run; None where there is one only
    places: NDArray[np.intp]  # which items of the evaluation these are
    clusters: NDArray[np.int64] | None  # cluster of each item, None if there are none
    new_runs: bool  # whether new runs are claimed
    log_odds: bool = False  # whether what depends on a property is the log-odds of a score

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
        clusters = find_clusters(self.clusters, len(self.places))
        return measure_trends(
            self.arms, design, settings=self.settings, clusters=clusters, classes=classes, log_odds=self.log_odds
        )


def subject_of_pair(
    evaluation: Evaluation, pair: Pair, properties: Sequence[ItemProperty], *, log_odds: bool
) -> Subject:
    """Return the difference of two systems, on the items that both have and whose properties are known."""
    a, b = evaluation.system(pair.left.name), evaluation.system(pair.right.name)
    new_runs = pair.claim != "these-runs"
    arms, settings = (a.scores, b.scores), (a.several, b.several)
    fixed = new_runs and (a.deterministic or b.deterministic)
    shared = new_runs and a.seeds is not None and b.seeds is not None
    if log_odds and (fixed or shared):  # scores would be subtracted run by run
        why = "share seeds" if shared else "are deterministic"
        raise ScoresError(f"--scale logit: {a.name} and {b.name} {why}, and log-odds take runs of each system's own")
    if fixed:
        arms, settings = (a.scores - b.scores,), ((b if a.deterministic else a).several,)  # type: ignore[assignment]
    elif shared:
        x, y = align_seeds(a, b)
        arms, settings = (x - y,), (None,)  # type: ignore[assignment]  # one arm instead of two
    name = f"{a.name} and {b.name}"
    return _subject(evaluation, name, arms, settings, properties, new_runs=new_runs, log_odds=log_odds)


def subject_of_system(
    evaluation: Evaluation, system: SystemRuns, properties: Sequence[ItemProperty], *, new_runs: bool, log_odds: bool
) -> Subject:
    """Return the scores of one system, on its items whose properties are known."""
    new_runs = new_runs and system.repeats
    arms, settings = (system.scores,), (system.several,)
    return _subject(evaluation, system.name, arms, settings, properties, new_runs=new_runs, log_odds=log_odds)


def _subject(
    evaluation: Evaluation,
    name: str,
    arms: tuple[Floats, ...],
    settings: tuple[Codes | None, ...],
    properties: Sequence[ItemProperty],
    *,
    new_runs: bool,
    log_odds: bool,
) -> Subject:
    kept = np.logical_and.reduce([given.known for given in properties])
    for arm, setting in zip(arms, settings, strict=True):
        kept = kept & has_scores(arm, setting)
    places = np.flatnonzero(kept)
    if len(places) < 3:
        asked = ", ".join(given.name for given in properties)
        raise ScoresError(f"--by {asked}: {name}: {len(places)} items have a value, and three or more are needed")
    clusters = None if evaluation.clusters is None else evaluation.clusters[places]
    return Subject(name, tuple(arm[places] for arm in arms), settings, places, clusters, new_runs, log_odds)
