"""The short answer of a ranking: its state, its length, its words, and what limits it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ranking_cases import Table, codes, make_grid, take

from holdsup import Ranking, rank_systems, read_result
from holdsup.rendering import Table as Shown

SCHEMA_1 = Path(__file__).parent.parent / "results/schema1/rank.json"
APART = {"A": 0.0, "B": 6.0, "C": 12.0}
GOLDEN = """\
Is one system the best over many tasks?                                    ● YES
C is best, 5.7 ahead of B (95% CI 4.1 to 7.2, p < .001). All three places are
clear.

place  system   mean  ← worse    95% CI, new tasks     better →  best or tied
1      C       80.70                         ├───────●────────┤  8 of 8
2      B       75.03             ├─────────●─────────┤           0 of 8
3      A       68.78  ├────────●───────┤                         0 of 8

1 who is best?                 YES  C, over each of the other two
2 do tasks matter?             YES  2% of the variance is system x task
3 what does each factor do?    YES  lr 0.2 +0.80
4 where is the variance from?       system 51%, task 45%, system x task 2%,
                                    chance 1%
5 does it hold on new tasks?   YES  leave out any of the 8: same order

holds for  new tasks like these 8, new seeds, the values of lr tried, equally
           weighted; not other settings or systems
more: --full (pairs, tests, effects)   holdsup report   --plot figure.svg
"""


def by_task(grid: Table) -> Table:
    """Return a table whose datasets are tasks."""
    return {"task" if name == "dataset" else name: values for name, values in grid.items()}


def many(count: int, *, longest: int = 3) -> Table:
    """Return scores of many systems, with cautions of several kinds."""
    rng = np.random.default_rng(1)
    s, d, r = (axis.ravel() for axis in np.indices((count, 6, 2)))
    kept = (s != 1) | (d > 1)
    score = -0.1 * s + rng.normal(0, 1, 6)[d] + rng.normal(0, 0.3, (count, 6))[s, d] + rng.normal(0, 0.2, len(s))
    table = {
        "model": np.array([f"system {i:02}".ljust(longest, "x") for i in range(count)])[s],
        "task": np.array([f"t{i}" for i in range(6)])[d],
        "seed": r,
        "score": score,
        "hours": rng.random(len(s)),
    }
    return take(table, kept)


def test_the_short_answer_reads_as_it_should() -> None:
    found = rank_systems(by_task(make_grid(3, systems="ABC", means=APART)), nested_runs=True, folds=0)
    *lines, signature = str(found).splitlines(keepends=True)
    assert "".join(lines) == GOLDEN
    assert signature.strip() == found.signature


def test_a_leader_that_is_told_from_all_others_is_a_yes() -> None:
    found = rank_systems(make_grid(3, systems="ABC", means=APART), folds=0)
    assert (found.state, found.answers[0].state) == ("yes", "yes")
    assert all(c.p_adjusted <= 0.05 for c in found.contrasts if c.left == "C")


def test_a_leader_that_cannot_be_told_from_one_is_unclear() -> None:
    found = rank_systems(make_grid(3, means={"A": 0.0, "B": 0.0, "C": 6.0, "D": 6.0}), folds=0)
    assert found.state == "unclear"
    assert found.headline.endswith("but can't be told apart from it. It beats the other two.")
    assert found.answers[0].answer in ("C or D", "D or C")


def test_a_test_that_a_formula_makes_too_sure_is_unclear() -> None:
    grid = make_grid(3, systems="ABC", means=APART)
    found = rank_systems(grid, formula="score ~ system + lr + (1 | dataset)", folds=0)
    assert all(c.p_adjusted <= 0.05 for c in found.contrasts)
    assert found.state == "unclear"
    assert "no-interaction-term" in codes(found)


@pytest.mark.parametrize(("count", "longest"), [(2, 3), (4, 3), (9, 3), (12, 3), (40, 3), (40, 60)])
def test_the_short_answer_fits_a_screen(count: int, longest: int) -> None:
    found = rank_systems(many(count, longest=longest), folds=0)
    lines = str(found).splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines[:-1])) <= 80
    assert lines[-1] == found.signature
    assert len(found.cautions) > 2


def test_of_many_systems_the_first_ten_and_the_last_are_shown() -> None:
    found = rank_systems(many(40), folds=0)
    places = found.answer().parts[0]
    assert isinstance(places, Shown)
    names = [s.name for s in found.systems]
    shown = [row[1] for row in places.rows]
    assert shown == [*names[: len(shown) - 1], names[-1]]
    assert len(shown) >= 10  # one system fewer where the caveat takes two lines
    assert places.notes == (f"{40 - len(shown)} more: --full",)
    assert len(next(t for t in found.tables() if t.name == "systems").rows) == 40
    assert len(next(t for t in found.tables() if t.name == "contrasts").rows) == 780


def test_best_or_tied_counts_datasets_by_their_means() -> None:
    scores = {"A": (1.0, 1.0, 0.5, 0.2), "B": (1.0, 0.9, 0.6, 0.1), "C": (0.9, 1.0, 0.6, None)}
    rows = [
        {"system": s, "dataset": f"d{i}", "score": score}
        for s, own in scores.items()
        for i, score in enumerate(own)
        if score is not None
    ]
    found = rank_systems(rows, folds=0)
    assert {s.name: (s.best_on, s.datasets) for s in found.systems} == {"A": (3, 4), "B": (2, 4), "C": (2, 3)}
    lower = rank_systems(rows, lower_is_better=True, folds=0)
    assert {s.name: s.best_on for s in lower.systems} == {"A": 1, "B": 2, "C": 1}


def test_a_lead_of_a_loss_is_a_positive_amount() -> None:
    grid = make_grid(3, systems="ABC", means=APART)
    found = rank_systems({**grid, "score": -grid["score"]}, lower_is_better=True, nested_runs=True, folds=0)
    assert found.headline == "C is best, 5.7 ahead of B (95% CI 4.1 to 7.2, p < .001). All three places are clear."


def test_every_caution_has_a_code_a_place_and_a_sentence() -> None:
    found = rank_systems(many(9), folds=4)
    assert {"empty-cells", "unused-columns", "runs-across-datasets"} <= codes(found)
    tables = {table.name for table in found.tables()}
    for caution in found.cautions:
        assert caution.code not in ("uncoded", "legacy")
        what, _, name = caution.about.partition(":")
        assert what in ("claim", "data") or (what == "table" and name in tables) or what in ("pair", "system")
        assert caution.message.endswith(".")


def test_a_result_of_schema_1_answers_too() -> None:
    found = read_result(SCHEMA_1)
    assert isinstance(found, Ranking)
    assert found.state == "unclear"
    assert found.headline == "B leads C by 1.2 (95% CI -16 to 18, p = .60), but can't be told apart from C or A."
    assert found.answers[0].question == "Who is best?"
    assert "best or tied" not in str(found)
    assert {caution.code for caution in found.cautions} == {"legacy"}
    assert len(str(found).splitlines()) <= 30
    assert found.page().text()


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_an_adjusted_p_is_small_exactly_where_the_ci_for_all_pairs_excludes_zero(seed: int, nested: bool) -> None:
    table = make_grid(seed, datasets=5, means={"A": 0.0, "B": 0.8, "C": 1.6, "D": 2.4})
    kept = np.random.default_rng(seed).random(len(table["score"])) < (1.0 if seed % 2 else 0.9)
    found = rank_systems(take(table, kept), folds=0, nested_runs=nested)
    for c in found.contrasts:
        assert (c.p_adjusted <= 0.05) == (c.low_simultaneous > 0 or c.high_simultaneous < 0)
        assert c.p_adjusted == min(1.0, 6 * c.p)


@pytest.mark.parametrize("width", [80, 120])
def test_long_names_are_cut_in_the_short_answer_alone(width: int) -> None:
    table = by_task(make_grid(3, systems="ABC", means=APART))
    long = {name: name * 150 + "-" + name * 150 for name in "ABC"}
    table["system"] = np.array([long[name] for name in table["system"]])
    found = rank_systems(table, folds=0)
    text = found.answer().text(width=width)
    assert len(text.splitlines()) <= 30
    assert "CCCCCCCCCC" in text
    assert long["C"] not in text
    assert "…" in text
    assert long["C"] in found.headline
    assert long["C"] in found.to_json()
    assert long["C"] in found.page().text(width=400)


def test_names_that_would_look_alike_have_a_number() -> None:
    table = by_task(make_grid(3, systems="ABC", means=APART))
    table["system"] = np.array(["x" * 100 + name + "y" * 100 for name in table["system"]])
    first, *rest = str(rank_systems(table, folds=0)).splitlines()[1:3]
    assert "#2" in first + rest[0]
