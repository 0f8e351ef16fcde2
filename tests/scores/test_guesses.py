"""What is found by name, and what rows and names bear out: settings, checkpoints, duplicates, lookalikes, re-splits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from holdsup import audit_scores, compare_systems, decompose_variance, rank_systems, read_scores
from holdsup.errors import ColumnError, ScoresError


def grid(**more: Any) -> pd.DataFrame:
    """Return scores of A and B on 8 items with two learning rates and three seeds."""
    rng = np.random.default_rng(0)
    system, rate, seed, item = (axis.ravel() for axis in np.indices((2, 2, 3, 8)))
    columns = {"system": np.array(["A", "B"])[system], "learning_rate": np.array([0.1, 0.01])[rate], "seed": seed}
    return pd.DataFrame({**columns, "item": item, "score": rng.normal(0.5, 0.1, len(item)), **more})


def codes(data: Any, **roles: Any) -> dict[str, str]:
    return {finding.code: finding.message for finding in audit_scores(data, **roles).findings}


def test_settings_are_facets_by_their_names_where_runs_differ_in_them() -> None:
    scores = read_scores(grid())
    assert scores.roles.facets == ("learning_rate", "seed")
    assert scores.roles.replicates == ("seed",)
    assert scores.run.count == 12
    assert "duplicates" not in codes(grid())


def test_facets_that_are_named_leave_no_room_for_guesses() -> None:
    assert read_scores(grid(), facets=["seed"]).roles.facets == ("seed",)
    assert read_scores(grid(), facets="-").roles.facets == ()


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (lambda f: np.where(f.system == "A", 0.1, 0.5), "it describes systems"),
        (lambda f: f["item"] / 10, "it describes items"),
        (lambda f: np.arange(len(f)) / 7, "it is measured row by row"),
        (lambda f: np.where(f.seed == 0, np.nan, 0.1), "rows of a system lack it"),
    ],
)
def test_a_column_named_like_a_setting_in_which_runs_do_not_differ_is_no_facet(column: Any, why: str) -> None:
    frame = grid().assign(temperature=column)
    scores = read_scores(frame)
    assert scores.roles.facets == ("learning_rate", "seed"), why
    assert "temperature" in scores.others


def test_a_column_that_changes_within_a_run_that_is_named_is_no_facet() -> None:
    frame = grid().assign(run=lambda f: f.seed, dropout=lambda f: f["item"] % 2 + f.seed)
    assert "dropout" not in read_scores(frame).roles.facets


def test_checkpoints_are_systems_where_nothing_else_is() -> None:
    frame = grid().rename(columns={"system": "checkpoint"})
    assert read_scores(frame).roles.system == "checkpoint"
    assert compare_systems(frame).systems[0].name in "AB"
    assert read_scores(frame, system="-").roles.system is None
    assert read_scores(frame.assign(model="m")).roles.system == "model"


def test_a_table_without_systems_says_which_column_they_may_be() -> None:
    frame = grid().rename(columns={"system": "variant"}).assign(genre=lambda f: f["item"].astype(str))
    (note,) = [n for n in read_scores(frame).notes if n.code == "one-system"]
    assert note.message.endswith("Is it 'variant'? Then give --system variant.")


def test_outcomes_are_never_proposed_for_duplicates() -> None:
    frame = grid(dev_score=np.arange(96) // 8, loss=np.arange(96) / 7).rename(columns={"learning_rate": "beam"})
    advice = next(f.advice for f in audit_scores(frame, score="score").findings if f.code == "told-apart")
    assert advice.startswith("Give --facets seed --replicates beam if it only repeats runs")


@pytest.mark.parametrize("name", ["reason", "status", "error"])
def test_a_remark_on_rows_is_not_called_a_confound(name: str) -> None:
    frame = grid().assign(**{name: lambda f: np.where(f.system == "A", "x", "y")})
    assert "confounded" not in codes(frame)
    assert "confounded" in codes(frame.rename(columns={name: "tokenizer"}))


def test_runs_on_splits_of_their_own_lack_nothing() -> None:
    rng = np.random.default_rng(1)
    rows = [(s, k, i) for s in "AB" for k in range(4) for i in range(k * 5, k * 5 + 10)]
    frame = pd.DataFrame(rows, columns=["system", "resplit", "item"]).assign(score=rng.normal(0.5, 0.1, len(rows)))
    assert "missing-cells" not in codes(frame)
    assert not any("missing" in line for line in compare_systems(frame).warnings)
    assert "missing-cells" in codes(frame.rename(columns={"resplit": "seed"}))
    assert codes(frame.iloc[1:])["missing-cells"].startswith("1 row is missing")  # B has it on the same split


@pytest.mark.parametrize(("one", "other"), [("A", "A "), ("A", "a")])
def test_labels_that_may_mean_the_same_are_told_with_every_answer(one: str, other: str) -> None:
    frame = grid().assign(system=lambda f: np.where((f.system == "B") & (f.seed == 0), other, f.system))
    words = f"The system labels {one!r} and {other!r} may mean the same"
    assert any(line.startswith(words) for line in compare_systems(frame).warnings)
    assert any(line.startswith(words) for line in decompose_variance(frame, where={"system": "A"}).warnings) is False
    assert any(line.startswith(words) for line in decompose_variance(frame).warnings)


def test_items_written_in_two_ways_are_told_in_the_error() -> None:
    frame = grid().assign(item=lambda f: np.where(f.system == "A", f["item"].astype(str), f["item"].astype(str) + ".0"))
    with pytest.raises(ScoresError, match=r"no item in common .* The item labels '0' and '0\.0' may mean the same"):
        compare_systems(frame)


def test_a_seed_is_no_system_of_a_wide_table() -> None:
    with pytest.raises(ColumnError, match=r"wide system=A,B,seed: by its name 'seed' tells runs apart"):
        read_scores({"item": [1, 2], "A": [1, 2], "B": [2, 1], "seed": [0, 0]}, wide={"system": ["A", "B", "seed"]})


def test_no_properties_can_be_asked_for() -> None:
    assert read_scores(grid(), properties="-").roles.properties == ()


def test_the_name_of_a_run_shows_its_commas_as_they_are() -> None:
    frame = grid().assign(run=lambda f: "seed=" + f.seed.astype(str) + ",lr=" + f.learning_rate.astype(str))
    assert "A/seed=0,lr=0.1" in read_scores(frame).run.names


@pytest.mark.parametrize(
    ("function", "given", "words"),
    [
        (compare_systems, {"level": "0.95"}, "level is '0.95'; it must be a number"),
        (compare_systems, {"margin": "0.1"}, "the margin is '0.1': give a positive number"),
        (compare_systems, {"score": ["a"]}, r"score is \['a'\]: give the name of one column"),
        (compare_systems, {"score": 0}, "no column '0'"),
        (compare_systems, {"by": 3}, "by is 3: give a name"),
        (compare_systems, {"facets": 3.5}, "3.5 names no column"),
        (decompose_variance, {"levels": {"seed": 3}}, "levels of 'seed' are 3: give a list of whole numbers"),
        (decompose_variance, {"levels": 3}, "levels is 3: give a dict"),
        (decompose_variance, {"level": None}, "level is None"),
    ],
)
def test_a_wrong_type_is_one_clear_line(function: Any, given: dict[str, Any], words: str) -> None:
    with pytest.raises((ColumnError, ScoresError), match=words):
        function(grid(), **given)


def test_none_means_none() -> None:
    plain, none = compare_systems(grid()), compare_systems(grid(), by=None, properties=None)
    assert none.signature == plain.signature


def stopped(epochs: dict[str, list[int]], items: int = 8, **more: Any) -> pd.DataFrame:
    """Return scores of systems whose seeds have these numbers of epochs."""
    rng = np.random.default_rng(5)
    rows = [(s, seed, e, i) for s, own in epochs.items() for seed, e in enumerate(own) for i in range(items)]
    frame = pd.DataFrame(rows, columns=["system", "seed", "epochs", "item"])
    lead = frame.groupby(["system", "seed"]).ngroup().map(dict(enumerate(rng.normal(0.7, 0.03, 99))))
    return frame.assign(f1=lead + rng.normal(0, 0.02, len(frame)), **more)


EARLY = {"A": [41, 12, 23, 17, 35], "B": [9, 30, 23, 14, 28]}


def test_epochs_of_early_stopping_are_no_setting_and_one_line_says_so() -> None:
    frame = stopped(EARLY)
    found, without = compare_systems(frame), compare_systems(frame.drop(columns="epochs"))
    assert found.contrasts == without.contrasts
    assert found.claim == "new-runs"
    assert [w for w in found.warnings if "epochs" in w] == [
        "Column epochs differs from run to run, as with early stopping: it counts as an outcome, not a setting. "
        "Give --facets seed,epochs if you chose it."
    ]
    chosen = compare_systems(frame, facets=["seed", "epochs"])
    assert chosen.claim == "these-runs"
    assert not any("early stopping" in w for w in chosen.warnings)
    assert "epochs" not in {c.name for c in decompose_variance(frame).components}


@pytest.mark.parametrize(
    ("frame", "outcome"),
    [
        (stopped({"A": [3, 4, 4, 5, 3, 4], "B": [5, 4, 3, 5, 5, 4]}), True),  # a few values, unevenly
        (pd.concat([stopped(EARLY, dataset="X"), stopped({"A": [8, 9, 33], "B": [7, 11, 5]}, dataset="Y")]), True),
        (pd.concat([stopped(EARLY, dataset=name) for name in "XY"])[lambda f: f.system == "A"], True),
        (pd.concat([stopped(EARLY, lr=rate) for rate in (0.1, 0.01)]), True),
        (stopped({"A": [10, 10, 20, 20, 30, 30], "B": [10, 10, 20, 20, 30, 30]}), False),  # as many runs of each
        (stopped({"A": [10, 20, 30], "B": [10, 20, 30]}), False),  # the same in every system
        (stopped({"A": [10, 10, 20, 20], "B": [15, 15]}), False),  # a grid of one system
        (pd.concat([stopped({"A": [e] * 3, "B": [e] * 3}) for e in (10, 20)])[1:], False),  # crossed with seeds
        (stopped(EARLY).drop(columns="seed"), False),  # nothing else tells runs apart
    ],
)
def test_only_epochs_that_differ_by_chance_are_outcomes(frame: pd.DataFrame, outcome: bool) -> None:
    scores = read_scores(frame)
    assert ("epochs" in scores.facets) != outcome
    assert any("early stopping" in note.message for note in scores.notes) == outcome


def test_runs_that_are_named_have_outcomes_too_and_rates_have_none() -> None:
    frame = stopped(EARLY).rename(columns={"seed": "run"})
    assert read_scores(frame).roles.facets == ()
    assert read_scores(frame.rename(columns={"epochs": "lr"})).roles.facets == ("lr",)


@pytest.mark.parametrize("name", ["epochs", "num_epochs", "steps"])
def test_a_ranking_does_not_adjust_for_outcomes_unless_asked(name: str) -> None:
    rng = np.random.default_rng(2)
    frame = pd.concat([stopped(EARLY, items=1, dataset=d) for d in "WXYZ"]).drop(columns="item")
    frame = frame.assign(f1=lambda f: f.f1 + rng.normal(0, 0.02, len(f))).rename(columns={"epochs": name})
    found, asked = rank_systems(frame, folds=0), rank_systems(frame, nuisance=["seed", name], folds=0)
    assert [t.name for t in found.treatments] == ["seed"]
    assert [t.name for t in asked.treatments] == ["seed", name]
    assert sum(name in w for w in found.warnings) == 1
    treated = rank_systems(frame, treat={name: "numeric"}, folds=0)
    assert [t.name for t in treated.treatments] == ["seed", name]
    for other in (asked, treated):
        assert not any("early stopping" in w for w in other.warnings)
