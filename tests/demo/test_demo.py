"""The demo is right about what is known to be true, and what it calls the usual reading is wrong.

Seed 0 is the demo's own. Over seeds 0 to 19 the verdicts were right 19 times (compare: a 95% verdict errs once in 20), 18
(variance, whose limits must hold phi as well), 20 (rank), 19 (contest) and 20 times (tune); the usual reading was wrong in all.
"""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import holdsup.demo
from holdsup.cli.demo import command
from holdsup.data import belz2022_table
from holdsup.demo import QUESTIONS, Tale, write_page
from holdsup.demo.tales import GRID, PHI, TRUE_MEANS, tell_compare, tell_variance
from holdsup.errors import ResultError

pytestmark = pytest.mark.slow
LIMIT = 2_000_000  # bytes of a page that is sent around


@pytest.fixture(scope="module")
def tales() -> dict[str, Tale]:
    return {question.command: question.tell(0) for question in QUESTIONS}


def test_it_cannot_be_told_which_of_two_equal_systems_is_better(tales: dict[str, Tale]) -> None:
    contrast = tales["compare"].result.contrasts[0]
    assert contrast.low < 0 < contrast.high
    assert tales["compare"].result.state == "unclear"


def test_single_runs_of_equal_systems_differ_significantly_both_ways(tales: dict[str, Tale]) -> None:
    assert [int(n) for n in re.findall(r"(?<![.<])\b\d+\b", tales["compare"].seeming)] == [20, 25, 12, 8]


def test_the_limits_of_phi_hold_the_truth_and_prompts_have_the_largest_share(tales: dict[str, Tale]) -> None:
    found = tales["variance"].result
    assert found.reliability.low < PHI < found.reliability.high
    assert found.state == "no"  # below .80, the usual threshold
    shares = {c.name: c.percent for c in found.components if c.name not in ("item", "Residual")}
    assert max(shares, key=shares.__getitem__) == "prompt"


def test_ranking_finds_the_true_order_where_the_averages_are_led_by_another(tales: dict[str, Tale]) -> None:
    assert " gives B " in tales["rank"].seeming
    found = tales["rank"].result
    assert [system.name for system in found.systems] == list(TRUE_MEANS)
    first = next(contrast for contrast in found.contrasts if (contrast.left, contrast.right) == ("A", "B"))
    assert first.low < TRUE_MEANS["A"] - TRUE_MEANS["B"] < first.high
    assert first.low > 0


def test_every_cv_is_the_one_that_the_paper_prints(tales: dict[str, Tale]) -> None:
    found = {(row.object, row.measurand): row.cv for row in tales["qra"].result.assessments}
    printed = {(row.object, row.measurand): row.cv for row in belz2022_table()}
    assert len(printed) == 18
    assert found == pytest.approx(printed, abs=5.1e-4)


def test_another_split_may_turn_the_conclusion_of_two_classifiers_that_are_alike(tales: dict[str, Tale]) -> None:
    assert tales["contest"].result.state in ("no", "unclear")


def test_the_best_settings_are_among_those_that_cannot_be_told_apart(tales: dict[str, Tale]) -> None:
    status = {candidate.name: candidate.status for candidate in tales["tune"].result.candidates}
    assert {status["C=0.3, gamma=0.03"], status["C=1, gamma=0.03"]} <= {"pick", "alike"}
    assert " have 4: " in tales["tune"].seeming


def test_the_same_seed_tells_the_same_and_another_tells_otherwise(tales: dict[str, Tale]) -> None:
    assert tell_compare(0) == tales["compare"] != tell_compare(1)


def test_what_is_called_true_of_the_classifiers_is_what_other_partitions_say() -> None:
    from sklearn.datasets import load_wine
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    from holdsup.splits import BlockedCV

    inputs, targets = load_wine(return_X_y=True)
    systems = (LinearDiscriminantAnalysis(), make_pipeline(StandardScaler(), SVC()))
    right = [
        [(system.fit(inputs[train], targets[train]).predict(inputs[test]) == targets[test]).sum() for system in systems]
        for train, test in BlockedCV(m=3, repeats=60, seed=7).split(inputs)
    ]
    gaps = np.diff(right, axis=1).reshape(60, 6).sum(axis=1)
    assert 0.40 < (gaps > 0).mean() < 0.66  # .53, 95% of samples of 60
    assert 0.34 < (gaps < 0).mean() < 0.60  # .47


def test_what_is_called_true_of_the_settings_is_what_other_partitions_say() -> None:
    from sklearn.datasets import load_wine
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    data = load_wine(return_X_y=True)
    candidates = [(C, gamma) for C in GRID["svc__C"] for gamma in GRID["svc__gamma"]]
    scores = [
        [
            cross_val_score(make_pipeline(StandardScaler(), SVC(C=C, gamma=gamma)), *data, cv=folds).mean()
            for C, gamma in candidates
        ]
        for folds in (StratifiedKFold(5, shuffle=True, random_state=seed) for seed in range(25))
    ]
    best = np.argsort(np.mean(scores, axis=0))[-2:]
    assert {candidates[place] for place in best} == {(0.3, 0.03), (1, 0.03)}


def test_the_page_answers_the_six_questions_and_is_small(tales: dict[str, Tale], tmp_path: Path) -> None:
    write_page({question: tales[question.command] for question in QUESTIONS}, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(page.encode()) < LIMIT
    for question in QUESTIONS:
        assert question.text in page
    for words in ("The data", "It seems", "In truth", "holdsup says"):
        assert page.count(f"<strong>{words}</strong>") == 6
    cards = page.partition('<section class="result"')[0]
    assert cards.count('<li class="card">') == cards.count('<div class="drawing"') == 6
    for tale in tales.values():
        assert html.escape(tale.result.headline).replace("&#x27;", "&#39;") in cards
        assert cards.count(html.escape(tale.lesson)) == 1
    assert page.count('<details class="whole">') == 6


def test_the_command_tells_each_step_and_ends_with_the_path_of_the_page(
    tales: dict[str, Tale], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tuple(replace(question, tell=lambda seed, q=question: tales[q.command]) for question in QUESTIONS)
    monkeypatch.setattr(holdsup.demo, "QUESTIONS", told)
    page = tmp_path / "demo.html"
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(command, ["-o", str(page)], catch_exceptions=False).output
    for place, question in enumerate(QUESTIONS, start=1):
        assert f"{place} {question.text}  (holdsup {question.command})" in shown
    assert f"Pictures and tables: {page}" in shown
    assert shown.count("\n") <= 60
    assert max(len(line) for line in shown.splitlines() if str(page) not in line) <= 80
    assert page.is_file()


@pytest.mark.parametrize("name", ["demo.txt", "nowhere/demo.html"])
def test_a_page_that_cannot_be_written_is_refused_before_a_minute_is_spent(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holdsup.demo, "QUESTIONS", ())
    result = CliRunner().invoke(command, ["-o", str(tmp_path / name)])
    assert isinstance(result.exception, ResultError)
    assert "cannot write" in str(result.exception)


@pytest.mark.parametrize("seed", range(10))
def test_the_range_over_prompts_holds_the_mean_of_the_seeds_shown_whatever_the_seed(seed: int) -> None:
    scores = np.array(re.findall(r"0\.\d{3}", tell_variance(seed).seeming), dtype=float)
    seeds, (span, lowest, highest) = scores[:3], scores[3:]
    assert lowest - 0.001 <= seeds.mean() <= highest + 0.001  # of what the range is of, the mean of these seeds is one
    assert 5 * span < highest - lowest
