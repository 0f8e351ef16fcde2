"""A result of every kind that a report shows, on small data, with any names in any place where a name can stand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

import holdsup
from holdsup.metrics import make_metric
from holdsup.results import Result
from holdsup.splits import BlockedCV
from holdsup.verdict.contest import Contest, Partition, Trained, judge_contest
from holdsup.verdict.tuning import judge_tuning

PLAIN = ("baseline", "new", "wide", "news", "web", "seed", "length", "genre", "code", "lab A", "lab B", "C", "gamma")
ITEMS, RUNS = 12, 3


def make_results(names: Sequence[str] = PLAIN, *, systems: int = 3) -> list[Result]:
    """Return one result of each kind; the first `systems` names are systems, and all of them stand somewhere."""
    scores = make_scores(names, systems)
    roles = {"system": "system", "item": "item", "score": "score", "facets": [names[5]]}
    properties = [names[6], names[7]]
    compared = holdsup.compare_systems(scores, **roles, properties=properties, by=properties, baseline=names[0])
    return [
        holdsup.audit_scores(scores, **roles, properties=properties, score_range=(0, 0.5)),
        compared,
        holdsup.decompose_variance(make_scores(names, 3), **roles, properties=properties, by=properties[:1]),
        holdsup.assess_reproduction(make_measurements(names)),
        make_contest(names),
        judge_tuning(
            np.random.default_rng(3).normal(0.8, 0.01, (4, len(names))),
            [{names[11]: name, "rate": i} for i, name in enumerate(names)],
            k=5, metric_name=names[3], seed=1,
        ),
        holdsup.fit_lmm("score ~ system + (1 | item)", scores),
        holdsup.fit_glmm("right ~ system + (1 | item)", {**scores, "right": [float(round(1000 * s) % 2) for s in scores["score"]]}),
        holdsup.rank_systems(make_runs(names, systems), folds=0),
        make_gate(names),
        make_votes(names),
        make_run_ranking(names, systems),
        holdsup.plan_evaluation(scores, **roles, replicates=[names[5]], detect=0.2, systems=2, runs=(3, 6)),
    ]  # fmt: skip


def make_scores(names: Sequence[str], systems: int) -> dict[str, list[object]]:
    """Return scores whose labels, and whose columns of a facet and two properties, have these names."""
    table = holdsup.simulate_scores(
        {name: 0.5 + i / 100 for i, name in enumerate(names[:systems])}, items=ITEMS, runs=RUNS
    )
    items = [int(i) - 1 for i in table["item"].to_pylist()]
    return {
        "system": [str(name) for name in table["system"].to_pylist()],
        names[5]: [f"{names[5]}{seed}" for seed in table["seed"].to_pylist()],
        "item": [names[-1 - i % len(names)] for i in items],
        "score": table["score"].to_pylist(),
        names[6]: [float(i) for i in items],
        names[7]: [names[3 + i % 2] for i in items],
    }


def make_gate(names: Sequence[str]) -> Result:
    """Return a gate by two metrics on two tasks that have some of the names, of systems that have the first two."""
    sides = []
    for seed, name in enumerate(names[:2]):
        table = holdsup.simulate_scores({name: 0.7}, items=ITEMS, runs=RUNS, seed=seed).to_pydict()
        parts = list(itertools.product(names[3:5], names[6:8]))
        rows = {key: values * len(parts) for key, values in table.items()}
        for place, column in enumerate(("metric", "task")):
            rows[column] = [part[place] for part in parts for _ in table["score"]]
        sides.append(rows)
    return holdsup.gate_release(*sides, drop=0.02)


def make_votes(names: Sequence[str]) -> Result:
    """Return a ranking by votes for the first three names on prompts and by annotators that have others."""
    pairs = [pair for pair in itertools.permutations(names[:3], 2) for _ in range(4)]
    return holdsup.rank_votes({
        "a": [a for a, _ in pairs], "b": [b for _, b in pairs], "length_a": [i % 5 for i in range(24)],
        "length_b": [i % 3 for i in range(24)], "winner": [("a", "b", "tie", "a", "b")[i % 5] for i in range(24)],
        "annotator": [names[3 + i % 3] for i in range(24)], "prompt": [names[6 + i % 4] for i in range(24)],
    }, adjust="length")  # fmt: skip


def make_run_ranking(names: Sequence[str], systems: int) -> Result:
    """Return a ranking by the IQM over the runs of tasks, whose columns are those of `make_runs`."""
    return holdsup.rank_runs(make_runs(names, systems))


def make_runs(names: Sequence[str], systems: int) -> dict[str, list[object]]:
    """Return a score for each system, dataset and seed; the first names are systems, the next three datasets."""
    rng = np.random.default_rng(4)
    cells = list(itertools.product(names[:systems], names[3:6], ("1", "2")))
    columns: list[list[object]] = [list(column) for column in zip(*cells, strict=True)]
    return dict(
        zip(("system", "dataset", "seed", "score"), [*columns, rng.normal(0.7, 0.05, len(cells)).tolist()], strict=True)
    )


def make_measurements(names: Sequence[str]) -> list[dict[str, object]]:
    """Return measurements of objects that have these names, under conditions that have some of them."""
    return [
        {"object": name, "measurand": names[3], "value": 0.7 + 0.01 * lab + 0.001 * place, "source": names[9 + lab],
         "code": names[8], "performed_by": names[9 + lab], "specification": name}
        for place, name in enumerate(names)
        for lab in range(2)
    ]  # fmt: skip


def make_contest(names: Sequence[str], *, partitions: int = 20) -> Contest:
    """Return a contest of two systems that have the first two names."""
    targets = [i % 2 for i in range(40)]
    told = []
    for seed in range(partitions):
        rng = np.random.default_rng(seed)
        trained: dict[str, list[Trained]] = {name: [] for name in names[:2]}
        for place, split in enumerate(BlockedCV(m=3, seed=seed).split(targets)):
            for name, accuracy in zip(names[:2], (0.8, 0.7), strict=True):
                right = rng.random(len(split.test)) < accuracy
                said = [targets[i] if ok else 1 - targets[i] for i, ok in zip(split.test, right, strict=True)]
                one = Trained(repetition=place // 2 + 1, fold=place % 2 + 1, test=split.test, predictions=said)
                trained[name].append(one)
        told.append(Partition(strategy="blocked", trained={name: tuple(own) for name, own in trained.items()}))
    curve = {name: {20: [0.6, 0.61], 36: [0.7, 0.72]} for name in names[:2]}
    return judge_contest(told, targets, make_metric("accuracy"), learning_curve=curve)
