"""Which condition explains the spread: CV* among measurements that agree in it, and mixed models over all objects.

The analysis of Belz et al. (2022), section 4.1 ("same outputs, different scripts"), for every condition that differs
and every pair of them. How much a condition explains is the share of the variance between its groups, adjusted for
their number as R2 is. With few measurements any division explains something: `chance` says how often a random one does
as well.

One object rarely has enough measurements for a mixed model, but the objects of one study are measured under the same
conditions: eleven essay scorers by eight teams. Values in percent of their object's mean are on one scale, so the
standard deviation of a condition is its part of the coefficient of variation.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import FitError
from holdsup.fit import fit_lmm
from holdsup.numerics.precision import c4, magnitude, measure_cv
from holdsup.progress import Progress, no_progress
from holdsup.results import Caution
from holdsup.verdict.reproduction.groups import Agreement, Group, number_values
from holdsup.verdict.reproduction.records import (
    MOST_CROSSED,
    ConditionModel,
    ConditionSpread,
    ConditionVariance,
    GroupSpread,
)
from holdsup.verdict.variance.reliability import find_intervals

EXACT = 7  # measurements of which all 5,040 orders are tried
DRAWS = 1999
MOST_NUMBERS = 2_000_000  # drawn at once
ROUNDING = 1e-10  # of the total sum of squares: less is nothing
# A variance of two values has one degree of freedom, and the upper end of its 95% CI is 32 times the estimated standard
# deviation; with three it is 6 times. Below ten measurements three values of a condition leave under seven degrees of
# freedom for the rest.
FEWEST_MEASUREMENTS = 10
FEWEST_LEVELS = 3
# Each object is a coefficient and each condition a variance whose CI follows a profile: at these numbers that takes
# seconds, and it grows with their third power.
MOST_OBJECTS = 50
MOST_CONDITIONS = 10
NOTHING = 1e-10  # of the total variance: the optimizer stops this near to zero
MODEL_DRAWS = 500  # of the bootstrap, where profiles cannot be followed

Partition = tuple[int, ...]  # the group of each measurement, numbered as they come


def is_exact(group: Group) -> bool:
    """Return whether all divisions of the measurements are tried, and none is drawn."""
    return len(group.values) <= EXACT


def spread_within(group: Group, agreement: Agreement, *, seed: int) -> tuple[ConditionSpread, ...]:
    """Return the conditions that differ, and pairs of them, by how much of the spread they explain.

    Left out: conditions that some measurements do not report, and divisions in which every measurement stands alone.
    Pairs are tried among the conditions that explain most alone.
    """
    if len(group.values) < 3 or np.ptp(group.values) == 0:
        return ()
    known = [name for name in agreement.differing if name not in agreement.not_reported]
    trial = _Trial(group, seed)
    alone = _divide(group, [(name,) for name in known])
    found = trial.describe(alone)
    crossed = [name for row in sorted(found, key=_rank) for name in (*row.conditions, *row.same_groups)][:MOST_CROSSED]
    pairs = _divide(group, itertools.combinations([name for name in known if name in crossed], 2))
    found += trial.describe({p: names for p, names in pairs.items() if p not in alone})
    return tuple(sorted(found, key=_rank))


def _rank(row: ConditionSpread) -> tuple[float, int, tuple[str, ...]]:
    return -row.explained, len(row.conditions), row.conditions


def _divide(group: Group, several: Iterable[tuple[str, ...]]) -> dict[Partition, list[tuple[str, ...]]]:
    """Return the divisions that conditions make, each with all conditions that make it."""
    divisions: dict[Partition, list[tuple[str, ...]]] = {}
    columns = {name: group.column(name) for name in group.conditions}
    for names in several:
        rows = zip(*(columns[name] for name in names), strict=True)
        divisions.setdefault(number_values(rows), []).append(names)
    return divisions


class _Trial:
    """The values of a group, in units of their magnitude, and the orders in which chance would put them."""

    def __init__(self, group: Group, seed: int) -> None:
        self.group = group
        self.unit = magnitude(group.values)
        self.values = group.values / self.unit
        self.centred = self.values - self.values.mean()
        self.total = float(self.centred @ self.centred)
        self.cv = measure_cv(self.values)
        self.orders = _orders(self.centred, seed)

    def describe(self, divisions: Mapping[Partition, list[tuple[str, ...]]]) -> list[ConditionSpread]:
        """Return what divisions explain, but for those that divide nothing or everything."""
        return [
            self._describe(partition, names)
            for partition, names in divisions.items()
            if 1 < max(partition) + 1 < len(self.values)
        ]

    def _describe(self, partition: Partition, names: list[tuple[str, ...]]) -> ConditionSpread:
        n, count = len(self.values), max(partition) + 1
        codes = np.array(partition)
        members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
        between = float(_between(self.centred[:, None], members)[0])
        left = self.total - between
        within = left / (n - count) if left > ROUNDING * self.total else 0.0
        as_much = int((_between(self.orders, members) >= between - ROUNDING * self.total).sum())
        tried = self.orders.shape[1]
        columns = [self.group.column(name) for name in names[0]]
        return ConditionSpread(
            object=self.group.object,
            measurand=self.group.measurand,
            conditions=names[0],
            same_groups=tuple(" + ".join(other) for other in names[1:]),
            groups=tuple(self._member(rows, tuple(str(column[rows[0]]) for column in columns)) for rows in members),
            cv=self.cv,
            cv_within=100 * math.sqrt(within) / c4(n - count + 1) / float(self.values.mean()),
            explained=100 * (1 - within / (self.total / (n - 1))),
            chance=as_much / tried if is_exact(self.group) else (1 + as_much) / (1 + tried),
        )

    def _member(self, rows: NDArray[np.intp], agree_in: tuple[str, ...]) -> GroupSpread:
        own = self.values[rows]
        spread = len(own) > 1 and own.any()
        mean = float(own.mean()) * self.unit
        return GroupSpread(values=agree_in, n=len(own), mean=mean, cv=measure_cv(own) if spread else None)


def _between(values: NDArray[np.float64], members: list[NDArray[np.intp]]) -> NDArray[np.float64]:
    """Return the sum of squares between groups of each column of centred values."""
    sizes = np.array([len(rows) for rows in members])
    sums = np.add.reduceat(values[np.concatenate(members)], np.cumsum(sizes) - sizes, axis=0)
    return np.asarray((sums**2 / sizes[:, None]).sum(axis=0))


def _orders(centred: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return centred values in all orders, or in many random ones, shape (n, orders)."""
    if len(centred) <= EXACT:
        return centred[_permutations(len(centred))]
    rng = np.random.default_rng(seed)
    draws = max(99, min(DRAWS, MOST_NUMBERS // len(centred)))
    return np.ascontiguousarray(rng.permuted(np.tile(centred, (draws, 1)), axis=1).T)


@functools.cache
def _permutations(n: int) -> NDArray[np.intp]:
    return np.array(list(itertools.permutations(range(n)))).T


def model_conditions(
    groups: Sequence[Group], said: list[Caution], *, level: float, seed: int, progress: Progress = no_progress
) -> tuple[ConditionModel, ...]:
    """Return a model for each measurand that has enough measurements, conditions with enough values and any spread.

    Why there is none although there are enough is added to what is `said`.
    """
    found = []
    measurands: dict[str, list[Group]] = {}
    for group in groups:
        measurands.setdefault(group.measurand, []).append(group)
    for i, (measurand, own) in enumerate(measurands.items()):
        divisions = _divide_all(own)
        if not divisions or not any(np.ptp(group.values) for group in own):
            continue
        if len(own) > MOST_OBJECTS or len(divisions) > MOST_CONDITIONS:
            why = (
                f"it takes up to {MOST_OBJECTS} objects and {MOST_CONDITIONS} conditions with three values or more, "
                f"and there are {len(own):,} and {len(divisions):,}"
            )
            said.append(_no_model(measurand, why, advice="Keep fewer objects with where, or fewer columns."))
            continue
        progress(i, len(measurands), f"modelling {measurand}")
        try:
            found.append(_model(own, divisions, level, seed))
        except FitError as error:
            said.append(_no_model(measurand, str(error).rstrip(".")))
    return tuple(found)


def _no_model(measurand: str, why: str, advice: str = "") -> Caution:
    message = f"{measurand} has no mixed model over conditions: {why}."
    return Caution(code="no-model", severity="note", about="table:models", message=message, advice=advice)


def _divide_all(groups: Sequence[Group]) -> dict[str, tuple[int, ...]]:
    """Return how conditions divide the measurements of all groups; those that divide alike under one name."""
    measurements = [m for group in groups for m in group.measurements]
    if len(measurements) < FEWEST_MEASUREMENTS:
        return {}
    divisions: dict[tuple[int, ...], list[str]] = {}
    for name in dict.fromkeys(name for group in groups for name in group.conditions):
        if all(name in m.known for m in measurements):
            divisions.setdefault(number_values(m.known[name] for m in measurements), []).append(name)
    most = len(measurements) - len(groups)  # with as many values a condition could not be told from the residual
    return {" = ".join(names): codes for codes, names in divisions.items() if FEWEST_LEVELS <= len(set(codes)) < most}


def _model(groups: Sequence[Group], divisions: dict[str, tuple[int, ...]], level: float, seed: int) -> ConditionModel:
    relative = np.concatenate([100 * _relative(group.values) for group in groups])
    # Neutral names: those of conditions come from files and could mean something in a formula.
    columns = {f"condition_{i}": [str(code) for code in codes] for i, codes in enumerate(divisions.values())}
    names = dict(zip(columns, divisions, strict=True))
    table = {"value": relative, "object": [g.object for g in groups for _ in g.measurements], **columns}
    fixed = "object" if len(groups) > 1 else "1"
    fit = fit_lmm(" + ".join([f"value ~ {fixed}", *(f"(1 | {column})" for column in columns)]), table)
    intervals = find_intervals(fit, level=level, draws=MODEL_DRAWS, seed=seed)
    total = sum(component.variance for component in fit.random)
    rows = []
    for component in fit.random:
        low, high = intervals.variances[component.group]
        variance = component.variance if component.variance > NOTHING * total else 0.0
        rows.append(
            ConditionVariance(
                condition=names.get(component.group, component.group),
                levels=len(set(columns.get(component.group, range(len(relative))))),
                cv=variance**0.5,
                percent=100 * variance / total,
                low=min(low, variance) ** 0.5,
                high=high**0.5,
            )
        )
    return ConditionModel(
        measurand=groups[0].measurand,
        formula=" + ".join([f"value ~ {fixed}", *(f"(1 | {name})" for name in divisions)]),
        n=len(relative),
        objects=len(groups),
        components=tuple(rows),
        method=intervals.method,
    )


def _relative(values: NDArray[np.float64]) -> NDArray[np.float64]:
    scaled = values / magnitude(values)
    return np.asarray(scaled / scaled.mean())
