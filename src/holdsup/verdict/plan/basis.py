"""What a plan rests on: the variances of runs and items, from a pilot, as given, or typical ones.

Typical values are of scores between 0 and 1, in the middle of those of tables that we collected (docs/plan.md).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from holdsup.errors import ScoresError
from holdsup.numerics.layout import Floats
from holdsup.numerics.spread import Spread, find_clusters, measure_arm, measure_spread
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.verdict.evaluation import Evaluation, SystemRuns
from holdsup.verdict.plan.records import Assumption
from holdsup.verdict.planning import plan_pair
from holdsup.verdict.repeats import count_samples
from holdsup.verdict.trainings import has_nested_runs

TRUST = 0.8  # share of pilots whose limit of a variance is above the truth: so many plans are to keep their promise
FEWEST_ITEMS = 3  # of a pilot
SOME_ITEMS = 1000  # where there are none
NOTHING = 1e-12  # times the largest score: a smaller standard deviation is one of rounding
SD_RUN, SD_RUN_ON_DATASETS, SD_DATASET = 0.005, 0.02, 0.05  # typical values
ACCURACY, NEW_SHARE = 0.8, 0.5
SLACK = 1e-9  # of shares that rounding moves


@dataclass(frozen=True, slots=True)
class Variances:
    """What makes scores of systems that are alike differ."""

    run: float  # variance between the runs of a system
    item: float  # variance of the difference of two systems, between items or datasets
    noise: float  # variance of a score, apart from item and run
    arms: int = 2  # how many of two systems vary from run to run on their own: one where runs are paired

    def single(self) -> float:
        """Return the variance of item differences with one run of each."""
        return self.item + self.arms * self.noise


@dataclass(frozen=True, slots=True)
class Basis:
    """The variances that a plan rests on, how much larger they may be, and where they come from."""

    found: Variances
    unit: str | None  # items, datasets, or None where runs have one score each
    new_runs: bool  # whether runs are drawn anew as a source of their own
    assumptions: Mapping[str, Assumption]
    raise_run: float = 0.0  # by how much the run variance may be larger: up to its limit
    raise_item: float = 0.0  # the same for that of single item differences
    cluster: float = 1.0  # items that are drawn together
    two_valued: bool = False  # whether systems are right or wrong on an item
    width: float = 1.0  # of the scale of such scores: 100 where right is 100
    reliability: tuple[float, float] | None = None  # phi of a single score, at its limit and as found
    items: int | None = None  # of the pilot, where a reliability is planned
    together: int = 1  # datasets of the pilot whose items are planned together
    samples: int = 0  # of each item in the pilot, which are averaged; 0 where nothing tells samples
    averages: bool = True  # whether the noise of one run is known, so that designs with another number can be planned

    def at(self, runs: int, units: int | None, *, sure: bool) -> Spread:
        """Return the parts of the variance of a difference in a design.

        If it is to be `sure`, the variance is at its upper bound: the parts are raised together as far as Graybill and
        Wang's (1980) limit of their sum, which is nearer than the sum of their limits.
        """
        known, share = self.found, 0.0
        by_run, by_item = known.arms * self.raise_run / runs, 0.0 if units is None else self.raise_item / units
        if not self.new_runs:
            by_run = 0.0
        if sure and by_run + by_item > 0:
            share = math.hypot(by_run, by_item) / (by_run + by_item)
        items = units or SOME_ITEMS  # without items nothing varies between them
        alone, arms = known.noise / runs / items, known.arms if self.new_runs else 0
        return Spread(
            estimate=np.zeros(()),
            these=np.asarray((known.item + share * self.raise_item) / items + known.arms * alone),
            item_df=items / self.cluster - 1,
            runs=(np.asarray((known.run + share * self.raise_run) / runs + alone),) * arms,
            noise=(np.asarray(alone),) * arms,
            run_df=(runs - 1,) * arms,
        )

    def disagreement(self, share: float, *, sure: bool) -> float:
        """Return the share of items on which one system is right and the other wrong, if they are a share apart."""
        single = (self.found.single() + (self.raise_item if sure else 0.0)) / self.width**2
        return min(1.0, max(single + share**2, share * (1 + 1e-9), 1e-6))


def find_basis(
    given: Mapping[str, float], *, difference: float, datasets: bool, new_runs: bool, reliability: bool
) -> Basis:
    """Return the variances that are given, and typical ones in place of others."""
    said: dict[str, Assumption] = {}

    def take(name: str, typical: float) -> float:
        source = "given" if name in given else "typical"
        said[name] = Assumption(value=given.get(name, typical), source=source)
        return said[name].value

    if datasets:
        item, noise = take("sd_dataset", SD_DATASET) ** 2, take("sd_run", SD_RUN_ON_DATASETS) ** 2
        return Basis(Variances(0.0, item, noise), "datasets", False, said)
    two_valued = "sd_item" not in given
    if not two_valued and "sd_run" not in given and new_runs:
        raise ScoresError("--sd-item without --sd-run: how much runs vary depends on the scale, so give both")
    if two_valued:
        needed = reliability or "accuracy" in given or "disagreement" not in given
        accuracy = take("accuracy", ACCURACY) if needed else math.nan
        apart = take("disagreement", accuracy * (1 - accuracy))
        _check_shares(said, difference)
        single = apart - difference**2
    else:
        single = take("sd_item", math.nan) ** 2
    noise = take("new_share", NEW_SHARE) * single / 2
    run = take("sd_run", SD_RUN) ** 2 if new_runs or reliability else 0.0
    phi = None
    if reliability:
        if not two_valued:
            raise ScoresError("a reliability needs a pilot, or --accuracy: --sd-item says nothing about single scores")
        phi = (accuracy * (1 - accuracy) - noise) / (accuracy * (1 - accuracy) + run)
    return Basis(
        Variances(run, single - 2 * noise, noise), "items", new_runs, said, two_valued=two_valued,
        reliability=None if phi is None else (phi, phi),
    )  # fmt: skip


def _check_shares(said: Mapping[str, Assumption], difference: float) -> None:
    """Refuse an accuracy and a disagreement that no two systems so far apart have."""
    apart, accuracy = said["disagreement"], said.get("accuracy")
    name = "--disagreement is" if apart.source == "given" else "the typical disagreement, accuracy x (1 - accuracy), is"
    if apart.value < difference:
        raise ScoresError(
            f"two systems that are {difference:g} apart differ on {difference:g} of the items or more, but {name} "
            f"{apart.value:g}: give a larger --disagreement"
        )
    if accuracy is None:
        return
    most = 2 * min(accuracy.value, 1 - accuracy.value)
    if apart.value > most + SLACK:
        raise ScoresError(
            f"two systems that are right on {accuracy.value:g} of the items on average differ on {most:g} of them at "
            f"most, but {name} {apart.value:g}: give a smaller --disagreement (and --detect), or another --accuracy"
        )


class Measured(NamedTuple):
    """What one pair of a pilot shows, for one run or one item."""

    arms: tuple[tuple[str, float, float, int], ...]  # of each: name, variance of run means, noise of a score, df
    item: float  # variance of the difference between items, noise taken out
    averaged: float  # the same with it, as measured: of means over the runs
    df: float  # of `averaged`
    units: int  # items or datasets


def read_pilot(evaluation: Evaluation, *, datasets: bool, claim: str, sd_run: float | None) -> Basis:
    """Return the variances that a pilot shows, and how much larger they may be."""
    nested = datasets and all(has_nested_runs(evaluation, one) for one in evaluation.systems)
    new_runs = claim == "new-runs" and not nested
    able = _choose_systems(evaluation, need_runs=new_runs and sd_run is None)
    pairs = [
        _measure_datasets(a, b, nested=nested) if datasets else _measure_items(evaluation, a, b)
        for a, b in itertools.pairwise(able)
    ]
    units = min(pair.units for pair in pairs)
    if not evaluation.per_run and units < FEWEST_ITEMS:
        raise _too_few(units, "item")
    arms = {name: (v, noise, df) for pair in pairs for name, v, noise, df in pair.arms}
    _refuse_constant(evaluation, able, pairs, [v for v, *_ in arms.values()] if sd_run is None else [1.0], datasets)
    v, noise, more = _average([each for each in arms.values() if each[2] > 0])
    count = max(len(pair.arms) for pair in pairs)
    run, most = (max(0.0, value - noise / units) for value in (v, v + more))
    if sd_run is not None:
        run = most = sd_run**2
    item, averaged, item_df = (float(np.mean([getattr(p, name) for p in pairs])) for name in ("item", "averaged", "df"))
    found = Variances(run, max(0.0, item), noise, arms=count)
    rise = averaged * float(_rise(item_df)) if item_df > 0 else 0.0
    unit = "datasets" if datasets else None if evaluation.per_run else "items"
    clusters = None if datasets or evaluation.clusters is None else len(np.unique(evaluation.clusters))
    samples = max(count_samples(evaluation).values())
    basis = Basis(
        found, unit, new_runs, {}, raise_run=most - run, raise_item=rise,
        cluster=1.0 if clusters is None else len(evaluation.clusters) / clusters,  # type: ignore[arg-type]
        two_valued=evaluation.ends is not None and evaluation.datasets is None and samples <= 1,
        width=1.0 if evaluation.ends is None else evaluation.ends[1] - evaluation.ends[0],
        together=1 if datasets or evaluation.datasets is None else len(evaluation.dataset_names),
        averages=noise > 0 or evaluation.per_run,
        samples=samples,
    )  # fmt: skip
    return replace(basis, assumptions=dict(_name_pilot(basis, given=sd_run is not None)))


def _name_pilot(basis: Basis, *, given: bool) -> Iterator[tuple[str, Assumption]]:
    known = basis.found
    if basis.new_runs:
        planned, found = math.sqrt(known.run + basis.raise_run), None if given else math.sqrt(known.run)
        yield "sd_run", Assumption(value=planned, found=found, source="given" if given else "pilot")
    if basis.unit is None:
        return
    single = known.single() if basis.unit == "items" else known.item
    values = single + basis.raise_item, single
    if basis.two_valued:
        apart, found = (min(1.0, value / basis.width**2) for value in values)
        yield "disagreement", Assumption(value=apart, found=found, source="pilot")
    else:
        name = "sd_item" if basis.unit == "items" else "sd_dataset"
        yield name, Assumption(value=math.sqrt(values[0]), found=math.sqrt(values[1]), source="pilot")
    if known.noise > 0 and basis.unit == "items":
        yield "new_share", Assumption(value=known.arms * known.noise / known.single(), source="pilot")


def _choose_systems(evaluation: Evaluation, *, need_runs: bool) -> list[SystemRuns]:
    """Return the systems that can be planned from, by their means."""
    if len(evaluation.systems) < 2:
        raise ScoresError(
            "a pilot needs two systems: with one, items can't be told from how systems differ on them. Add another, or "
            "leave it out and say what you know (--sd-run, --accuracy)"
        )
    settings = next((one for one in evaluation.systems if one.setting_count > 1), None)
    if settings is not None:
        raise ScoresError(
            f"the runs of {settings.name!r} differ in settings: plan for one setting (--where), or say which columns "
            "only repeat a run (--replicates)"
        )
    able = [one for one in evaluation.systems if one.repeats] if need_runs else list(evaluation.systems)
    if len(able) < 2:
        raise ScoresError(
            "the pilot has one run of each system, or of all but one, so how much runs vary isn't known: give "
            "--sd-run, or plan for these runs alone (--claim these-runs)"
        )
    return sorted(able, key=lambda one: -one.mean())


def _refuse_constant(
    evaluation: Evaluation, able: Sequence[SystemRuns], pairs: Sequence[Measured], runs: Sequence[float], datasets: bool
) -> None:
    """Refuse a pilot in which nothing varies: it would promise everything."""
    least = (NOTHING * max(float(np.nanmax(np.abs(one.scores))) for one in able)) ** 2
    if evaluation.per_run and not datasets:
        if max(runs, default=1.0) <= least:
            raise ScoresError(
                "nothing varies in the pilot: the runs of each system have one and the same score. Add runs to it, or "
                "leave it out and give --sd-run and --sd-item, or --sd-run and --accuracy"
            )
    elif max(pair.averaged for pair in pairs) <= least:
        noun, known = ("dataset", "--sd-dataset and") if datasets else ("item", "--accuracy, --disagreement and")
        raise ScoresError(
            f"nothing varies in the pilot: its systems differ by the same on each {noun}. Add {noun}s to it, or leave "
            f"it out and give {known} --sd-run"
        )


def _measure_items(evaluation: Evaluation, a: SystemRuns, b: SystemRuns) -> Measured:
    if evaluation.datasets is not None:
        a, b = (_weigh(evaluation, one, evaluation.scored(a) & evaluation.scored(b)) for one in (a, b))
        evaluation = replace(evaluation, systems=(a, b))
    try:
        pair = plan_pair(evaluation, a.name, b.name)
    except ValueError as error:
        raise ScoresError(f"{a.name!r} and {b.name!r} can't be planned from: {error}") from error
    names = (a.name, b.name) if len(pair.runs) == 2 else (f"{a.name} - {b.name}",)
    differences = np.zeros(0)
    if not evaluation.per_run:
        with np.errstate(invalid="ignore"):
            differences = np.nanmean(a.scores[a.has & b.has], axis=1) - np.nanmean(b.scores[a.has & b.has], axis=1)
    return _measured(names, pair.spread, pair.runs, pair.items, differences)


def _weigh(evaluation: Evaluation, one: SystemRuns, both: NDArray[np.bool_]) -> SystemRuns:
    """Return a system with scores whose plain mean over items varies as its mean over these datasets does."""
    assert evaluation.datasets is not None
    datasets, means = evaluation.datasets, np.zeros(len(both))
    means[both] = np.nanmean(one.scores[both], axis=1)
    count, total = (np.bincount(datasets[both], weights)[datasets] for weights in (None, means[both]))
    if count[both].min() < 2:
        raise ScoresError("a dataset of the pilot has one item: leave it out (--where), or add items to it")
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = 1.0 if evaluation.by_items else both.sum() / count / len(np.unique(datasets[both]))
        scale = weight * np.sqrt(count / (count - 1) * (1 - 1 / both.sum()))  # each dataset has a mean of its own
        return replace(one, scores=np.where(both, scale, np.nan)[:, None] * (one.scores - (total / count)[:, None]))


def _measure_datasets(a: SystemRuns, b: SystemRuns, *, nested: bool) -> Measured:
    """Return what datasets show, each with the mean of its items, and runs of its own where these are `nested`."""
    x, y = a.on_datasets, b.on_datasets
    both = ~(np.isnan(x).all(1) | np.isnan(y).all(1))
    x, y = x[both], y[both]
    if len(x) < FEWEST_ITEMS:
        raise _too_few(len(x), "dataset")
    differences = np.nanmean(x, axis=1) - np.nanmean(y, axis=1)
    if not nested:
        clusters = find_clusters(None, len(x))
        arms = [measure_arm(each, None, clusters) for each in (x, y)]
        spread = measure_spread(arms, arms[0].items - arms[1].items, clusters)
        return _measured((a.name, b.name), spread, (x.shape[1], y.shape[1]), len(x), differences)
    noise, of_mean, arms_known = [], 0.0, []
    for one, scores in ((a, x), (b, y)):
        counts = (~np.isnan(scores)).sum(1)
        several = counts > 1
        within = float(np.nanvar(scores[several], axis=1, ddof=1).mean()) if several.any() else 0.0
        noise.append(within)
        of_mean += within * float((1 / counts).mean())
        arms_known.append((one.name, within / len(x), within, int(several.sum())))
    averaged = float(differences.var(ddof=1))
    return Measured(tuple(arms_known), averaged - of_mean, averaged, _tailed(len(x) - 1.0, differences), len(x))


def _too_few(count: int, noun: str) -> ScoresError:
    few = format_counted(count, noun)
    return ScoresError(f"the systems of the pilot have {few} in common: {FEWEST_ITEMS} or more are needed to plan from")


def _measured(names: Sequence[str], spread: Spread, runs: Sequence[int], units: int, differences: Floats) -> Measured:
    arms = tuple(
        (name, float(part) * k, float(noise) * k * units, int(df))
        for name, part, noise, df, k in zip(names, spread.runs, spread.noise, spread.run_df, runs, strict=False)
    )
    averaged = float(spread.these) * units
    item = averaged - float(sum(spread.noise)) * units
    return Measured(arms, item, averaged, _tailed(spread.item_df, differences) if averaged > 0 else 0.0, units)


def _average(known: Sequence[tuple[float, float, int]]) -> tuple[float, float, float]:
    """Return the mean variance of run means, the mean noise, and by how much the first may be too small.

    Systems' runs may vary unlike each other, so that all count alike, and each rises on degrees of freedom of its own:
    together as far as Graybill and Wang's (1980) limit of their sum.
    """
    if not known:
        return 0.0, 0.0, 0.0
    v, noise, df = np.array(known).T
    return float(v.mean()), float(df @ noise / df.sum()), float(np.linalg.norm(v * _rise(df))) / len(v)


def _tailed(df: float, differences: Floats) -> float:
    """Return the df of the variance of differences with these tails: normal ones have a kurtosis of three."""
    if len(differences) < FEWEST_ITEMS or (spread := differences.var()) == 0:
        return df
    kurtosis = float(((differences - differences.mean()) ** 4).mean() / spread**2)
    return max(1.0, df * 2 / max(2.0, kurtosis - 1))


def _rise(df: ArrayLike) -> Floats:
    """Return by which share a variance with so many degrees of freedom may be too small, in `TRUST` of pilots."""
    return np.asarray(df / special.chdtri(df, TRUST) - 1)


def say_assumption(name: str, one: Assumption) -> str:
    """Return an assumption in words."""
    value = format_number(one.value, uncertainty=one.value / 10 if one.source == "pilot" else None)
    where = {"given": "", "typical": " (typical)"}.get(one.source, "")
    if one.found is not None:
        found = format_number(one.found, uncertainty=one.found / 10)
        where = f" (pilot {found})"
    return WORDS[name].format(value, f"{one.value:.0%}") + where


WORDS = {
    "sd_run": "run SD {0}",
    "sd_item": "SD {0} of item differences",
    "sd_dataset": "SD {0} of dataset differences",
    "accuracy": "accuracy {0}",
    "disagreement": "systems differ on {0} of items",
    "new_share": "{1} of that new in each run",
    "phi": "phi {0} of one score",
}
