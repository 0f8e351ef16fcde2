"""A mixed model over conditions, for a measurand with enough measurements.

One object rarely has enough of them, but the objects of one study are measured under the same conditions: eleven essay
scorers by eight teams. Values in percent of their object's mean are on one scale, so that the standard deviation of a
condition is its part of the coefficient of variation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import FitError
from holdsup.fit import fit_lmm
from holdsup.numerics.precision import magnitude
from holdsup.progress import Progress, no_progress
from holdsup.verdict.reproduction.groups import Group
from holdsup.verdict.reproduction.matrix import number_values
from holdsup.verdict.reproduction.records import ConditionModel, ConditionVariance
from holdsup.verdict.variance.reliability import find_limits

__all__ = ["FEWEST_LEVELS", "FEWEST_MEASUREMENTS", "model_conditions"]

# A variance of two values has one degree of freedom, and its upper 95% limit is 32 times the estimated standard
# deviation; with three it is 6 times. Below ten measurements three values of a condition leave under seven degrees of
# freedom for the rest.
FEWEST_MEASUREMENTS = 10
FEWEST_LEVELS = 3
# Each object is a coefficient and each condition a variance whose limits follow a profile: at these numbers that takes
# seconds, and it grows with their third power.
MOST_OBJECTS = 50
MOST_CONDITIONS = 10
NOTHING = 1e-10  # of the total variance: the optimizer stops this near to zero
DRAWS = 500  # of the bootstrap, where profiles cannot be followed


def model_conditions(
    groups: Sequence[Group], said: list[str], *, level: float, seed: int, progress: Progress = no_progress
) -> tuple[ConditionModel, ...]:
    """Return a model for each measurand that has enough measurements, conditions with enough values and any spread.

    Why there is none although there are enough is added to what is `said`.
    """
    found = []
    measurands: dict[str, list[Group]] = {}
    for group in groups:
        measurands.setdefault(group.measurand, []).append(group)
    for i, (measurand, own) in enumerate(measurands.items()):
        divisions = _divide(own)
        if not divisions or not any(np.ptp(group.values) for group in own):
            continue
        if len(own) > MOST_OBJECTS or len(divisions) > MOST_CONDITIONS:
            said.append(
                f"{measurand}: there is no mixed model over conditions: it takes up to {MOST_OBJECTS} objects and "
                f"{MOST_CONDITIONS} conditions with three values or more, and there are {len(own):,} and "
                f"{len(divisions):,}. Keep fewer objects with where, or fewer columns."
            )
            continue
        progress(i, len(measurands), f"modelling {measurand}")
        try:
            found.append(_model(own, divisions, level, seed))
        except FitError as error:
            said.append(f"{measurand}: there is no mixed model over conditions: {error}")
    return tuple(found)


def _divide(groups: Sequence[Group]) -> dict[str, tuple[int, ...]]:
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
    limits = find_limits(fit, level=level, draws=DRAWS, seed=seed)
    total = sum(component.variance for component in fit.random)
    rows = []
    for component in fit.random:
        low, high = limits.variances[component.group]
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
        method=limits.method,
    )


def _relative(values: NDArray[np.float64]) -> NDArray[np.float64]:
    scaled = values / magnitude(values)
    return np.asarray(scaled / scaled.mean())
