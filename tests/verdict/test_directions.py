"""Who is called better: as asked, by the names of our own errors, and with a doubt where a name speaks against it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from holdsup import ScoresError, compare_systems, simulate_scores
from holdsup.verdict.comparison.report import Comparison


def simulated(name: str, *, sign: int = 1) -> pd.DataFrame:
    """Return scores of A and B by a metric; with `sign` -1, errors: the better system has the lower ones."""
    frame = simulate_scores({"A": 0.5, "B": 0.9}, items=30, runs=3, seed=3).to_pandas()
    return frame.assign(metric=name, score=sign * frame.score)


@pytest.fixture(scope="module")
def both() -> pd.DataFrame:
    """B is better by both: its bleu is higher, its ter lower."""
    return pd.concat([simulated("bleu"), simulated("ter", sign=-1)])


def said(found: Comparison, words: str) -> bool:
    return any(words in line for line in found.warnings)


@pytest.mark.parametrize("lower", ["ter", ["ter"], ("ter",)])
def test_each_metric_can_have_its_own_direction(both: pd.DataFrame, lower: object) -> None:
    found = compare_systems(both, lower_is_better=lower)  # type: ignore[arg-type]  # all that people give
    assert "by bleu B is better than A" in found.verdict
    assert "by ter B is better than A" in found.verdict
    assert {c.metric: c.lower_is_better for c in found.contrasts} == {"bleu": False, "ter": True}
    assert "lower_is_better:ter" in found.signature
    assert not said(found, "called better")
    assert [s.name for s in found.ordered()] == ["B", "A", "B", "A"]


def test_a_direction_against_the_name_of_a_metric_is_doubted_beside_the_verdict(both: pd.DataFrame) -> None:
    found = compare_systems(both, lower_is_better=True)
    assert "by bleu A is better than B" in found.verdict
    assert found.verdict.startswith("This takes a lower bleu for better: ")
    assert sum("A lower bleu is called better here" in line for line in found.warnings) == 1
    neither = compare_systems(both)
    assert neither.verdict.startswith("This takes a higher ter for better: give --lower ter if it is not. ")
    assert said(neither, "A higher ter is called better here")


@pytest.mark.parametrize("column", ["wer", "Log-Loss", "rmse", "perplexity"])
def test_a_column_named_like_an_error_is_doubted_unless_lower_is_asked_for(column: str) -> None:
    frame = simulated("x").drop(columns="metric").rename(columns={"score": column})
    found = compare_systems(frame, score=column)
    assert found.verdict.startswith(f"This takes a higher {column} for better: give --lower-is-better if it is not. ")
    assert said(found, f"A higher {column} is called better here")
    for lower in (True, [column]):
        given = compare_systems(frame, score=column, lower_is_better=lower)
        assert given.verdict.startswith("A is better than B")
        assert not said(given, "called better")


@pytest.mark.parametrize("metric", ["mae", "rmse", "mse,power=2"])
def test_our_own_errors_are_better_when_lower_and_it_is_said(metric: str) -> None:
    found = compare_systems(simulated(metric))
    assert found.verdict.startswith("A is better than B")
    assert said(found, f"By {metric} lower is better: an error, as its name says.")
    assert not said(compare_systems(simulated("f1")), "lower is better")


def test_the_best_run_cannot_be_picked_where_directions_differ(both: pd.DataFrame) -> None:
    frame = both.assign(dev=both.seed.astype(float))
    with pytest.raises(ScoresError, match=r"--best dev: lower is better by ter, and not by the others"):
        compare_systems(frame, best="dev", lower_is_better="ter")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("wer", "lower is better by 'wer', which is no metric here; there are 'bleu', 'ter'"),
        (1, "lower_is_better is 1: give True, False, or the names of metrics"),
        ([3], "give True, False, or the names of metrics"),
        (None, "lower_is_better is None"),
    ],
)
def test_what_is_no_direction_is_refused_in_one_line(both: pd.DataFrame, asked: object, words: str) -> None:
    with pytest.raises(ScoresError, match=words):
        compare_systems(both, lower_is_better=asked)  # type: ignore[arg-type]


def test_the_command_takes_directions_for_all_metrics_or_by_name(tmp_path: Path, run: Callable[..., Any]) -> None:
    frame = simulated("x").drop(columns="metric").rename(columns={"score": "bleu"})
    frame.assign(ter=1 - frame.bleu).to_csv(tmp_path / "both.csv", index=False)
    asked = ["compare", tmp_path / "both.csv", "--wide", "metric=bleu,ter", "--quiet"]
    shown = " ".join(run(*asked, "--lower", "ter").out.split())
    assert "by bleu B is better than A" in shown
    assert "by ter B is better than A" in shown
    refused = run(*asked, "--lower", "wer")
    assert (refused.code, len(refused.err.splitlines())) == (1, 1)
    assert run(*asked, "--lower", "ter", "--lower-is-better").code == 2


def test_a_metric_that_is_suggested_is_quoted_for_the_shell() -> None:
    frame = pd.concat([simulated("bleu"), simulated("Latency (ms)")])
    assert "give --lower 'Latency (ms)' if it is not" in compare_systems(frame).verdict
