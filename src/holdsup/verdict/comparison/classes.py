"""Systems in classes of items: a difference for each class, and which differ from the others."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from holdsup.errors import ScoresError
from holdsup.numerics.decisions import Difference
from holdsup.numerics.distributions import Tail
from holdsup.numerics.trends import Trends, decide_direction, tighten
from holdsup.verdict.comparison.trend_records import Line, PairTrend, SystemTrend, Where
from holdsup.verdict.comparison.trends import Subject
from holdsup.verdict.evaluation import Floats
from holdsup.verdict.properties import ItemProperty

__all__ = ["LIMITS", "classes_given", "follow_pair", "follow_system"]

LIMITS = "Bonferroni's limits"


def follow_system(subject: Subject, given: ItemProperty, *, level: float) -> SystemTrend:
    """Return a system's mean in each class, limits for each class alone."""
    _, found = _classes(subject, given, level)
    line = _line(found)
    return SystemTrend(
        system=subject.name, claim=subject.claim, slope=None, se=None, df=None, low=None, high=None, line=line
    )


def follow_pair(
    subject: Subject, given: ItemProperty, names: tuple[str, str], claim: str, *, level: float, pairs: int,
    lower_is_better: bool,
) -> tuple[PairTrend, tuple[Where, ...]]:  # fmt: skip
    """Return the difference in each class, limits at once over classes and `pairs` pairs, and where it holds."""
    values = subject.values(given)
    count = len(np.unique(values))
    trends, found = _classes(subject, given, 1 - (1 - level) / (pairs * count))
    joint = tighten(min(found.values(), key=lambda each: each.log10_p), count)
    shares = (values[:, None] == list(found)).mean(axis=0)
    interaction = _differ(trends, [_against_rest(i, shares) for i in range(count)], subject, level)
    trend = PairTrend(
        left=names[0],
        right=names[1],
        claim=claim,
        slope=None,
        se=None,
        df=None,
        low=None,
        high=None,
        p_joint=joint.p,
        log10_p_joint=joint.log10_p,
        p_interaction=interaction.p,
        log10_p_interaction=interaction.log10_p,
        line=_line(found),
    )
    return trend, tuple(_where(found, values, given, names, lower_is_better))


def classes_given(subject: Subject, given: ItemProperty, others: list[ItemProperty], *, level: float) -> Tail:
    """Return the p of no interaction with classes when other properties are in the same regression."""
    values = subject.values(given)
    used = np.unique(values)
    indicators = (values[:, None] == used).astype(float)
    columns = [subject.columns(each) for each in others]
    trends = subject.trends(np.column_stack([indicators, *columns]))
    shares, rest = indicators.mean(axis=0), np.zeros(trends.design.shape[1] - len(used))
    directions = [np.append(_against_rest(i, shares), rest) for i in range(len(used))]
    return _differ(trends, directions, subject, level)


def _classes(subject: Subject, given: ItemProperty, level: float) -> tuple[Trends, dict[int, Difference]]:
    """Return the regression on classes, and what is found in each."""
    values = subject.values(given)
    used, sizes = np.unique(values.astype(int), return_counts=True)
    if sizes.min() < 2:
        alone = given.classes[used[np.argmin(sizes)]]
        raise ScoresError(
            f"--by {given.name}: class {alone!r} has one item of {subject.name}, and two are needed; merge classes"
        )
    trends = subject.trends((values[:, None] == used).astype(float), classes=True)
    found = [_decide(trends, row, subject, level) for row in np.eye(len(used))]
    return trends, dict(zip(used.tolist(), found, strict=True))


def _decide(trends: Trends, direction: Floats, subject: Subject, level: float) -> Difference:
    """Return what is found in one class; where all its differences are equal, neither a test nor limits."""
    try:
        return decide_direction(trends, direction, new_runs=subject.new_runs, level=level)
    except ValueError:
        estimate, nan = trends.estimate(direction), math.nan
        return Difference(estimate=estimate, se=nan, df=nan, p=1.0, log10_p=0.0, low=nan, high=nan, claim="")


def _line(found: dict[int, Difference]) -> Line:
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


def _where(
    found: dict[int, Difference], values: Floats, given: ItemProperty, names: tuple[str, str], lower_is_better: bool
) -> Iterator[Where]:
    for place, each in found.items():
        if not (each.low > 0 or each.high < 0):  # nor where there are no limits
            continue
        inside = int((values == place).sum())
        left_wins = (each.estimate < 0) == lower_is_better
        yield Where(
            left=names[0],
            right=names[1],
            better=names[0] if left_wins else names[1],
            low=None,
            high=None,
            level=given.classes[place],
            items=inside,
            percent=100 * inside / len(values),
        )
