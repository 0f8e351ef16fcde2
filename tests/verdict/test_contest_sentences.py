"""What a contest says: one estimator in all of a sentence, and who wins by votes alone does not win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from contest_cases import Predict, guess, labels, partitions

from holdsup.metrics import make_metric
from holdsup.numerics.contests import assess_stability
from holdsup.verdict.contest import Contest, Partition, Trained, judge_contest

ACCURACY = make_metric("accuracy")
TARGETS = labels(80)


def coin(accuracy: float) -> Predict:
    """Return a system that errs on other items each time it is trained: its votes are far better than itself."""
    return lambda rng, targets: [t if rng.random() < accuracy else "z" for t in targets]


class Stable:
    """A system that is right on the same items whenever it is trained."""

    def __init__(self, right: Sequence[bool]) -> None:
        self.right = right

    def said(self, partition: Partition) -> Partition:
        """Return a partition with what this system says as the system "stable"."""
        made = [
            replace(t, predictions=[TARGETS[i] if self.right[i] else "z" for i in t.test.tolist()])  # type: ignore[union-attr]
            for t in next(iter(partition.trained.values()))
        ]
        return Partition(strategy=partition.strategy, trained={**partition.trained, "stable": tuple(made)})


@pytest.fixture(scope="module")
def unstable() -> list[Partition]:
    """Return partitions on which votes favour one system and averages the other."""
    stable = Stable([i % 4 != 0 for i in range(80)])  # .75, and so are its votes
    return [stable.said(one) for one in partitions(TARGETS, {"coin": coin(0.70)}, number=20)]


def test_the_verdict_is_about_systems_as_they_are_trained_not_about_votes(unstable: list[Partition]) -> None:
    found = judge_contest(unstable, TARGETS, ACCURACY)
    rows = {row.estimator: row for row in found.estimators}
    assert rows["vote"].mean < 0 < rows["averaged"].mean
    (conclusion,) = found.conclusions
    assert (conclusion.left, conclusion.estimator) == ("stable", "averaged")
    assert conclusion.wins == sum(value > 0 for value in rows["averaged"].values)
    assert f"in {conclusion.wins} of 20 re-partitions" in found.verdict
    assert "accuracy (averaged estimator)" in found.verdict
    assert found.tests[0].difference == pytest.approx(rows["averaged"].mean)
    assert any("vote of stable - coin has another sign than the average" in warning for warning in found.warnings)


def test_no_warning_where_votes_agree_with_averages() -> None:
    found = judge_contest(partitions(TARGETS, {"A": guess(0.8), "B": guess(0.5)}, number=20), TARGETS, ACCURACY)
    assert not found.warnings


def test_another_estimator_is_named_and_the_test_says_what_it_is_of(unstable: list[Partition]) -> None:
    found = judge_contest(unstable, TARGETS, ACCURACY, estimator="vote")
    assert found.conclusions[0].left == "coin"
    assert "(vote estimator)" in found.verdict
    assert "Over new corpora like this one the averaged difference, -0." in found.verdict
    assert found.tests[0].difference < 0


def test_labels_that_are_floats_give_the_numbers_of_whole_ones() -> None:
    targets = [int(label == "a") for label in TARGETS]
    systems: dict[str, Predict] = {
        "A": lambda rng, known: [t if rng.random() < 0.8 else 1 - t for t in known],
        "B": lambda rng, known: [t if rng.random() < 0.7 else 1 - t for t in known],
    }
    whole = partitions(targets, systems, number=3)
    as_floats = [
        Partition(
            strategy="blocked",
            trained={
                name: tuple(replace(t, predictions=[float(p) for p in t.predictions or ()]) for t in own)
                for name, own in one.trained.items()
            },
        )
        for one in whole
    ]
    left, right = judge_contest(whole, targets, ACCURACY), judge_contest(as_floats, targets, ACCURACY)
    assert [row.estimator for row in left.estimators][-1] == "symmetric"
    assert left.to_dict() == right.to_dict()


def test_a_winner_of_less_than_half_of_the_partitions_is_said_to_be_ahead_on_average_only() -> None:
    made = partitions(TARGETS, {"A": guess(0.6), "B": guess(0.6)}, number=20)
    found = judge_contest(made, TARGETS, ACCURACY)
    turned = judge_contest(
        made, TARGETS, ACCURACY, conclusion=f"{found.conclusions[0].right}>{found.conclusions[0].left}"
    )
    assert ", and on average behind by" in turned.verdict
    assert "but on average behind" not in turned.verdict
    few = replace_wins(found, 9)
    assert "on average, by" in few
    assert "but only in 9 of 20 re-partitions" in few


def replace_wins(found: Contest, wins: int) -> str:
    """Return the verdict on a contest whose winner won so many partitions."""
    from holdsup.verdict.contest.pairs import Judged
    from holdsup.verdict.contest.sentences import write_contest_verdict

    rows = tuple(replace(row, wins=wins) for row in found.estimators)
    conclusions = tuple(replace(c, wins=wins, status="unsure") for c in found.conclusions)
    judged = Judged(conclusions=conclusions, estimators=rows, signs=found.signs, tests=found.tests, checks=())
    return write_contest_verdict(judged, {}, ACCURACY, level=0.95, margin=0, correction="holm")


def test_several_pairs_are_ranked_and_say_what_holds_for_all_once() -> None:
    systems = {"A": guess(0.8), "B": guess(0.6), "C": guess(0.3)}
    for number, needs in ((20, 0), (5, 1), (1, 1)):
        found = judge_contest(partitions(TARGETS, systems, number=number), TARGETS, ACCURACY)
        assert found.verdict.startswith("Mean accuracy, the best first: A 0.")
        assert found.verdict.index("A 0.") < found.verdict.index("B 0.") < found.verdict.index("C 0.")
        assert found.verdict.count("20 or more") + found.verdict.count("needs 20") == needs
        assert found.verdict.count("averaged estimator") == found.verdict.count("Holm's adjustment") == 1
        assert len(found.verdict) < 650
    scores = [score.score for score in found.scores if score.system == "A"]
    assert f"A {np.mean(scores):.4g}" in found.verdict


def test_the_text_says_whether_groups_were_kept_whole() -> None:
    made = partitions(TARGETS, {"A": guess(0.8), "B": guess(0.6)}, number=1)
    said = {grouped: str(judge_contest(made, TARGETS, ACCURACY, grouped=grouped)) for grouped in (True, False, None)}
    assert "Groups of items were kept whole" in said[True]
    assert "Items were split one by one" in said[False]
    assert "Groups of items" not in said[None] + said[False]


def tied(leads: Sequence[int]) -> Contest:
    """Return a contest of hold-outs of 100 items in which A is right on so many more than B."""
    made = [
        Partition(
            strategy="holdout",
            trained={
                name: (Trained(repetition=1, fold=1, counts=[50 + (lead if name == "A" else 0), 100]),)
                for name in ("A", "B")
            },
        )
        for lead in leads
    ]
    return judge_contest(made, None, ACCURACY)


def test_partitions_that_are_ties_are_counted_and_turn_nothing_around() -> None:
    found = tied([1] * 5 + [-1] + [0] * 14)
    (row,) = found.estimators
    assert (row.wins, row.losses, row.ties, row.reproducibility) == (5, 1, 14, 0.25)
    assert "only in 5 of 20 re-partitions (behind in 1, equal in 14; reproducibility 0.25" in found.verdict
    assert "On most splits of this corpus neither is ahead" in found.verdict
    assert "turn" not in found.verdict
    assert "Partitions in which each system is ahead" in str(found)


def test_some_ties_leave_a_conclusion_open_but_not_reversed() -> None:
    assert "that it turns the conclusion around is less likely" in tied([1] * 11 + [-1] + [0] * 8).verdict
    assert "may well turn the conclusion around" in tied([1] * 11 + [-1] * 8 + [0]).verdict
    plain = tied([1] * 11 + [-1] * 9)
    assert "may well turn the conclusion around" in plain.verdict
    assert "Partitions in which" not in str(plain)


def test_with_a_margin_a_tie_is_a_lead_within_it_on_either_side() -> None:
    stability = assess_stability(np.array([0.3, 0.1, 0.0, -0.1, -0.2, -0.3]), margin=0.2)
    assert (stability.positive, stability.ties) == (1, 4)
