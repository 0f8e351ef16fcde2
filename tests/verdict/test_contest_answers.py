"""What a contest says: yes, no or unclear in a screen, and who wins by votes alone does not win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from contest_cases import Predict, guess, labels, partitions

from holdsup.errors import ScoresError
from holdsup.metrics import make_metric
from holdsup.numerics.contests import assess_stability
from holdsup.verdict.contest import Contest, Partition, Trained, decide_sequentially, judge_contest

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
    assert f"won {conclusion.wins} of 20 partitions" in found.headline
    assert found.tests[0].difference == pytest.approx(rows["averaged"].mean)
    (caution,) = [each for each in found.cautions if each.code == "votes-disagree"]
    assert caution.message.startswith("stable - coin: vote and the average have opposite signs")
    assert caution.about == "table:estimators"


def test_no_warning_where_votes_agree_with_averages() -> None:
    found = judge_contest(partitions(TARGETS, {"A": guess(0.8), "B": guess(0.5)}, number=20), TARGETS, ACCURACY)
    assert {caution.code for caution in found.cautions} == {"half-corpus"}


def test_another_estimator_is_named_and_the_test_says_what_it_is_of(unstable: list[Partition]) -> None:
    found = judge_contest(unstable, TARGETS, ACCURACY, estimator="vote")
    assert found.conclusions[0].left == "coin"
    assert "accuracy (vote)" in found.headline
    assert "for no difference of the average (" in str(found)
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


def test_several_pairs_are_ranked_and_say_how_many_leads_hold_up() -> None:
    systems = {"A": guess(0.8), "B": guess(0.6), "C": guess(0.3)}
    for number, needs in ((20, False), (5, True), (1, True)):
        found = judge_contest(partitions(TARGETS, systems, number=number), TARGETS, ACCURACY)
        means = {name: np.mean([s.score for s in found.scores if s.system == name]) for name in systems}
        gap = means["A"] - means["B"]
        assert found.headline.startswith("A is best of 3, 0.")
        assert float(found.headline.split()[5]) == pytest.approx(gap, rel=0.05)
        assert ("reproducibility needs 20 partitions" in found.headline) == needs
        assert needs or "3 of 3 leads hold up" in found.headline
        assert found.state == ("unclear" if needs else "yes")
        assert "(blocked 3x2 t-test, Holm)" in str(found)


def test_the_text_says_whether_groups_were_kept_whole() -> None:
    made = partitions(TARGETS, {"A": guess(0.8), "B": guess(0.6)}, number=1)
    said = {
        grouped: judge_contest(made, TARGETS, ACCURACY, grouped=grouped).page().text()
        for grouped in (True, False, None)
    }
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
    assert "won 5 of 20 partitions (14 tied): reproducibility 0.25" in found.headline
    assert found.state == "no"
    assert "Partitions in which each system is ahead" in found.page().text()


@pytest.mark.parametrize(
    ("leads", "state", "said"),
    [
        ([1] * 20, "yes", ") is above .80."),
        ([1] * 19 + [-1], "unclear", ") may be below .80."),
        ([1] * 15 + [-1] * 5, "unclear", ") may be above .80."),
        ([1] * 10 + [-1] * 10, "no", ") is below .80."),
        ([1] * 19, "unclear", "reproducibility needs 20 partitions or more."),
        ([1], "unclear", "on one partition; reproducibility needs 20"),
        ([0] * 20, "unclear", "there is no winner to reproduce."),
    ],
)
def test_the_state_is_where_the_interval_lies(leads: list[int], state: str, said: str) -> None:
    found = tied(leads)
    assert (found.state, said in found.headline) == (state, True)
    assert len(found.headline.split()) <= 25
    assert "Partitions in which" not in tied([1] * 11 + [-1] * 9).page().text()


def test_the_threshold_decides_and_is_named_and_signed() -> None:
    made = partitions(TARGETS, {"A": guess(0.8), "B": guess(0.5)}, number=20)
    usual, strict = judge_contest(made, TARGETS, ACCURACY), judge_contest(made, TARGETS, ACCURACY, threshold=0.9)
    assert (usual.state, strict.state) == ("yes", "unclear")
    assert "may be below .90" in strict.headline
    assert "|threshold:0.9|" in strict.signature
    assert "threshold" not in usual.signature
    with pytest.raises(ScoresError, match=r"threshold is 1\.2"):
        judge_contest(made, TARGETS, ACCURACY, threshold=1.2)


@pytest.mark.parametrize("systems", [2, 3, 7])
@pytest.mark.parametrize("number", [1, 5, 20])
def test_a_short_answer_fits_a_screen(systems: int, number: int) -> None:
    named = {f"system-with-a-long-name-{i}": guess(0.5 + i / 20) for i in range(systems)}
    found = judge_contest(partitions(TARGETS, named, number=number), TARGETS, ACCURACY)
    lines = str(found).splitlines()
    assert len(lines) <= 24
    assert lines[-1] == found.signature


def test_what_studies_knows_of_a_stop_is_in_the_answer() -> None:
    found = replace(tied([1] * 40), decisions=(decide_sequentially([1.0] * 40, budget=100),))
    assert (found.state, found.decisions[0].outcome) == ("yes", "left")
    assert "stopped    after 40 of at most 100 partitions, when the answer was safe" in str(found)
    low, high = found.interval(found.conclusions[0]) or (0, 0)
    assert (low, high) == (found.decisions[0].low, found.decisions[0].high)
    assert low < (found.estimators[0].low or 0)  # looks that are many need a wider interval


def test_with_a_margin_a_tie_is_a_lead_within_it_on_either_side() -> None:
    stability = assess_stability(np.array([0.3, 0.1, 0.0, -0.1, -0.2, -0.3]), margin=0.2)
    assert (stability.positive, stability.ties) == (1, 4)
