"""What cannot be judged: one clear line, nothing dropped silently."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from contest_cases import guess, labels, partitions

from holdsup.errors import HoldsupError, MetricError, ScoresError, SplitError
from holdsup.metrics import make_metric
from holdsup.verdict.contest import Partition, Trained, decide_sequentially, judge_contest

ACCURACY = make_metric("accuracy")
TARGETS = labels(24)
MADE = partitions(TARGETS, {"A": guess(0.8), "B": guess(0.5)}, number=2)


def changed(partition: Partition, system: str, place: int, **values: Any) -> Partition:
    own = list(partition.trained[system])
    own[place] = replace(own[place], **values)
    return Partition(strategy=partition.strategy, trained={**partition.trained, system: tuple(own)})


ONLY = MADE[0].trained["A"]
CURVE = {"A": {4: [0.5], 8: [0.6]}}
REFUSED = {
    "no partition": ({"partitions": []}, SplitError, "at least one partition"),
    "one system": ({"partitions": [Partition(strategy="blocked", trained={"A": ONLY})]}, SplitError, "two systems"),
    "strategy": ({"partitions": [replace(MADE[0], strategy="loo")]}, SplitError, "'loo'"),
    "other systems": (
        {"partitions": [MADE[0], Partition(strategy="blocked", trained={"A": ONLY, "C": ONLY})]}, SplitError, "'C'",
    ),
    "predictions of unequal length": (
        {"partitions": [MADE[0], changed(MADE[1], "B", 2, predictions=["a"] * 11)]}, MetricError,
        "B in fold 1 of repetition 2, partition 2 has 11 predictions for 12 items: give one for each",
    ),
    "other items": (
        {"partitions": [changed(MADE[0], "B", 0, test=np.arange(12))]}, SplitError, "not tested on the same splits",
    ),
    "fold missing": (
        {"partitions": [Partition(strategy="blocked", trained={k: v[:5] for k, v in MADE[0].trained.items()})]},
        SplitError, "is blocked",
    ),
    "fewer splits": (
        {"partitions": [MADE[0], *partitions(TARGETS, {"A": guess(0.8), "B": guess(0.5)}, number=1, m=2)]},
        SplitError, "has 4 splits, but earlier ones have 6",
    ),
    "nothing to score": (
        {"partitions": [changed(MADE[0], "A", 0, predictions=None)]}, MetricError, "neither predictions nor counts",
    ),
    "counts of another metric": (
        {"partitions": [changed(MADE[0], "A", 0, counts=[1, 2, 3])]}, MetricError, "accuracy needs 2 counts",
    ),
    "no targets": ({"targets": None}, SplitError, "give test and targets"),
    "too few targets": ({"targets": TARGETS[:20]}, SplitError, "outside the 20 targets"),
    "level": ({"level": 95}, ScoresError, "level is 95"),
    "margin": ({"margin": -1.0}, ScoresError, "margin"),
    "estimator": ({"estimator": "mean"}, ScoresError, "holdout, averaged, vote"),
    "correction": ({"correction": "none"}, ScoresError, "holm, bonferroni"),
    "conclusion": ({"conclusion": "A>C"}, ScoresError, "'A>B': name two of the systems 'A', 'B'"),
    "pair": ({"pairs": [("A", "C")]}, ScoresError, "is not a pair of systems"),
    "pair twice": ({"pairs": [("A", "B"), ("B", "A")]}, ScoresError, "given twice"),
    "curve of one system": ({"learning_curve": CURVE}, ScoresError, "lacks 'B'"),
    "curve of one size": ({"learning_curve": {"A": {4: [0.5]}, "B": {4: [0.5]}}}, ScoresError, "two sizes"),
    "curve with other sizes": (
        {"learning_curve": {**CURVE, "B": {4: [0.5], 9: [0.5]}}}, ScoresError, "differ in sizes",
    ),
    "curve with nan": (
        {"learning_curve": {**CURVE, "B": {4: [0.5], 8: [float("nan")]}}}, ScoresError, "not a finite number",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("options", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_judged_is_refused_in_one_line(
    options: dict[str, Any], error: type[HoldsupError], message: str
) -> None:
    with pytest.raises(error) as refused:
        judge_contest(**{"partitions": MADE, "targets": TARGETS, "metric": ACCURACY, **options})
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_estimator_that_splits_do_not_have_is_refused() -> None:
    made = partitions(TARGETS, {"A": guess(0.8), "B": guess(0.5)}, number=1, strategy="repeated")
    with pytest.raises(ScoresError, match="repeated splits have no vote estimator here: choose from holdout, averaged"):
        judge_contest(made, TARGETS, ACCURACY, estimator="vote", conclusion="A>B")


def test_a_partition_with_an_undefined_score_is_left_out_and_counted() -> None:
    metric = make_metric("f1", positive="a")
    made = partitions(TARGETS, {"A": guess(0.8), "B": guess(0.5)}, number=3)
    without = [item for item, target in enumerate(TARGETS) if target != "a"][:12]
    test = np.array(without)
    for system in "AB":  # the first fold has no positive, and none is predicted
        made[1] = changed(made[1], system, 0, test=test, predictions=["b"] * 12)
        rest = np.array([item for item in range(24) if item not in without])
        made[1] = changed(made[1], system, 1, test=rest, predictions=[TARGETS[i] for i in rest])
    found = judge_contest(made, TARGETS, metric)
    assert (found.rows.planned, found.rows.used) == (36, 24)
    assert found.conclusions[0].partitions == 2
    (left,) = [each for each in found.cautions if each.code == "undefined-scores"]
    assert left.message.startswith("1 of 3 partitions are left out: a score is undefined there, first f1 of A")
    assert "there is no 'a' to find" in left.message
    assert "24 of 36 trained instances used (12 with an undefined score in their partition)." in found.page().text()
    assert sum(np.isnan(score.score) for score in found.scores) == 2
    with pytest.raises(MetricError, match=r"is undefined: .* and every partition has such a fold"):
        judge_contest([made[1]], TARGETS, metric)


def test_probabilities_must_fit_predictions_and_labels() -> None:
    made = MADE[0]
    for system in "AB":
        for place in range(6):
            made = changed(made, system, place, probabilities=np.ones((12, 2)), labels=("a", "b", "c"))
    with pytest.raises(MetricError, match=r"probabilities of fold 1 of repetition 1 have shape \(12, 2\)"):
        judge_contest([made], TARGETS, ACCURACY)


def test_sequences_of_another_length_are_refused() -> None:
    targets = [["O", "B-X"]] * 8
    systems = {"A": lambda _, known: known, "B": lambda _, known: [tags[:1] for tags in known]}
    with pytest.raises(MetricError, match="has 2 tags, but 1 were predicted"):
        judge_contest(partitions(targets, systems, number=1), targets, make_metric("chunk_f1", scheme="iob2"))


@pytest.mark.parametrize("options", [{"target": 0.5}, {"level": 1.0}])
def test_sequential_options_that_cannot_be_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ScoresError, match=next(iter(options))):
        decide_sequentially([1.0], **options)


def test_counts_alone_are_enough_for_trained_instances() -> None:
    pair = {
        name: (
            Trained(repetition=1, fold=1, counts=[right, 10]),
            Trained(repetition=1, fold=2, counts=[right - 1, 10]),
        )
        for name, right in (("A", 8), ("B", 6))
    }
    found = judge_contest([Partition(strategy="blocked", trained=pair)], None, ACCURACY)
    assert found.estimators[-1].mean == pytest.approx(0.2)
    assert found.items is None
