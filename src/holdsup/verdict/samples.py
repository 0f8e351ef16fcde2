"""Samples of a run as one score for each item: their mean, or the chance that one of k, or all of k, are right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns.crossing import Crossing, cross
from holdsup.columns.encoding import order_labels
from holdsup.errors import ScoresError, list_names
from holdsup.numerics.decisions import Difference
from holdsup.numerics.layout import Floats
from holdsup.numerics.samples import compare_these_items, jackknife_share, share_of_all, share_of_any
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results import Caution
from holdsup.scores import Scores
from holdsup.scores.table import Sampled
from holdsup.verdict.evaluation import Evaluation, SystemRuns
from holdsup.verdict.scales import find_ends

PASS = re.compile(r"pass([@^])([1-9][0-9]{0,5})")
THESE_ITEMS = "these-items"  # the claim over new samples alone
OF_THESE_RUNS = (THESE_ITEMS, "these-runs")  # claims that no run is drawn anew for


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is made of the samples of an item."""

    name: str  # what it is called: pass@5; "" for the mean
    k: int = 1  # how many samples it is about
    whole: bool = False  # whether all of them must be right, not one

    def of(self, right: Floats, samples: Floats) -> Floats:
        """Return the estimate of each item, from how many of its samples are right."""
        return (share_of_all if self.whole else share_of_any)(right, samples, self.k)

    def variance(self, right: Floats, samples: Floats) -> Floats:
        """Return its variance over new samples."""
        return jackknife_share(right if self.whole else samples - right, samples, self.k)


def list_estimates(names: Sequence[str]) -> tuple[tuple[Estimate, ...], str | None]:
    """Return what to estimate from samples, such as pass@5 and pass^3, and what from a corpus, such as bleu."""
    matched = {name: PASS.fullmatch(name) for name in names}
    if wrong := next((name for name, match in matched.items() if name.startswith("pass") and not match), None):
        raise ScoresError(f"--estimate {wrong}: it can be pass@K (one of K samples is right) or pass^K (all are)")
    found = tuple(Estimate(name, int(match[2]), match[1] == "^") for name, match in matched.items() if match)
    others = ",".join(name for name, match in matched.items() if not match)  # a comma may belong to a metric's options
    if found and others:
        raise ScoresError(
            f"--estimate {','.join(names)}: {found[0].name} is about samples, {others} is not: ask for one of them"
        )
    return found, others or None


def estimate_samples(scores: Scores, estimates: Sequence[Estimate], *, these_items: bool) -> Scores:
    """Return one row for each run and item: the mean of its samples or, for each of the estimates, a metric.

    With `these_items` the variance of every row over new samples must be known; without either, rows are as they are.
    """
    if not estimates and not these_items:
        return scores
    asked = f"--estimate {estimates[0].name}" if estimates else f"--claim {THESE_ITEMS}"
    usable = scores.only(scores.usable)
    if usable.item is None or usable.sample is None:
        raise ScoresError(
            f"{asked}: no column tells the samples of {'an item' if usable.item else 'a run'} apart: name it with "
            f"--samples{'' if usable.item else ', and the items with --item'}"
        )
    cells = cross(usable.run, usable.dataset, usable.item, usable.metric)
    repeated = len(usable) - cross(cells.codes, usable.sample).count
    if repeated:
        raise ScoresError(
            f"{asked}: {format_counted(repeated, 'score')} {'repeats' if repeated == 1 else 'repeat'} a run, an item "
            "and a sample, so samples can't be counted: see holdsup check"
        )
    counts = cells.sizes().astype(float)
    if these_items:
        _require(usable, cells, counts, max((e.k for e in estimates), default=1) + 1, asked)
    if not estimates:
        return average_samples(usable)
    table = usable.take(cells.first)
    _require(usable, cells, counts, max(e.k for e in estimates), f"--estimate {max(estimates, key=lambda e: e.k).name}")
    right = np.bincount(cells.codes, _find_right(usable, asked)).astype(float)
    metrics = ("",) if table.metric is None else tuple(f"{name} " for name in table.metric.names)
    names = [f"{metric}{each.name}" for metric in metrics for each in estimates]
    own = np.zeros(len(table), int) if table.metric is None else table.metric.codes
    codes = np.concatenate([own * len(estimates) + place for place in range(len(estimates))])
    named = pa.array(names, pa.string())
    return replace(
        table.take(np.tile(np.arange(len(table)), len(estimates))),
        metric=order_labels(codes.astype(np.int32), named, named),
        roles=replace(scores.roles, higher=tuple(names)),
        score=np.concatenate([each.of(right, counts) for each in estimates]),
        sample=None,
        sampled=Sampled(
            np.tile(counts, len(estimates)), np.concatenate([each.variance(right, counts) for each in estimates])
        ),
    )


