"""How often a difference of two corpus scores is wrongly found, and how often its CI covers the truth.

Counts of items are drawn for corpus BLEU, micro F1 and WER: sentences are hard or easy for everybody, for one system
and for one run of it, and runs differ. The counts go through influence values and the rule of `compare`: for these runs
where there is one, for new runs otherwise. Beside it stands what a bootstrap of items, and of items and runs, finds.
Run it with::

    nice -n 10 python benchmarks/corpus.py [--tables 2000]

It prints a line of JSON for each design; docs/calibration.md has them as tables.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import HoldsupError
from holdsup.metrics import make_metric
from holdsup.metrics.corpus import Corpus
from holdsup.numerics.differences import compare_new_runs, compare_these_runs

Floats = NDArray[np.float64]
METRICS = {
    "bleu": make_metric("bleu"),
    "low bleu": make_metric("bleu"),
    "micro_f1": make_metric("f1", average="micro"),
    "rare f1": make_metric("f1", average="micro"),
    "wer": make_metric("wer"),
    "uneven wer": make_metric("wer"),
}
SHIFT = 0.12  # of the better system, in logits, where coverage is measured
RUN = 0.06  # SD between runs, in logits
MANY = (400, 4000, 20)  # runs and items of which the truth is made, and in how many parts items are drawn anew


@dataclass(frozen=True)
class Case:
    """A design: the metric, how many runs each system has on how many items, and how much runs differ."""

    metric: str
    runs: int
    items: int
    run: float

    def draw(self, rng: np.random.Generator, shift: float, items: Floats, runs: int) -> Floats:
        """Return the counts of a system, shape (runs, items, counts); `items` is what everybody finds hard."""
        number = items.shape[1]
        ease = items[0] + rng.normal(0, 0.4, number) + rng.normal(0, 0.3, (runs, number))
        ease = ease + shift + rng.normal(0, self.run, (runs, 1))
        uneven = 3.0 if self.metric == "uneven wer" else 1.0  # a few items with most of the words
        length = np.maximum(1, np.round(np.exp(3 + uneven * (items[1] - 3)))).astype(int)
        if self.metric.endswith("bleu"):
            return _count_words(rng, ease - (2.2 if self.metric == "low bleu" else 0), length)
        if self.metric.endswith("wer"):
            wrong = rng.poisson(length * 1.3 / (1 + np.exp(ease + 0.8)) * rng.gamma(2, 0.5, (runs, number)))
            return np.stack([wrong, np.broadcast_to(length, wrong.shape)], -1).astype(float)
        rare = 0.05 if self.metric == "rare f1" else 1.0
        expected = np.minimum(items[2], 40).astype(int) if rare == 1 else (items[3] < rare).astype(int)
        right = 1 / (1 + np.exp(-ease - 1))
        matched = rng.binomial(expected, right)
        spurious = rng.poisson(rare * 1.5 * (1 - right))
        return np.stack([matched, matched + spurious, np.broadcast_to(expected, matched.shape)], -1).astype(float)


def _count_words(rng: np.random.Generator, ease: Floats, length: NDArray[np.int_]) -> Floats:
    """Return counts of BLEU: a hypothesis a little longer or shorter, each n-gram right if its beginning is."""
    right = 1 / (1 + np.exp(-ease - 0.6))
    ours = np.maximum(1, np.round(length * np.exp(rng.normal(-0.02, 0.08, ease.shape)))).astype(int)
    totals = [np.maximum(ours - n, 0) for n in range(4)]
    correct = [rng.binomial(np.minimum(ours, length), right)]
    for n in range(1, 4):
        correct.append(np.minimum(rng.binomial(correct[-1], right**0.7), totals[n]))
    return np.stack([ours, np.broadcast_to(length, ours.shape), *correct, *totals], -1).astype(float)


def draw_items(rng: np.random.Generator, number: int) -> Floats:
    """Return how easy items are, the logarithm of their length, how much there is to find, and a number for each."""
    return np.stack(
        [
            rng.normal(0, 0.6, number),
            rng.normal(3, 0.5, number),
            rng.negative_binomial(1, 0.35, number),
            rng.random(number),
        ]
    )


def find_truth(case: Case, shift: float) -> float:
    """Return the score of a system on all items, averaged over all runs."""
    rng = np.random.default_rng(10**6)
    runs, items, parts = MANY
    drawn = [case.draw(rng, shift, draw_items(rng, items), runs // parts).sum(1) for _ in range(parts)]
    return float(np.mean([METRICS[case.metric].score(sums).mean() for sums in drawn]))


def influence(case: Case, counts: Floats) -> Floats:
    """Return the influence values of each run, shape (items, runs)."""
    corpus = Corpus(METRICS[case.metric], counts.reshape(-1, counts.shape[-1]))
    number = counts.shape[1]
    return np.stack([corpus.influences(np.arange(number) + number * k) for k in range(len(counts))], -1)


def resample(
    case: Case, sides: tuple[Floats, Floats], rng: np.random.Generator, *, runs: bool, draws: int = 200
) -> bool:
    """Return whether a percentile interval of samples of items, and of runs, leaves out zero."""
    number, found = sides[0].shape[1], []
    for _ in range(draws):
        items = np.bincount(rng.integers(number, size=number), minlength=number).astype(float)
        means = []
        for side in sides:
            drawn = side[rng.integers(len(side), size=len(side))] if runs else side
            means.append(METRICS[case.metric].score(np.einsum("i,rik->rk", items, drawn)).mean())
        found.append(means[0] - means[1])
    low, high = np.quantile(found, [0.025, 0.975])
    return not low <= 0 <= high


def measure(case: Case, tables: int, resampled: int, seed: int) -> dict[str, object]:
    """Return how often a true null is rejected, and how often the CI of a difference covers it."""
    rng = np.random.default_rng(seed)
    truth = find_truth(case, SHIFT) - find_truth(case, 0.0)
    rejected = covered = by_items = by_runs = done = 0
    began = time.process_time()
    for table in range(tables):
        items = draw_items(rng, case.items)
        base, same, better = (case.draw(rng, shift, items, case.runs) for shift in (0.0, 0.0, SHIFT))
        compare = compare_these_runs if case.runs == 1 else compare_new_runs
        try:
            x, y, z = (influence(case, side) for side in (base, same, better))
            null, found = compare(x, y), compare(z, x)
        except (HoldsupError, ValueError):  # no score without some item, or nothing varies: compare says so
            continue
        done += 1
        rejected += null.p <= 0.05
        covered += found.low <= truth <= found.high
        if table < resampled:
            by_items += resample(case, (base, same), rng, runs=False)
            by_runs += resample(case, (base, same), rng, runs=True)
    share = {"items": by_items, "runs": by_runs} if resampled else {}
    return {
        "metric": case.metric, "runs": case.runs, "items": case.items, "run_sd": case.run, "tables": done,
        "undefined": tables - done, "score": round(find_truth(case, 0.0), 3), "difference": round(truth, 4),
        "false_positives": round(100 * rejected / done, 1), "coverage": round(100 * covered / done, 1),
        **{f"bootstrap_{what}": round(100 * count / resampled, 1) for what, count in share.items()},
        "cpu": round(time.process_time() - began, 1),
    }  # fmt: skip


def main() -> None:
    """Print a line for each design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--resampled", type=int, default=0)
    parser.add_argument("--metrics", default=",".join(METRICS))
    parser.add_argument("--runs", default="1,2,3,5")
    parser.add_argument("--items", default="100,300,1000")
    parser.add_argument("--sd", default=f"0,{RUN}")
    asked = parser.parse_args()
    for metric in asked.metrics.split(","):
        for runs in map(int, asked.runs.split(",")):
            for items in map(int, asked.items.split(",")):
                for sd in map(float, asked.sd.split(",")):
                    if runs > 1 or sd == 0:
                        case = Case(metric, runs, items, sd)
                        print(json.dumps(measure(case, asked.tables, asked.resampled, seed=1)), flush=True)


if __name__ == "__main__":
    main()
