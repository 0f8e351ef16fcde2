"""What `run_contest` refuses, in one line each, before or after it has trained."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from contest_systems import CALLS, corpus, train_coin, train_cut, train_poor
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import FunctionTransformer

from holdsup import (
    BlockedCV,
    HoldOut,
    HoldsupError,
    MetricError,
    RunError,
    ScoresError,
    SpecError,
    SplitError,
    run_contest,
)
from holdsup.experiment import ProcessExecutor
from holdsup.studies.contests.faults import warn_of_copies

TWO = {"cut": train_cut, "poor": train_poor}


def refuse(expected: type[HoldsupError], match: str, *given: Any, **options: Any) -> None:
    """Run a contest that must be refused in one line."""
    with pytest.raises(expected, match=match) as caught:
        run_contest(*given, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_target_that_is_not_there_is_refused_before_training(missing: float | None) -> None:
    inputs = list(range(12))
    targets: list[float | None] = [0.5 * i for i in inputs]
    targets[3] = missing
    calls = CALLS.total()
    refuse(SplitError, "item 4 of 12 has no target: fill it in, or leave the item out", TWO, (inputs, targets), "mse")
    assert CALLS.total() == calls


def test_fewer_items_than_blocks() -> None:
    refuse(SplitError, "needs 4 items or more, one for each part, but there are 3", TWO, corpus(3), "accuracy")


def test_one_class_only() -> None:
    data = (list(range(20)), ["high"] * 20)
    refuse(SplitError, "all 20 items have the target 'high'", TWO, data, "accuracy")


def test_a_class_too_rare_to_be_in_each_block() -> None:
    data = (list(range(20)), ["high"] * 18 + ["low"] * 2)
    refuse(SplitError, "class 'low' has 2 items, too few for 4 parts", TWO, data, "accuracy", BlockedCV(stratify=True))


def test_a_class_that_some_splits_do_not_train_on_is_a_warning() -> None:
    inputs, targets = corpus()
    targets[:2] = ["odd", "odd"]
    contest = run_contest(TWO, (inputs, targets), "accuracy", repeats=20)
    assert any("1 class ('odd') is missing from training. Set stratify" in warning for warning in contest.warnings)
    targets[2:4] = ["even", "even"]
    contest = run_contest(TWO, (inputs, targets), "accuracy", repeats=20)
    assert [each.code for each in contest.cautions if each.count == 2] == ["class-not-trained"]


def test_groups_larger_than_a_block() -> None:
    groups = ["long"] * 80 + list("abcdefghijklmnop")
    refuse(SplitError, "group 'long' alone has 80 of 96", TWO, (*corpus(), groups), "accuracy")


def test_a_metric_that_no_partition_defines() -> None:
    data = (list(range(40)), ["no"] * 40)
    metric = {"name": "precision", "positive": "yes", "zero_division": float("nan"), "allow_unknown": True}
    systems = {
        "a": lambda i, t, *, seed: lambda u: ["no"] * len(u),
        "b": lambda i, t, *, seed: lambda u: ["no"] * len(u),
    }
    refuse(HoldsupError, "all 40 items have the target 'no'", systems, data, {**metric, "positive": "no"})
    with_one = (list(range(40)), [*["no"] * 39, "yes"])
    refuse(MetricError, r"precision of a in fold 1 .* is undefined", systems, with_one, metric, repeats=1)


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("mse", "run_contest: mse does not fit these targets: item '1' is 'low', but must be a finite number"),
        ({"name": "f1", "positive": "lwo"}, "no target is 'lwo'; there are 'high', 'low'"),
    ],
)
def test_a_metric_that_the_targets_rule_out_before_anything_is_trained(metric: Any, said: str) -> None:
    def train(inputs: Any, targets: Any, *, seed: int) -> Any:
        raise AssertionError("trained")

    refuse(MetricError, said, {"a": train, "b": train_poor}, corpus(), metric)


def test_predictions_of_another_number_than_the_items() -> None:
    short = {"short": lambda inputs, targets, *, seed: lambda unseen: ["low"], "poor": train_poor}
    refuse(RunError, "gave 1 predictions for 48 items: return one per item", short, corpus(), "accuracy", repeats=1)


def test_columns_of_unequal_length() -> None:
    inputs, targets = corpus()
    refuse(SplitError, "inputs has 96 items, but targets has 95", TWO, (inputs, targets[:-1]), "accuracy")


@pytest.mark.parametrize(
    ("systems", "said"),
    [
        ({"cut": train_cut}, "needs two or more systems"),
        ([train_cut, train_poor], "give them by name"),
        ({"cut": train_cut, "bayes": GaussianNB}, r"give an estimator, GaussianNB\(\)"),
        ({"cut": train_cut, "poor": 3}, "the system 'poor' is a int: give a function"),
        ({"cut": train_cut, "poor": ["{python}", "x.py", "{test}"]}, "command lacks {out}"),
        ({"cut": train_cut, "poor": ["{python}", 3]}, "a command is a list of strings"),
        ({1: train_cut, 2: train_poor}, "a system is named 1: give it a non-empty text"),
        ({"cut": train_cut, " ": train_poor}, "a system is named ' ': give it a non-empty text"),
    ],
)
def test_systems_that_are_none(systems: Any, said: str) -> None:
    refuse(SpecError, said, systems, corpus(), "accuracy")


def test_data_that_are_none() -> None:
    refuse(SplitError, "data must be a file", TWO, 3, "accuracy")
    refuse(SplitError, "data must be a file", TWO, corpus()[:1], "accuracy")
    refuse(SplitError, "the corpus has 1 items", TWO, ([1], ["high"]), "accuracy")
    refuse(HoldsupError, "cannot read", TWO, "nowhere.jsonl", "accuracy")


def test_questions_that_cannot_be_asked_are_refused_before_anything_is_trained() -> None:
    CALLS.clear()
    for option, said in (
        ({"level": 95}, "level is 95"),
        ({"margin": -1.0}, "margin is -1.0"),
        ({"estimator": "median"}, "no estimator 'median'"),
        ({"correction": "none"}, "no correction 'none'"),
        ({"conclusion": "cut>best"}, "the conclusion 'cut>best'"),
        (
            {"pairs": [("cut", "coin")], "conclusion": "cut>poor"},
            r"is not about any of the pairs asked for \(cut-coin\)",
        ),
        ({"pairs": [("cut", "best")]}, "is not a pair of systems"),
        ({"sequential": 0.4}, "between 0.5 and 1, not at 0.4"),
    ):
        refuse(ScoresError, said, {**TWO, "coin": train_coin}, corpus(), "accuracy", **option)
    assert CALLS.total() == 0


def test_options_that_make_no_sense() -> None:
    refuse(MetricError, "unknown metric 'acuracy'", TWO, corpus(), "acuracy")
    refuse(SplitError, "repeats is 0", TWO, corpus(), "accuracy", repeats=0)
    splits = BlockedCV(repeats=5)
    refuse(
        SplitError, "partitions the corpus 5 times, but repeats says 8", TWO, corpus(), "accuracy", splits, repeats=8
    )
    refuse(SplitError, "needs 20 repeats or more", TWO, corpus(), "accuracy", repeats=5, sequential=0.8)
    refuse(SplitError, "on targets only", TWO, corpus(), "accuracy", BlockedCV(match=[[1.0]] * 96))
    refuse(SplitError, "is not a holdsup splitter", TWO, corpus(), "accuracy", "blocked")
    refuse(HoldsupError, "must end in", TWO, corpus(), "accuracy", export="scores.xlsx")
    refuse(SpecError, "looks like a table", TWO, corpus(), "accuracy", store="scores.csv")


def test_a_function_that_takes_no_seed_is_found_before_the_others_are_trained() -> None:
    CALLS.clear()

    def train_plainly(inputs: Any, targets: Any) -> Any:
        raise AssertionError

    said = r"'plain' cannot be called as f\(inputs, targets, seed=...\): got an unexpected keyword argument 'seed'"
    refuse(SpecError, said, {**TWO, "plain": train_plainly}, corpus(), "accuracy")
    assert CALLS.total() == 0


def indexed(rows: list[list[float]]) -> pd.DataFrame:
    """Return rows of a larger frame, which keep their numbers."""
    return pd.DataFrame(rows + rows).iloc[len(rows) :]


def from_rows(rows: list[list[float]]) -> pl.DataFrame:
    """Return a frame of Polars."""
    return pl.DataFrame(rows, orient="row")


def as_texts(rows: list[list[float]]) -> list[str]:
    """Return each row as a text."""
    return list(map(str, rows))


@pytest.mark.parametrize("make", [list, np.array, pd.DataFrame, indexed, from_rows, sp.csr_matrix, as_texts])
def test_equal_inputs_on_both_sides_of_a_split_are_counted(make: Any) -> None:
    rows = [[float(i), 1.0] for i in range(40)]
    (split,) = HoldOut(test=0.25).split(range(80))
    torn = len(set(split.test % 40) & set(split.train % 40))
    caution = warn_of_copies(make(rows + rows), [split])
    assert caution is not None
    assert (caution.code, caution.count) == ("tested-on-training", torn)
    assert caution.message.startswith(f"{torn} of 80 items are tested by systems that were trained on the same inputs")
    assert (
        warn_of_copies(make(rows + rows), list(HoldOut().split(rows + rows, groups=[*range(40), *range(40)]))) is None
    )
    assert warn_of_copies(make(rows), list(HoldOut().split(rows))) is None


def test_a_contest_warns_of_equal_inputs() -> None:
    inputs, targets = corpus()
    (caution,) = run_contest(TWO, (2 * inputs, 2 * targets), "accuracy", HoldOut(), repeats=1).cautions
    assert (caution.code, caution.about) == ("tested-on-training", "data")


@pytest.mark.slow  # starts processes
def test_processes_cannot_see_what_is_in_memory() -> None:
    with ProcessExecutor(1) as executor:
        refuse(SpecError, "a ProcessExecutor runs other processes", TWO, corpus(), "accuracy", executor=executor)


def test_with_a_store_systems_must_be_told_apart(tmp_path: Path) -> None:
    store = tmp_path / "c.db"

    def closing_over(cut: float) -> Any:
        return lambda inputs, targets, *, seed: lambda unseen: ["high" if x > cut else "low" for x in unseen]

    asked = (corpus(), "accuracy", HoldOut())
    refuse(
        SpecError,
        "cannot identify 'a': it uses variables of the function around it",
        {"a": closing_over(0.5), "poor": train_poor},
        *asked,
        store=store,
    )
    source = eval("lambda inputs, targets, *, seed: lambda unseen: ['high'] * len(unseen)")
    refuse(
        SpecError,
        "cannot identify 'a': its source cannot be read",
        {"a": source, "poor": train_poor},
        *asked,
        store=store,
    )
    partial = functools.partial(train_coin, colour=object())
    refuse(SpecError, "what JSON cannot hold", {"a": partial, "poor": train_poor}, *asked, store=store)
    estimator = GaussianNB(priors=FunctionTransformer(lambda x: x))
    refuse(SpecError, "looks like any other", {"a": estimator, "poor": train_poor}, *asked, store=store)
    assert (
        run_contest({"a": closing_over(0.5), "poor": train_poor}, *asked, repeats=1, store=store, key="1").rows.used
        == 2
    )
    assert run_contest({"a": closing_over(0.5), "poor": train_poor}, *asked, repeats=1).rows.used == 2


def test_one_system_under_two_names(tmp_path: Path) -> None:
    refuse(
        SpecError,
        "'cut' and 'same' are the same training",
        {"cut": train_cut, "same": train_cut},
        corpus(),
        "accuracy",
        store=tmp_path / "c.db",
    )


@pytest.mark.parametrize("metric", [lambda known, said: 1.0, 3, {"average": "macro"}, None])
def test_a_metric_that_is_no_name_is_refused_with_what_is_taken(metric: Any) -> None:
    refuse(MetricError, "give the name of one, such as 'accuracy'.*module:function", TWO, corpus(), metric)
