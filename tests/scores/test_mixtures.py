"""One column of scores that are several metrics, or on several scales: no mean over datasets."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from holdsup import ScoresError, audit_scores, compare_systems, rank_systems


def mixed(second: str = "neg_logloss", at: float = -0.4, **columns: Any) -> pd.DataFrame:
    """Return scores of A and B on six datasets: auc on four, a second metric near a number on the others."""
    system, dataset, seed = (axis.ravel() for axis in np.indices((2, 6, 3)))
    noise = np.random.default_rng(4).normal(0, 0.01, len(seed))
    score = np.where(dataset < 4, 0.85, at) + 0.01 * system + noise * np.where(dataset < 4, 1, abs(at))
    frame = pd.DataFrame({"model": np.array(["A", "B"])[system], "task": [f"t{d}" for d in dataset], "seed": seed})
    return frame.assign(result=score, kind=np.where(dataset < 4, "auc", second), **columns)


def codes(frame: pd.DataFrame) -> dict[str, str]:
    return {f.code: f.severity for f in audit_scores(frame).findings if f.code.startswith("mixed")}


@pytest.mark.parametrize("ask", [compare_systems, rank_systems])
@pytest.mark.parametrize(("second", "at"), [("neg_logloss", -0.4), ("logloss", 0.4), ("rmse", 30.0)])
def test_datasets_with_metrics_of_their_own_have_no_mean(ask: Callable[..., Any], second: str, at: float) -> None:
    frame = mixed(second, at)
    words = f"^column 'result' holds auc on 4 datasets and {second} on 2 datasets: choose one with --where kind=auc$"
    with pytest.raises(ScoresError, match=words):
        ask(frame)
    assert codes(frame) == {"mixed-metrics": "error"}
    assert "auc on" not in " ".join(ask(frame, where={"kind": "auc"}).warnings)


def test_metrics_that_a_score_is_copied_from_are_found_and_one_can_be_chosen() -> None:
    frame = mixed("logloss", 0.4).assign(
        auc=lambda f: f.result.where(f.kind == "auc"), logloss=lambda f: f.result.where(f.kind != "auc"), acc=0.7
    )
    frame = frame.drop(columns="kind")
    with pytest.raises(ScoresError, match=r"auc on 4 datasets and logloss on 2 datasets.*--score auc$"):
        rank_systems(frame, score="result")
    assert rank_systems(frame, score="auc", folds=0).datasets == 4
    copied = frame.assign(auc=frame.result, logloss=0.1)
    assert rank_systems(copied, score="result", folds=0).datasets == 6


def test_metrics_of_one_scale_and_direction_are_said_and_not_refused() -> None:
    frame = mixed("f1", 0.6)
    said = " ".join(compare_systems(frame).warnings)
    assert "Column 'result' holds auc on 4 datasets and f1 on 2 datasets." in said
    assert codes(frame) == {"mixed-metrics": "warning"}


def test_a_column_that_is_no_metric_of_datasets_refuses_nothing() -> None:
    frame = mixed("f1", 0.6)
    for kind in (np.where(frame.task < "t4", "text", "image"), np.where(frame.seed == 0, "auc", "rmse")):
        assert codes(frame.assign(kind=kind)) == {}


@pytest.mark.parametrize("ask", [compare_systems, rank_systems])
@pytest.mark.parametrize(
    ("at", "words"),
    [
        (-0.4, "all scores are below 0 on t[45] and above 0 on t[0-3]"),
        (30.0, "datasets are on different scales: scores average 0.8[0-9]+ on t[0-3] and (?:30|29)"),
        (0.1, None),
        (2.0, None),
    ],
)
def test_datasets_on_scales_of_their_own_are_said_where_no_column_names_metrics(
    ask: Callable[..., Any], at: float, words: str | None
) -> None:
    frame = mixed(at=at).drop(columns="kind")
    said = " ".join(ask(frame).warnings)
    assert codes(frame) == ({} if words is None else {"mixed-scales": "warning"})
    if words is not None:
        assert re.search(words, said, re.IGNORECASE)


def test_scores_of_one_size_on_all_datasets_are_one_scale_whatever_their_unit() -> None:
    frame = mixed(at=0.5).drop(columns="kind")
    for factor, shift in ((100, 0), (1e6, 0), (1e-6, 0), (1, -5), (1, 1e6)):
        assert codes(frame.assign(result=factor * frame.result + shift)) == {}


def test_the_automl_benchmark_mixes_auc_and_log_loss(real_data: Path) -> None:
    table = real_data / "automlbenchmark" / "results_small-8c4h.csv"
    for ask in (compare_systems, rank_systems):
        with pytest.raises(ScoresError, match="'result' is auc on 9 datasets and logloss on 7 datasets"):
            ask(table)
    assert rank_systems(table, score="auc", folds=0).systems[0].name == "H2OAutoML"


def test_a_metric_that_equals_others_on_some_datasets_is_still_itself() -> None:
    """Recall is the accuracy where classes are balanced, and micro-averaged precision is everywhere."""
    frame = mixed("f1", 0.6).drop(columns="kind").rename(columns={"result": "accuracy"})
    frame = frame.assign(
        recall=np.where(frame.task < "t2", frame.accuracy, 0.5),
        precision=np.where(frame.task > "t3", frame.accuracy, 0.5),
    )
    found = compare_systems(frame, score="accuracy")
    assert not any("holds" in line for line in found.warnings)
