"""What decides how an answer is read stands in it, and first: scores left out, items not shared, how runs are read."""

from __future__ import annotations

import math

import numpy as np
import pytest

from holdsup import compare_systems, decompose_variance, rank_systems
from holdsup.errors import ScoresError
from holdsup.rendering.text import wrap_text

Rows = dict[str, list[object]]


def as_rows(table: dict[tuple[object, ...], float], *names: str) -> Rows:
    """Return scores by their labels as columns."""
    columns = zip(*((*labels, score) for labels, score in table.items()), strict=True)
    return dict(zip((*names, "score"), map(list, columns), strict=True))


def overlap() -> Rows:
    """Return two systems that share ten of thirty items: A is ahead on these, B has the better mean."""
    rng = np.random.default_rng(1)
    table = {("A", f"i{i}"): 0.3 + 0.4 * (i >= 10) + rng.normal(0, 0.02) for i in range(20)}
    table |= {("B", f"i{i}"): 0.6 + 0.4 * (i >= 20) + rng.normal(0, 0.02) for i in range(10, 30)}
    return as_rows(table, "system", "item")


def test_of_two_systems_the_one_ahead_on_shared_items_is_on_the_left() -> None:
    found = compare_systems(overlap())
    (c,) = found.contrasts
    assert (c.left, c.right) == ("A", "B")
    assert c.difference > 0
    lines = str(found).splitlines()
    assert lines[1].startswith("On the items that both have, A is better by 0.102 ")
    assert any("← B better ┊ A better →" in line for line in lines)
    assert "new items like these 10;" in " ".join(lines)
    assert [label for label, _ in found.answer().foot].count("caveat") >= 1
    assert next(said for label, said in found.answer().foot if label == "caveat").startswith(
        "A lacks 10 and B lacks 10"
    )


def test_a_baseline_stays_on_the_right() -> None:
    (c,) = compare_systems(overlap(), baseline="A").contrasts
    assert (c.left, c.right) == ("B", "A")
    assert c.difference < 0


def test_infinite_scores_are_said_to_be_left_out() -> None:
    rows = overlap()
    rows["score"][15] = math.inf
    found = compare_systems(rows)
    assert next(said for label, said in found.answer().foot if label == "caveat").startswith("one score is infinite")
    assert sum(c.code == "infinite-scores" for c in found.cautions) == 1


def test_copies_of_runs_come_before_other_caveats() -> None:
    rng = np.random.default_rng(2)
    score = {(name, item): rng.normal() for name in "AB" for item in range(20)}
    rows = as_rows({(n, f"i{i}", seed): score[n, i] for n, i in score for seed in range(3)}, "system", "item", "seed")
    assert "count as one" in next(said for label, said in compare_systems(rows).answer().foot if label == "caveat")


def recurring() -> Rows:
    """Return seeds that recur on six datasets: read as one training each they say less."""
    rng = np.random.default_rng(3)
    luck = {(name, seed): rng.normal(0, 0.05) for name in "AB" for seed in range(3)}
    return as_rows(
        {
            (name, f"d{d}", seed): (0.7 if name == "A" else 0.6) + luck[name, seed] + rng.normal(0, 0.005)
            for name in "AB"
            for d in range(6)
            for seed in range(3)
        },
        "system", "dataset", "seed",
    )  # fmt: skip


@pytest.mark.parametrize("ask", [compare_systems, rank_systems])
def test_a_reading_of_runs_that_decides_is_a_caveat(ask: object) -> None:
    found = ask(recurring())  # type: ignore[operator]
    (said,) = (c for c in found.cautions if c.code == "runs-across-datasets")
    assert said.severity == "warning"
    assert said.message.endswith("with --nested-runs the answer changes.")


def test_a_claim_that_single_runs_cannot_carry_is_said_to_be_less() -> None:
    found = compare_systems(overlap(), claim="new-runs")
    assert any(c.code == "less-claimed" and "You asked for the claim new-runs" in c.message for c in found.cautions)


@pytest.mark.parametrize(("margin", "said"), [(0.0001, "more than the margin"), (0.05, "may be more or less than")])
def test_a_margin_is_answered_in_the_headline(margin: float, said: str) -> None:
    rng = np.random.default_rng(4)
    table = {(name, i): (0.05 if name == "A" else 0.0) + rng.normal(0, 0.03) for name in "AB" for i in range(40)}
    assert said in compare_systems(as_rows(table, "system", "item"), margin=margin).headline


def test_all_right_against_all_wrong_is_not_certain() -> None:
    rows = as_rows(
        {(n, i, s): float(n == "A") for n in "AB" for i in range(20) for s in range(3)}, "system", "item", "seed"
    )
    (c,) = compare_systems(rows).contrasts
    assert 0.80 < c.low < 0.85  # Clopper and Pearson's lower end of 20 of 20 is .832


@pytest.mark.parametrize("ask", [decompose_variance, rank_systems])
def test_missing_scores_are_counted_in_every_answer(ask: object) -> None:
    rows = recurring() | {"item": list(range(36))}
    del rows["item"]
    rows["score"][3] = None
    found = ask(rows)  # type: ignore[operator]
    assert any(c.code == "missing-scores" and c.count == 1 for c in found.cautions)


def test_weak_evidence_is_not_said_of_metrics_whose_p_is_adjusted() -> None:
    rng = np.random.default_rng(5)
    table = {(n, i, m): 0.3 * (n == "A") + rng.normal(0, 0.5) for n in "AB" for i in range(30) for m in ("f1", "em")}
    found = compare_systems(as_rows(table, "system", "item", "metric"))
    assert not any(c.code == "weak-evidence" for c in found.cautions)


def test_one_item_is_too_few_for_variance() -> None:
    rows = as_rows({(n, "i", s): float(s) for n in "AB" for s in range(3)}, "system", "item", "seed")
    with pytest.raises(ScoresError, match="there is one item; score more items"):
        decompose_variance(rows)


def test_blanks_behind_a_label_are_kept_before_wide_letters() -> None:
    assert wrap_text("settle it  tell 模型 apart", 80) == ["settle it  tell 模型 apart"]


def test_a_system_with_the_easy_datasets_alone_is_not_first_by_its_mean() -> None:
    """C has the best mean because it lacks the hard half; on the easy half A is ahead of it by 3 on both."""
    table = {"A": (90, 92, 70, 72), "B": (85, 88, 66, 69), "C": (87, 89), "D": (80, 84, 60, 66)}
    cells = [(name, f"d{i}", float(v)) for name, row in table.items() for i, v in enumerate(row)]
    rows = dict(zip(("system", "dataset", "score"), map(list, zip(*cells, strict=True)), strict=True))
    found = compare_systems(rows)
    assert [s.name for s in found.ordered(None)] == ["A", "C", "B", "D"]
    assert found.headline.startswith("On the datasets that systems share, A")
    against = compare_systems(rows, baseline="A")
    assert against.state == "unclear"  # C could not be tested
    assert "one can't be compared with it" in against.headline
