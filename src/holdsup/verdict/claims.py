"""What a table can carry: the claim of each pair of systems, and its test.

- these-runs: for these trained runs, over new items;
- these-items: for these trained runs on these items, over new samples of each item;
- these-datasets: over new items and new runs, on these datasets;
- new-runs: over new items and new runs, and new datasets if there are several; settings as they are, equally weighted;
- new-settings: over new settings as well.

Which test keeps its promise for which design was measured: docs/calibration.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import ScoresError, list_names
from holdsup.numerics.decisions import Difference
from holdsup.numerics.differences import (
    compare_new_runs,
    compare_over_datasets,
    compare_run_scores,
    compare_shared_seeds,
    compare_these_runs,
)
from holdsup.numerics.proportions import PairedShares
from holdsup.numerics.these_datasets import compare_runs_on_datasets, compare_these_datasets
from holdsup.scores.suggestions import point_to_roles
from holdsup.verdict.averages import narrow_claim
from holdsup.verdict.early import look_early
from holdsup.verdict.evaluation import Evaluation, Floats, SystemRuns, has_scores, is_repetition
from holdsup.verdict.samples import THESE_ITEMS, compare_samples
from holdsup.verdict.settings import compare_new_settings
from holdsup.verdict.trainings import align_seeds, can_repeat, has_nested_runs

CLAIMS = ("these-items", "these-runs", "these-datasets", "new-runs", "new-settings")
STRONGEST = "new-runs"  # that is made where none is asked for
NOISE = 1e-12  # of the largest score: a difference below it is the rounding of sums
RESPLITS = "runs are re-splits of one corpus, so they share training and test items and don't count as new runs"
TORN = "runs recur on too few datasets to separate runs from datasets, so each dataset counts as having its own runs"
Test = Callable[[float, float], Difference]  # for an amount by which the scores of left are raised, and a level


class Rule(StrEnum):
    """How a pair is tested."""

    WELCH = "welch"  # scores of runs
    TWO_WAY = "two-way-welch"  # items, clusters or datasets, and runs or settings
    SEEDS = "two-way-paired"  # items, and runs that share a seed
    PAIRED = "paired-t"  # items, clusters or datasets
    SCORE = "score"  # shares of items, one run each
    SAMPLES = "samples"  # samples of these items
    RATERS = "raters"  # items, or items and raters, adjusted for who rated what
    JUDGE = "judge-corrected"  # items, human labels of some of them and a judge's scores of all
    BETS = "bets"  # items one by one, looked at early


Tested = tuple[Rule, str, Test]  # a rule, the same in words, and the test


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two systems, the claim that is made of them, and the test of it."""

    left: SystemRuns  # their runs, on the items that both have
    right: SystemRuns
    claim: str  # what is claimed
    rule: Rule  # how it is tested
    method: str  # the same in words
    items: int  # number of items that both have; 0 where there are none
    unit: str | None  # what they are called, items or datasets; None where there are none
    shared: NDArray[np.bool_]  # which items of the evaluation these are
    difference: Difference  # what was found
    test: Test  # the same test for scores of left that are raised by a margin, at another level
    # whether each dataset has its own runs, None where datasets and runs are not both drawn anew
    nested: bool | None
    other: Difference | None  # what the other reading of their runs gives; None where there is none
    note: str  # why less is claimed than was asked for, "" if not
    pooled: Test | None = None  # the test by what all systems say of its spread, where that is another


def choose_claim(evaluation: Evaluation, asked: str | None) -> str:
    """Return the claim that is asked for, or the strongest that two systems or more can carry."""
    if asked is not None and asked not in CLAIMS:
        raise ScoresError(f"the claim {asked!r} is unknown: use {', '.join(CLAIMS)}")
    able = [] if evaluation.resplit else [each for each in evaluation.systems if can_repeat(evaluation, each)]
    varies = len(able) >= 2 and not all(system.deterministic for system in able)
    return narrow_claim(evaluation, asked or STRONGEST) if asked or varies else "these-runs"


