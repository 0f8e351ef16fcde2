"""Checkpoints of one training are no runs: every command refuses them, and `last` takes the last of each run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from holdsup import compare_systems, decompose_variance, rank_systems
from holdsup.errors import HoldsupError, ScoresError

Ask = Callable[..., Any]


def rank(table: Any, **options: Any) -> Any:
    return rank_systems(table, folds=0, **options)


EVERY = pytest.mark.parametrize("ask", [compare_systems, decompose_variance, rank])


def curves(*, steps: int = 5, items: int = 0, seed: int = 3) -> pd.DataFrame:
    """Return learning curves of three seeds on six datasets; A learns faster, in the end they are alike."""
    rng = np.random.default_rng(seed)
    rows = []
    for system in "AB":
        for d, run in np.ndindex(6, 3):
            luck = rng.normal(0, 0.05)
            for step, item in np.ndindex(steps, max(items, 1)):
                lead = 0.1 * (system == "A") * (1 - step / (steps - 1))
                score = 0.5 + 0.03 * step + lead + luck + 0.05 * d + rng.normal(0, 0.02)
                rows.append((system, f"d{d}", run, 100 * (step + 1), f"i{item}", score))
    frame = pd.DataFrame(rows, columns=["system", "dataset", "seed", "step", "item", "score"])
    return frame if items else frame.drop(columns="item")


@EVERY
@pytest.mark.parametrize("name", ["step", "Epoch", "checkpoint", "trainer/global_step", "iter"])
@pytest.mark.parametrize("items", [0, 4])
def test_a_learning_curve_is_refused_with_the_way_out(ask: Ask, name: str, items: int) -> None:
    frame = curves(items=items).rename(columns={"step": name})
    with pytest.raises(ScoresError, match=f"'{name}' tells them apart: give --last {name} for the last one of each"):
        ask(frame)


@EVERY
@pytest.mark.parametrize("items", [0, 4])
def test_the_last_of_each_run_is_what_a_table_of_it_alone_gives(ask: Ask, items: int) -> None:
    frame = curves(items=items)
    frame = frame[(frame.dataset != "d0") | (frame.step < 500)]  # runs end where they end
    found, alone = ask(frame, last="step"), ask(frame[frame.step == np.where(frame.dataset == "d0", 400, 500)])
    assert found.verdict == alone.verdict
    passed = len(frame) - found.rows.used
    assert found.rows.reasons == {"step before the last of its run": passed}
    assert (found.rows.planned, passed) == (len(frame), len(frame) - 36 * max(items, 1))
    assert f"(400 to 500): {passed} rows were passed over." in " ".join(found.warnings)
    assert "|last:step|" in found.signature
    assert "last:" not in alone.signature
    assert "--last step" in (found.asked.command() or "")


@EVERY
def test_a_facet_found_by_name_is_none_where_the_last_of_it_is_asked_for(ask: Ask) -> None:
    frame = curves().rename(columns={"step": "epochs"})
    found = ask(frame, last="epochs")
    assert found.verdict == ask(frame[frame.epochs == 500].drop(columns="epochs")).verdict
    assert "facets:seed|" in found.signature


def test_a_lead_on_the_way_is_none_at_the_last_step() -> None:
    frame = curves()
    every, last = rank(frame, nuisance=["seed", "step"]), rank(frame, last="step")
    assert every.contrasts[0].p < 0.05 < last.contrasts[0].p


@EVERY
def test_checkpoints_are_no_replicates_even_if_asked_for(ask: Ask) -> None:
    with pytest.raises(ScoresError, match=r"--replicates step: .* reject 16 to 43% of true nulls") as refused:
        ask(curves(), replicates=["seed", "step"])
    assert "give --last step to use the last checkpoint of each run" in str(refused.value)
    assert "if each value is a separate training, rename the column" in str(refused.value)


def test_whoever_says_that_each_iteration_is_a_training_is_told_how_and_what_it_means() -> None:
    frame = curves().query("seed == 0").drop(columns="seed").rename(columns={"step": "iteration"})
    with pytest.raises(ScoresError, match=r"if each value is a separate training, give --run iteration$"):
        compare_systems(frame, replicates=["iteration"])
    found = compare_systems(frame, run="iteration")
    assert any("Each iteration counts as a separate training, as you asked" in warning for warning in found.warnings)


def test_checkpoints_that_are_settings_as_asked_are_said() -> None:
    found = compare_systems(curves(), facets=["seed", "step"])
    assert any(
        "If they are checkpoints of one training, p is too small. Then give --last step" in w for w in found.warnings
    )


def test_runs_without_items_or_datasets_have_checkpoints_too() -> None:
    frame = curves().query("dataset == 'd1'").drop(columns="dataset")
    with pytest.raises(ScoresError, match="every run of 'A' has 5 scores or more, and 'step' tells them apart"):
        compare_systems(frame)
    assert compare_systems(frame, last="step").rows.used == 6


def test_the_last_row_with_a_score_counts() -> None:
    frame = curves()
    frame.loc[(frame.step == 500) & (frame.seed == 1), "score"] = np.nan
    found = compare_systems(frame, last="step")
    assert found.rows.reasons == {
        "step before the last of its run": 4 * 24 + 3 * 12,
        "step after the last that has a score": 12,
    }
    assert found.rows.used == 36


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("nothing", "'nothing'"),
        ("system", "--last system: this column holds the system"),
        ("word", "--last word: 'some' is not a number"),
        (3, "last is 3: give the name of one column"),
    ],
)
def test_a_column_that_does_not_count_is_refused(last: Any, said: str) -> None:
    with pytest.raises(HoldsupError, match=said):
        compare_systems(curves().assign(word="some"), last=last)


@pytest.mark.parametrize(
    ("labels", "odd"),
    [
        (("900", "1,000"), "1,000"),
        (("900", "1k"), "1k"),
        (("900K", "1M"), "1M"),
        (("epoch1-step900", "epoch2-step100"), "epoch1-step900"),
        (("900", "1 000"), "1 000"),
        (("900", "1_000"), "1_000"),
        (("900", "1'000"), "1'000"),
        (("step 5 of 10", "step 10 of 10"), "step 10 of 10"),
        (("2024-02-01", "best"), "best"),
        (("2024-02-01", "2024-01-10 12:00"), "2024-01-10 12:00"),
    ],
)
def test_labels_in_which_a_number_is_hidden_are_refused(labels: tuple[str, str], odd: str) -> None:
    frame = curves().query("step >= 400")
    frame = frame.assign(step=frame.step.map({400: labels[0], 500: labels[1]}))
    with pytest.raises(ScoresError, match=f"--last step: {odd!r} is not a number.*give step as plain numbers"):
        compare_systems(frame, last="step")


def test_the_last_of_dates_is_the_latest_day() -> None:
    frame = curves().query("step >= 400")
    dated = frame.assign(step=frame.step.map({400: "2024-01-10", 500: "2024-02-01"}))
    found = compare_systems(dated, last="step")
    assert [s.mean for s in found.systems] == [s.mean for s in compare_systems(frame, last="step").systems]
    assert any("Only the last step of each run and dataset is used (2024-02-01 in all)" in w for w in found.warnings)


def test_steps_below_zero_have_a_last_one() -> None:
    frame = curves()
    assert compare_systems(frame.assign(step=frame.step - 1000), last="step").rows.used == 36


@pytest.mark.parametrize("step", [np.inf, 2.0**60])
def test_numbers_that_cannot_be_told_apart_are_refused(step: float) -> None:
    frame = curves().astype({"step": float})
    frame.loc[frame.step == 500, "step"] = step
    with pytest.raises(ScoresError, match="too large to be told apart from its neighbours"):
        compare_systems(frame, last="step")


@EVERY
def test_runs_that_end_long_before_the_others_are_named(ask: Ask) -> None:
    frame = curves()
    short = (frame.system == "A") & (frame.dataset == "d1") & (frame.seed < 2) & (frame.step > 100)
    said = " ".join(ask(frame[~short], last="step").warnings)
    assert (
        "2 runs end long before the others (step 100; others 500 or more): A/seed=0 on d1 and A/seed=1 on d1." in said
    )
    assert "unfinished" not in " ".join(ask(frame, last="step").warnings)


def test_a_number_behind_the_same_word_says_which_is_the_last() -> None:
    table = curves()
    named = table.assign(step=[f"checkpoint-{step}" for step in table["step"]])
    assert rank(named, last="step").systems == rank(table, last="step").systems
    named.loc[0, "step"] = "final-100"
    with pytest.raises(ScoresError, match="is not a number"):
        rank(named, last="step")
