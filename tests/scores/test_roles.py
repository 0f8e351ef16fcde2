"""Columns find their parts by the user's word first, then by the names that people give them."""

from __future__ import annotations

import pytest

from holdsup.columns import open_tables
from holdsup.errors import ColumnError, ScoresError
from holdsup.scores.roles import Roles, find_roles


def roles(columns: str, *more: str, **asked: object) -> Roles:
    """Return the roles found in tables with these columns, each of one row of ones."""
    frames = [{column: [1] for column in names.split()} for names in (columns, *more)]
    tables = [table for frame in frames for table in open_tables(frame)]
    return find_roles(Roles(**asked), tables, virtual=("file",) if more else ())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("system item score", {"system": "system", "item": "item", "score": "score"}),
        ("Model sentence-id BLEU", {"system": "Model", "item": "sentence-id", "score": "BLEU"}),
        ("model id f1 seed lr", {"system": "model", "item": "id", "score": "f1", "facets": ("seed", "lr")}),
        ("checkpoint id f1", {"system": "checkpoint"}),
        ("checkpoint model id f1", {"system": "model"}),
        ("task method run_id value", {"dataset": "task", "system": "method", "run": "run_id", "score": "value"}),
        ("metric_name doc id my_score", {"metric": "metric_name", "cluster": "doc", "score": "my_score"}),
        ("id question score", {"item": "id"}),
        ("system score accuracy", {"score": "score"}),
        ("system item score status", {"status": "status"}),
        ("model task_id passed", {"item": "task_id", "score": "passed"}),
        ("system doc seg_id mqm", {"item": "seg_id", "cluster": "doc", "score": "mqm"}),
    ],
)
def test_usual_names_find_their_roles(columns: str, expected: dict[str, object]) -> None:
    found = roles(columns)
    assert {role: getattr(found, role) for role in expected} == expected


@pytest.mark.parametrize("name", ["ROUGE-L (%)", "F1 (macro)", "acc [%]", "BLEU %", "Score (0-100)"])
def test_a_score_is_found_whatever_its_unit(name: str) -> None:
    (table,) = open_tables({"Model": ["A"], "Example ID": [1], name: [0.5], "Latency (ms)": [3.0]})
    found = find_roles(Roles(), [table])
    assert (found.score, found.item, found.system) == (name, "Example ID", "Model")


def test_two_scores_with_units_are_not_guessed_between_and_quoted_for_the_shell() -> None:
    (table,) = open_tables({"model": ["A"], "F1 (macro)": [0.5], "F1 (micro)": [0.5]})
    with pytest.raises(ColumnError, match=r"--score 'F1 \(macro\)', or .* --wide 'metric=F1 \(macro\),F1 \(micro\)'"):
        find_roles(Roles(), [table])


def test_a_name_alone_goes_before_one_with_a_unit() -> None:
    (table,) = open_tables({"system": ["A"], "id (old)": [1], "id": [1], "f1 (dev)": [0.5], "f1": [0.5]})
    found = find_roles(Roles(), [table])
    assert (found.item, found.score) == ("id", "f1")


@pytest.mark.parametrize("name", ["Seed #", "seed no.", "Seed nr", "Seed (rng)", "replica", "Replica #", "seed [int]"])
def test_a_seed_is_a_seed_whatever_stands_beside_the_word(name: str) -> None:
    (table,) = open_tables({"system": ["A"], "item": [1], "score": [0.5], name: [7]})
    found = find_roles(Roles(), [table])
    assert found.facets == found.replicates == (name,)


def test_init_repeats_runs_where_it_is_a_number_and_not_where_it_is_a_method() -> None:
    columns = {"system": ["A"], "item": [1], "score": [0.5]}
    (numbers,), (words,) = open_tables({**columns, "init": [3]}), open_tables({**columns, "init": ["xavier"]})
    assert find_roles(Roles(), [numbers]).replicates == ("init",)
    assert find_roles(Roles(), [words]).facets == ()


def test_a_given_role_goes_before_a_column_named_like_it() -> None:
    found = roles("system model item id score acc", system="model", item="id", score="acc")
    assert (found.system, found.item, found.score) == ("model", "id", "acc")


