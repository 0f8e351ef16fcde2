"""Searches of scikit-learn and runs of Weights & Biases: files that the tools make, and each layout they come in."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made import write
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from wandb_layout import changes, exit_record, field, run_record, write_log

from holdsup import compare_systems, read_scores
from holdsup.errors import HoldsupError, ReadError, ScoresError

ACCEPT = "splits-share-data"


@pytest.fixture(scope="module")
def search() -> dict[str, list[Any]]:
    """What scikit-learn itself says of a search, as plain lists."""
    scoring = {"accuracy": "accuracy", "log_loss": "neg_log_loss"}
    grid = {"n_neighbors": [3, 9], "weights": ["uniform", "distance"]}
    made = GridSearchCV(KNeighborsClassifier(), grid, scoring=scoring, refit=False, cv=5, return_train_score=True)
    found = made.fit(*load_wine(return_X_y=True)).cv_results_
    return {name: np.asarray(column, dtype=object).tolist() for name, column in found.items()}


def write_csv(path: Path, table: dict[str, list[Any]], *, numbered: bool = True) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["", *table] if numbered else list(table))
        for place, row in enumerate(zip(*table.values(), strict=True)):
            writer.writerow([place, *row] if numbered else row)


LAYOUTS: dict[str, Callable[[Path, dict[str, list[Any]]], object]] = {
    "numbered.csv": write_csv,
    "plain.csv": lambda path, table: write_csv(path, table, numbered=False),
    "lists.json": write,
    "columns.json": lambda path, table: write(path, {k: dict(enumerate(v)) for k, v in table.items()}),
    "records.json": lambda path, table: write(
        path, [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_search_has_the_means_of_scikit_learn_in_every_layout(
    tmp_path: Path, search: dict[str, list[Any]], layout: str
) -> None:
    LAYOUTS[layout](tmp_path / layout, search)
    scores = read_scores(tmp_path / layout)
    assert "All 8 means match the ones the tool reported." in scores.notes[0].message
    assert (scores.roles.item, scores.item.count, len(scores)) == ("item", 5, 40)  # type: ignore[union-attr]
    found = compare_systems(tmp_path / layout, accept=[ACCEPT])
    ours = {(each.name, each.metric): each.mean for each in found.systems}
    for place in range(4):
        name = f"n_neighbors {search['param_n_neighbors'][place]}, weights {search['param_weights'][place]}"
        for metric in ("accuracy", "log_loss"):
            assert ours[name, metric] == pytest.approx(search[f"mean_test_{metric}"][place], rel=1e-9)


def test_splits_share_data_and_a_question_is_refused_until_that_is_accepted(
    tmp_path: Path, search: dict[str, list[Any]]
) -> None:
    write_csv(tmp_path / "grid.csv", search)
    with pytest.raises(ScoresError, match=r"splits of a cross-validation.* --accept splits-share-data"):
        compare_systems(tmp_path / "grid.csv")
    said = {each.code for each in compare_systems(tmp_path / "grid.csv", accept=[ACCEPT]).cautions}
    assert ACCEPT in said


def test_of_two_candidates_that_with_the_higher_score_leads_though_it_is_called_a_loss(
    tmp_path: Path, search: dict[str, list[Any]]
) -> None:
    write_csv(tmp_path / "grid.csv", {name: column[:2] for name, column in search.items()})
    found = compare_systems(tmp_path / "grid.csv", accept=[ACCEPT], where={"metric": "log_loss"})
    best = min((0, 1), key=lambda place: search["rank_test_log_loss"][place])
    assert found.contrasts[0].left == f"weights {search['param_weights'][best]}"
    assert found.contrasts[0].difference > 0


def test_a_split_on_which_the_fit_failed_has_no_score(tmp_path: Path, search: dict[str, list[Any]]) -> None:
    failed = {**search, "split2_test_accuracy": [None, *search["split2_test_accuracy"][1:]],
              "mean_test_accuracy": [None, *search["mean_test_accuracy"][1:]]}  # fmt: skip
    write(tmp_path / "grid.json", failed)
    scores = read_scores(tmp_path / "grid.json")
    assert (len(scores), int(scores.usable.sum())) == (40, 39)


def test_a_table_is_read_as_one_where_its_columns_are_named(tmp_path: Path, search: dict[str, list[Any]]) -> None:
    write_csv(tmp_path / "grid.csv", search)
    scores = read_scores(tmp_path / "grid.csv", score="mean_test_accuracy", system="params")
    assert scores.system.count == len(scores) == 4


def test_means_weighted_by_the_size_of_splits_are_said_and_edited_ones_refused(
    tmp_path: Path, search: dict[str, list[Any]]
) -> None:
    first = [search[f"split{k}_test_accuracy"][0] for k in range(5)]
    weighted = float(np.average(first, weights=[36, 36, 36, 35, 35]))
    assert weighted != pytest.approx(np.mean(first), abs=1e-9)
    old = {**search, "mean_test_accuracy": [weighted, *search["mean_test_accuracy"][1:]]}
    write_csv(tmp_path / "old.csv", old)
    notes = {each.code: each.message for each in read_scores(tmp_path / "old.csv").notes}
    assert f"mean_test_accuracy is {weighted:.10g}" in notes["weighted-means"]
    write_csv(tmp_path / "old.csv", {**old, "mean_test_accuracy": [0.99, *search["mean_test_accuracy"][1:]]})
    with pytest.raises(ReadError, match=r"reports accuracy = 0\.99.* have a mean of"):
        read_scores(tmp_path / "old.csv")


def test_a_run_is_read_from_the_file_that_weights_and_biases_keeps(tmp_path: Path) -> None:
    long = "x" * 100_000  # over several blocks
    records = [
        run_record("id1", "brave run", {"model": "A", "seed": 3, "note": long}, group="night"),
        field(5, changes({"model": "B", "lr": 0.1})),
        field(3, changes({"eval/acc": 0.5, "eval": {"f1": 0.25}, "gone": 1, "loss": "NaN", "img": {"_type": "image"}})),
        field(3, changes({"eval/f1": 0.75, "big": True}, nested=True, removed=["gone"])),
        exit_record(),
    ]
    write_log(tmp_path / "run-id1.wandb", records)
    scores = read_scores(tmp_path / "run-id1.wandb")
    assert scores.system.names == ("B",)
    assert scores.metric is not None
    held = {scores.metric.names[code]: score for code, score in zip(scores.metric.codes, scores.score, strict=True)}
    assert held.keys() == {"eval/acc", "eval.f1", "big", "loss"}
    assert (held["eval/acc"], held["eval.f1"], held["big"]) == (0.5, 0.75, 1.0)
    assert np.isnan(held["loss"])


@pytest.mark.parametrize(("records", "said"), [([], True), ([exit_record(1)], True), ([exit_record()], False)])
def test_a_run_that_crashed_or_goes_on_did_not_finish(tmp_path: Path, records: list[bytes], said: bool) -> None:
    write_log(tmp_path / "a.wandb", [run_record("i", "n", {"model": "A"}), field(3, changes({"acc": 1.0})), *records])
    assert ("unfinished-log" in {each.code for each in read_scores(tmp_path / "a.wandb").notes}) is said


def test_of_a_run_that_was_resumed_the_last_file_counts(tmp_path: Path) -> None:
    for when, acc in (("20260101_100000", 0.1), ("20260102_100000", 0.7)):
        records = [run_record("i", "n", {"model": "A"}), field(3, changes({"acc": acc})), exit_record()]
        write_log(tmp_path / f"run-{when}-i" / "run-i.wandb", records)
    scores = read_scores(tmp_path)
    assert scores.score.tolist() == [0.7]
    assert "unread-files" not in {each.code for each in scores.notes}


def test_a_damaged_record_is_refused_and_a_cut_one_is_not_read(tmp_path: Path) -> None:
    file = write_log(tmp_path / "a.wandb", [run_record("i", "n", {"model": "A"}), field(3, changes({"acc": 1.0})),
                                            field(3, changes({"acc": 0.0})), exit_record()])  # fmt: skip
    whole = file.read_bytes()
    file.write_bytes(whole[:-12])
    assert read_scores(tmp_path / "a.wandb").score.tolist() == [1.0]
    file.write_bytes(whole.replace(b"acc", b"acd", 1))
    with pytest.raises(ReadError, match=r"a checksum is wrong"):
        read_scores(tmp_path / "a.wandb")


def test_runs_that_the_tool_itself_writes_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb", reason="Weights & Biases is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    for model, seed in [(model, seed) for model in "AB" for seed in range(2)]:
        run = wandb.init(project="quiz", dir=tmp_path, config={"model": model, "seed": seed})
        for step in range(3):
            run.log({"eval/acc": seed / 10 + step / 100})
        run.finish()
    found = compare_systems(tmp_path)
    assert [each.mean for each in found.systems] == pytest.approx([0.07, 0.07])


RUNS = [(system, seed, 0.5 + seed / 10 + (system == "B") / 4) for system in "AB" for seed in range(3)]


def test_an_export_of_the_api_keeps_settings_and_metrics_apart(tmp_path: Path) -> None:
    table = {
        "summary": [f"{{'acc': {acc}, 'loss': nan, '_step': 3, 'h': {{'_type': 'histogram'}}}}" for *_, acc in RUNS],
        "config": [f"{{'model': '{system}', 'seed': {seed}, 'opt': {{'lr': 0.1}}}}" for system, seed, _ in RUNS],
        "name": [f"{system}{seed}" for system, seed, _ in RUNS],
    }
    write_csv(tmp_path / "project.csv", table)
    found = compare_systems(tmp_path / "project.csv", where={"metric": "acc"})
    assert {each.name: each.mean for each in found.systems} == pytest.approx({"A": 0.6, "B": 0.85})
    table["config"][0] = "__import__('os').getcwd()"
    write_csv(tmp_path / "project.csv", table)
    with pytest.raises(ReadError, match=r"config of .* not a dict of plain values"):
        read_scores(tmp_path / "project.csv")


PAGE = ["Name", "State", "Notes", "User", "Tags", "Created", "Runtime", "Sweep"]


def write_page(path: Path, about: list[str], **columns: list[Any]) -> None:
    shown = {name: ["finished" if name == "State" else f"{name} {n}" for n in range(6)] for name in about}
    write_csv(path, {**shown, **columns}, numbered=False)


def test_in_the_order_of_the_page_metrics_come_after_settings_whatever_they_are_called(tmp_path: Path) -> None:
    systems, seeds, scores = map(list, zip(*RUNS, strict=True))
    write_page(tmp_path / "page.csv", PAGE, bits=[4 if s == "A" else 8 for s in systems], seed=seeds, width=[1] * 6,
               brightness=scores, message=["done"] * 6)  # fmt: skip
    found = compare_systems(tmp_path / "page.csv")
    assert {each.name: each.mean for each in found.systems} == pytest.approx({"bits 4": 0.6, "bits 8": 0.85})
    assert found.systems[0].metric == "brightness"


def test_in_another_order_columns_named_like_metrics_are_some_and_without_any_the_user_is_asked(tmp_path: Path) -> None:
    systems, seeds, scores = map(list, zip(*RUNS, strict=True))
    write_page(tmp_path / "page.csv", ["Name", "Created", "Runtime"], val_acc=scores, model=systems, seed=seeds)
    assert {each.name for each in compare_systems(tmp_path / "page.csv").systems} == {"A", "B"}
    write_page(tmp_path / "page.csv", ["Name", "Created", "Runtime"], brightness=scores, model=systems, seed=seeds)
    with pytest.raises(HoldsupError, match="name one with --score COLUMN"):
        compare_systems(tmp_path / "page.csv")
    named = compare_systems(tmp_path / "page.csv", score="brightness")
    assert {each.name: each.mean for each in named.systems} == pytest.approx({"A": 0.6, "B": 0.85})


def test_json_of_pandas_keeps_a_missing_score_as_null(tmp_path: Path, search: dict[str, list[Any]]) -> None:
    columns = {name: dict(enumerate(column)) for name, column in search.items()}
    columns["split0_test_log_loss"][1] = columns["mean_test_log_loss"][1] = None
    (tmp_path / "grid.json").write_text(json.dumps(columns))
    assert int((~read_scores(tmp_path / "grid.json").usable).sum()) == 1