def average_samples(scores: Scores) -> Scores:
    """Return one row for each run and item, where samples are told apart: the mean of those that have a score."""
    if scores.sample is None:
        return scores
    usable = scores.only(scores.usable)
    cells = cross(usable.run, usable.dataset, usable.item, usable.metric, *usable.facets.values())
    counts = cells.sizes().astype(float)
    mean = np.bincount(cells.codes, usable.score) / counts
    squares = np.bincount(cells.codes, (usable.score - mean[cells.codes]) ** 2)
    with np.errstate(invalid="ignore"):
        variance = squares / (counts - 1) / counts
    return replace(usable.take(cells.first), score=mean, sample=None, sampled=Sampled(counts, variance))


def _find_right(usable: Scores, asked: str) -> Floats:
    """Return which samples are right: the higher of the two values that a metric's scores have."""
    right = np.zeros(len(usable))
    codes = np.zeros(len(usable), int) if usable.metric is None else usable.metric.codes
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        ends = find_ends(usable.take(rows))
        if ends is None:
            of = f" of {usable.metric.names[code]}" if usable.metric is not None else ""
            values = np.unique(usable.score[rows])
            shown = list_names([f"{value:g}" for value in values], most=3)
            raise ScoresError(
                f"{asked}: a sample is right or wrong, such as 1 or 0, but scores{of} have "
                f"{format_counted(len(values), 'value')}, {shown}: name the right column with --score"
            )
        right[rows] = usable.score[rows] == ends[1]
    return right


def _require(usable: Scores, cells: Crossing, counts: Floats, least: int, asked: str) -> None:
    """Refuse items with fewer samples than it takes."""
    few = np.flatnonzero(counts < least)
    if len(few):
        row = cells.first[few[0]]
        assert usable.item is not None
        item, system = usable.item.names[usable.item.codes[row]], usable.system.names[usable.system.codes[row]]
        raise ScoresError(
            f"{asked}: it takes {format_count(least)} samples of each item, and {format_count(len(few))} of "
            f"{format_count(len(counts))} have fewer: item {item!r} of {system!r} has {int(counts[few[0]])}; give a "
            "smaller K, or --where to leave them out"
        )


def compare_samples(
    evaluation: Evaluation, a: SystemRuns, b: SystemRuns | None, held: NDArray[np.bool_], up: float, level: float
) -> Difference:
    """Return the difference over new samples of these items, or the mean of one system: as compared with zero."""
    nothing = (np.zeros((len(a.scores), 1)), np.full((len(a.scores), 1), 2.0))
    other, settings = (nothing[0], None) if b is None else (b.scores, b.several)
    mine, theirs = a.sampled, nothing if b is None else b.sampled
    if mine is None or theirs is None:
        raise ValueError(f"the claim {THESE_ITEMS} needs samples, and a deterministic system has none.")
    return compare_these_items(
        a.scores + up, other, weights=evaluation.weigh_items(held), variances=(mine[0], theirs[0]),
        counts=(mine[1], theirs[1]), settings=(a.several, settings), level=level,
    )  # fmt: skip


def caution_samples(scores: Scores) -> Iterator[Caution]:
    """Yield that items differ in how many samples they have."""
    if scores.sample is None or scores.item is None:
        return
    usable = scores.only(scores.usable)
    sizes = cross(usable.run, usable.dataset, usable.item, usable.metric).sizes()
    if len(sizes) and sizes.min() < sizes.max():
        yield Caution(
            code="uneven-samples",
            severity="note",
            about="data",
            message=f"Items have {sizes.min():,} to {sizes.max():,} samples: each is scored by its own, and all items "
            "weigh the same.",
        )