def pair_systems(evaluation: Evaluation, left: str, right: str, claim: str, *, level: float) -> Pair:
    """Return the verdict on two systems: the claim asked for, or these-runs where they cannot carry it."""
    whole = evaluation.system(left), evaluation.system(right)
    made, note = _carried(evaluation, *whole, claim)
    shared = _shared_items(evaluation, *whole, made)
    a, b = (system.on(shared) for system in whole)
    try:
        over = _OverDatasets.of(evaluation, a, b, made, shared)
        rule, method, test = _test(evaluation, a, b, made, shared) if over is None else over.tested
        if evaluation.ends is not None and not evaluation.per_run:
            test = partial(_test_within, test, evaluation.ends[1] - evaluation.ends[0])
        if (looking := evaluation.looking) is not None:
            method, test = look_early(looking, evaluation, a, b, shared, made, method, test)
            rule = rule if looking.looks else Rule.BETS
        found = _without_noise(test(0.0, level), a, b)
    except ValueError as error:
        raise ScoresError(f"{left!r} and {right!r} can't be compared: {str(error).rstrip('.')}") from error
    items = 0 if evaluation.per_run else int(shared.sum())
    nested, other = (None, None) if over is None else (all(over.nested), over.read_otherwise(level))
    if over is not None and over.torn:
        note = note or TORN
    return Pair(a, b, made, rule, method, items, evaluation.unit, shared, found, test, nested, other, note)


def _test_within(test: Test, width: float, up: float, level: float) -> Difference:
    """Return what a test finds of scores on a scale of some width: the CI goes no further than it does."""
    found = test(up, level)
    if not math.isfinite(found.low) or not math.isfinite(found.high):
        return found
    return replace(found, low=max(found.low, up - width), high=min(found.high, up + width))


def _without_noise(found: Difference, a: SystemRuns, b: SystemRuns) -> Difference:
    """Return the difference; one that is rounding, and no more, is none."""
    if found.estimate == 0 or abs(found.estimate) > NOISE * max(a.largest, b.largest):
        return found
    return replace(found, estimate=0.0, p=1.0, log10_p=0.0)


def _shared_items(evaluation: Evaluation, a: SystemRuns, b: SystemRuns, claim: str) -> NDArray[np.bool_]:
    """Return the items that both systems have; where seeds are paired, in some seed."""
    scored = evaluation.scored(a), evaluation.scored(b)
    shared = scored[0] & scored[1]
    if _pairs_seeds(evaluation, a, b, claim):
        x, y = align_seeds(a, b)
        shared = has_scores(x - y, None)
    if not shared.any():
        for system, there in zip((a, b), scored, strict=True):
            if not there.any():
                raise _torn(evaluation, system)
        counts = " and ".join(f"{int(each.sum()):,}" for each in scored)
        raise ScoresError(
            f"{a.name!r} and {b.name!r} have no {str(evaluation.unit).removesuffix('s')} in common ({counts} "
            f"{evaluation.unit}): check that both use the same names"
        )
    return shared


def _torn(evaluation: Evaluation, system: SystemRuns) -> ScoresError:
    """Return the error for a system none of whose items was scored at each setting."""
    scores = evaluation.scores
    settings = list_names([name for name in scores.facets if not is_repetition(scores, name)])
    return ScoresError(
        f"none of the {int(system.has.sum()):,} {evaluation.unit} of {system.name!r} has a score at each of its "
        f"{system.setting_count:,} settings ({settings}): give --facets only what was chosen before training, not "
        "measurements, and --replicates what only repeats runs"
    )


def _pairs_seeds(evaluation: Evaluation, a: SystemRuns, b: SystemRuns, claim: str) -> bool:
    nested = has_nested_runs(evaluation, a) or has_nested_runs(evaluation, b)
    alone = not evaluation.per_run and evaluation.datasets is None and not nested
    alone = alone and not (a.deterministic or b.deterministic)
    return alone and claim == "new-runs" and a.seeds is not None and b.seeds is not None