def test_a_column_taken_by_the_user_plays_no_second_part() -> None:
    found = roles("system item score", status="item", metric="system")
    assert (found.system, found.item) == (None, None)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"cluster": "item"}, "'item' is asked for as the cluster, but by its name it is the column of the item"),
        ({"properties": ("item",)}, "'item' is asked for as a property"),
        ({"properties": ("system",)}, "'system' is asked for as a property"),
        ({"properties": ("score",)}, "'score' is asked for as a property"),
        ({"shared": ("item",)}, "'item' is asked for as a facet"),
    ],
)
def test_a_column_that_scores_need_is_not_taken_for_something_else(asked: dict[str, object], message: str) -> None:
    with pytest.raises(ColumnError, match=message):
        roles("system item score seed", **asked)


def test_a_column_may_change_its_part_where_another_takes_it_over() -> None:
    assert roles("system doc_id id score", cluster="doc_id").item == "id"
    assert roles("system item id score", properties=("item",), item="id").item == "id"
    assert roles("system item score", facets=("system",)).system is None
    assert roles("system id score", item="-", cluster="id").cluster == "id"


@pytest.mark.parametrize("role", ["system", "item", "run", "dataset", "metric", "cluster"])
def test_a_dash_leaves_a_role_open_whatever_columns_are_called(role: str) -> None:
    everything = "system item run dataset metric cluster score"
    assert getattr(roles(everything), role) == role
    assert getattr(roles(everything, **{role: "-"}), role) is None


def test_a_dash_for_facets_leaves_seeds_alone() -> None:
    assert roles("system seed score").facets == ("seed",)
    assert roles("system seed score", facets=("-",)).facets == ()


def test_facets_named_like_repetitions_are_replicates() -> None:
    found = roles("system item score seed lr batch", facets=("lr", "seed"), shared=("batch",))
    assert (found.facets, found.replicates) == (("lr", "seed", "batch"), ("seed",))


@pytest.mark.parametrize(
    "asked",
    [
        {"system": "item", "item": "item"},
        {"score": "item", "item": "item"},
        {"facets": ("item",), "item": "item"},
        {"properties": ("x",), "facets": ("x",)},
        {"score": ("x", "x"), "wide": "system"},
    ],
)
def test_a_column_cannot_have_two_roles(asked: dict[str, object]) -> None:
    with pytest.raises(ColumnError, match="two roles"):
        roles("system item score x", **asked)


def test_a_column_that_is_not_there_is_answered_with_those_that_are_and_the_nearest() -> None:
    with pytest.raises(ColumnError, match=r"no column 'sytem' .* it has 'system', 'score'. Did you mean 'system'"):
        roles("system score", system="sytem")


def test_several_columns_that_look_like_scores_are_not_guessed_between() -> None:
    with pytest.raises(ColumnError, match=r"'bleu', 'chrf' .* --wide metric=bleu,chrf"):
        roles("system item bleu chrf")


@pytest.mark.parametrize(("columns", "said"), [("system item", "named like a score"), ("a 0,5", "first line")])
def test_a_table_without_a_score_says_what_it_has(columns: str, said: str) -> None:
    with pytest.raises(ColumnError, match=said):
        roles(columns)


def test_a_table_without_columns_is_refused() -> None:
    with pytest.raises(ScoresError, match="no columns"):
        roles("")


def test_several_tables_have_a_column_that_tells_them_apart() -> None:
    assert roles("item score", "item score").system == "file"
    assert roles("system item score", "system item score").system == "system"
    assert roles("system item score", "system item score", facets=("file",)).facets == ("file",)
    assert roles("item score", "item score", system="-").system == "file"


def test_roles_in_a_very_wide_table_are_found_in_time_that_grows_with_its_width() -> None:
    wide = tuple(f"c{i}" for i in range(10_000))
    assert roles(" ".join((*wide, "item")), score=wide, wide="system").item == "item"


def test_all_roles_without_a_column_are_named_at_once() -> None:
    with pytest.raises(
        ColumnError, match=r"like a score or a system or an item; .* with --score and --system and --item"
    ):
        find_roles(Roles(), open_tables({"foo": ["A"], "bar": ["1"], "x": [0.5]}))
