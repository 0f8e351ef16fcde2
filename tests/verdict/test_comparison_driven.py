"""The verdict of a comparison says what drove it: clusters, the weight of datasets, pairs left out, repeats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import holdsup
from holdsup.errors import ScoresError
from holdsup.numerics.differences import compare_over_datasets
from holdsup.numerics.these_datasets import compare_these_datasets

SIZES = {"news": 40, "web": 10, "talks": 16}


def columns(rows: list[tuple[Any, ...]], *names: str) -> dict[str, list[Any]]:
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def make_table(runs: int = 3) -> dict[str, list[Any]]:
    """Return two systems on three datasets of unequal size; the new one leads on the small one alone."""
    rng = np.random.default_rng(5)
    rows = []
    for system in ("old", "new"):
        for run in range(runs):
            for dataset, count in SIZES.items():
                lead = 0.3 * (system == "new" and dataset == "web")
                for i in range(count):
                    score = 0.5 + lead + rng.normal(0, 0.05)
                    rows.append((system, str(run), dataset, f"{dataset}{i}", f"{dataset}-{i // 4}", score))
    return columns(rows, "system", "seed", "dataset", "item", "document", "score")


@pytest.mark.parametrize("claim", [None, "these-runs"])
def test_datasets_weigh_the_same_or_items_do_and_the_verdict_says_which(claim: str | None) -> None:
    table = make_table()
    scores, system, dataset = (np.array(table[name]) for name in ("score", "system", "dataset"))
    plain = {name: scores[system == name].mean() for name in ("old", "new")}
    equal = {
        name: np.mean([scores[(system == name) & (dataset == d)].mean() for d in SIZES]) for name in ("old", "new")
    }
    for average, means in (("macro", equal), ("micro", plain)):
        found = holdsup.compare_systems(table, average=average, claim=claim, cluster="-")
        assert {s.name: s.mean for s in found.systems} == pytest.approx(means)
        (contrast,) = found.contrasts
        assert contrast.difference == pytest.approx(means["new"] - means["old"])
        assert found.average == average
        assert ("Datasets weigh the same" in found.verdict) == (average == "macro")
        assert ("Items weigh the same" in found.verdict) == (average == "micro")
        assert ("average:micro" in found.signature) == (average == "micro")
    assert {s.name: s.mean for s in holdsup.audit_scores(table).systems} == pytest.approx(equal)


def test_over_these_datasets_the_variance_is_that_of_a_stratified_sample() -> None:
    rng = np.random.default_rng(2)
    codes = np.repeat([0, 1, 2], list(SIZES.values()))
    difference = rng.normal(0, 1, len(codes)) + codes
    found = compare_these_datasets(
        difference[:, None], np.zeros((len(codes), 1)), codes, new_runs=False, weights=np.bincount(codes)
    )
    parts = [difference[codes == code] for code in range(3)]
    assert found.estimate == pytest.approx(difference.mean())
    assert found.se**2 == pytest.approx(sum((len(p) / len(codes)) ** 2 * p.var(ddof=1) / len(p) for p in parts))


def test_another_average_is_refused() -> None:
    with pytest.raises(ScoresError, match="it can be macro"):
        holdsup.compare_systems(make_table(), average="median")


def test_new_datasets_weighed_by_items_keep_their_promise() -> None:
    """Of 400 true nulls, with systems that differ from dataset to dataset, no more than one in twenty is rejected."""
    rng = np.random.default_rng(0)
    rejected = np.zeros(2)
    for _ in range(400):
        codes = np.repeat(np.arange(6), rng.permutation([10, 10, 10, 40, 40, 40]))
        item = rng.normal(0, 0.2, (len(codes), 1))

        def score(runs: np.ndarray, codes: np.ndarray = codes, item: np.ndarray = item) -> np.ndarray:
            noise = rng.normal(0, 0.1, (len(codes), 3))
            return np.asarray(item + rng.normal(0, 0.05, (6, 1))[codes] + runs + noise)

        shared = [score(rng.normal(0, 0.02, (1, 3))) for _ in range(2)]  # the same runs on all datasets
        nested = [score(rng.normal(0, 0.02, (6, 3))[codes]) for _ in range(2)]
        rejected += [
            compare_over_datasets(*shared, clusters=codes).p <= 0.05,
            compare_over_datasets(*nested, nested=(True, True), clusters=codes).p <= 0.05,
        ]
    assert (rejected / 400 < 0.05 + 3 * 0.011).all()  # three standard errors of so many trials


@pytest.mark.parametrize(
    ("column", "words"),
    [("document", "new documents like these"), ("doc_id", "new documents like these"), ("blk", "new clusters (blk)")],
)
def test_clusters_are_what_is_drawn_anew(column: str, words: str) -> None:
    table = make_table(runs=1)
    table[column] = table.pop("document")
    del table["dataset"]
    assert words in holdsup.compare_systems(table, cluster=column).verdict


def test_pairs_left_out_are_told_and_the_rest_is_not_called_all() -> None:
    rng = np.random.default_rng(1)
    plain = rng.normal(size=20)
    scores = {"A": plain, "B": plain + 0.5, "C": plain[::-1]}
    rows = [(name, f"i{i}", float(value)) for name, own in scores.items() for i, value in enumerate(own)]
    found = holdsup.compare_systems(columns(rows, "system", "item", "score"))
    assert "1 of 3 pairs could not be compared" in str(found)
    assert "scored the same" not in found.verdict


def test_many_repeats_are_told_in_the_verdict() -> None:
    table = make_table(runs=1)
    rows = list(zip(*(table[name] for name in ("system", "item", "score")), strict=True))
    twice = columns([*rows, *((s, i, x + 0.01) for s, i, x in rows)], "system", "item", "score")
    found = holdsup.compare_systems(twice)
    assert {s.averaged for s in found.systems} == {len(rows) // 2}
    assert f", {len(rows) // 2} duplicates" in str(found)
    assert any(c.code == "repeated-scores" and c.severity == "warning" for c in found.cautions)
