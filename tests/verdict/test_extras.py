"""What stands beside an answer never loses it: each of them is made to fail, and the answer is there all the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from click.testing import CliRunner
from contest_cases import guess, labels, partitions

import holdsup
from holdsup.cli.program import program
from holdsup.errors import ScoresError
from holdsup.metrics import make_metric
from holdsup.plots.figures import FIGURES
from holdsup.results import Caution, Result, find_extra, list_extras, read_result
from holdsup.verdict.contest import judge_contest
from holdsup.verdict.tuning import judge_tuning

TARGETS = labels(40)
SCORES = holdsup.simulate_scores({"A": 0.70, "B": 0.705, "C": 0.70}, items=30, runs=3, sd_run=0.02, seed=2)


def compare() -> Result:
    return holdsup.compare_systems(SCORES)


def compare_along() -> Result:
    table = [{**row, "length": float(row["item"]) % 7} for row in SCORES.to_pylist()]
    return holdsup.compare_systems(table, by="length", bootstrap=3)


def variance() -> Result:
    return holdsup.decompose_variance(SCORES)


def variance_along() -> Result:
    table = [{**row, "length": float(row["item"]) % 7} for row in SCORES.to_pylist()]
    return holdsup.decompose_variance(table, by="length")


def rank() -> Result:
    return holdsup.rank_systems(holdsup.data.text_classifiers(), folds=2)


def contest() -> Result:
    return judge_contest(
        partitions(TARGETS, {"A": guess(0.75), "B": guess(0.6)}, number=3), TARGETS, make_metric("accuracy")
    )


def tune() -> Result:
    scores = [[0.81, 0.84], [0.80, 0.79], [0.82, 0.84]]
    return judge_tuning(scores, [{"C": 1}, {"C": 10}], k=5, metric_name="accuracy")


def qra() -> Result:
    return holdsup.assess_reproduction(holdsup.data.belz2022())


EXTRAS: list[tuple[Callable[[], Result], str, str]] = [
    (compare, "comparison.findings.ratio_as_published", "the test of Hagmann et al. (2023)"),
    (compare, "comparison.findings.fit_ours", "the likelihood ratio of the systems"),
    (compare, "comparison.question.advise", "the advice on what to do next"),
    (compare_along, "holdsup.fit.bootstrap_test", "the bootstrap of the likelihood ratio"),
    (compare_along, "comparison.findings.condition", "how differences depend on 'length'"),
    (compare_along, "comparison.conditions.compare_models", "the likelihood ratio along length"),
    (compare_along, "comparison.conditions.condition_as_published", "the published test along length"),
    (variance, "variance.question._plans", "the plans of other numbers of levels"),
    (variance, "variance.question.study_pair", "the plan for the difference of"),
    (variance, "variance.study.find_detectable", "the plans for differences"),
    (variance, "variance.study.format_number", "the advice on what to do next"),
    (variance_along, "variance.properties.retest_as_published", "the test of Hagmann et al. (2023)"),
    (variance_along, "variance.question.cross_with_property", "how effects depend on 'length'"),
    (rank, "ranking.question._validate", "the cross-validated errors"),
    (rank, "ranking.question.make_companion", "the average ranks"),
    (rank, "ranking.question.find_influence", "the ranking without each dataset and system"),
    (rank, "ranking.question.find_quantiles", "the Q-Q plots"),
    (contest, "contest.pairs.run_tests", "the tests of A - B"),
    (contest, "contest.question.count_votes", "the votes"),
    (tune, "tuning.question.suggest_partitions", "the advice on how many partitions to run"),
    (qra, "reproduction.question.reference_cvs", "the comparison with published results"),
    (qra, "reproduction.question.spread_within", "what explains the spread"),
    (qra, "reproduction.question.model_conditions", "the mixed model over conditions"),
    (qra, "reproduction.question.compare_conditions", "the conditions matrix"),
]


def fail(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError("failed to converge.")


@pytest.mark.parametrize(("ask", "function", "name"), EXTRAS, ids=[function for _, function, _ in EXTRAS])
def test_a_failure_beside_an_answer_does_not_lose_it(
    ask: Callable[[], Result], function: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(function if function.startswith("holdsup.") else f"holdsup.verdict.{function}", fail)
    found = ask()
    said = [c.message for c in found.cautions if c.code == "extra-failed" and f"Missing: {name}" in c.message]
    assert len(said) >= 1
    assert said[0].endswith(", which failed (RuntimeError: failed to converge). Nothing else depends on it.")
    assert found.verdict
    assert said[0] in " ".join(found.page().text().replace("\n  ", " ").split())
    assert type(found).from_dict(found.to_dict()).to_dict() == found.to_dict()


def test_what_was_asked_for_by_name_is_refused_as_ever() -> None:
    def refuse() -> NoReturn:
        raise ScoresError("there is no such column")

    said: list[Caution] = []
    with pytest.raises(ScoresError, match="no such column"):
        find_extra("the bootstrap", refuse, said, None, asked=True)
    assert list_extras("the plans", refuse, said) == ()
    assert [each.message for each in said] == ["Missing: the plans: there is no such column."]


def test_an_interrupt_is_no_failure() -> None:
    def interrupt() -> NoReturn:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_extra("the bootstrap", interrupt, [], None)


def test_rows_that_fail_while_they_are_listed_are_caught() -> None:
    said: list[Caution] = []
    assert list_extras("the plans", lambda: (1 / n for n in (1, 0)), said) == ()
    assert len(said) == 1


def test_a_picture_that_fails_leaves_the_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(FIGURES, "compare", fail)
    done = CliRunner().invoke(program, ["compare", "examples/scores.csv", "--plot", str(tmp_path / "p.svg")])
    assert done.exit_code == 0
    assert done.stdout.startswith("Is new better than baseline?")
    assert "Missing: the picture p.svg, which failed (RuntimeError: failed to converge)" in done.stderr
    assert not (tmp_path / "p.svg").exists()


def test_a_picture_that_is_refused_comes_after_the_answer(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    args = [
        "compare",
        "examples/scores.csv",
        "--format",
        "json",
        "-o",
        str(out),
        "--plot",
        str(tmp_path / "no" / "p.svg"),
    ]
    done = CliRunner().invoke(program, args)
    assert done.exit_code != 0
    assert read_result(out).verdict


@pytest.mark.parametrize("ending", ["html", "md"])
def test_a_report_does_without_a_picture_that_fails(
    ending: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
    page = tmp_path / f"page.{ending}"
    holdsup.write_report([compare()], page)
    assert "(RuntimeError: failed to converge)" in page.read_text(encoding="utf-8")
