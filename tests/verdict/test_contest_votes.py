"""Votes: ties, probabilities, sequences, repairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contest_cases import partitions

from holdsup.metrics import make_metric
from holdsup.splits import BlockedCV
from holdsup.verdict.contest import Partition, Trained, judge_contest
from holdsup.verdict.contest.scoring import vote_on

ACCURACY = make_metric("accuracy")
SPLITS = list(BlockedCV(m=3, seed=1).split(range(4)))


def instances(said: list[list[Any]], probabilities: list[Any] | None = None) -> list[Trained]:
    """Return 3 x 2 trained instances on four items, given what is said of each item in each repetition."""
    made = []
    for place, split in enumerate(SPLITS):
        repetition = place // 2
        own = None if probabilities is None else [probabilities[repetition][i] for i in split.test]
        made.append(
            Trained(
                repetition=repetition + 1,
                fold=place % 2 + 1,
                test=split.test,
                predictions=[said[repetition][i] for i in split.test],
                probabilities=own,
                labels=("a", "b", "c"),
            )
        )
    return made


SAID = [["a", "a", "b", "c"], ["b", "a", "b", "a"], ["c", "b", "b", "b"]]


def test_the_majority_wins_and_ties_go_to_the_earlier_repetition() -> None:
    voted = vote_on(instances(SAID), ["a"] * 4, ACCURACY)
    assert voted.predictions == ["a", "a", "b", "c"]
    assert (voted.votes, voted.ties, voted.by_probability) == (4, 2, 0)


def test_summed_probabilities_break_ties() -> None:
    sure_of_c = [[[0.4, 0.3, 0.3]] * 4, [[0.2, 0.5, 0.3]] * 4, [[0.0, 0.1, 0.9]] * 4]
    voted = vote_on(instances(SAID, sure_of_c), ["a"] * 4, ACCURACY)
    assert voted.predictions == ["c", "a", "b", "c"]
    assert (voted.ties, voted.by_probability) == (2, 2)


def test_tags_are_voted_on_one_by_one_and_repaired() -> None:
    chunk_f1 = make_metric("chunk_f1", scheme="iob2")
    said = [
        [["B-X", "O", "O"]] * 4,
        [["O", "I-X", "I-X"]] * 4,
        [["O", "O", "I-X"]] * 4,
    ]
    targets = [["O", "O", "B-X"]] * 4
    voted = vote_on(instances(said), targets, chunk_f1)
    assert voted.predictions == [["O", "O", "B-X"]] * 4  # the vote was O O I-X
    assert (voted.votes, voted.ties, voted.repaired) == (12, 0, 4)


def test_lists_of_labels_are_voted_on_as_a_whole() -> None:
    said = [[["a", "b"]] * 4, [["a"]] * 4, [["a"]] * 4]
    assert vote_on(instances(said), [["a"]] * 4, make_metric("f1", average="micro")).predictions == [["a"]] * 4


def test_items_of_length_zero_have_no_votes() -> None:
    said = [[["O"], [], ["O"], ["O"]]] * 3
    voted = vote_on(instances(said), said[0], make_metric("token_accuracy"))
    assert voted.predictions == said[0]
    assert voted.votes == 3


def test_votes_are_counted_over_all_partitions() -> None:
    def anything(rng: np.random.Generator, targets: list[Any]) -> list[Any]:
        return [str(label) for label in rng.choice(["a", "b", "c"], len(targets))]

    targets = ["a", "b", "c", "a"] * 5
    found = judge_contest(partitions(targets, {"A": anything, "B": anything}, number=3), targets, ACCURACY)
    assert [v.votes for v in found.votes] == [60, 60]
    # three guesses out of three differ with probability 6/27
    assert sum(v.ties for v in found.votes) == pytest.approx(120 * 6 / 27, abs=15)


def test_a_system_that_is_right_two_times_of_three_gains_by_voting() -> None:
    """Two of three independent voters are right with probability p^2 (3 - 2p), for two labels."""

    def often_right(rng: np.random.Generator, targets: list[Any]) -> list[Any]:
        return [t if rng.random() < 0.7 else 1 - t for t in targets]

    targets = [0, 1] * 400
    made = partitions(targets, {"A": often_right, "B": lambda _, known: [0] * len(known)}, number=20)
    rows = {r.estimator: r for r in judge_contest(made, targets, ACCURACY).estimators}
    assert rows["averaged"].mean == pytest.approx(0.7 - 0.5, abs=0.005)
    assert rows["vote"].mean == pytest.approx(0.7**2 * (3 - 1.4) - 0.5, abs=0.005)


def test_a_partition_is_a_frozen_value() -> None:
    with pytest.raises(AttributeError):
        Partition(strategy="blocked", trained={}).strategy = "kfold"  # type: ignore[misc]
