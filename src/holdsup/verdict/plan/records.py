"""The rows of a plan's tables, and all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from holdsup.results import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedDesign:
    """One way to evaluate."""

    runs: int  # number of runs of each system (on each dataset, where datasets are planned)
    items: int | None  # number of items; null where runs have one score each, or datasets are planned
    datasets: int | None = None  # number of datasets, where these are planned
    power: float | None = None  # how often it answers as asked, 0-1; null where a reliability is planned
    half_width: float | None = None  # half the width of the CI of the difference, as a rule (its median)
    reliability: float | None = None  # phi of an item's average over the runs, where that is planned
    cost: float | None = None  # what it costs, null without prices
    reaches: bool = True  # whether it reaches what is asked for
    looks: tuple[int, ...] = ()  # the numbers of runs at which to look, where several looks are planned


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerPoint:
    """A point of a power curve; of a reliability, where that is planned."""

    runs: int  # number of runs of each system
    units: int | None  # number of items, or of datasets; null where there are none
    power: float  # how often it answers as asked; or the reliability


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """A number that the plan rests on."""

    value: float  # the value planned with
    found: float | None = None  # what the pilot has, null without one: `value` is then an upper bound
    source: str  # where it comes from: given, typical or pilot


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanNumbers(Result):
    """All that is known of the designs that would answer, which words and tables are made from."""

    kind: ClassVar[str] = "plan"
    main_table: ClassVar[str] = "designs"

    goal: str  # what is to be reached: difference, equivalence or reliability
    target: float  # the difference, the margin, or the reliability
    power: float  # how often the answer should come, 0-1
    level: float  # coverage of the intervals
    claim: str  # what compare is to claim: new-runs, these-runs, or new-datasets
    systems: int  # number of systems that are compared
    unit: str | None  # what is planned beside runs: items, datasets, or null
    budget: float | None = None  # the most that it may cost, null without a limit
    reachable: bool  # whether a design within the bounds does, on the variances planned with
    reachable_as_found: bool  # the same on the pilot's variances as they are found
    most_runs: int  # the most runs that were tried
    least_units: int | None  # of items or datasets
    most_units: int | None  # the most of these
    fewest_runs: int | None  # the fewest runs with which some number of items will do; null where none do
    designs: tuple[PlannedDesign, ...]  # for each number of runs the fewest items that do, the cheapest first
    beyond: PlannedDesign | None = None  # where none of these does, one beyond what is asked for that does
    curves: tuple[PowerPoint, ...] = ()  # power along the number of items, for some numbers of runs
    assumptions: Mapping[str, Assumption]  # what the plan rests on, by name
