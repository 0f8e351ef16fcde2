"""Export: what a store holds, as the table of scores that other commands take."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from holdsup import audit_scores, compare_systems, decompose_variance, rank_systems
from holdsup.errors import ColumnError, MetricError, ResultError
from holdsup.experiment import Plan, Store, export_scores, run_plan
from holdsup.scores import read_scores
from holdsup.scores.roles import Roles
from holdsup.scores.writing import state_roles, write_scores
from holdsup.studies.specs import make_plan

Export = Callable[..., list[dict[str, Any]]]
BROKEN = """
def train_broken(inputs, targets, *, seed):
    if seed == 2:
        raise ValueError("diverged\\nfor ever")
    return lambda unseen: ["long"] * len(unseen)
"""


@pytest.fixture
def planned(study: Path) -> Callable[..., Plan]:
    """A function that edits the spec and returns its plan."""

    def call(*edits: tuple[str, str]) -> Plan:
        text = study.read_text()
        for old, new in edits:
            assert old in text
            text = text.replace(old, new)
        study.write_text(text)
        return make_plan(study)

    return call


def export(plan: Plan, store: Path, **options: Any) -> list[dict[str, Any]]:
    """Return the rows of a plan's export."""
    with Store(store, writing=False) as opened:
        rows: list[dict[str, Any]] = export_scores(plan, opened, **options).to_pylist()
    return rows


def kept(plan: Plan, store: Path) -> dict[str, tuple[list[str], list[Any], list[Any]]]:
    """Return items, targets and predictions of each task, as the store holds them."""
    with Store(store, writing=False) as opened:
        found = {}
        for recorded in opened.results():
            items = recorded.tables["items"].to_pydict()
            read = [[json.loads(text) for text in items[name]] for name in ("target", "prediction")]
            found[recorded.task] = (items["item"], *read)
    assert set(found) == {task.id for task in plan.tasks}
    return found


KFOLD = ('name = "holdout"\ntest = 0.25', 'name = "kfold"\nk = 4')


def test_a_mean_has_a_row_for_each_item_and_run(planned: Callable[..., Plan], tmp_path: Path) -> None:
    plan, store = planned(KFOLD), tmp_path / "s.db"
    run_plan(plan, store)
    rows = export(plan, store)
    assert list(rows[0]) == ["dataset", "system", "run", "item", "metric", "score", "status", "seed", "reason"]
    direct = {
        (task.labels["system"], task.labels["seed"], item): float(target == prediction)
        for task in plan.tasks
        for item, target, prediction in zip(*kept(plan, store)[task.id], strict=True)
    }
    assert {(row["system"], row["seed"], row["item"]): row["score"] for row in rows} == direct
    assert len(direct) == 2 * 3 * 60
    assert {row["run"] for row in rows} == {"seed=1", "seed=2", "seed=3"}
    assert {(row["status"], row["reason"], row["metric"]) for row in rows} == {("ok", None, "accuracy")}


def test_folds_of_one_partition_are_one_run_scored_over_all_their_items(
    planned: Callable[..., Plan], tmp_path: Path
) -> None:
    from sklearn.metrics import f1_score

    plan, store = planned(KFOLD, ('name = "accuracy"', 'name = "f1"\naverage = "macro"')), tmp_path / "s.db"
    run_plan(plan, store)
    pooled: dict[tuple[Any, ...], tuple[list[Any], list[Any]]] = {}
    for task in plan.tasks:
        targets, predictions = pooled.setdefault((task.labels["system"], task.labels["seed"]), ([], []))
        _, known, predicted = kept(plan, store)[task.id]
        targets.extend(known)
        predictions.extend(predicted)
    rows = export(plan, store)
    assert len(rows) == len(pooled) == 6
    assert "item" not in rows[0]
    for row in rows:
        wanted = f1_score(*pooled[row["system"], row["seed"]], average="macro")
        assert row["score"] == pytest.approx(wanted, rel=1e-12)
        assert row["metric"] == "f1,average=macro"


@pytest.mark.parametrize(
    ("splits", "replications", "tested"),
    [
        ('name = "repeated_holdout"\ntest = 0.25\nrepeats = 3', 3, 15),
        ('name = "jkfold"\nj = 2\nk = 3', 2, 60),
        ('name = "blocked"\nm = 3', 3, 60),
        ('name = "blocked"\nm = 3\nrepeats = 2', 6, 60),
    ],
)
def test_each_replication_of_the_splits_is_a_run(
    planned: Callable[..., Plan], tmp_path: Path, splits: str, replications: int, tested: int
) -> None:
    plan, store = (
        planned(('name = "holdout"\ntest = 0.25', splits), ("seed = [1, 2, 3]", "seed = [1]")),
        tmp_path / "s.db",
    )
    run_plan(plan, store)
    rows = export(plan, store)
    assert {row["resplit"] for row in rows} == set(range(1, replications + 1))
    counts = Counter((row["system"], row["run"]) for row in rows)
    assert set(counts.values()) == {tested}
    assert len(counts) == 2 * replications
    assert max(Counter((row["system"], row["run"], row["item"]) for row in rows).values()) == 1


