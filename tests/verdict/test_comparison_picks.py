"""The best run of each system, and what is said of scores whose direction, items or seeds are in doubt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from holdsup import compare_systems, read_result, simulate_scores
from holdsup.errors import ScoresError


def simulated(systems: str = "AB", *, items: int = 20, runs: int = 3, seed: int = 3) -> pd.DataFrame:
    truth = {name: 0.70 + number / 50 for number, name in enumerate(systems)}
    frame: pd.DataFrame = simulate_scores(truth, items=items, runs=runs, seed=seed).to_pandas()
    return frame


def warned(found: Any, words: str) -> bool:
    return any(words in warning for warning in found.warnings)


def test_the_run_that_was_picked_is_named(tmp_path: Path) -> None:
    frame = simulated()
    frame["dev"] = np.where(frame.system == "A", frame.seed, -frame.seed) * 1.0
    found = compare_systems(frame, best="dev")
    assert [(p.system, p.run, p.value, p.runs, p.tied) for p in found.best] == [
        ("A", "A/seed=3", 3.0, 3, 1),
        ("B", "B/seed=1", -1.0, 3, 1),
    ]
    assert warned(found, "is compared: A/seed=3 (of 3) and B/seed=1 (of 3).")
    (tmp_path / "found.json").write_text(found.to_json())
    assert read_result(tmp_path / "found.json") == found
    assert found.next == ("leave --best out to compare systems over all their runs, and so over new ones",)


def test_runs_that_cannot_be_picked_are_counted_for_themselves() -> None:
    frame = simulated()
    frame["dev"] = np.where(frame.seed == 3, np.nan, frame.seed * 1.0)
    found = compare_systems(frame, best="dev")
    assert found.rows.reasons == {
        "a run without dev, which cannot be picked": 40,
        "a run that is not its system's best by dev": 40,
    }
    assert found.rows.used == 40
    assert warned(found, "2 runs without dev can't be picked: A/seed=3 and B/seed=3.")


def test_of_runs_of_their_own_each_dataset_has_its_best() -> None:
    rng = np.random.default_rng(4)
    s, d, seed = (axis.ravel() for axis in np.indices((2, 5, 3)))
    frame = pd.DataFrame({"system": np.array(["A", "B"])[s], "dataset": d, "seed": seed, "score": rng.normal(s, 1)})
    frame["dev"] = rng.normal(size=len(frame))
    with pytest.raises(
        ScoresError, match=r"it changes within runs .*, or --nested-runs if each dataset has its own runs"
    ):
        compare_systems(frame, best="dev")
    found = compare_systems(frame, best="dev", nested_runs=True)
    picks = frame.loc[frame.groupby(["system", "dataset"]).dev.idxmax()]
    a, b = (picks[picks.system == name].score.to_numpy() for name in "AB")
    assert found.contrasts[0].p == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-9)
    assert [(p.system, p.value, p.runs) for p in found.best] == [(p.system, p.dev, 3) for p in picks.itertuples()]
    assert found.rows.used == 10
    assert warned(found, f"Only the best run of each system on each dataset by dev, the highest, is compared: "
                  f"A/seed={picks.seed.iloc[0]} on 0 (of 3)")  # fmt: skip


def test_a_tie_for_the_best_is_said() -> None:
    frame = simulated()
    frame["dev"] = np.where((frame.system == "A") & (frame.seed > 1), 9.5, frame.seed * 1.0)
    found = compare_systems(frame, best="dev")
    assert warned(found, "Runs tie for the best dev: A has 2 runs with 9.5.")
    frame["dev"] = frame.seed * 1.0
    assert not warned(compare_systems(frame, best="dev"), "More than one run")


def test_a_pick_says_why_it_claims_less_than_is_asked_for() -> None:
    frame = simulated()
    frame["dev"] = frame.seed * 1.0
    assert compare_systems(frame, best="dev", claim="new-runs").claim == "these-runs"
    assert warned(compare_systems(frame, best="dev", claim="new-runs"), "You asked for the claim new-runs, but")
    assert not warned(compare_systems(frame, best="dev"), "is asked for")


def test_other_items_are_said_even_where_there_are_as_many() -> None:
    frame = simulated(items=30)
    frame = frame[np.where(frame.system == "A", frame["item"] <= 20, frame["item"] > 10)]
    assert warned(
        compare_systems(frame), "A lacks 10 and B lacks 10 of 30 items: the difference rests on the 10 that both have"
    )
    assert not warned(compare_systems(simulated()), "different items")


def test_the_seeds_that_both_have_are_counted_where_others_are_left_over() -> None:
    frame = simulated(runs=7)
    frame = frame[np.where(frame.system == "A", frame.seed <= 5, frame.seed > 2)]
    assert warned(compare_systems(frame, shared=["seed"]), "B - A on 3 seeds (of 5 and 5)")
    assert not warned(compare_systems(simulated(), shared=["seed"]), "seeds of both")


def test_a_difference_that_is_rounding_is_none() -> None:
    frame = simulated(runs=2)
    same = frame[frame.system == "A"].score.to_numpy()
    frame.loc[frame.system == "B", "score"] = same[::-1]  # the same scores of other items, in another order
    frame.loc[frame.index[-1], "score"] += 1e-15
    (c,) = compare_systems(frame).contrasts
    assert (c.difference, c.p) == (0.0, 1.0)
    assert c.low == pytest.approx(-c.high)
    assert compare_systems(frame).verdict.startswith(
        f"{c.left} and {c.right} scored the same here, but 2 runs each can't rule out"
    )


def test_nobody_has_the_best_mean_where_all_are_equal() -> None:
    frame = simulated("ABC", runs=2)
    scores = frame[frame.system == "A"].score.to_numpy()
    for system, order in (("B", scores[::-1]), ("C", np.roll(scores, 7))):
        frame.loc[frame.system == system, "score"] = order
    assert compare_systems(frame).headline == "All three systems scored the same here, so none can be called the best."
    frame.loc[frame.system == "A", "score"] -= 1e-4
    assert "C and B share the best mean, but none of 3 pairs" in compare_systems(frame).headline
    frame.loc[frame.system == "B", "score"] -= 1e-5
    assert compare_systems(frame).headline.startswith("C has the best mean, but none of 3 pairs")


@pytest.mark.parametrize("margin", [0.01, 0.03])
def test_not_worse_means_the_same_in_either_direction(margin: float) -> None:
    """An error is a score with the other sign: the first is not worse by the margin, on the side that is worse."""
    frame = simulated(runs=4)
    up = compare_systems(frame, baseline="A", margin=margin).contrasts[0]
    down = compare_systems(
        frame.assign(score=-frame.score), baseline="A", margin=margin, lower_is_better=True
    ).contrasts[0]
    assert up.equivalence is not None
    assert down.equivalence is not None
    assert (up.left, up.difference) == (down.left, pytest.approx(-down.difference))
    assert down.equivalence.p_not_worse == pytest.approx(up.equivalence.p_not_worse)
    assert up.equivalence.p_not_worse < up.equivalence.p_equivalent


def test_a_chance_is_never_shown_as_certain() -> None:
    frame = simulated(runs=4, items=60)
    frame.loc[frame.system == "B", "score"] += 5
    found = compare_systems(frame)
    assert found.contrasts[0].p_superior == 1.0
    assert found.tables()[1].cells()[0][-1] == ">99.9%"


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--facets", "genre"], 1, "--facets genre: every item has one value of 'genre', so it is a property"),
        (["--property", "r"], 2, "'r' is not of the form NAME=EXPR"),
        (["--cluster", "document"], 1, "item '1' is in two clusters, 'd0' and 'd1'"),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_do(
    options: list[str], code: int, words: str, run: Callable[..., Any], tmp_path: Path
) -> None:
    frame = simulated(items=8)
    frame["genre"] = frame["item"].map(lambda i: "xy"[i % 2])
    frame["document"] = [f"d{i}" for i in (frame["item"] > 4).astype(int)]
    if "--cluster" in options:
        frame["item"] = (frame["item"] - 1) % 4 + 1
    frame.to_csv(tmp_path / "scores.csv", index=False)
    done = run("compare", tmp_path / "scores.csv", *options)
    assert (done.code, done.out) == (code, "")
    assert words in done.err
