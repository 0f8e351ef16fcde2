"""Metrics: counts of items, scores of sums, against scikit-learn and by hand."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from holdsup.errors import MetricError
from holdsup.metrics import Metric, count_systems, make_metric
from holdsup.metrics.catalogue import METRICS
from holdsup.metrics.resampling import bootstrap_difference, permute_systems

MEASURES = {
    "precision": sklearn_metrics.precision_score,
    "recall": sklearn_metrics.recall_score,
    "f1": sklearn_metrics.f1_score,
}


def draw_labels(seed: int, *, items: int = 60) -> tuple[list[str], list[str]]:
    """Return targets and predictions; some labels are never predicted, and some never expected."""
    rng = np.random.default_rng(seed)
    labels = np.array(list("abcdefg"))
    return rng.choice(labels[:5], items).tolist(), rng.choice(labels[rng.integers(4) :], items).tolist()


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("zero_division", [0.0, 1.0, math.nan])
def test_averages_are_those_of_scikit_learn(measure: str, average: str, zero_division: float) -> None:
    metric = make_metric(measure, average=average, labels=list("abcdefg"), zero_division=zero_division)
    lacking = 0
    for seed in range(40):
        targets, predictions = draw_labels(seed, items=8 if seed % 2 else 60)
        lacking += set(targets) != set(predictions)
        expected = MEASURES[measure](targets, predictions, average=average, zero_division=zero_division)
        assert metric.evaluate(targets, predictions) == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert lacking > 20  # labels that are only expected, or only predicted, did occur


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("zero_division", [0.0, 1.0])
def test_a_positive_label_is_scored_as_by_scikit_learn(measure: str, zero_division: float) -> None:
    metric = make_metric(measure, positive="a", zero_division=zero_division, allow_unknown=True)
    for seed in range(40):
        targets, predictions = draw_labels(seed, items=6)
        found = [label == "a" for label in targets], [label == "a" for label in predictions]
        if any(found[0]) or any(found[1]):
            expected = MEASURES[measure](*found, zero_division=zero_division)
            assert metric.evaluate(targets, predictions) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_chosen_labels_are_averaged_as_by_scikit_learn(measure: str, average: str) -> None:
    metric = make_metric(measure, average=average, labels=["b", "c"], allow_unknown=True)
    for seed in range(20):
        targets, predictions = draw_labels(seed)
        expected = MEASURES[measure](targets, predictions, average=average, labels=["b", "c"], zero_division=0)
        assert metric.evaluate(targets, predictions) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_items_with_several_labels_are_scored_as_by_scikit_learn(measure: str, average: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        y, p = rng.random((2, 30, 4)) < 0.3
        y[0] = True  # every label is expected somewhere
        lists = [[np.flatnonzero(row).tolist() for row in table] for table in (y, p)]
        expected = MEASURES[measure](y, p, average=average, zero_division=0)
        assert make_metric(measure, average=average).evaluate(*lists) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("zero_division", [0.0, 1.0, math.nan])
def test_the_columns_of_indicator_rows_are_labels_as_in_scikit_learn(
    measure: str, average: str, zero_division: float
) -> None:
    rng = np.random.default_rng(4)
    metric = make_metric(measure, average=average, zero_division=zero_division)
    empty = 0
    for _ in range(60):
        items, width = rng.integers(1, 12), rng.integers(2, 6)
        y, p = (rng.random((2, items, width)) < rng.uniform(0.05, 0.6)).astype(rng.choice([int, float, bool]))
        if not y.any() and (average == "weighted" or not p.any()):
            continue  # nothing to find, or to weigh by, has no score here
        empty += not (y.any(0) | p.any(0)).all()
        expected = MEASURES[measure](y, p, average=average, zero_division=zero_division)
        found = metric.evaluate(y, p)
        assert metric.evaluate(y.tolist(), list(map(tuple, p.tolist()))) == pytest.approx(found, nan_ok=True)
        if average == "weighted" and math.isnan(found):
            assert math.isnan(zero_division)  # all that has a weight is left out: no score here, 0 in scikit-learn
        else:
            assert found == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert empty > 10  # columns of zeros did occur


def test_indicator_rows_agree_with_scikit_learn_item_by_item() -> None:
    y, p = (np.random.default_rng(5).random((2, 50, 4)) < 0.4).astype(int)
    for name, score in (("accuracy", sklearn_metrics.accuracy_score(y, p)),
                        ("sklearn:f1_samples", sklearn_metrics.f1_score(y, p, average="samples", zero_division=0))):  # fmt: skip
        assert make_metric(name).evaluate(y.tolist(), p.tolist()) == pytest.approx(score)
    counts = make_metric("f1", average="micro").for_targets(y).count(y, p)
    assert counts.tolist() == np.stack([(y & p).sum(1), p.sum(1), y.sum(1)], axis=1).tolist()
    assert make_metric("f1", average="micro").evaluate([[1, 0, 0]], [[0, 0, 1]]) == 0
    assert make_metric("accuracy").evaluate([[1, 0]], [(1, 0)]) == 1


def test_a_part_of_the_targets_is_read_as_all_of_them_are() -> None:
    metric = make_metric("f1", average="micro").for_targets([[0], [0, 1], [1]])  # labels that are called 0 and 1
    assert metric.evaluate([[0, 1]], [[1]]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_a_subset_of_the_items_is_scored_from_its_counts(average: str) -> None:
    targets, predictions = (np.array(values) for values in draw_labels(1, items=200))
    metric = make_metric("f1", average=average, allow_unknown=True, labels=list("abcdefg")).for_targets(targets)
    counts = metric.count(targets, predictions)
    rng = np.random.default_rng(0)
    for _ in range(30):
        some = rng.choice(200, 12)
        expected = sklearn_metrics.f1_score(targets[some], predictions[some], average=average)
        assert metric.score(counts[some].sum(0)) == pytest.approx(expected, rel=1e-12)


EXAMPLES: dict[str, tuple[dict[str, Any], list[Any], list[Any], float]] = {
    # worked by hand: name -> options, targets, predictions, score
    "accuracy": ({}, ["a", "b", "b"], ["a", "b", "a"], 2 / 3),
    "exact_match": ({"normalize": True}, ["The Nile", "42", "red"], ["nile.", "42", "dark red"], 2 / 3),
    "precision": ({"positive": 1}, [1, 0, 1, 1], [1, 1, 0, 1], 2 / 3),
    "recall": ({"positive": 1}, [1, 0, 1, 0], [1, 1, 0, 1], 1 / 2),
    "f1": ({"positive": 1}, [1, 0, 1, 0], [1, 1, 0, 1], 2 / 5),
    "chunk_precision": ({"scheme": "iob2"}, [["B-X", "I-X", "O"]], [["B-X", "I-X", "B-X"]], 1 / 2),
    "chunk_recall": ({"scheme": "iob2"}, [["B-X", "I-X", "B-X"]], [["B-X", "O", "B-X"]], 1 / 2),
    "chunk_f1": ({"scheme": "iobes"}, [["B-X", "E-X"], ["S-Y"]], [["B-X", "E-X"], ["O"]], 2 / 3),
    "token_accuracy": ({}, [["O", "B-X"], ["O"]], [["O", "O"], ["O"]], 2 / 3),
    "mse": ({}, [1.0, 2.0], [2.0, 4.0], 2.5),
    "rmse": ({}, [1.0, 2.0], [2.0, 4.0], math.sqrt(2.5)),
    "mae": ({}, [1, 2], [2.0, 4.0], 1.5),
    "bleu": ({}, ["a b c d e"], ["a b c d"], 100 * math.exp(1 - 5 / 4)),
    "chrf": ({}, ["abc"], ["abd"], 100 * (2 / 3 + 1 / 2 + 0) / 3),
    "ter": ({}, ["a b c d", "e f"], ["c d a b", "e"], 100 * 2 / 6),
    "wer": ({}, ["a b c", "d"], ["a x c d", "d"], 2 / 4),
    "cer": ({}, ["abc"], ["axc"], 1 / 3),
}


def test_every_metric_has_an_example() -> None:
    assert {*EXAMPLES, "perplexity"} == set(METRICS)  # which is of likelihoods, not of predictions


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_have_the_scores_worked_by_hand(name: str) -> None:
    options, targets, predictions, score = EXAMPLES[name]
    assert make_metric(name, **options).evaluate(targets, predictions) == pytest.approx(score, rel=1e-14)


@pytest.mark.parametrize("name", [*EXAMPLES, "macro"])
def test_every_metric_keeps_the_contract(name: str) -> None:
    options, targets, predictions, _ = EXAMPLES.get(name, ({"average": "macro"}, ["a", "b"], ["b", "b"], 0))
    metric = make_metric("f1" if name == "macro" else name, **options).for_targets(targets)
    counts = metric.count(targets, predictions)
    assert counts.shape == (len(targets), len(metric.columns))
    sums = counts.sum(axis=0)
    assert metric.score(np.stack([[sums, sums]] * 3)).shape == (3, 2)  # any leading axes
    assert metric.score(sums) == metric.evaluate(targets, predictions)
    assert metric.why_undefined(sums) is None
    nothing = np.zeros(len(metric.columns))
    assert math.isnan(metric.score(nothing))
    assert metric.why_undefined(nothing)
    if metric.is_mean:
        assert np.mean([metric.evaluate([t], [p]) for t, p in zip(targets, predictions, strict=True)]) == pytest.approx(
            float(metric.score(sums))
        )
    assert pickle.loads(pickle.dumps(metric)) == metric  # a metric goes to workers
    swapped = metric.count(targets[::-1], predictions[::-1])[::-1]
    assert (swapped != counts).sum() == 0


def test_only_errors_are_better_when_lower() -> None:
    lower = [name for name, (options, *_) in EXAMPLES.items() if not make_metric(name, **options).higher_is_better]
    assert lower == ["mse", "rmse", "mae", "ter", "wer", "cer"]


def test_numpy_labels_and_json_labels_are_the_same_labels() -> None:
    predictions = json.loads("[1, 0, 1.0]")
    for name, options in (("accuracy", {}), ("f1", {"average": "macro"})):
        assert make_metric(name, **options).evaluate(np.array([1, 0, 1]), predictions) == 1.0


def test_a_score_without_positives_is_undefined_and_says_why() -> None:
    metric = make_metric("f1", positive="spam")
    sums = metric.count(["ham", "ham"], ["ham", "ham"]).sum(0)
    assert math.isnan(metric.score(sums))
    assert metric.why_undefined(sums) == "there is no 'spam' to find, and none was predicted"
    precision = make_metric("precision", positive="spam", zero_division=math.nan)
    assert precision.why_undefined(np.array([0, 0, 3])) == "no 'spam' was predicted"
    assert make_metric("precision", positive="spam").score(np.array([0, 0, 3])) == 0.0
    recall = make_metric("recall", average="macro", zero_division=math.nan).for_targets([[], ["a"]])
    assert recall.why_undefined(np.array([0, 2, 0])) == "there is no label to find"


def test_a_label_that_no_target_has_is_refused_or_wrong() -> None:
    targets, predictions = ["a", "b", "b"], ["a", "b", "?"]
    with pytest.raises(MetricError, match=r"the prediction of item 2 .*, '\?', is none of the labels 'a', 'b'\."):
        make_metric("f1", average="macro").evaluate(targets, predictions)
    metric = make_metric("f1", average="macro", allow_unknown=True)
    assert metric.evaluate(targets, predictions) == pytest.approx((1 + 2 / 3) / 2)
    micro = make_metric("precision", average="micro", allow_unknown=True)
    assert micro.evaluate(targets, predictions) == pytest.approx(2 / 3)  # "?" is a prediction, and wrong


def test_averages_over_many_labels_take_little_memory() -> None:
    rng = np.random.default_rng(0)
    targets, predictions = rng.integers(100, size=(2, 20_000))
    counts = make_metric("f1", average="macro").for_targets(targets).count(targets, predictions)
    assert counts.shape == (20_000, 300)
    assert counts.nnz == 2 * 20_000 + (targets == predictions).sum()


@pytest.mark.parametrize(
    ("name", "options", "targets", "predictions", "message"),
    [
        ("accuracy", {}, ["a", "b"], ["a"], "there are 2 targets but 1 predictions"),
        ("accuracy", {}, ["a", "b"], ["a", None], "the prediction of item 1 .* is missing: it is None"),
        ("mse", {}, [1.0, 2.0], [1.0, math.nan], "the prediction of item 1 .* is missing: it is nan"),
        ("mse", {}, [1.0], ["1.0"], "item 0 .* is '1.0', but must be a finite number"),
        ("mse", {}, [1.0], [math.inf], "item 0 .* is inf, but must be a finite number"),
        ("accuracy", {}, ["1", "0"], [1, 0], "of different kinds: no prediction could be right"),
        ("accuracy", {}, "ab", ["a", "b"], "not one text: 'ab'"),
        ("f1", {"average": "micro"}, [{"a": 1}], ["a"], "a label must be text or a number, .* but here is {'a': 1}"),
        (
            "f1",
            {"average": "micro"},
            [[1, 0, 0]],
            [[0.9, 0, 0]],
            "the prediction of item 0 .* must be 3 numbers, each 0",
        ),
        (
            "f1",
            {"average": "macro"},
            [[1, 0, 0]],
            [2],
            "the prediction of item 0 .* is 2, but targets are indicator rows",
        ),
        ("f1", {"positive": 1}, [[1, 0, 0]], [[1, 0, 0]], "f1 of 1: targets are indicator rows such as .1, 0, 0."),
        ("f1", {"average": "micro"}, [["O", "B", "O"]], [["B", "O", "O"]], "item 0 .* has a label twice.* chunk_f1"),
        ("f1", {"average": "micro"}, [["a", "b"]], [["a", "a"]], "item 0 .* has a label twice"),
        ("chunk_f1", {"scheme": "iob2"}, [["O", "O"]], [["O"]], "item 0 .* has 2 tags, but 1 were predicted"),
        ("chunk_f1", {"scheme": "iob2"}, [["O"]], ["O"], "item 0 .* is 'O', but must be a list of tags"),
        ("token_accuracy", {}, [["O"]], [["O", "O"]], "item 0 .* has 1 tags, but 2 were predicted"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_one_line(
    name: str, options: dict[str, Any], targets: list[Any], predictions: list[Any], message: str
) -> None:
    with pytest.raises(MetricError, match=message) as caught:
        make_metric(name, **options).count(targets, predictions)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("acuracy", {}, "unknown metric 'acuracy'; choose from accuracy, .* Did you mean 'accuracy'?"),
        ("accuracy", {"average": "macro"}, "the metric accuracy has no option 'average'; it has none"),
        ("f1", {}, "f1 of which labels"),
        ("f1", {"average": "macro", "positive": "a"}, "f1 of which labels"),
        ("f1", {"average": "makro"}, "f1 of which labels"),
        ("f1", {"average": 3}, "average = 3 of the metric f1: it must be text"),
        ("f1", {"positive": 1, "zero_division": 2}, "zero_division = 2 stands for 0/0"),
        (
            "f1",
            {"average": "macro", "labels": []},
            r"labels = \[\] of the metric f1: give a list of text or numbers",
        ),
        ("f1", {"average": "macro", "labels": [["a"]]}, "give a list of text or numbers"),
        ("chunk_f1", {}, "chunk_f1 needs the scheme of the tags"),
        ("chunk_f1", {"scheme": "bio"}, "unknown tag scheme 'bio'"),
        ("exact_match", {"normalize": "yes"}, "normalize = 'yes' of the metric exact_match: it must be true or false"),
    ],
)
def test_what_is_no_metric_is_refused_in_one_line(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(MetricError, match=message) as caught:
        make_metric(name, **options)
    assert "\n" not in str(caught.value)


def test_a_scorer_of_scikit_learn_is_a_metric_without_counts() -> None:
    targets, predictions = draw_labels(2)
    metric = make_metric("sklearn:balanced_accuracy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels that are not expected
        expected = sklearn_metrics.balanced_accuracy_score(targets, predictions)
        assert metric.evaluate(targets, predictions) == pytest.approx(expected, rel=1e-15)
    assert metric.columns == ()
    assert not metric.keeps_counts
    assert metric.count(targets, predictions).shape == (60, 0)
    with pytest.raises(MetricError, match="has no counts to sum: use evaluate"):
        metric.score(np.zeros(0))


def test_a_scorer_keeps_its_sign_and_takes_options() -> None:
    targets, predictions = [1.0, 2.0, 4.0], [1.0, 3.0, 2.0]
    negative = make_metric("sklearn:neg_mean_squared_error")
    assert negative.higher_is_better
    assert negative.evaluate(targets, predictions) == pytest.approx(-5 / 3)
    assert make_metric("sklearn:f1", pos_label="a").evaluate(["a", "b"], ["a", "a"]) == pytest.approx(2 / 3)


def test_a_metric_without_counts_is_resampled_by_scoring_again() -> None:
    targets, left = draw_labels(4, items=40)
    _, right = draw_labels(5, items=40)
    again = count_systems(make_metric("sklearn:accuracy"), targets, left, right)
    counted = count_systems(make_metric("accuracy"), targets, left, right)
    one, other = (bootstrap_difference(*c.counts, c.score, draws=2000, seed=1) for c in (again, counted))
    assert one.estimate == pytest.approx(other.estimate, rel=1e-12)
    assert one.se == pytest.approx(other.se, rel=4 / math.sqrt(2000))  # two bootstraps, each within 1 / sqrt(4000)
    tests = [permute_systems(*c.counts, c.score, draws=2000, seed=1) for c in (again, counted)]
    assert tests[0].p == pytest.approx(tests[1].p, abs=4 * math.sqrt(0.5 / 2000))
    assert 0.1 < tests[1].p < 0.95
    both = again.score(np.stack([counts.sum(axis=0) for counts in again.counts]))
    assert both == pytest.approx([make_metric("accuracy").evaluate(targets, system) for system in (left, right)])


def test_any_function_is_a_metric() -> None:
    metric = make_metric("sklearn.metrics:hamming_loss", lower_is_better=True)
    assert not metric.higher_is_better
    assert metric.evaluate([1, 0], [1, 1]) == 0.5


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sklearn:balanced_acuracy", "no scorer 'balanced_acuracy'. Did you mean 'balanced_accuracy'"),
        ("sklearn:roc_auc", "the metric sklearn:roc_auc needs"),
        ("nowhere:metric", "'nowhere:metric' cannot be imported"),
        ("math:tau", "'math:tau' is a float, not a function"),
        ("builtins:zip", "must give one number, but gave <zip"),
    ],
)
def test_a_function_that_is_no_metric_is_refused_in_one_line(name: str, message: str) -> None:
    metric: Metric = make_metric(name)  # imports nothing
    with pytest.raises(MetricError, match=message) as caught:
        metric.evaluate([0, 1], [0, 1])
    assert "\n" not in str(caught.value)


@pytest.mark.slow  # starts an interpreter
def test_metrics_load_neither_scipy_nor_scikit_learn_before_they_need_them() -> None:
    code = (
        "import sys; from holdsup.metrics import make_metric; make_metric('sklearn:f1');"
        "make_metric('chunk_f1', scheme='iob2').evaluate([['O']], [['O']]);"
        "print({'scipy', 'sklearn'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