def test_another_metric_needs_no_other_training(planned: Callable[..., Plan], tmp_path: Path, study: Path) -> None:
    from sklearn.metrics import cohen_kappa_score

    log = tmp_path / "trained.txt"
    source = study.parent / "systems.py"
    source.write_text(
        f"{source.read_text()}\n\ndef train_noisy(inputs, targets, *, seed):\n    with open({str(log)!r}, 'a') as file:\n        file.write('x')\n    return lambda unseen: ['long', 'short', 'long'] * (len(unseen) // 3)\n"
    )
    plan, store = planned(('"systems:train_length"', '"systems:train_noisy"')), tmp_path / "s.db"
    run_plan(plan, store)
    assert log.read_text() == "xxx"
    names = ({"name": "sklearn.metrics:cohen_kappa_score"}, {"name": "f1", "positive": "long"})
    for metric in names:
        rows = export(plan, store, metric=metric)
        assert len(rows) == 6
        assert all(row["status"] == "ok" for row in rows)
        if metric == names[0]:
            _, targets, predictions = kept(plan, store)[plan.tasks[0].id]
            assert rows[0]["score"] == pytest.approx(cohen_kappa_score(targets, predictions), rel=1e-12)
    assert log.read_text() == "xxx"
    assert not run_plan(planned(('name = "accuracy"', 'name = "f1"\naverage = "micro"')), store).executed
    assert log.read_text() == "xxx"


def test_kept_counts_and_counts_made_again_give_the_same_scores(planned: Callable[..., Plan], tmp_path: Path) -> None:
    plan, store = planned(), tmp_path / "s.db"
    run_plan(plan, store)
    again = export(plan, store, metric={"name": "exact_match"})
    assert [row["score"] for row in export(plan, store)] == [row["score"] for row in again]


def test_what_failed_and_what_was_not_run_yet_is_there_with_its_reason(
    planned: Callable[..., Plan], tmp_path: Path, study: Path
) -> None:
    source = study.parent / "systems.py"
    source.write_text(source.read_text() + BROKEN)
    plan, store = planned(('"systems:train_length"', '"systems:train_broken"')), tmp_path / "s.db"
    run_plan(Plan(plan.tasks[:4], plan.description, plan.folder), store)
    rows = export(plan, store)
    assert Counter(row["status"] for row in rows) == {"ok": 45, "failed": 15, "waiting": 30}
    failed = [row for row in rows if row["status"] == "failed"]
    assert {(row["system"], row["seed"], row["reason"]) for row in failed} == {
        ("length", 2, "ValueError: diverged for ever")
    }
    assert all(row["score"] is None and row["item"] for row in failed)
    by_run = export(plan, store, per="run")
    assert [(row["system"], row["status"]) for row in by_run] == [
        ("length", "ok"), ("length", "failed"), ("length", "ok"), ("majority", "ok"), ("majority", "waiting"), ("majority", "waiting")
    ]  # fmt: skip


def test_a_run_that_lacks_a_fold_has_no_score(planned: Callable[..., Plan], tmp_path: Path) -> None:
    plan, store = planned(KFOLD), tmp_path / "s.db"
    run_plan(Plan(plan.tasks[:3], plan.description, plan.folder), store)
    first = export(plan, store, per="run")[0]
    assert (first["score"], first["status"]) == (None, "waiting")


UNKNOWN = """
def train_broken(inputs, targets, *, seed):
    return lambda unseen: ["huge"] * len(unseen)
"""