def _carried(evaluation: Evaluation, a: SystemRuns, b: SystemRuns, claim: str) -> tuple[str, str]:
    """Return the claim that a pair can carry, and why it is less than what is asked for."""
    single = [system for system in (a, b) if not can_repeat(evaluation, system)]
    if claim == THESE_ITEMS:
        return claim, ""
    if evaluation.resplit and evaluation.per_run:
        raise ScoresError(f"{RESPLITS}; without items nothing else can be tested: use holdsup contest")
    if evaluation.resplit:
        return "these-runs", f"{RESPLITS}; use holdsup contest for such runs"
    if evaluation.per_run and a.deterministic and b.deterministic:
        raise ScoresError(f"{a.name!r} and {b.name!r} are deterministic and there are no items: nothing varies")
    if evaluation.per_run and single:
        raise ScoresError(
            f"{single[0].name!r} has one run and no items, so there is no spread to test: give the score of each item, "
            f"or of two runs or more of each system ({point_to_roles(evaluation.scores)})"
        )
    if evaluation.per_run and claim != "new-runs" and not (claim == "these-datasets" and not single):
        return "new-runs", "without items only the spread between runs can be tested"
    if claim == "these-runs":
        return claim, ""
    if not single:
        return _carried_by_runs(evaluation, a, b, claim)
    names = " and ".join(repr(system.name) for system in single)
    what = "one run" if all(len(system.runs) == 1 for system in single) else "one run a setting"
    return (
        "these-runs",
        f"{names} {'has' if len(single) == 1 else 'have'} {what}, so the data say nothing about new runs",
    )


def _carried_by_runs(evaluation: Evaluation, a: SystemRuns, b: SystemRuns, claim: str) -> tuple[str, str]:
    """Return the same for a claim beyond these runs, the spread of which is known."""
    if a.deterministic and b.deterministic and not evaluation.per_run:
        return "these-runs", "both systems are deterministic, so runs don't vary"
    if claim == "these-datasets" and len(evaluation.dataset_names) < 2:
        return "new-runs", "there is one dataset"
    if claim != "new-settings":
        return claim, ""
    if max(a.setting_count, b.setting_count) < 2:
        return "new-runs", "neither system has two settings, so the data say nothing about new ones"
    if evaluation.datasets is not None:
        return "new-runs", "with several datasets new settings can't be claimed"
    if a.deterministic or b.deterministic:
        return "new-runs", "with a deterministic system new settings can't be claimed"
    return claim, ""


