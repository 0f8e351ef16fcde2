"""What does a contest find where there is no difference?

    python benchmarks/contest_null.py [--corpora 300] [--single 2000] [--seed 1] [--only documents]

Two learners that are equally good by construction (each sees its own half of exchangeable features), or one learner
twice with another seed, are trained on blocked 3x2 splits of simulated corpora. Some corpora are a few documents, kept
whole, whose items share half of their features' variance; "fixed" systems learn nothing, so that no noise of training
makes the test cautious. Counted over corpora are false
positives at 5% of the blocked t-test with one partition, ours and as published, and with 20; and, of each estimator
over 20 partitions, the share of partitions won by the system named first, and how often limits of the
reproducibility lie above .5 and above .8. Reproducibility speaks of splits of one corpus: where two systems differ on
that corpus by accident, its splits reproduce the accident.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from holdsup.numerics.contests import blocked_t
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from holdsup.splits import BlockedCV
from holdsup.verdict.contest.estimates import Duel, count_units, describe_estimators
from measuring import record

M = 3
PARTITIONS = 20
ALPHA = 0.05
Learner = Callable[..., np.ndarray]  # (inputs, targets, unseen, rng) -> predictions, 0 or 1


def centroid(x: np.ndarray, y: np.ndarray, unseen: np.ndarray, _: np.random.Generator) -> np.ndarray:
    """Predict the class whose mean is nearer."""
    means = [x[y == label].mean(0) for label in (0, 1)]
    return (((unseen - means[0]) ** 2).sum(1) > ((unseen - means[1]) ** 2).sum(1)).astype(int)


def ridge(x: np.ndarray, y: np.ndarray, unseen: np.ndarray, _: np.random.Generator) -> np.ndarray:
    """Predict the sign of a regression."""
    design = np.c_[x, np.ones(len(x))]
    weights = np.linalg.solve(design.T @ design + 1e-3 * np.eye(design.shape[1]), design.T @ (2 * y - 1))
    return (np.c_[unseen, np.ones(len(unseen))] @ weights > 0).astype(int)


def stump(x: np.ndarray, y: np.ndarray, unseen: np.ndarray, _: np.random.Generator) -> np.ndarray:
    """Predict by the one feature that is best in training: another half of the corpus may choose another one."""
    cut = x.mean(0)
    right = ((x > cut) == y[:, None]).mean(0)
    best = int(np.abs(right - 0.5).argmax())
    return ((unseen[:, best] > cut[best]) ^ (right[best] < 0.5)).astype(int)


def fixed(_x: np.ndarray, _y: np.ndarray, unseen: np.ndarray, _: np.random.Generator) -> np.ndarray:
    """Predict by the sum of the features, whatever there was to learn."""
    return (unseen.sum(1) > 0).astype(int)


def seeded(x: np.ndarray, y: np.ndarray, unseen: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Predict as `ridge`, trained on a draw with replacement: a system whose seed matters."""
    drawn = rng.integers(0, len(y), len(y))
    return ridge(x[drawn], y[drawn], unseen, rng)


class Case(NamedTuple):
    """Two equal systems: how they learn, items, features of each, distance of classes, whether both see the same."""

    learner: Learner
    items: int
    features: int
    distance: float
    same: bool = False
    documents: tuple[float, ...] = ()  # the share of items of each; none where items are on their own


UNEQUAL = tuple(np.exp(np.linspace(-1, 1, 12)).tolist())  # the largest has seven times the items of the smallest
CASES = {
    "centroids": Case(centroid, 200, 5, 0.5),
    "centroids, 60 items": Case(centroid, 60, 10, 0.3),
    "regressions": Case(ridge, 200, 20, 0.3),
    "stumps": Case(stump, 200, 5, 0.5),
    "one system, two seeds": Case(seeded, 200, 20, 0.3, same=True),
    "fixed, 8 documents": Case(fixed, 200, 5, 0.5, documents=(1,) * 8),
    "fixed, 12 documents": Case(fixed, 300, 5, 0.5, documents=(1,) * 12),
    "fixed, 12 unequal documents": Case(fixed, 300, 5, 0.5, documents=UNEQUAL),
    "centroids, 8 documents": Case(centroid, 200, 5, 0.5, documents=(1,) * 8),
}


def find_documents(case: Case) -> np.ndarray | None:
    """Return the document of each item, None where items are on their own."""
    if not case.documents:
        return None
    ends = np.cumsum(case.documents) / sum(case.documents)
    return np.searchsorted(ends, (np.arange(case.items) + 0.5) / case.items)