def test_a_score_that_is_not_defined_says_why_and_what_to_do(
    study: Path, planned: Callable[..., Plan], tmp_path: Path
) -> None:
    with (study.parent / "systems.py").open("a") as file:
        file.write(UNKNOWN)
    plan, store = planned(('"systems:train_length"', '"systems:train_broken"')), tmp_path / "s.db"
    run_plan(plan, store)
    rows = export(plan, store, metric={"name": "f1", "average": "macro"})
    assert [row["status"] for row in rows] == ["undefined"] * 3 + ["ok"] * 3
    first = kept(plan, store)[plan.tasks[0].id][0][0]
    assert rows[0]["reason"] == (
        f"the prediction of item '{first}', 'huge', is none of the labels 'long', 'short'. Name all labels with "
        "labels = [...], or set allow_unknown = true to count it as wrong."
    )


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ({"name": "mse"}, "toy: mse does not fit these targets: item '1' is 'short'"),
        ({"name": "chunk_f1", "scheme": "iob2"}, "chunk_f1 does not fit these targets"),
        ({"name": "f1", "positive": "zzz"}, "no target is 'zzz'; there are 'long', 'short'"),
    ],
)
def test_a_metric_that_the_targets_rule_out_is_refused(
    planned: Callable[..., Plan], tmp_path: Path, metric: dict[str, Any], said: str
) -> None:
    plan, store = planned(), tmp_path / "s.db"
    run_plan(plan, store)
    with pytest.raises(MetricError) as refused:
        export(plan, store, metric=metric)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "metric",
    [
        {"name": "f1", "average": "macro"},
        {"name": "f1", "positive": "long"},
        {"name": "sklearn:balanced_accuracy"},
    ],
)
def test_a_metric_that_is_no_mean_over_items_has_no_scores_of_items(
    planned: Callable[..., Plan], tmp_path: Path, metric: dict[str, Any]
) -> None:
    plan, store = planned(), tmp_path / "s.db"
    run_plan(plan, store)
    with pytest.raises(MetricError, match=r"of a run is not the mean over its items, .* use --per run"):
        export(plan, store, metric=metric, per="item")
    assert len(export(plan, store, metric=metric, per="run")) == 6


def test_runs_are_named_without_commas_and_texts_that_have_blanks_are_quoted(
    planned: Callable[..., Plan], tmp_path: Path
) -> None:
    facets = ("seed = [1, 2, 3]", 'seed = [1]\nfloor = ["1", "1 seed=1"]')
    rows = export(planned(facets), _empty(tmp_path / "s.db"))
    assert {row["run"] for row in rows} == {"seed=1 floor=1", 'seed=1 floor="1 seed=1"'}


def _empty(path: Path) -> Path:
    Store(path).close()
    return path


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files_are_read_back_as_scores(planned: Callable[..., Plan], tmp_path: Path, ending: str) -> None:
    plan, store = planned(), tmp_path / "s.db"
    run_plan(plan, store)
    with Store(store, writing=False) as opened:
        table = export_scores(plan, opened)
    write_scores(table, tmp_path / f"scores.{ending}")
    scores = read_scores(tmp_path / f"scores.{ending}")
    assert scores.score.tolist() == table["score"].to_pylist()
    assert scores.system.names == ("length", "majority")
    assert list(scores.facets) == ["seed"]
    assert scores.run.count == 6
    assert scores.rows().used == 90


def test_cells_that_a_spreadsheet_would_run_are_neutralised(tmp_path: Path) -> None:
    table = pa.table({"system": ["=HYPERLINK(1)", "@x", "plain", "-"], "score": [-1.0, 1.0, 0.5, 0.0]})
    write_scores(table, tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text().splitlines()[1:] == [
        '"\'=HYPERLINK(1)",-1',
        '"\'@x",1',
        '"plain",0.5',
        '"\'-",0',
    ]


def test_names_survive_the_way_through_a_csv_file(tmp_path: Path) -> None:
    names = ["-x", "'-x", "@u1", "=2", "''=2", "plain", "it's"]
    table = pa.table({"system": ["A"] * 7, "item": names, "score": [0.5] * 7})
    write_scores(table, tmp_path / "s.csv")
    found = read_scores(tmp_path / "s.csv").item
    assert found is not None
    assert [found.names[code] for code in found.codes] == names


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match=r"must end in .parquet or .csv"):
        write_scores(pa.table({"score": [1.0]}), tmp_path / "s.xlsx")


NOISY = """
import random


def train_noisy(inputs, targets, *, seed, rate, base=0.0):
    draws = random.Random(f"{seed} {rate} {base}")
    return lambda unseen: [
        ("long" if len(x) > 6 else "short") if draws.random() > rate + base else "short" for x in unseen
    ]
"""


@pytest.fixture
def settings(planned: Callable[..., Plan], study: Path, tmp_path: Path) -> pa.Table:
    """Scores of two systems on two datasets, with three seeds in each of two settings of a facet called rate."""
    (study.parent / "systems.py").write_text(NOISY)
    (study.parent / "more.jsonl").write_text((study.parent / "toy.jsonl").read_text().replace("abab", "cdcd"))
    plan = planned(
        ("[metric]", '[data.more]\npath = "more.jsonl"\ninput = "text"\ntarget = "label"\n\n[metric]'),
        ('"systems:train_length"', '"systems:train_noisy"'),
        ('"systems:train_majority"', '"systems:train_noisy"\nsettings = { base = 0.1 }'),
        ("seed = [1, 2, 3]", "seed = [1, 2, 3]\nrate = [0.1, 0.3]"),
    )
    run_plan(plan, tmp_path / "s.db")
    with Store(tmp_path / "s.db", writing=False) as store:
        return export_scores(plan, store)


