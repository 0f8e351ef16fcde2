"""Means over datasets as leaderboards make them: macro, micro, by a column of weights, over groups of datasets."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from holdsup.errors import ColumnError, ScoresError
from holdsup.verdict import compare_systems
from holdsup.verdict.averages import Average

ALPACA = Path(__file__).parents[3] / "shared" / "data" / "shapes" / "alpaca_eval.csv.gz"
SIZES = {"algebra": 12, "geometry": 30, "law": 20, "ethics": 9, "virology": 25}
GROUP = {"algebra": "stem", "geometry": "stem", "law": "human", "ethics": "human", "virology": "other"}
WEIGHT = {"algebra": 1.0, "geometry": 2.0, "law": 0.0, "ethics": 3.5, "virology": 1.0}


def simulate(runs: int = 1, seed: int = 5) -> pd.DataFrame:
    """Two systems on five subjects, of which new is better in most."""
    rng = np.random.default_rng(seed)
    rows = []
    for place, (subject, size) in enumerate(SIZES.items()):
        item = rng.normal(0, 1, size)
        for system in ("new", "old"):
            for run in range(runs):
                lead = 0.3 * (system == "new") * (place != 1) - 0.2 * (system == "new") * (place == 1)
                scores = item + lead + rng.normal(0, 0.5, size) + rng.normal(0, 0.1)
                rows += [(system, run, subject, f"i{i}", score) for i, score in enumerate(scores)]
    frame = pd.DataFrame(rows, columns=["system", "seed", "subject", "item", "score"])
    return frame.assign(group=frame.subject.map(GROUP), weight=frame.subject.map(WEIGHT))


ONE = simulate().drop(columns="seed")


def by_hand(frame: pd.DataFrame, weights: dict[str, float]) -> tuple[dict[str, float], float]:
    """The weighted means, and the standard error of their difference over new items of these subjects."""
    share = pd.Series(weights) / sum(weights.values())
    means = frame.groupby(["system", "subject"]).score.mean().unstack() @ share
    gaps = frame.pivot_table(index=["subject", "item"], columns="system", values="score")
    parts = (gaps["new"] - gaps["old"]).groupby("subject").var(ddof=1) / pd.Series(SIZES)
    return means.to_dict(), math.sqrt(float((share**2 * parts).sum()))


@pytest.mark.parametrize(
    ("average", "weights"),
    [
        ("macro:subject", dict.fromkeys(SIZES, 1.0)),
        ("weights:weight", WEIGHT),
        ("macro:group,subject", {"algebra": 1 / 2, "geometry": 1 / 2, "law": 1 / 2, "ethics": 1 / 2, "virology": 1.0}),
    ],
)
def test_each_dataset_has_the_weight_that_is_asked_for(average: str, weights: dict[str, float]) -> None:
    found = compare_systems(ONE, average=average, dataset="subject")
    means, se = by_hand(ONE, weights)
    assert {s.name: s.mean for s in found.systems} == pytest.approx(means)
    (row,) = found.contrasts
    assert (row.difference, row.se) == (pytest.approx(means["new"] - means["old"]), pytest.approx(se))
    assert (found.average, found.asked.options["average"]) == (average, average)


def test_the_innermost_column_holds_the_datasets() -> None:
    found = compare_systems(ONE, average="macro:group,subject")
    assert found.asked.roles["dataset"] == "subject"
    assert found.contrasts[0].p == compare_systems(ONE, average="macro:group,subject", dataset="subject").contrasts[0].p
    nested = ONE.groupby(["system", "group", "subject"]).score.mean()
    for level in ("group", "system"):
        nested = nested.groupby(["system", "group"] if level == "group" else "system").mean()
    assert {s.name: s.mean for s in found.systems} == pytest.approx(nested.to_dict())


def test_three_levels_are_averaged_one_after_the_other() -> None:
    frame = ONE.assign(field=ONE.group.map({"stem": "hard", "human": "soft", "other": "soft"}))
    found = compare_systems(frame, average="macro:field,group,subject")
    nested = frame.groupby(["system", "field", "group", "subject"]).score.mean()
    for names in (["system", "field", "group"], ["system", "field"], ["system"]):
        nested = nested.groupby(names).mean()
    assert {s.name: s.mean for s in found.systems} == pytest.approx(nested.to_dict())


def test_a_group_name_that_recurs_is_one_group() -> None:
    codes = Average.read("macro:group,subject")
    assert codes.columns == ("group", "subject")


@pytest.mark.parametrize(
    ("average", "headline", "holds"),
    [
        (None, "old leads", "Subjects weigh the same"),
        ("macro", "By the macro average over 5 subjects, ", "Subjects weigh the same"),
        ("micro", "By the micro average over 5 subjects, ", "Items weigh the same"),
        ("weights:weight", "By the mean weighted by weight, ", "Subjects weigh by weight"),
        ("macro:group,subject", "By the macro average over group and subject, ",
         "Each group weighs the same, and each subject within it"),
    ],
)  # fmt: skip
def test_the_average_is_named_in_headline_and_claim(average: str | None, headline: str, holds: str) -> None:
    found = compare_systems(ONE, average=average, dataset="subject")
    assert found.headline.startswith(headline) or average is None
    assert average is not None or not found.headline.startswith("By")
    assert holds.lower().replace("subjects", "datasets") in found.verdict.lower().replace("subjects", "datasets")


def test_weights_are_about_these_datasets_whatever_is_asked() -> None:
    frame = simulate(runs=3)
    for claim in (None, "new-runs", "these-datasets"):
        found = compare_systems(frame, average="weights:weight", dataset="subject", claim=claim)
        assert {found.claim, *(s.claim for s in found.systems)} == {"these-datasets"}
    assert compare_systems(frame, dataset="subject").claim == "new-runs"
    nested = compare_systems(frame, average="macro:group,subject", nested_runs=True)
    assert nested.claim == "these-datasets"
    share = 1 / 3 * np.array([0.5, 0.5, 0.5, 0.5, 1.0])
    means = frame.groupby(["system", "subject"]).score.mean().unstack()[list(SIZES)] @ share
    assert {s.name: s.mean for s in nested.systems} == pytest.approx(means.to_dict())


@pytest.mark.parametrize(
    ("change", "average", "said"),
    [
        ({"weight": -1.0}, "weights:weight", "a weight is 0 or more and some are larger, but dataset 'algebra' has -1"),
        ({"weight": 0.0}, "weights:weight", "a weight is 0 or more and some are larger"),
        ({"weight": np.nan}, "weights:weight", "dataset 'algebra' has no weight: fill the column"),
        ({"weight": "heavy"}, "weights:weight", "weights must be numbers, but there is 'heavy'"),
        ({}, "weights:system", "column 'system' holds the system: name another"),
        ({}, "median", "average is 'median': it can be macro"),
        ({}, "weights", "average is 'weights': it can be macro"),
        ({}, "micro:group", "average is 'micro:group': it can be macro"),
        ({"subject": "law"}, "weights:weight", "there is one dataset, or none, to average over"),
    ],
)
def test_what_is_no_average_is_refused(change: dict[str, object], average: str, said: str) -> None:
    with pytest.raises(ScoresError, match=said):
        compare_systems(ONE.assign(**change), average=average, dataset="subject")


def test_a_weight_that_varies_within_a_dataset_is_refused() -> None:
    frame = ONE.assign(weight=np.where(ONE["item"] == "i3", 9.0, ONE.weight))
    with pytest.raises(ScoresError, match=r"weight differs within dataset 'algebra' \('9' and '1'\)"):
        compare_systems(frame, average="weights:weight", dataset="subject")
    with pytest.raises(ColumnError, match="no column 'size'"):
        compare_systems(ONE, average="weights:size", dataset="subject")
    with pytest.raises(ScoresError, match="the last column holds the datasets, but --dataset names 'group'"):
        compare_systems(ONE, average="macro:group,subject", dataset="group")


def test_without_items_weights_are_refused() -> None:
    means = ONE.groupby(["system", "subject", "group", "weight"], as_index=False).score.mean()
    with pytest.raises(ScoresError, match="there is one score for each dataset and no items"):
        compare_systems(means, average="weights:weight", dataset="subject")


def test_by_the_datasets_there_is_a_table_of_means() -> None:
    found = compare_systems(ONE, dataset="subject", by="subject", average="macro")
    (table,) = [table for table in found.tables() if table.name == "means"]
    means = ONE.groupby(["system", "subject"]).score.mean()
    assert len(table.rows) == len(means)
    for system, subject, mean, _ in table.rows:
        assert mean.value == pytest.approx(means[system, subject])
    assert found.conditional[0].classes == tuple(sorted(SIZES))
    plain = compare_systems(ONE, dataset="subject", average="macro")
    assert (found.contrasts[0].p, found.headline) == (plain.contrasts[0].p, plain.headline)


def test_by_a_category_of_one_dataset_there_is_the_same_table() -> None:
    frame = ONE.assign(item=ONE.subject + ONE["item"])
    found = compare_systems(frame, by="group")
    (table,) = [table for table in found.tables() if table.name == "means"]
    assert [row[1] for row in table.rows] == ["human", "human", "other", "other", "stem", "stem"]


@pytest.mark.skipif(not ALPACA.exists(), reason="the shared table of AlpacaEval is not beside this clone")
def test_macro_and_micro_means_of_alpaca_eval_differ() -> None:
    table = pd.read_csv(ALPACA)
    table.preference -= 1  # from 1 to 2: a win rate
    by_dataset = table.groupby(["system", "dataset"]).preference.mean().groupby("system").mean()
    by_item = table.groupby("system").preference.mean()
    for average, means in (("macro", by_dataset), ("micro", by_item)):
        found = compare_systems(ALPACA, average=average)
        assert {s.name: s.mean for s in found.systems} == pytest.approx(means.to_dict())
        assert found.headline.startswith(f"By the {average} average over 5 datasets, ")