def duel(named: str, partitions: int, seed: int) -> Duel:
    """Return two equal systems on one simulated corpus."""
    case = CASES[named]
    learner, items, features, same = case.learner, case.items, case.features, case.same
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(items) % 2)
    documents = find_documents(case)
    x = rng.standard_normal((items, features * (1 if same else 2)))
    if documents is not None:
        x = np.sqrt(0.5) * (x + rng.standard_normal((len(case.documents), x.shape[1]))[documents])
    x += case.distance * (y[:, None] - 0.5)
    views = (x, x) if same else (x[:, :features], x[:, features:])
    folds = np.empty((partitions, 2 * M))
    voted = np.empty(partitions)
    votes = np.zeros((2, partitions, items))
    for number, split in enumerate(BlockedCV(m=M, repeats=partitions, seed=seed).split(y, None, documents)):
        partition, fold = divmod(number, 2 * M)
        scores = []
        for system, view in enumerate(views):
            said = learner(view[split.train], y[split.train], view[split.test], rng)
            votes[system, partition, split.test] += said
            scores.append((said == y[split.test]).mean())
        folds[partition, fold] = scores[0] - scores[1]
    right = (votes > M / 2) == y
    voted = right[0].mean(1) - right[1].mean(1)
    return Duel(left="A", right="B", strategy="blocked", folds=folds, voted=voted)


def reject(duels: list[Duel], *, units: float | None = None, published: bool = False) -> float:
    """Return how often the blocked t-test rejects."""
    return float(np.mean([blocked_t(one.folds, units=units, published=published).tail.p < ALPHA for one in duels]))


def find_width(duels: list[Duel]) -> float:
    """Return the standard error of the averaged difference, root mean square, over its deviation between corpora."""
    squares = [blocked_t(one.folds).se ** 2 for one in duels]
    return float(np.sqrt(np.mean(squares)) / np.std([one.folds.mean() for one in duels], ddof=1))


def name_winners(duels: list[Duel]) -> dict[str, list[float]]:
    """Return, by estimator: partitions won by the first; limits above .5, and above .8, for one system or the other."""
    found: dict[str, list[list[float]]] = defaultdict(list)
    for one in duels:
        pairs = (describe_estimators(who, margin=0, level=0.95) for who in (one, one.turned()))
        for first, second in zip(*pairs, strict=True):
            low = max(first.low or 0.0, second.low or 0.0)
            found[first.estimator].append([first.wins / PARTITIONS, low > 0.5, low >= 0.8])
    return {name: np.mean(values, axis=0).tolist() for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=int, default=300)
    parser.add_argument("--single", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="cases whose names hold this")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    tests, shares = [], []
    for case in (name for name in CASES if options.only in name):
        documents = find_documents(CASES[case])
        units = count_units(CASES[case].items, None if documents is None else documents.tolist())
        single = [duel(case, 1, options.seed + corpus) for corpus in range(options.single)]
        several = [duel(case, PARTITIONS, options.seed + corpus) for corpus in range(options.corpora)]
        ours, published = reject(single), reject(single, published=True)
        independent, pooled, wide = reject(several), reject(several, units=units), find_width(several)
        shown = (f"{100 * rate:.1f}%" for rate in (ours, published, independent, pooled))
        tests.append((case, *shown, f"{wide:.2f}"))
        found = name_winners(several)
        shares += [(case, name, *(f"{100 * share:.0f}%" for share in values)) for name, values in found.items()]
        rows.append(
            {
                "case": case,
                "ours": ours,
                "published": published,
                "independent": independent,
                "pooled": pooled,
                "width": wide,
                "shares": found,
            }
        )
    columns = ("", "one partition, ours", "as published", f"{PARTITIONS} partitions as if independent", "ours",
               "its se over the sd")  # fmt: skip
    print(
        render_text(Table(title="False positives at 5%, blocked 3x2 t", columns=columns, rows=tuple(tests)), width=120)
    )
    columns = ("", "estimator", "partitions won by the first", "limits above .5", "limits above .8")
    title = f"No difference, {PARTITIONS} partitions: shares of partitions, and of corpora that name a winner"
    print(render_text(Table(title=title, columns=columns, rows=tuple(shares)), width=120))
    record(
        "contest_null",
        [{"corpora": options.corpora, "single": options.single, "seed": options.seed, **row} for row in rows],
    )


if __name__ == "__main__":
    main()
