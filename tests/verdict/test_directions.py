"""Who is called better: as asked, by the names of metrics, and with a doubt where a name speaks against it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from holdsup import MetricError, ScoresError, audit_scores, compare_systems, rank_systems, simulate_scores
from holdsup.metrics import make_metric
from holdsup.results.direction_names import find_direction
from holdsup.verdict import Comparison


def simulated(name: str, *, sign: int = 1) -> pd.DataFrame:
    """Return scores of A and B by a metric; with `sign` -1, errors: the better system has the lower ones."""
    frame = simulate_scores({"A": 0.5, "B": 0.9}, items=30, runs=3, seed=3).to_pandas()
    return frame.assign(metric=name, score=sign * frame.score)


@pytest.fixture(scope="module")
def both() -> pd.DataFrame:
    """B is better by both: its bleu is higher, its ter lower."""
    return pd.concat([simulated("bleu"), simulated("ter", sign=-1)])


def said(found: Comparison, words: str) -> bool:
    return any(words.lower() in line.lower() for line in found.warnings)


@pytest.mark.parametrize("lower", ["ter", ["ter"], ("ter",)])
def test_each_metric_can_have_its_own_direction(both: pd.DataFrame, lower: object) -> None:
    found = compare_systems(both, lower_is_better=lower)  # type: ignore[arg-type]  # all that people give
    assert found.headline == "B is better by both metrics."
    assert {c.metric: c.lower_is_better for c in found.contrasts} == {"bleu": False, "ter": True}
    assert "lower_is_better:ter" in found.signature
    assert not said(found, "called better")
    assert [s.name for s in found.ordered()] == ["B", "A", "B", "A"]


def test_a_direction_against_the_name_of_a_metric_is_doubted_beside_the_verdict(both: pd.DataFrame) -> None:
    found = compare_systems(both, lower_is_better=True)
    assert found.cautions[0].code == "direction-against-name"
    assert "a lower bleu is called better here, against its name" in " ".join(str(found).lower().split())
    assert sum("A lower bleu is called better here" in line for line in found.warnings) == 1


def test_where_nothing_is_asked_names_tell_the_direction_and_it_is_said(both: pd.DataFrame) -> None:
    found = compare_systems(both)
    assert {c.metric: c.lower_is_better for c in found.contrasts} == {"bleu": False, "ter": True}
    assert "B is better" in found.headline
    assert said(found, "ter: lower is better, by its name; --higher-is-better if not.")
    assert "lower_is_better" not in found.signature  # the names are in it: nothing was asked


@pytest.mark.parametrize("column", ["wer", "Log-Loss", "rmse", "perplexity", "valLoss"])
def test_a_column_named_like_an_error_is_better_when_lower_unless_higher_is_asked_for(column: str) -> None:
    frame = simulated("x").drop(columns="metric").rename(columns={"score": column})
    found, line = compare_systems(frame, score=column), f"{column}: lower is better, by its name"
    assert found.headline.startswith("A is better by")
    assert found.lower_is_better
    assert said(found, line)
    for lower in (True, [column]):
        given = compare_systems(frame, score=column, lower_is_better=lower)
        assert given.contrasts == found.contrasts
        assert not said(given, "lower is better")
    higher = compare_systems(frame, score=column, lower_is_better=False)
    assert higher.headline.startswith("B is better by")
    assert not said(higher, "better")
    assert "|lower_is_better:False|" in higher.signature
    assert (higher.asked.command() or "").endswith(" --higher-is-better")


@pytest.mark.parametrize("metric", ["mae", "rmse", "mse,power=2", "x:y,lower_is_better=true"])
def test_errors_in_a_metric_column_are_better_when_lower_beside_those_asked_for(metric: str) -> None:
    found = compare_systems(pd.concat([simulated(metric), simulated("quality")]), lower_is_better="quality")
    assert {c.metric for c in found.contrasts if c.lower_is_better} == {metric, "quality"}
    assert said(found, f"{metric}: lower is better, by its name")
    assert not said(compare_systems(simulated("f1")), "lower is better")


def test_rank_and_check_take_the_direction_of_the_name_too() -> None:
    frame = simulated("x").drop(columns="metric").rename(columns={"score": "ter"})
    frame = pd.concat([frame.assign(dataset=name) for name in "XYZ"])
    line = "ter: lower is better, by its name; --higher-is-better if not."
    ranked, turned = (rank_systems(frame, lower_is_better=asked, folds=0) for asked in (None, False))
    assert ([s.name for s in ranked.systems], [s.name for s in turned.systems]) == (["A", "B"], ["B", "A"])
    assert line.capitalize() in ranked.warnings
    assert line.capitalize() not in turned.warnings
    assert line.capitalize() in audit_scores(frame).warnings
    assert not audit_scores(frame, lower_is_better=False).warnings


def test_a_run_is_picked_by_the_name_of_the_column_it_is_picked_by() -> None:
    frame = simulated("x").drop(columns="metric").rename(columns={"score": "ter"})
    frame = frame.assign(dev_bleu=frame.seed.astype(float), dev_loss=frame.seed.astype(float), dev=frame.seed * 1.0)
    picked = {
        best: compare_systems(frame, best=best).best[0].value == frame.dev.max()
        for best in ("dev_bleu", "dev_loss", "dev")
    }
    assert picked == {"dev_bleu": True, "dev_loss": False, "dev": False}


def test_the_best_run_cannot_be_picked_where_directions_differ(both: pd.DataFrame) -> None:
    frame = both.assign(dev=both.seed.astype(float))
    with pytest.raises(ScoresError, match=r"--best dev: lower is better by ter, and not by the others"):
        compare_systems(frame, best="dev", lower_is_better="ter")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("wer", "lower is better by 'wer', which isn't a metric here; there are 'bleu', 'ter'"),
        (1, "lower_is_better is 1: give True, False, or the names of metrics"),
        ([3], "give True, False, or the names of metrics"),
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
    assert "B is better by both metrics." in shown
    assert "UNCLEAR" not in shown
    refused = run(*asked, "--lower", "wer")
    assert (refused.code, len(refused.err.splitlines())) == (1, 1)
    for flag in ("--lower-is-better", "--higher-is-better"):
        assert run(*asked, "--lower", "ter", flag).code == 2
    turned = " ".join(run(*asked, "--higher-is-better").out.split())
    assert "Metrics disagree: B and A are each better by some." in turned


@pytest.mark.parametrize(
    ("direction", "names"),
    [
        ("lower", "TER WER|WER (%)|cer|PER|test_per|val/loss|Log-Loss|logLoss|meanSquaredError|top1_err|eval.rmse|MAE"),
        ("lower", "perplexity|ppl|FID|p95 latency|cost_per_token|toxicity_score|percent_error|loss2|jiwer:wer|score ↓"),
        ("lower", "cross-entropy|negative log likelihood|normalized_rmse|word error rate|mse,power=2|equalErrorRate"),
        ("lower", "time|Time (s)|train_time|wallTime|time_per_token|cpu_time_seconds|bits_per_byte|Bits per byte|run_time"),
        (None, "time_to_failure|timestamp|uptime|up_time|time_step|time_series|survival_time|time_saved|real_time|lifetime"),
        (None, "-loss|-WER|\N{MINUS SIGN}log_loss|neg_bits_per_byte|-cross_entropy|inference_time_saved|-time"),
        ("higher", "bleu|ROUGE-L accuracy|val_accuracy|F1 (macro)|em|map|exact match|loss ↑|loss,lower_is_better=false"),
        (None, "score|percent|performance|per_item|per_item_gain|tokens_per_second|error_free|1-error|1 - WER|100-TER"),
        (None, "neg_mean_squared_error|sklearn:neg_log_loss|accuracy_loss|error_detection_f1|non_toxicity|pattern|ether"),
        (None, "error_correction|cost_savings|win_loss|map_scale|quality|scoreter|éter|personality|closs|ferret||  |↑↓"),
    ],
)  # fmt: skip
def test_only_whole_words_of_a_name_tell_a_direction(direction: str | None, names: str) -> None:
    found = {name: find_direction(name) for name in names.split("|")}
    assert found == dict.fromkeys(found, direction)


def test_the_name_of_a_function_tells_the_direction_of_a_metric_unless_a_spec_does() -> None:
    named, told = make_metric("jiwer:wer"), make_metric("jiwer:wer", lower_is_better=False)
    assert (named.higher_is_better, told.higher_is_better) == (False, True)
    (caution,) = named.cautions
    assert (caution.code, caution.about) == ("direction-by-name", "metric:jiwer:wer")
    assert "lower_is_better = false" in caution.advice
    for metric in (told, make_metric("sklearn:max_error"), make_metric("losses:hit"), make_metric("mae")):
        assert metric.cautions == ()
    assert make_metric("sklearn:max_error").higher_is_better
    with pytest.raises(MetricError, match="lower_is_better = 'no' of the metric a:b: give true or false"):
        make_metric("a:b", lower_is_better="no")


def test_translation_error_names_marking_best_without_an_option(real_data: Path) -> None:
    found = compare_systems(real_data / "hagmann_statnlp" / "data_ter.csv.gz")
    assert found.ordered()[0].name == "Marking"
    assert found.headline.startswith("Marking and PostEdit can't be told apart at the top.")


def test_a_direction_that_no_name_tells_is_said_once_and_last() -> None:
    frame = simulated("x").drop(columns="metric")
    line = "Score: assumed that higher is better; --lower-is-better if not."
    found = compare_systems(frame)
    assert found.warnings[-1] == line
    assert (found.cautions[-1].code, found.cautions[-1].severity) == ("direction-assumed", "note")
    for lower in (True, False, "score"):
        assert line not in compare_systems(frame, lower_is_better=lower).warnings
    over = pd.concat([frame.assign(dataset=name, score=frame.score + 0.1 * i) for i, name in enumerate("XYZ")])
    assert line in rank_systems(over, folds=0).warnings
    assert line not in rank_systems(over, lower_is_better=False, folds=0).warnings


@pytest.mark.parametrize("name", ["f1", "BLEU", "neg_log_loss", "-WER", "sklearn:max_error", "dev R2", "return", "ter"])
def test_names_that_tell_a_direction_need_no_word_on_it(name: str) -> None:
    assert not said(compare_systems(simulated(name)), "taken as better")


def test_of_several_metrics_only_those_without_a_telling_name_are_said(both: pd.DataFrame) -> None:
    found = compare_systems(pd.concat([both, simulated("quality")]))
    assert found.warnings[-1] == "Quality: assumed that higher is better; --lower NAME if not."
    assert not said(compare_systems(both), "taken as better")


def wide(*names: str) -> pd.DataFrame:
    """Return a table with a column for each name, in which the first system has the lowest scores."""
    rng = np.random.default_rng(1)
    scores = {name: np.arange(4) + place + rng.normal(0, 0.1, 4) for place, name in enumerate(names)}
    return pd.DataFrame({"system": list("ABCD"), **scores})


def test_columns_of_datasets_tell_the_direction_by_their_names() -> None:
    names = ("AMI WER", "Librispeech WER", "TED WER", "Earnings WER")
    found = rank_systems(wide(*names), wide={"dataset": names}, folds=0)
    assert found.systems[0].name == "A"
    (caution,) = [c for c in found.cautions if c.code == "direction-by-name"]
    assert caution.message.startswith("AMI WER, Librispeech WER, TED WER, ...: lower is better, by")
    higher = rank_systems(wide(*names), wide={"dataset": names}, folds=0, lower_is_better=False)
    assert higher.systems[0].name == "D"


@pytest.mark.parametrize("second", ["Librispeech accuracy", "Librispeech"])
def test_columns_of_datasets_that_disagree_are_refused(second: str) -> None:
    frame, columns = wide("AMI WER", second, "TED WER"), {"dataset": ["AMI WER", second, "TED WER"]}
    with pytest.raises(ScoresError, match=r"lower is better by the name of column 'AMI WER', but not .* --lower-is"):
        rank_systems(frame, wide=columns, folds=0)
    assert "opposite-columns" in {each.code for each in audit_scores(frame, wide=columns).findings}
    assert rank_systems(frame, wide=columns, folds=0, lower_is_better=True).systems[0].name == "A"
    assert "opposite-columns" not in {c.code for c in audit_scores(frame, wide=columns, lower_is_better=True).findings}


def test_columns_of_systems_tell_the_direction_only_if_all_do() -> None:
    frame = pd.DataFrame({"item": range(20), "ours WER": np.arange(20) + 1.0, "theirs WER": np.arange(20) + 2.0})
    frame["theirs WER"] += np.random.default_rng(1).normal(0, 0.1, 20)
    columns = ["ours WER", "theirs WER"]
    assert compare_systems(frame, wide={"system": columns}).headline.startswith("ours WER is better")
    named = frame.rename(columns={"ours WER": "min-loss", "theirs WER": "plain"})
    assert compare_systems(named, wide={"system": ["min-loss", "plain"]}).headline.startswith("plain is better")
