"""What `compare_systems` says about rows, runs and pairs that limit an answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from holdsup import assess_repeatability, compare_systems, decompose_variance, rank_systems, simulate_scores
from holdsup.data import text_classifiers
from holdsup.errors import ScoresError


def simulated(systems: str = "AB", *, items: int = 40, runs: int = 3, seed: int = 3) -> pd.DataFrame:
    truth = {name: 0.70 + number / 50 for number, name in enumerate(systems)}
    frame: pd.DataFrame = simulate_scores(truth, items=items, runs=runs, seed=seed).to_pandas()
    return frame


def warned(found: Any, words: str) -> bool:
    return any(words in warning for warning in found.warnings)


def test_rows_on_items_of_one_system_only_are_in_no_difference_and_counted() -> None:
    frame = simulated()
    frame = frame[(frame.system == "A") | (frame.item <= 30)]
    found = compare_systems(frame)
    assert (found.rows.planned, found.rows.used) == (210, 180)
    assert found.rows.reasons == {"an item that no two systems compared both have: in no difference": 30}
    shared = compare_systems(frame[frame["item"] <= 30])
    assert found.contrasts[0].p == pytest.approx(shared.contrasts[0].p)
    assert found.rows.used == shared.rows.used == shared.rows.planned


def test_an_item_that_some_pair_shares_is_used() -> None:
    frame = simulated("ABC")
    found = compare_systems(frame[(frame.system != "C") | (frame.item <= 30)])
    assert found.rows.used == found.rows.planned
    assert not found.rows.reasons


def test_rows_that_a_pick_passes_over_are_counted() -> None:
    frame = simulated()
    frame["dev"] = frame.seed * 1.0
    frame.loc[0, "score"] = np.nan
    found = compare_systems(frame, best="dev")
    assert found.rows.planned == 240
    assert found.rows.used == 80
    assert found.rows.reasons == {"a run that is not its system's best by dev": 160}


def test_the_best_run_is_the_lowest_where_lower_is_better() -> None:
    frame = simulated()
    frame["dev"] = frame.seed * 1.0
    found = compare_systems(frame, best="dev", lower_is_better=True)
    first = frame[frame.seed == 1].groupby("system").score.mean()
    assert {s.name: s.mean for s in found.systems} == pytest.approx(dict(first))
    assert warned(found, "the lowest, is compared")


def test_seeds_that_cannot_be_paired_are_counted() -> None:
    frame = simulated(runs=4)
    frame = frame[(frame.system == "A") | (frame.seed < 4)]
    found = compare_systems(frame, shared=["seed"])
    assert found.rows.reasons == {"a shared seed that no system compared with it has: in no difference": 40}
    assert found.rows.used == found.rows.planned - 40


def test_items_that_a_setting_lacks_are_left_out_of_differences_and_counted() -> None:
    frame = simulated(runs=4)
    frame["rate"] = np.where(frame.seed <= 2, "low", "high")
    frame = frame[(frame.system != "B") | (frame.rate != "low") | (frame.item > 6)]
    for claim in ("new-runs", "new-settings"):
        found = compare_systems(frame, facets=["rate", "seed"], claim=claim)
        rest = compare_systems(frame[frame["item"] > 6], facets=["rate", "seed"], claim=claim)
        assert found.contrasts[0].p == pytest.approx(rest.contrasts[0].p)
        assert found.contrasts[0].items == 34
        assert found.rows.reasons == {
            "an item that no two systems compared both have, in each setting: in no difference": 6 * (4 + 2)
        }


def test_items_that_no_seed_pairs_are_left_out() -> None:
    frame = simulated(runs=4)
    gone = ((frame.system == "A") & (frame.seed <= 2)) | ((frame.system == "B") & (frame.seed > 2))
    found = compare_systems(frame[~gone | (frame.item > 5)], shared=["seed"])
    assert found.contrasts[0].p == pytest.approx(
        compare_systems(frame[frame["item"] > 5], shared=["seed"]).contrasts[0].p
    )
    assert found.rows.planned - found.rows.used == 5 * 4


def test_scores_that_runs_lack_are_counted() -> None:
    frame = simulated()
    lacking = frame[(frame.system != "B") | (frame.seed != 2) | (frame.item > 7)]
    assert warned(compare_systems(lacking), "If the 7 missing scores are hard items, B looks too good.")
    assert not warned(compare_systems(frame), "missing")
    apart = frame.assign(dataset="x").replace({"dataset": {}})
    other = simulated(seed=8).assign(dataset="y", seed=lambda f: f.seed + 3)
    assert not warned(compare_systems(pd.concat([apart, other])), "missing")  # runs of their own in each dataset


def test_runs_without_a_score_are_counted_for_each_system() -> None:
    frame = simulated("ABC", runs=4).assign(status="ok")
    lost = ((frame.system == "A") & (frame.seed <= 2)) | ((frame.system == "B") & (frame.seed == 4))
    frame.loc[lost, ["score", "status"]] = [np.nan, "failed"]
    found = compare_systems(frame)
    assert warned(found, "No usable score in 2 of 4 runs of A (failed) and 1 of 4 runs of B (failed).")
    assert {s.name: s.runs for s in found.systems} == {"A": 2, "B": 3, "C": 4}
    assert not warned(compare_systems(simulated()), "No usable score")


def test_a_system_without_any_score_is_named() -> None:
    frame = simulated("ABC").assign(status="ok")
    frame.loc[frame.system == "C", ["score", "status"]] = [np.nan, "undefined"]
    assert warned(compare_systems(frame), "Left out, with no usable score: C (undefined).")
    with pytest.raises(ScoresError, match=r"'C' has no usable score \(undefined\)"):
        compare_systems(frame[frame.system != "B"])
    with pytest.raises(ScoresError, match=r"the baseline 'C' has no usable score"):
        compare_systems(frame, baseline="C")


@pytest.mark.parametrize(
    ("factor", "words"), [(1e300, "too large to compute with"), (1e-300, "too small to compute with")]
)
def test_scores_whose_squares_are_no_numbers_are_refused(factor: float, words: str) -> None:
    frame = simulated()
    with pytest.raises(ScoresError, match=words):
        compare_systems(frame.assign(score=frame.score * factor))
    near = compare_systems(frame.assign(score=frame.score * factor**0.19))
    assert near.contrasts[0].p == pytest.approx(compare_systems(frame).contrasts[0].p)


def resplit(*, items: bool) -> pd.DataFrame:
    frame = simulated(runs=5).rename(columns={"seed": "resplit"})
    return frame if items else frame.groupby(["system", "resplit"], as_index=False, observed=True).score.mean()


def test_resplits_of_a_corpus_are_no_new_runs() -> None:
    for claim in (None, "new-runs"):
        found = compare_systems(resplit(items=True), claim=claim)
        assert {c.claim for c in found.contrasts} == {s.claim for s in found.systems} == {"these-runs"}
        assert warned(found, "re-splits of one corpus, so they share training and test items")
        assert warned(found, "holdsup contest")
    with pytest.raises(ScoresError, match="without items nothing else can be tested: use holdsup contest"):
        compare_systems(resplit(items=False))


def test_a_cluster_that_was_found_by_its_name_is_said() -> None:
    frame = simulated()
    frame["doc"] = frame["item"] // 5
    assert warned(
        compare_systems(frame), "Items of one doc count as related; the column was found by its name. --cluster -"
    )
    for given in ("doc", "-"):
        assert not warned(compare_systems(frame, cluster=given), "found by its name")


def test_a_pair_without_shared_items_is_left_out_and_the_others_are_compared() -> None:
    frame = simulated("ABC")
    frame = frame[~((frame.system == "A") & (frame.item > 20)) & ~((frame.system == "C") & (frame.item <= 20))]
    found = compare_systems(frame)
    assert {frozenset((c.left, c.right)) for c in found.contrasts} == {frozenset("AB"), frozenset("BC")}
    assert warned(found, "1 of 3 pairs could not be compared. 'C' and 'A' have no item in common")
    with pytest.raises(ScoresError, match="no item in common"):
        compare_systems(frame[frame.system != "B"])


def test_a_system_that_no_pair_holds_is_counted_out() -> None:
    frame = simulated("ABC").groupby(["system", "seed"], as_index=False, observed=True).score.mean()
    frame = frame[(frame.system != "C") | (frame.seed == 1)]
    found = compare_systems(frame)
    assert len(found.contrasts) == 1
    assert found.rows.reasons == {"a system that can be compared with no other": 1}
    assert warned(found, "2 of 3 pairs could not be compared")


def test_a_metric_that_only_one_system_has_is_left_out_and_said() -> None:
    both, alone = simulated().assign(metric="bleu"), simulated("A").assign(metric="chrf")
    found = compare_systems(pd.concat([both, alone]))
    assert [c.metric for c in found.contrasts] == ["bleu"]
    assert warned(found, "Nothing could be compared")
    assert found.rows.used == len(both)


def test_without_items_only_new_runs_are_claimed() -> None:
    frame = simulated().groupby(["system", "seed"], as_index=False, observed=True).score.mean()
    found = compare_systems(frame, claim="these-runs")
    assert found.claim == found.contrasts[0].claim == "new-runs"
    assert warned(found, "Without items only the spread between runs can be tested; the claim is new-runs.")


def test_sharing_that_a_design_cannot_use_is_said() -> None:
    frame = simulated().groupby(["system", "seed"], as_index=False, observed=True).score.mean()
    assert warned(compare_systems(frame, shared=["seed"]), "Runs are not paired by seed")
    assert not warned(compare_systems(simulated(), shared=["seed"]), "not paired")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--by", "item"], "'item' is asked for as a property"),
        (["--by", "system"], "'system' is asked for as a property"),
        (["--by", "score"], "'score' is asked for as a property"),
        (["--shared", "item"], "'item' is asked for as a facet"),
        (["--best", "score"], "--best score: this is the score being compared"),
        (["--best", "item"], "--best item: this column holds the item"),
        (["--cluster", "item"], "'item' is asked for as the cluster"),
    ],
)
def test_a_role_asked_for_twice_is_one_clear_line(
    options: list[str], words: str, run: Callable[..., Any], tmp_path: Path
) -> None:
    simulated(items=5).to_csv(tmp_path / "scores.csv", index=False)
    done = run("compare", tmp_path / "scores.csv", *options)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert words in done.err


def on_another_scale(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(score=frame.score.clip(0, 1) * np.where(frame.seed == 2, 1, 100))


def with_empty_seeds(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(seed=frame.seed.where(frame.seed != 2).astype("Int64"))


def with_codes(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(score=frame.score.where(frame.item > 2, -1))


SCALE = "2 runs seem to be on another scale (0-1 next to 0-100)"
EMPTY = "80 rows of 2 systems have no seed, so they count as a run of their own"
CODES = "12 scores are -1, and all others from "


@pytest.mark.parametrize(
    ("judge", "spoil", "words"),
    [
        (compare_systems, on_another_scale, SCALE),
        (compare_systems, with_empty_seeds, EMPTY),
        (compare_systems, with_codes, CODES),
        (decompose_variance, on_another_scale, SCALE),
        (decompose_variance, with_codes, CODES),
        (assess_repeatability, with_empty_seeds, EMPTY),
        (assess_repeatability, with_codes, CODES),
    ],
)
def test_faults_that_check_finds_and_numbers_do_not_show_are_said_beside_them(
    judge: Callable[..., Any], spoil: Callable[[pd.DataFrame], pd.DataFrame], words: str
) -> None:
    frame = simulated()
    assert not warned(judge(frame), words)
    assert sum(words in warning for warning in judge(spoil(frame)).warnings) == 1


def test_a_ranking_says_what_check_says_as_well() -> None:
    frame = text_classifiers().to_pandas()
    score = next(name for name in frame if name in ("score", "accuracy", "f1"))
    assert not warned(rank_systems(frame, folds=0), "on another scale")
    frame[score] = frame[score] * np.where(frame.seed == frame.seed.min(), 100, 1)
    assert warned(rank_systems(frame, folds=0), "on another scale")


def test_cells_that_a_spreadsheet_merged_are_named_as_the_cause() -> None:
    frame = simulated()
    frame["system"] = frame.system.where(~frame.system.duplicated())
    with pytest.raises(ScoresError, match=r"only 2 of 240 rows have .*\. 238 rows (with|have) no system"):
        compare_systems(frame)


def test_facets_that_leave_no_item_a_score_at_every_setting_are_named() -> None:
    frame = simulated().assign(milliseconds=lambda f: np.arange(len(f)) % 7)
    with pytest.raises(
        ScoresError, match=r"none of the 40 items of 'B' has a score at each of its 7 settings \('milliseconds'"
    ):
        compare_systems(frame, facets=["milliseconds"])


def test_a_facet_that_may_repeat_runs_is_the_first_thing_to_say() -> None:
    frame = simulated().rename(columns={"seed": "Which one"})
    found = compare_systems(frame, facets=["Which one"])
    assert found.claim == "these-runs"
    assert "if Which one only repeats training, as a seed does, give --replicates 'Which one'" in found.next
    assert compare_systems(frame, replicates=["Which one"]).claim == "new-runs"


def test_options_about_several_datasets_are_said_to_change_nothing_of_one() -> None:
    frame = simulate_scores({"A": 0.6, "B": 0.7}, items=10, runs=2, seed=1).to_pandas()
    found = compare_systems(frame, average="micro", nested_runs=True)
    said = [line for line in found.warnings if "has no effect: there is only one dataset" in line]
    assert [line.split(" has")[0] for line in said] == ["--average micro", "--nested-runs"]