@pytest.mark.parametrize("ending", ["csv", "parquet", None])
def test_an_export_tells_its_settings_from_its_seeds_without_options(
    settings: pa.Table, tmp_path: Path, ending: str | None
) -> None:
    data: Any = settings
    if ending:
        data = tmp_path / f"s.{ending}"
        write_scores(settings, data)
    roles = read_scores(data).roles
    assert (roles.facets, roles.replicates) == (("seed", "rate"), ("seed",))
    assert (roles.score, roles.system, roles.item, roles.run) == ("score", "system", "item", "run")
    stated = {"facets": ["seed", "rate"]}
    plain = settings.replace_schema_metadata({})
    compared = compare_systems(data)
    assert compared.contrasts == compare_systems(plain, **stated).contrasts
    assert compare_systems(plain).contrasts != compared.contrasts  # without facets settings are pooled as repeats
    assert "runs differ in settings" in compared.test.note
    varied = decompose_variance(data)
    assert varied.components == decompose_variance(plain, **stated).components
    assert {"rate", "seed"} <= {component.name for component in varied.components}
    assert rank_systems(data).contrasts == rank_systems(plain, **stated).contrasts
    assert ("facet", "rate") in {(column.role, column.column) for column in audit_scores(data).columns}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_the_user_says_of_a_column_goes_before_what_an_export_states(
    settings: pa.Table, tmp_path: Path, ending: str
) -> None:
    write_scores(settings, tmp_path / f"s.{ending}")
    assert read_scores(tmp_path / f"s.{ending}", facets=["seed"]).roles.facets == ("seed",)
    assert read_scores(tmp_path / f"s.{ending}", facets=["-"]).roles.facets == ()
    assert read_scores(tmp_path / f"s.{ending}", replicates=["rate"]).roles.replicates == ("rate",)
    named = read_scores(tmp_path / f"s.{ending}", cluster="rate", run="-").roles
    assert (named.cluster, named.run, named.facets) == ("rate", None, ("seed",))


def test_a_csv_export_is_a_table_for_other_readers(settings: pa.Table, tmp_path: Path) -> None:
    write_scores(settings, tmp_path / "s.csv")
    frame = pd.read_csv(tmp_path / "s.csv")
    assert list(frame) == [
        "dataset", "system", "run", "item", "metric", "score", "status", "seed", "facets.rate", "reason",
    ]  # fmt: skip
    assert frame["facets.rate"].unique().tolist() == [0.1, 0.3]


def test_facets_with_the_names_of_other_roles_stay_facets(tmp_path: Path) -> None:
    """By its name document is a cluster, and sample an item."""
    rows = [(s, d, i) for s in "AB" for d in (1, 2) for i in (1, 2)]
    columns = {"system": [r[0] for r in rows], "score": [0.5, 0.6] * 4}
    table = pa.table(columns | {"document": [r[1] for r in rows], "sample": [r[2] for r in rows]})
    stated = state_roles(table, Roles(score="score", system="system", facets=("document", "sample")))
    for name in ("s.csv", "s.parquet"):
        write_scores(stated, tmp_path / name)
        roles = read_scores(tmp_path / name).roles
        assert (roles.facets, roles.cluster, roles.item) == (("document", "sample"), None, None)


@pytest.mark.parametrize(
    "metadata",
    ["not json", "[1]", '{"facets": "rate"}', '{"facets": [1]}', '{"flavour": "x"}', '{"item": 3}', "[" * 9999],
)
def test_metadata_that_state_no_roles_are_one_line(tmp_path: Path, metadata: str) -> None:
    table = pa.table({"system": ["A", "B"], "item": ["1", "1"], "score": [0.1, 0.2]})
    write_scores(table.replace_schema_metadata({"holdsup.roles": metadata}), tmp_path / "s.parquet")
    with pytest.raises(ColumnError, match=r"the metadata holdsup.roles of .* are .*: give each role a column"):
        read_scores(tmp_path / "s.parquet")


def test_stated_columns_that_are_gone_are_passed_over(settings: pa.Table) -> None:
    roles = read_scores(settings.drop_columns(["rate", "run", "item"])).roles
    assert (roles.facets, roles.run, roles.item) == (("seed",), None, None)