def _test(evaluation: Evaluation, a: SystemRuns, b: SystemRuns, claim: str, shared: np.ndarray) -> Tested:
    """Return the test for a design."""
    x, y = a.scores, b.scores

    def make(rule: Rule, words: str, compare: Callable[..., Difference], **options: Any) -> Tested:
        return rule, words, lambda up, level: compare(x + up, y, **options, level=level)

    if evaluation.per_run:
        x, y = x[0], y[0]
        words = "Welch t-test (run scores, conservative df)"
        return make(Rule.WELCH, words, compare_run_scores, deterministic=a.deterministic or b.deterministic)
    if claim == THESE_ITEMS:
        return Rule.SAMPLES, "t-test (samples of each item)", partial(compare_samples, evaluation, a, b, shared)
    clusters = None if evaluation.clusters is None else evaluation.clusters[shared]
    datasets = None if evaluation.datasets is None else evaluation.datasets[shared]
    if claim == "these-datasets":
        return _test_on_datasets(evaluation, a, b, datasets, clusters, evaluation.room)
    if datasets is not None and len(np.unique(datasets)) > 1:
        of_these = partial(compare_these_datasets, new_runs=False, weights=evaluation.weigh(datasets))
        words = "paired t-test (items of these datasets)"
        return make(Rule.PAIRED, words, of_these, datasets=datasets, clusters=clusters)
    unit = "clusters" if clusters is not None else evaluation.unit
    if claim == "new-settings":
        words = f"two-way Welch t-test ({unit} and settings, conservative df)"
        return Rule.TWO_WAY, words, lambda up, level: compare_new_settings(evaluation, a, b, up, level=level)
    options: dict[str, Any] = {"clusters": clusters, "ends": evaluation.ends}
    if _pairs_seeds(evaluation, a, b, claim):
        x, y = align_seeds(a, b)
        words = f"two-way paired t-test ({unit} and shared seeds, conservative df)"
        options["room"] = evaluation.room
        return Rule.SEEDS, words, lambda up, level: compare_shared_seeds(x, y, up=up, **options, level=level)
    if is_right_or_wrong(evaluation, a, b, claim):
        words = "score test of paired shares (McNemar, one disagreement added; CI by its inversion)"
        return Rule.SCORE, words, partial(_compare_shares, cast("tuple[float, float]", evaluation.ends), a, b)
    options |= {"left_settings": a.several, "right_settings": b.several}
    if claim == "new-runs":
        words = f"two-way Welch t-test ({unit} and runs, conservative df)"
        options |= {"room": evaluation.room, "deterministic": a.deterministic or b.deterministic}
        return Rule.TWO_WAY, words, lambda up, level: compare_new_runs(x, y, up=up, **options, level=level)
    return make(Rule.PAIRED, f"paired t-test ({unit})", compare_these_runs, **options)


def _test_on_datasets(
    evaluation: Evaluation, a: SystemRuns, b: SystemRuns, datasets: np.ndarray | None, clusters: np.ndarray | None,
    room: tuple[float, float] | None = None,
) -> Tested:  # fmt: skip
    """Return the test over new items and new runs on these datasets."""
    x, y, deterministic = a.scores, b.scores, a.deterministic or b.deterministic
    nested = {has_nested_runs(evaluation, system) for system in (a, b) if not system.deterministic}
    if len(nested) > 1:
        raise ValueError("one has its own runs on each dataset, the other the same runs on all.")
    if datasets is None:  # a run has one score on each
        if nested == {True}:
            raise ValueError("each dataset has its own runs and no items: ask for new datasets (--claim new-runs).")
        means = [np.mean(each, axis=0) for each in (x, y)]  # NaN where a run lacks a dataset
        words = "Welch t-test (means of runs over these datasets, conservative df)"
        return (
            Rule.WELCH,
            words,
            lambda up, level: compare_run_scores(means[0] + up, means[1], deterministic=deterministic, level=level),
        )
    options: dict[str, Any] = {
        "clusters": clusters, "weights": evaluation.weigh(datasets), "deterministic": deterministic, "room": room,
    }  # fmt: skip
    compare: Callable[..., Difference] = compare_these_datasets
    if nested == {False}:
        compare = compare_runs_on_datasets
        options |= {"left_settings": a.several, "right_settings": b.several}
    elif a.several is not None or b.several is not None:
        raise ValueError("runs differ in settings, and each dataset has its own runs.")
    words = "two-way Welch t-test (items of these datasets and runs, conservative df)"
    return Rule.TWO_WAY, words, lambda up, level: compare(x, y, datasets, up=up, **options, level=level)


def mean_on_datasets(
    evaluation: Evaluation, system: SystemRuns, datasets: np.ndarray | None, clusters: np.ndarray | None, level: float
) -> Difference:
    """Return a system's mean over new items and new runs on these datasets: as compared with scores of zero."""
    zeros = np.zeros((len(system.scores), 1))
    nothing = replace(system, scores=zeros, settings=system.settings[:1], deterministic=True)
    if system.deterministic and datasets is not None:
        options: dict[str, Any] = {"clusters": clusters, "weights": evaluation.weigh(datasets), "new_runs": False}
        return compare_these_datasets(system.scores, zeros, datasets, **options, level=level)
    return _test_on_datasets(evaluation, system, nothing, datasets, clusters)[2](0.0, level)


