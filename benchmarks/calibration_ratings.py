"""How often answers about raters, and about human labels beside a judge, are wrong: the tables of docs/calibration.md.

    python benchmarks/calibration_ratings.py --tables 1000

Truth is known: systems do not differ beyond what is drawn, or differ by a known amount.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import norm

from holdsup.numerics.decisions import Difference, decide
from holdsup.numerics.differences import new_runs_test, these_runs_test
from holdsup.numerics.distributions import t_quantile
from holdsup.numerics.prediction_powered import Labelled
from holdsup.numerics.ratings import FEWEST_RATERS, Ratings
from holdsup.numerics.spread import Spread

ITEMS, RATIO = 60, 0.77  # of a table of ratings; variance of items over that of a rating
TASTES = (0.0, 0.15, 0.3, 0.6)  # SD of what a rater gives one system more than others; ratings of one output have SD 1
SCALE = 100.0


def rate(rng: np.random.Generator, systems: int, raters: int, crossing: str, taste: float, loud: float, documents: int):
    """Return ratings of systems that do not differ, and the mean over raters of what they give each system."""
    where = np.ones((systems, ITEMS, raters), bool)
    if crossing == "uneven":  # each output has one rater, and each system shares of its own
        where[:] = False
        for system, share in enumerate(rng.dirichlet(np.full(raters, 4.0), systems)):
            where[system, np.arange(ITEMS), rng.choice(raters, ITEMS, p=share)] = True
    elif crossing == "half":  # about half of the raters rate each item of all systems
        where[:] = rng.random((ITEMS, raters)) < 0.5
        where[:, np.arange(ITEMS), rng.integers(0, raters, ITEMS)] = True
    s, i, r = np.nonzero(where)
    tastes = rng.normal(0, taste, (systems, raters))
    tastes[0] *= loud
    document = np.arange(ITEMS) if not documents else np.arange(ITEMS) * documents // ITEMS
    of_output = (
        rng.normal(0, 0.5, (systems, ITEMS)) + (documents > 0) * rng.normal(0, 0.4, (systems, ITEMS))[:, document]
    )
    score = rng.normal(0, 1, ITEMS)[i] + rng.normal(0, 1, raters)[r] + of_output[s, i] + tastes[s, r]
    score += rng.normal(0, 0.3, (ITEMS, raters))[i, r] + rng.normal(0, 1, len(s))
    seen = np.unique(r, return_inverse=True)[1]
    return Ratings(score, s, seen, i, document[i], RATIO), tastes.mean(axis=1)


def judge(spread: Spread) -> Difference:
    tests = [new_runs_test([spread])] if spread.runs else []
    return decide(float(spread.estimate), [*tests, these_runs_test([spread])], SCALE, 0.95)


def reject(tables: int, systems: int, raters: int, crossing: str, taste: float, loud: float = 1, documents: int = 0):
    """Return in per cent: a pair told apart for new raters, any pair, CIs for these raters that miss; mean widths."""
    rng = np.random.default_rng(raters)
    pairs = [(a, b) for a in range(systems) for b in range(a)]
    found = []
    for _ in range(tables):
        ratings, these = rate(rng, systems, raters, crossing, taste, loud, documents)
        if len(ratings.common(0, 1)) < FEWEST_RATERS:
            continue
        one = judge(ratings.new(0, 1, None))
        moderated = ratings.moderate(pairs)
        least = min(judge(ratings.new(a, b, moderated)).p for a, b in pairs) * len(pairs)
        weights = np.zeros(systems)
        weights[:2] = 1.0, -1.0
        fixed, truth = judge(ratings.these(weights)), these[0] - these[1]
        missed = not fixed.low <= truth <= fixed.high
        found.append((one.p <= 0.05, least <= 0.05, missed, one.high - one.low, fixed.high - fixed.low))
    columns = np.array(found, float)
    return (*(100 * columns[:, :3]).mean(0), *np.median(columns[:, 3:], axis=0))


def list_ratings(tables: int, systems: int, numbers: Sequence[int]) -> Iterator[str]:
    yield "systems  raters  crossing  new raters, taste SD 0  .15  .3  .6  any pair  these raters  widths: new, these"
    for raters in numbers:
        for crossing in ("full", "half", "uneven") if systems == 2 else ("full", "uneven"):
            cells = [reject(tables, systems, raters, crossing, taste) for taste in TASTES]
            rates = "  ".join(f"{cell[0]:4.1f}" for cell in cells)
            at = 2 if crossing == "full" else 0  # where tastes differ, who rated how much decides what "these" means
            yield (
                f"{systems}  {raters:2}  {crossing:6}  {rates}  {max(cell[1] for cell in cells):4.1f}  "
                f"{cells[at][2]:4.1f}  {cells[2][3]:.2f}  {cells[2][4]:.2f}"
            )


def list_odd(tables: int, numbers: Sequence[int]) -> Iterator[str]:
    yield "four systems, taste SD .3: one system's is three times as large; ratings in six documents"
    for raters in numbers:
        loud, documents = (reject(tables, 4, raters, "full", 0.3, *how) for how in ((3, 0), (1, 6)))
        yield f"4  {raters:2}  full    {loud[0]:4.1f} any {loud[1]:4.1f}    {documents[0]:4.1f} any {documents[1]:4.1f}"


def label(rng: np.random.Generator, items: int, labels: int, kind: str, documents: int) -> tuple[Labelled, float]:
    """Return paired differences of two systems, labels of some and a biased judge of all; and the true difference."""
    document = np.arange(items) if not documents else np.arange(items) * documents // items
    hard, of_document = rng.normal(0, 1, items), (documents > 0) * rng.normal(0, 0.3, items)[document]
    noise = rng.normal(0, 1, (2, items))
    if kind == "0/1":
        human = (hard + noise + np.array([[0.2], [0.0]]) + of_document * np.array([[1.0], [0.0]]) > 0).astype(float)
        truth = norm.cdf(0.2 / np.sqrt(2 + 0.09 * (documents > 0))) - 0.5
        guessed = rng.random((2, items)) < np.array([[0.35], [0.2]])  # the judge guesses, and favours the first
        scores = np.where(guessed, rng.random((2, items)) < 0.7, human).astype(float)
    else:
        human = hard + noise + np.array([[0.1], [0.0]]) + of_document * np.array([[1.0], [0.0]])
        truth = 0.1
        scores = 0.8 * human + rng.normal(0, 0.6, (2, items)) + np.array([[2.0], [1.0]]) + 0.3 * hard
    weight, chosen = np.ones(items), np.zeros(items, bool)
    if kind == "weighted":
        chance = np.exp(0.5 * hard)
        chance = np.minimum(1, chance * labels / chance.sum())
        chosen, weight = rng.random(items) < chance, 1 / chance
    else:
        chosen[rng.choice(items, labels, replace=False)] = True
    difference = np.where(chosen, human[0] - human[1], np.nan)
    return Labelled(difference, scores[0] - scores[1], weight, document), float(truth)


def list_labels(tables: int) -> Iterator[str]:
    yield "scores    items  labels  documents  covers  labels alone  judge alone  width  labels alone"
    for kind, items, labels, documents in (
        ("numbers", 1000, 100, 0), ("0/1", 1000, 100, 0), ("numbers", 300, 30, 0), ("0/1", 300, 30, 0),
        ("numbers", 200, 15, 0), ("weighted", 1000, 100, 0), ("numbers", 1000, 100, 40), ("0/1", 1000, 100, 12),
    ):  # fmt: skip
        rng, found = np.random.default_rng(labels), []
        for _ in range(tables):
            both, truth = label(rng, items, labels, kind, documents)
            row = []
            for made in (both.correct(), both.correct(tuned=False)):
                half = t_quantile(0.975, made.df) * made.se
                row += [abs(made.estimate - truth) <= half, 2 * half]
            half = 1.96 * both.judge.std() / np.sqrt(items)
            found.append((row[0], row[2], abs(both.judge.mean() - truth) <= half, row[1], row[3]))
        mean = np.array(found, float).mean(0)
        rates = "  ".join(f"{100 * share:5.1f}" for share in mean[:3])
        yield f"{kind:8}  {items:5}  {labels:3}  {documents:3}  {rates}  {mean[3]:.3f}  {mean[4]:.3f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--raters", type=int, nargs="*", default=[3, 4, 6, 10])
    parser.add_argument("--parts", nargs="*", default=["labels", "2", "5", "odd"])
    given = parser.parse_args()
    makers = {
        "labels": lambda: list_labels(2 * given.tables),
        "2": lambda: list_ratings(given.tables, 2, given.raters),
        "5": lambda: list_ratings(given.tables, 5, given.raters),
        "odd": lambda: list_odd(given.tables, given.raters),
    }
    for line in itertools.chain.from_iterable(makers[part]() for part in given.parts):
        print(line, flush=True)
