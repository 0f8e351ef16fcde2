"""What callers of the public functions may get wrong: each is one clear line, never a bare TypeError."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import holdsup
from holdsup.errors import HoldsupError
from holdsup.verdict.contest.question import check_question
from holdsup.verdict.tuning import judge_tuning

SCORES = holdsup.simulate_scores({"A": 0.5, "B": 0.6}, items=6, runs=2, seed=1)
RUNS = [
    {"dataset": dataset, "system": system, "seed": seed, "score": len(dataset) + seed * 0.1 + (system == "A") * 0.2}
    for dataset in ("u", "vv", "www")
    for system in "AB"
    for seed in range(2)
]
TUNED = np.random.default_rng(0).normal(size=(3, 2))
WRONG: tuple[Any, ...] = ("a", None, float("nan"), -1, [1], True, 2.5, {"x": 1}, object())
ASKED: dict[str, Callable[..., Any]] = {
    "compare": lambda **wrong: holdsup.compare_systems(SCORES, **wrong),
    "variance": lambda **wrong: holdsup.decompose_variance(SCORES, **wrong),
    "plan": lambda **wrong: holdsup.plan_evaluation(**{"detect": 0.1, "runs": (3, 5), **wrong}),
    "rank": lambda **wrong: holdsup.rank_systems(RUNS, **{"folds": 0, **wrong}),
    "fit": lambda **wrong: holdsup.fit_lmm("score ~ system + (1 | item)", SCORES, **wrong),
    "qra": lambda **wrong: holdsup.assess_reproduction(
        [{"object": "x", "measurand": "y", "value": value} for value in (1.0, 2.0)], **wrong
    ),
    "tune": lambda **wrong: judge_tuning(TUNED, [{"C": 1}, {"C": 2}], **{"k": 3, "metric_name": "f1", **wrong}),
    "contest": lambda **wrong: check_question(["A", "B"], **wrong),
    "simulate": lambda **wrong: holdsup.simulate_scores({"A": 0.5}, **{"items": 3, **wrong}),
}
OPTIONS = {
    "compare": (
        "level",
        "seed",
        "bootstrap",
        "margin",
        "claim",
        "baseline",
        "best",
        "by",
        "where",
        "processes",
        "progress",
        "names",
    ),
    "variance": ("level", "seed", "levels", "by", "interactions", "processes", "progress", "names"),
    "plan": (
        "level",
        "detect",
        "margin",
        "reliability",
        "power",
        "systems",
        "claim",
        "runs",
        "items",
        "datasets",
        "cost_run",
        "budget",
        "sd_run",
        "accuracy",
        "disagreement",
        "sd_item",
        "sd_dataset",
        "new_share",
        "progress",
    ),
    "rank": ("level", "seed", "folds", "nuisance", "formula", "treat", "contribution", "predict", "pair", "progress"),
    "fit": ("level", "method", "weights"),
    "qra": ("level", "seed", "progress"),
    "tune": ("level", "seed", "margin", "k"),
    "contest": ("level", "margin"),
    "simulate": ("items", "runs", "seed", "sd_item", "sd_run", "sd_system_item", "sd_residual"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("question", "option"), [(q, o) for q, options in OPTIONS.items() for o in options])
def test_an_option_of_a_wrong_type_is_refused_as_such_or_means_something(question: str, option: str) -> None:
    for wrong in WRONG:
        with contextlib.suppress(HoldsupError):  # and nothing else
            ASKED[question](**{option: wrong})


@pytest.mark.parametrize("question", [q for q, options in OPTIONS.items() if "level" in options])
@pytest.mark.parametrize("level", ["a", 0, 1, 95, float("nan"), True])
def test_a_level_that_is_none_is_refused_everywhere_in_the_same_words(question: str, level: Any) -> None:
    with pytest.raises(HoldsupError, match=r"level is .*; it must be a number between 0 and 1, such as 0.95"):
        ASKED[question](level=level)


def test_the_options_tried_are_those_there_are() -> None:
    named = {"compare": holdsup.compare_systems, "variance": holdsup.decompose_variance, "rank": holdsup.rank_systems}
    for question, function in named.items():
        assert set(OPTIONS[question]) - {"names"} <= set(inspect.signature(function).parameters)


def test_what_must_be_numbers_is_refused_in_words() -> None:
    with pytest.raises(HoldsupError, match="the mean of 'A' is 'x'; it must be a number"):
        holdsup.simulate_scores({"A": "x"})  # type: ignore[dict-item]
    with pytest.raises(HoldsupError, match="sd_run is -1; it must be a number, 0 or more"):
        holdsup.simulate_scores({"A": 0.5}, sd_run=-1)
    with pytest.raises(HoldsupError, match="the scores of a tuning must be numbers"):
        judge_tuning([["a", "b"]], [{"C": 1}, {"C": 2}], k=3, metric_name="f1")  # type: ignore[list-item]
    with pytest.raises(HoldsupError, match="progress is None: give a function"):
        holdsup.compare_systems(SCORES, progress=None)  # type: ignore[arg-type]
    with pytest.raises(HoldsupError, match="names is 3: give it as text"):
        holdsup.read_scores(SCORES, names=3)  # type: ignore[arg-type]
    with pytest.raises(HoldsupError, match="processes is 'a'; it must be a whole number"):
        holdsup.compare_systems(SCORES, processes="a")  # type: ignore[arg-type]


@pytest.mark.parametrize("question", ["compare", "variance", "rank"])
def test_values_to_choose_rows_by_may_be_numbers_and_nothing_but_text_and_numbers(question: str) -> None:
    for wrong, said in (({"system": None}, "where gives None for 'system'"), ({3: 4}, "where names the column 3")):
        with pytest.raises(HoldsupError, match=said):
            ASKED[question](where=wrong)
    for number in (7, 7.0, [7]):
        with pytest.raises(HoldsupError, match="no row has system=7: "):
            ASKED[question](where={"system": number})
