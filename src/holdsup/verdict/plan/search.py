"""The designs that reach what is asked for: for each number of runs the fewest items, and what both cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from holdsup.arguments import check_count, check_finite
from holdsup.errors import ScoresError
from holdsup.numerics.distributions import t_quantile
from holdsup.numerics.looks import find_levels
from holdsup.numerics.power import (
    critical_differences,
    find_equivalence_power,
    find_power,
    find_share_power,
    pool_systems,
    share_level,
)
from holdsup.numerics.spread import total_variance
from holdsup.scores.refusals import LARGEST, SMALLEST
from holdsup.verdict.plan.basis import Basis
from holdsup.verdict.plan.records import PlannedDesign, PowerPoint
from holdsup.verdict.planning import MOST_ITEMS, MOST_RUNS, find_fewest, find_fewest_below

# Numbers of runs at which the level of several pairs is drawn: it is smooth in the logarithm of runs in between. Draws
# of many systems take long, so there are fewer; one at nearly the same share of item variance serves again.
DRAWN_AT, DRAWN_AT_OF_MANY = (2, 3, 4, 5, 7, 10, 20, 50, 100, 200), (2, 3, 6, 20, 200)
MANY = 20  # systems
NEARLY, NEARLY_OF_MANY = 0.05, 0.2  # shares of item variance
FEW_ITEMS = 200  # below, degrees of freedom of items matter
ROUNDS = 2  # how often the level is drawn for the items that are found with it
CURVES, POINTS = 5, 12  # numbers of runs whose power is drawn, and points of each
MORE = 1.5  # times the fewest runs: so many need no endless number of items
USUAL = (2, 3, 5, 10)
MOST_AVERAGED = 10_000  # runs
RUNS, ITEMS, DATASETS = 20, (10, 100_000), (3, 1_000)  # looked within where nothing is asked for
Range = int | tuple[int, int] | None
DEEP = 4  # times the most items of a design, as far as curves go


@dataclass(frozen=True, slots=True)
class Bounds:
    """Within which designs are looked for, and what they cost."""

    runs: tuple[int, int]
    units: tuple[int, int] | None  # items or datasets
    cost_run: float = 0.0
    cost_item: float = 0.0
    budget: float | None = None

    @property
    def priced(self) -> bool:
        """Whether there are prices."""
        return self.cost_run + self.cost_item > 0

    def counts(self) -> range:
        """Return the numbers of runs, all of which are tried."""
        return range(self.runs[0], self.runs[1] + 1)


@dataclass(frozen=True, slots=True)
class Search:
    """What is asked of designs."""

    basis: Basis
    goal: str  # difference or equivalence
    target: float
    wanted: float  # power
    systems: int
    alpha: float
    bounds: Bounds
    looks: int = 1  # how often is looked, at even numbers of runs, the last look included
    levels: dict[tuple[int, bool], float] = field(default_factory=dict)  # of a pair of several systems, as last drawn
    drawn: dict[tuple[int, ...], float] = field(default_factory=dict)  # all of them

    def cost(self, runs: int, units: int | None) -> float:
        """Return what a design costs; without prices, how many scores it has."""
        trained = self.systems * runs * (units or 1 if self.basis.unit == "datasets" else 1)
        scored = self.systems * runs * (units or 1)
        if not self.bounds.priced:
            return float(scored)
        return trained * self.bounds.cost_run + scored * self.bounds.cost_item

    def power(self, runs: int, units: int | None, *, sure: bool = True) -> float:
        """Return how often a design answers as asked, by the test of `compare`."""
        level = self.level(runs, sure=sure)
        if self.scored_once(runs):
            share = self.target / self.basis.width
            margin, share = (share, 0.0) if self.goal == "equivalence" else (0.0, share)
            return find_share_power(units or 1, self.basis.disagreement(share, sure=sure), share, level, margin=margin)
        spread = pool_systems(self.basis.at(runs, units, sure=sure), self.pooled)
        if self.goal == "equivalence":
            return find_equivalence_power(spread, self.target, level)
        return find_power(spread, self.target, level)

    def half_width(self, runs: int, units: int | None) -> float:
        """Return half the width that the interval of a difference will have, at the level of all pairs."""
        level = self.level(runs, sure=True)
        if self.scored_once(runs):
            assert units is not None
            width = self.basis.width
            apart = self.basis.disagreement(0.0 if self.goal == "equivalence" else self.target / width, sure=True)
            return width * t_quantile(1 - level / 2, math.inf) * math.sqrt(apart / units + 1 / units**2)
        spread = pool_systems(self.basis.at(runs, units, sure=True), self.pooled)
        return float(np.median(critical_differences(spread, level)))

    def scored_once(self, runs: int) -> bool:
        """Return whether the test is that of systems that are right or wrong once on each item."""
        basis = self.basis
        return basis.two_valued and not basis.new_runs and runs == 1 and basis.cluster == 1.0

    @property
    def pooled(self) -> int:
        """How many systems are tested together; over datasets, or with paired runs, pairs stand alone."""
        alone = self.basis.unit == "datasets" or self.basis.found.arms == 1
        return 2 if alone else self.systems

    def level(self, runs: int, *, sure: bool) -> float:
        """Return the level of one pair: of several systems as last drawn, between the numbers of runs drawn at."""
        if self.looks > 1:
            shares = tuple(count / runs for count in self.looks_at(runs))
            return 2 * find_levels(shares, self.alpha / 2)[-1]
        if self.pooled == 2 or not self.levels:
            return self.alpha / math.comb(self.systems, 2)
        own = {at: level for (at, kind), level in self.levels.items() if kind == sure}
        known = sorted((own or {at: level for (at, _), level in self.levels.items()}).items())
        at, levels = np.log(known).T
        return float(np.exp(np.interp(math.log(runs), at, levels)))

    def looks_at(self, runs: int) -> tuple[int, ...]:
        """Return the numbers of runs at which is looked, spread evenly; the first has a spread to measure."""
        return tuple(sorted({max(2, math.ceil(runs * (i + 1) / self.looks)) for i in range(self.looks)}))

    def near(self, *runs: int) -> list[int]:
        """Return the numbers of runs to draw the level at, so that it is known from the first to the last of these."""
        if self.pooled == 2:
            return []
        places = DRAWN_AT if self.systems <= MANY else DRAWN_AT_OF_MANY
        low = max((at for at in places if at <= min(runs)), default=min(runs))
        high = min((at for at in places if at >= max(runs)), default=max(runs))
        return sorted({low, high, *(at for at in places if low < at < high)})

    def draw_level(self, runs: int, units: int | None, *, sure: bool) -> None:
        """Draw the level of one pair of several systems, for a design and those with nearly as many runs."""
        for at in self.near(runs):
            spread = self.basis.at(at, units, sure=sure)
            whole = float(total_variance([spread]))
            nearly = NEARLY if self.systems <= MANY else NEARLY_OF_MANY
            share = round(float(spread.these) / whole / nearly) if whole > 0 else 0
            key = (at, share, min(units or 0, FEW_ITEMS))
            if key not in self.drawn:
                self.drawn[key] = share_level(spread, self.systems, self.alpha)
            self.levels[at, sure] = self.drawn[key]

    def settle_levels(self, runs: Sequence[int], most: int, *, sure: bool) -> None:
        """Draw the levels from the first to the last number of runs, each for the fewest items that do."""
        for at in self.near(*runs):
            for _ in range(ROUNDS):
                self.draw_level(at, self.fewest(at, most, sure=sure) or most, sure=sure)

    def fewest(self, runs: int, most: int, *, sure: bool, near: bool = False) -> int | None:
        """Return the fewest items or datasets with which so many runs do, None if `most`, likely `near`, don't."""
        assert self.bounds.units is not None
        find = find_fewest_below if near else find_fewest
        return find(lambda n: self.power(runs, n, sure=sure) >= self.wanted, self.bounds.units[0], most)

    def frontier(self, *, sure: bool = True) -> Iterator[tuple[int, int | None]]:
        """Yield numbers of runs with the fewest items that do; more runs only where they spare items."""
        units = self.bounds.units
        if units is None:
            if (fewest := find_fewest(lambda runs: self.does(runs, None, sure=sure), *self.bounds.runs)) is not None:
                yield fewest, None
            return
        self.settle_levels(self.bounds.runs, units[1], sure=sure)
        (least, most), near = units, False
        for runs in self.bounds.counts():
            if most >= least and (found := self.fewest(runs, most, sure=sure, near=near)) is not None:
                most, near = found - 1, True
                yield runs, found

    def affordable(self, runs: int) -> int | None:
        """Return the most items that the budget pays for with so many runs, 0 for none; None without items."""
        units, budget = self.bounds.units, self.bounds.budget
        if units is None:
            return None if budget is None or self.cost(runs, None) <= budget else 0
        if budget is None or self.cost(runs, units[1]) <= budget:
            return units[1]
        low, high = 0, units[1]
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.cost(runs, middle) <= budget else (low, middle)
        return low if low >= units[0] else 0

    def best_within(self) -> Iterator[PlannedDesign]:
        """Yield, for each number of runs, what the bounds allow at most: for where nothing does."""
        for runs in self.bounds.counts():
            if (units := self.affordable(runs)) != 0:
                self.draw_level(runs, units, sure=True)
                yield self.describe(runs, units)

    def describe(self, runs: int, units: int | None) -> PlannedDesign:
        """Return a design with what it gives and costs."""
        power, cost = self.power(runs, units), self.cost(runs, units)
        within = self.bounds.budget is None or cost <= self.bounds.budget * (1 + 1e-9)
        datasets = self.basis.unit == "datasets"
        return PlannedDesign(
            runs=runs, items=None if datasets else units, datasets=units if datasets else None, power=power,
            half_width=self.half_width(runs, units), cost=cost if self.bounds.priced else None,
            reaches=power >= self.wanted and within, looks=self.looks_at(runs) if self.looks > 1 else (),
        )  # fmt: skip

    def fewest_runs(self) -> int | None:
        """Return the fewest runs with which some number of items does, None if none do."""
        if not self.basis.new_runs:
            return self.bounds.runs[0]

        units = None if self.bounds.units is None else MOST_ITEMS
        return find_fewest(lambda runs: self.does(runs, units, sure=True), 2, MOST_RUNS)

    def does(self, runs: int, units: int | None, *, sure: bool) -> bool:
        """Return whether a design has the power, its level drawn anew."""
        self.draw_level(runs, units, sure=sure)
        return self.power(runs, units, sure=sure) >= self.wanted

    def beyond(self, fewest: int | None) -> PlannedDesign | None:
        """Return a design that does, whatever the bounds: with items, half as many runs again as there must be."""
        if fewest is None or (self.bounds.units is None and not self.basis.new_runs):
            return None
        runs = math.ceil(fewest * MORE) if self.bounds.units else fewest
        runs = runs if self.basis.new_runs else self.bounds.runs[1]
        if self.bounds.units is not None:
            self.settle_levels([runs], MOST_ITEMS, sure=True)
        units = None if self.bounds.units is None else self.fewest(runs, MOST_ITEMS, sure=True)
        return None if self.bounds.units and units is None else self.describe(runs, units)

    def curves(self, designs: Sequence[PlannedDesign]) -> Iterator[PowerPoint]:
        """Yield points of the power curves of some numbers of runs."""
        if not designs:
            return
        low, high = self.bounds.runs
        shown = dict.fromkeys([designs[0].runs, min(d.runs for d in designs), *(k for k in USUAL if low <= k <= high)])
        counts = sorted(list(shown)[:CURVES])
        if self.bounds.units is None:
            for runs in self.bounds.counts():
                self.draw_level(runs, None, sure=True)
                yield PowerPoint(runs=runs, units=None, power=self.power(runs, None))
            return
        least, most = self.bounds.units
        all_needed = [d.items or d.datasets or least for d in designs]
        needed = max(all_needed)
        ends = max(least, min(all_needed) // DEEP), min(most, max(DEEP * needed, least))
        places = np.unique(np.round(np.geomspace(*ends, POINTS)).astype(int))
        for runs in counts:
            for units in places.tolist():
                yield PowerPoint(runs=runs, units=units, power=self.power(runs, units))


def find_bounds(basis: Basis, runs: Range, units: Range, prices: tuple[object, ...], goal: str) -> Bounds:
    """Return within which designs are looked for."""
    for name, value in zip(("cost_run", "cost_item", "budget"), prices, strict=True):
        if value is not None:
            check_finite(value, option := f"--{name.replace('_', '-')}", least=0)
            check_size(value, option)
    cost_run, cost_item, budget = (None if value is None else float(value) for value in prices)  # type: ignore[arg-type]
    if budget is not None and not (cost_run or cost_item):
        raise ScoresError("--budget without prices: say what a run or an item costs (--cost-run, --cost-item)")
    least = 2 if basis.new_runs and goal != "reliability" else 1
    low, high = check_range(runs, "runs", least, (least, RUNS), MOST_AVERAGED if goal == "reliability" else MOST_RUNS)
    if not basis.averages and goal != "reliability" and not basis.new_runs:
        if low > 1:
            raise ScoresError("--runs: from a pilot with one run of each system, only one run can be planned")
        high = 1
    within = None
    if goal == "reliability" and units is None:
        within = None if basis.items is None else (basis.items, basis.items)
    elif basis.unit is not None:
        usual = DATASETS if basis.unit == "datasets" else ITEMS
        within = check_range(units, basis.unit, usual[0] if basis.unit == "datasets" else 2, usual, MOST_ITEMS)
    elif units is not None:
        raise ScoresError("the pilot has no items, one score a run: leave out --items")
    return Bounds((low, high), within, cost_run or 0.0, cost_item or 0.0, budget)


def check_range(given: object, name: str, least: int, usual: tuple[int, int], most: int) -> tuple[int, int]:
    """Return the smallest and the largest number that is asked for."""
    if given is None:
        return usual
    ends = given if isinstance(given, tuple | list) else (given, given)
    if len(ends) != 2:
        raise ScoresError(f"--{name} is {given!r:.60}: give one number, or the smallest and the largest")
    low, high = (check_count(each, f"--{name}") for each in ends)
    if low > high:
        raise ScoresError(f"--{name} is {low}..{high}, from more to fewer: give the smaller number first")
    if low < least:
        raise ScoresError(f"--{name} begins at {low}: at least {least} are needed for what is to be claimed")
    if high > most:
        raise ScoresError(f"--{name} is {high:,}: plans are looked for up to {most:,}, give no more")
    return low, high


def check_size(value: object, option: str) -> None:
    """Refuse numbers whose squares of variances overflow, or vanish, as those of scores are refused."""
    if value and not SMALLEST <= value <= LARGEST:  # type: ignore[operator]  # it is a number
        raise ScoresError(
            f"{option} is {value:g}: give it in another unit, so that it is between {SMALLEST:g} and {LARGEST:g}"
        )