def is_right_or_wrong(evaluation: Evaluation, a: SystemRuns, b: SystemRuns, claim: str) -> bool:
    """Return whether each system was scored once on each item, with one of two values, and items are all there is."""
    alone = claim == "these-runs" and evaluation.unit == "items" and evaluation.clusters is None
    return alone and evaluation.ends is not None and all(
        s.scores.shape[1] == 1 and np.isin(s.scores, evaluation.ends).all() for s in (a, b)
    )  # fmt: skip


def _compare_shares(ends: tuple[float, float], a: SystemRuns, b: SystemRuns, up: float, level: float) -> Difference:
    """Return the difference of two systems that were right or wrong on each item."""
    right = np.stack([a.scores[:, 0], b.scores[:, 0]]) == ends[1]
    return PairedShares.of(right, [0], [1]).decide(ends[1] - ends[0], up, level).one(0)


@dataclass(frozen=True, slots=True, eq=False)
class _OverDatasets:
    """The test over new datasets and new runs, datasets equally weighted or items."""

    left: Floats  # scores by datasets x runs; by items x runs where items weigh the same
    right: Floats
    settings: dict[str, Any]  # the setting of each run of both, where they have several
    nested: tuple[bool, bool]  # of which of both each dataset has its own runs
    known: tuple[bool, bool] = (False, False)  # which of both are deterministic, so that only the spread between
    # datasets counts, as if each had runs of its own
    torn: bool = False  # whether runs recur, but on too few datasets to tell runs from datasets: they count as nested
    clusters: NDArray[np.int64] | None = None  # the dataset of each item where items weigh the same

    @classmethod
    def of(
        cls, evaluation: Evaluation, a: SystemRuns, b: SystemRuns, claim: str, shared: NDArray[np.bool_]
    ) -> _OverDatasets | None:
        """Return the test for a pair of systems; None where its design is another."""
        if evaluation.unit == "items" and evaluation.datasets is None:
            return None
        if claim != "new-runs" or evaluation.per_run or _pairs_seeds(evaluation, a, b, claim):
            return None
        x, y = a.on_datasets, b.on_datasets
        if evaluation.datasets is not None and len(x) < 2:
            return None
        clusters = None
        if evaluation.by_items and evaluation.datasets is not None:
            x, y, clusters = a.scores, b.scores, evaluation.datasets[shared]
        settings = {"left_settings": a.several, "right_settings": b.several}
        known = a.deterministic, b.deterministic
        nested = known[0] or has_nested_runs(evaluation, a), known[1] or has_nested_runs(evaluation, b)
        found = cls(x, y, settings, nested, known, clusters=clusters)
        try:
            found.test(0.0, 0.95)
        except ValueError:
            if all(nested):
                raise
            found = replace(found, nested=(True, True), torn=True)
        return found

    @property
    def tested(self) -> Tested:
        """The rule, the same in words, and the test."""
        if all(self.nested):
            return Rule.PAIRED, "paired t-test (datasets)", self.test
        return Rule.TWO_WAY, "two-way Welch t-test (datasets and runs, conservative df)", self.test

    def test(self, up: float, level: float) -> Difference:
        """Return the difference with the scores of left raised."""
        return compare_over_datasets(
            self.left + up, self.right, **self.settings, nested=self.nested, clusters=self.clusters, level=level
        )

    def read_otherwise(self, level: float) -> Difference | None:
        """Return what the other reading of the runs gives; None where the table has no other."""
        try:
            one, other = (not all(self.nested) or known for known in self.known)
            return replace(self, nested=(one, other)).test(0.0, level)
        except ValueError:
            return None
