"""`holdsup tune`: from a spec to a sentence, a picture and J and K for a budget."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import holdsup

Run = Callable[..., Any]


@pytest.fixture
def tune(study: Path) -> Path:
    """The study of `holdsup run` as a tuning of one parameter on 3 partitions of 4 folds."""
    text = study.read_text().replace('kind = "run"', 'kind = "tune"')
    text = text.replace('name = "holdout"\ntest = 0.25\n', 'name = "jkfold"\nj = 3\nk = 4\n')
    file = study.with_name("tune.toml")
    file.write_text(text.partition("[systems.majority]")[0] + "[candidates]\nfloor = [0, 2, 4]\n")
    return file


def test_a_tuning_ends_in_a_sentence_and_the_second_time_trains_nothing(run: Run, tune: Path) -> None:
    done = run("tune", tune)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Is the pick safe from the luck of the partition?")
    assert "floor=0 won 3 of 3 partitions" in done.out
    status = json.loads(run("tune", tune, "--status", "--format", "json").out)
    assert status["statuses"] == {"done": 36, "undefined": 0, "failed": 0, "running": 0, "waiting": 0}
    assert run("tune", tune).out == done.out
    with holdsup.Store(tune.parent / "runs.db", writing=False) as store:
        assert len(list(store.results())) == 36


def test_before_the_first_run_the_status_is_that_nothing_is_done(run: Run, tune: Path) -> None:
    status = json.loads(run("tune", tune, "--status", "--format", "json").out)
    assert status["statuses"] == {"done": 0, "undefined": 0, "failed": 0, "running": 0, "waiting": 36}
    assert not (tune.parent / "runs.db").exists()
    assert "there is no store" in run("tune", tune, "--status", "--store", "other.db").err


def test_the_answer_can_be_read_back_and_drawn(run: Run, tune: Path, tmp_path: Path) -> None:
    saved, drawn = tmp_path / "tune.json", tmp_path / "tune.svg"
    done = run("tune", tune, "--format", "json", "-o", saved, "--plot", drawn, "--level", ".9")
    assert (done.code, done.err) == (0, "")
    found = holdsup.read_result(saved)
    assert isinstance(found, holdsup.Tuning)
    assert (found.best, found.partitions, found.k, found.fits, found.level) == ("floor=0", 3, 4, 36, 0.9)
    assert drawn.read_text().startswith("<?xml")


def test_advice_can_be_read_back(run: Run, tune: Path, tmp_path: Path) -> None:
    tune.write_text(f"{tune.read_text()}[budget]\nfits = 100\n")
    done = run("tune", tune, "--advise", "--format", "json", "-o", tmp_path / "advice.json")
    assert (done.code, done.err) == (0, "")
    found = holdsup.read_result(tmp_path / "advice.json")
    assert isinstance(found, holdsup.TuningAdvice)
    assert (found.budget, found.candidates, {plan.k for plan in found.plans}) == (100, 3, {3, 4, 5})
    assert f"Use J={found.j} partitions of K={found.k} folds" in found.headline


def test_dry_run_imports_nothing_and_counts_all_trainings(run: Run, tune: Path) -> None:
    (tune.parent / "systems.py").write_text("raise SystemExit('imported')")
    done = run("tune", tune, "--dry-run")
    assert done.code == 0
    assert "would run 36 tasks" in done.out
    assert "x 3 candidates, scored by accuracy" in " ".join(done.out.split())
    assert not list(tune.parent.glob("*.db"))


def test_a_spec_of_the_other_kind_is_answered_with_the_right_command(run: Run, tune: Path, study: Path) -> None:
    done = run("run", tune)
    assert (done.code, done.err) == (1, f"holdsup: tune.toml has kind = 'tune': use holdsup tune {tune}\n")
    done = run("tune", study)
    assert (done.code, done.err) == (1, f"holdsup: run.toml has kind = 'run': use holdsup run {study}\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("k = 4", "k = 2", "tune.toml, [splits]: k is 2: with fewer than 3 folds"),
        ("floor = [0, 2, 4]", "ceiling = [0, 2, 4]", "tune.toml, [systems]: systems:train_length cannot be used"),
        ("[candidates]", "[budget]\nfits = 35\n[candidates]", "tune.toml, [budget]: the budget is 35 fits, but 3"),
        ("floor = [0, 2, 4]", 'floor = ["a", "b"]', "tune.toml: all 2 candidates failed; floor='a' on fold 1"),
    ],
)
def test_bad_input_is_one_line(run: Run, tune: Path, old: str, new: str, message: str) -> None:
    text = tune.read_text()
    assert old in text
    tune.write_text(text.replace(old, new))
    done = run("tune", tune)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith(f"holdsup: {message}")
