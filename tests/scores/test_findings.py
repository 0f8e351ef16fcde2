"""More planted faults: copied runs, tied columns, torn facets; and rows that change nothing but their own finding."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import holdsup
from holdsup.errors import ScoresError

Table = dict[str, list[Any]]


def clean(items: int = 4) -> Table:
    """Return a faultless table: 2 systems x 3 seeds, as lists that a test can spoil."""
    table = holdsup.simulate_scores({"A": 0.5, "B": 0.6}, items=items, runs=3, seed=1)
    return {name: table[name].to_pylist() for name in table.column_names}


def shuffled(columns: Table, seed: int = 0) -> Table:
    order = random.Random(seed).sample(range(len(columns["score"])), len(columns["score"]))
    return {name: [values[i] for i in order] for name, values in columns.items()}


def found(data: Any, **options: Any) -> dict[str, Any]:
    return {finding.code: finding for finding in holdsup.audit_scores(data, **options).findings}


@pytest.mark.parametrize(("copy", "of"), [(slice(4, 8), "A/seed=1 = A/seed=2"), (slice(16, 20), "A/seed=1 = B/seed=2")])
def test_runs_with_the_same_scores_are_found_in_any_order_of_rows(copy: slice, of: str) -> None:
    columns = clean()
    columns["score"][copy] = columns["score"][:4]
    for table in (columns, shuffled(columns)):
        finding = found(table)["identical-runs"]
        assert (finding.severity, finding.count, finding.examples) == ("warning", 2, (of,))


def test_runs_that_agree_on_other_items_or_are_constant_are_no_copies() -> None:
    columns = clean()
    columns["score"][4:8] = [columns["score"][i] for i in (1, 0, 3, 2)]
    assert "identical-runs" not in found(columns)
    columns["score"][:8] = [0.0] * 8
    assert set(found(columns)) == {"constant-runs"}


def test_runs_without_items_are_no_copies() -> None:
    columns = {"system": ["A", "A", "B", "B"], "seed": [1, 2, 1, 2], "score": [0.5, 0.6, 0.5, 0.6]}
    assert found(columns) == {}


def test_a_column_without_a_role_that_changes_with_the_system_is_found() -> None:
    columns = clean()
    columns["lr"] = [0.1 if s == "A" else 0.2 for s in columns["system"]]
    finding = found(columns)["confounded"]
    assert finding.message == (
        "Column 'lr' changes only together with the system: a difference between systems may be due to it."
    )
    assert (finding.severity, "--facets" in finding.advice) == ("warning", True)
    columns["optimizer"] = ["sgd" if s == "A" else None for s in columns["system"]]
    assert found(columns)["confounded"].message.startswith("Columns 'lr', 'optimizer' change only")
    assert found(columns)["confounded"].advice.endswith("Ignore this if they only describe the system.")


def test_columns_that_vary_within_a_system_or_not_at_all_are_not_confounded() -> None:
    columns = clean()
    columns |= {"a": [f"{s}{i % 2}" for i, s in enumerate(columns["system"])], "b": ["x"] * 24, "c": list(range(24))}
    assert "confounded" not in found(columns)


def test_a_leaderboard_of_one_row_a_system_has_no_confounded_columns() -> None:
    assert "confounded" not in found({"system": list("ABC"), "size": [1, 2, 3], "score": [0.1, 0.2, 0.4]})


def test_rows_without_a_value_of_a_facet_are_found() -> None:
    columns = clean()
    columns["seed"][22:24] = [None, None]
    finding = found(columns)["facet-gaps"]
    assert finding.message == "2 rows of system B have no seed, so they count as a run of their own."
    assert finding.severity == "warning"


def test_a_facet_that_only_one_system_has_is_no_gap() -> None:
    columns = clean()
    columns["dropout"] = [
        seed if s == "A" else None for s, seed in zip(columns["system"], columns["seed"], strict=True)
    ]
    assert "facet-gaps" not in found(columns, facets=["seed", "dropout"])


def test_advice_on_duplicates_names_the_item_where_there_is_none() -> None:
    table = {"system": ["A"] * 3, "text": ["x", "y", "z"], "score": [1, 2, 3.5]}
    assert found(table)["duplicates"].advice.startswith("In the duplicate rows these columns differ: text. Name")
    assert "--item" in found(table)["duplicates"].advice
    assert "--item" not in found({"system": ["A"] * 2, "item": [1, 1], "score": [1, 2]})["duplicates"].advice


@pytest.mark.parametrize(
    ("labels", "alike"),
    [(["1", "1.0"], True), (["001", "1"], True), (["0.10", "0.1"], True), (["1", "10"], False), (["a 1", "A  1"], True),
     (["9007199254740993", "9007199254740992"], False), (["1e3", "1000"], False), (["-0", "0"], True)],
)  # fmt: skip
def test_labels_that_are_one_number_written_differently_look_alike(labels: list[str], alike: bool) -> None:
    table = {"system": ["A", "A"], "item": labels, "score": [0.5, 0.25]}
    assert ("lookalike-labels" in found(table)) is alike


def test_items_of_several_datasets_are_counted_within_them() -> None:
    columns = clean()
    both = {name: values * 2 for name, values in columns.items()} | {"dataset": ["d1"] * 24 + ["d2"] * 24}
    both["score"] = [*columns["score"], *(s + 0.01 for s in columns["score"])]
    assert "8 items and 2 datasets" in holdsup.audit_scores(both).size


@given(st.sampled_from(["system", "item"]), st.integers(0, 23))
@settings(max_examples=20)
def test_a_row_without_a_label_changes_nothing_but_its_own_finding(role: str, row: int) -> None:
    columns = clean()
    spoilt = {name: [*values, values[row]] for name, values in columns.items()}
    spoilt[role][-1] = None
    before, after = holdsup.audit_scores(columns), holdsup.audit_scores(spoilt)
    assert [f.code for f in after.findings] == ["unlabelled-rows"]
    assert after.systems == before.systems
    assert after.size == before.size == "2 systems, 6 runs and 4 items"
    assert before.findings == ()


def test_a_table_without_a_single_labelled_row_is_audited() -> None:
    audit = holdsup.audit_scores({"system": [None, None], "item": [1, 2], "score": [1, 2]})
    assert {f.code for f in audit.findings} == {"unlabelled-rows", "no-scores"}
    assert audit.systems == ()


def test_several_metrics_have_a_line_for_each_system_and_metric() -> None:
    columns = clean()
    both = {name: values * 2 for name, values in columns.items()} | {"metric": ["bleu"] * 24 + ["ter"] * 24}
    both["score"] = [*columns["score"], *(100 * s for s in columns["score"])]
    audit = holdsup.audit_scores(both)
    assert [(s.name, s.metric, s.rows) for s in audit.systems] == [
        ("A", "bleu", 12), ("A", "ter", 12), ("B", "bleu", 12), ("B", "ter", 12)
    ]  # fmt: skip
    assert audit.systems[1].mean == pytest.approx(100 * audit.systems[0].mean)
    assert audit.tables()[1].columns[:2] == ("system", "metric")
    assert {s.metric for s in holdsup.audit_scores(columns).systems} == {None}


def test_a_wide_table_has_a_line_for_what_the_columns_are() -> None:
    audit = holdsup.audit_scores({"q": [1, 2], "A": [0.5, 0.25], "B": [0.75, 1]}, wide={"system": ["A", "B"]}, item="q")
    assert ("system", "(the names of these columns)", 2, "A, B") in audit.tables()[0].rows


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        (["10", "9", "2"], "2, 9, 10"),
        (["10", "9", "2", "x"], "10, 2, 9, ..."),
        (["a,b", "c"], "'a,b', c"),
        (["x" * 50, "y"], "x" * 21 + "..., y"),
        (["0.001", "1e-4"], "1e-4, 0.001"),
    ],
)
def test_examples_of_labels_are_short_and_in_order(labels: list[str], shown: str) -> None:
    table = {"system": ["A"] * len(labels), "item": labels, "score": [0.5 + i for i in range(len(labels))]}
    rows = holdsup.audit_scores(table).tables()[0].rows
    assert [row[3] for row in rows if row[0] == "item"] == [shown]


@pytest.mark.parametrize("limits", [(1,), 5, "ab", ("a", "b"), (0, 1, 2), (None, 1)])
def test_a_range_that_is_not_two_numbers_is_refused_in_one_line(limits: Any) -> None:
    with pytest.raises(ScoresError, match="give two numbers"):
        holdsup.audit_scores(clean(), score_range=limits)


def test_an_index_that_pandas_saved_is_no_unused_column(tmp_path: Any) -> None:
    pd.DataFrame(clean()).to_csv(tmp_path / "s.csv")
    assert found(tmp_path / "s.csv") == {}
    pd.DataFrame(clean()).iloc[::-1].to_csv(tmp_path / "s.csv")  # an unnamed column that does not count
    assert "unused-columns" in found(tmp_path / "s.csv")


def test_the_short_answer_names_three_faults_what_to_fix_first_and_counts_the_rest() -> None:
    columns = clean()
    columns["score"][:3] = [None, float("nan"), float("inf")]
    columns = {name: [*values, values[9]] for name, values in columns.items()}
    columns["item"][5] = None
    audit = holdsup.audit_scores(pd.DataFrame(columns), score_range=(0, 0.2))
    grave = [f for f in audit.findings if f.severity != "note"]
    lines = str(audit).splitlines()
    assert sum(line.startswith(("error ", "warning ")) for line in lines) == 3
    assert f"{len(grave) - 3} more: --full" in str(audit)
    assert sum(line.startswith("fix ") for line in lines) == 1
    assert len(lines) <= 24


def test_a_few_scores_far_from_all_others_are_found_and_long_tails_are_not() -> None:
    rng = np.random.default_rng(1)
    values = rng.uniform(0, 100, 200)
    table = {"system": ["A", "B"] * 100, "item": np.repeat(np.arange(100), 2), "score": values}
    assert "far-scores" not in {f.code for f in holdsup.audit_scores(table).findings}
    table["score"] = np.where(np.arange(200) == 7, 111_111.0, values)
    finding = next(f for f in holdsup.audit_scores(table).findings if f.code == "far-scores")
    assert (finding.count, finding.severity) == (1, "warning")
    assert finding.message.startswith("1 score lies far from all others: 111111, where nine in ten are from ")
    table["score"] = np.exp(1.5 * rng.standard_normal(200))
    assert "far-scores" not in {f.code for f in holdsup.audit_scores(table).findings}
