"""`holdsup contest`: from a spec to a sentence, a picture and a table of scores."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import holdsup
from holdsup.metrics import scorers

Run = Callable[..., Any]


@pytest.fixture
def contest(study: Path) -> Path:
    """The study of `holdsup run` as a contest of 3 partitions."""
    text = study.read_text().replace('kind = "run"', 'kind = "contest"').partition("[facets]")[0]
    text = text.replace('name = "holdout"\ntest = 0.25\n', 'name = "blocked"\nrepeats = 3\n')
    file = study.with_name("contest.toml")
    file.write_text(text)
    return file


def test_a_contest_ends_in_a_sentence_and_the_second_time_trains_nothing(run: Run, contest: Path) -> None:
    done = run("contest", contest)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Would another split say the same?")
    assert "length leads majority by 0.56 accuracy and won 3 of 3 partitions" in " ".join(done.out.split())
    systems = contest.parent / "systems.py"
    before = systems.read_text()
    assert run("contest", contest).out == done.out
    assert systems.read_text() == before


def test_a_contest_on_a_dask_cluster_gives_the_same_answer(run: Run, contest: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    here = run("contest", contest).out
    assert run("contest", contest, "--dask", "local", "--jobs", 2, "--store", tmp_path / "other.db").out == here


def test_the_answer_can_be_read_back_drawn_and_exported(run: Run, contest: Path, tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("contest.json", "contest.svg", "scores.parquet")}
    done = run(
        "contest", contest, "--format", "json", "-o", files["contest.json"], "--plot", files["contest.svg"],
        "--export", files["scores.parquet"],
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    found = holdsup.read_result(files["contest.json"])
    assert isinstance(found, holdsup.Contest)
    assert (found.conclusions[0].wins, found.rows.used) == (3, 36)
    assert files["contest.svg"].read_text().startswith("<?xml")
    compared = json.loads(run("compare", files["scores.parquet"], "--format", "json").out)
    assert compared["rows"]["used"] == 2 * 9 * 60  # each item is tested three times in each partition
    assert run("variance", files["scores.parquet"], "--where", "system=majority", "--facets", "resplit").code == 0


def test_dry_run_imports_nothing_and_counts_all_trainings(run: Run, contest: Path) -> None:
    (contest.parent / "systems.py").write_text("raise SystemExit('imported')")
    done = run("contest", contest, "--dry-run")
    assert done.code == 0
    assert "would run 36 tasks" in done.out
    assert not list(contest.parent.glob("*.db"))


def test_a_metric_of_the_spec_s_folder_judges_what_was_trained_before(run: Run, contest: Path) -> None:
    run("contest", contest)
    contest.with_name("hit_rates.py").write_text(
        "def hits(known, predicted):\n    return sum(a == b for a, b in zip(known, predicted)) / len(known)\n"
    )
    contest.write_text(contest.read_text().replace('name = "accuracy"', 'name = "hit_rates:hits"'))
    done = run("contest", contest)
    assert (done.code, done.err) == (0, "")
    assert "won 3 of 3 partitions" in done.out


def test_a_learning_curve_is_trained_on_request(run: Run, contest: Path) -> None:
    found = json.loads(run("contest", contest, "--learning-curve", "--format", "json").out)
    assert sorted({point["size"] for point in found["curve"]}) == [15, 30, 45, 53]


def test_sequential_stops_when_the_verdict_is_safe(run: Run, contest: Path) -> None:
    contest.write_text(contest.read_text().replace("repeats = 3", "repeats = 50"))
    found = json.loads(run("contest", contest, "--sequential", "--format", "json").out)
    assert 20 <= found["conclusions"][0]["partitions"] < 50
    assert found["decisions"][0]["outcome"] in ("left", "neither")
    assert found["decisions"][0]["budget"] == 50


def test_the_threshold_is_an_option_and_of_the_answer(run: Run, contest: Path) -> None:
    found = json.loads(run("contest", contest, "--threshold", "0.9", "--format", "json").out)
    assert (found["threshold"], found["asked"]["options"]["threshold"]) == (0.9, 0.9)
    assert holdsup.Contest.from_dict(found).asked.command() == "holdsup contest contest.toml --threshold 0.9"
    assert run("contest", contest, "--threshold", "0.4").code == 2


def test_a_spec_of_the_other_kind_is_answered_with_the_right_command(run: Run, contest: Path, study: Path) -> None:
    done = run("run", contest)
    assert (done.code, done.err) == (
        1,
        f"holdsup: contest.toml has kind = 'contest': use holdsup contest {contest}\n",
    )
    done = run("contest", study)
    assert done.code == 1
    assert done.err.count("\n") == 1


def test_a_training_that_fails_is_one_line(run: Run, contest: Path) -> None:
    systems = contest.parent / "systems.py"
    systems.write_text(systems.read_text().replace("    cut = min", "    raise ValueError('no light')\n    cut = min"))
    done = run("contest", contest)
    assert done.code == 1
    assert (
        "18 of 36 trainings failed, the first of 'length' on split 1: ValueError: no light. Fix the cause" in done.err
    )
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("option", [(), ("--dry-run",)])
def test_a_spec_of_another_kind_is_refused_with_the_command_for_it(run: Run, study: Path, option: tuple[str]) -> None:
    done = run("contest", study, *option)
    assert done.code == 1
    assert "run.toml has kind = 'run': use holdsup run" in done.err


def test_dry_run_says_whether_groups_are_kept_whole(run: Run, contest: Path) -> None:
    assert "items are split one by one" in run("contest", contest, "--dry-run").out
    contest.write_text(contest.read_text().replace('target = "label"', 'target = "label"\ngroup = "text"'))
    assert "groups by 'text' are kept whole" in run("contest", contest, "--dry-run").out


@pytest.mark.slow  # starts processes
def test_a_system_that_ends_its_process_is_told(run: Run, contest: Path) -> None:
    systems = contest.parent / "systems.py"
    systems.write_text(
        systems.read_text() + "\n\ndef train_crash(inputs, targets, *, seed):\n    import os\n\n    os._exit(5)\n"
    )
    contest.write_text(contest.read_text().replace("systems:train_majority", "systems:train_crash"))
    done = run("contest", contest)
    assert done.code == 1
    assert "18 of 36 trainings failed" in done.err
    assert "ended with exit code 5" in done.err


@pytest.fixture
def own_metric(contest: Path) -> Callable[[str], Path]:
    """Give the contest a metric of the user's own, with this body."""

    def write(body: str) -> Path:
        contest.with_name("own_metrics.py").write_text(
            f"import warnings\n\ndef own(targets, predictions):\n    {body}\n"
        )
        head, _, rest = contest.read_text().partition("[metric]")
        contest.write_text(f'{head}[metric]\nname = "own_metrics:own"\n[{rest.partition("[")[2]}')
        return contest

    yield write  # type: ignore[misc]
    sys.modules.pop("own_metrics", None)
    scorers._find.cache_clear()


def test_a_metric_that_raises_ends_in_one_line(run: Run, own_metric: Callable[[str], Path]) -> None:
    done = run("contest", own_metric("raise ZeroDivisionError('no\\nitems')"))
    assert done.code == 1
    assert done.err == "holdsup: own_metrics:own cannot score these predictions: no items\n"


def test_what_a_metric_prints_is_no_part_of_the_answer(run: Run, own_metric: Callable[[str], Path]) -> None:
    done = run("contest", own_metric("print('seen'); return targets.count(targets[0])"), "--format", "json")
    assert json.loads(done.out)["metric"] == "own_metrics:own"
    assert "seen" in done.err


def test_warnings_of_a_metric_are_counted_in_one(run: Run, own_metric: Callable[[str], Path]) -> None:
    file = own_metric("warnings.warn('too few'); return float(len(set(predictions)))")
    with pytest.warns(RuntimeWarning, match="own_metrics:own: too few") as warned:
        done = run("contest", file, "--format", "json")
    assert len(warned) == 1
    said = [warning for warning in json.loads(done.out)["warnings"] if "too few" in warning]
    assert said == ["own_metrics:own warned at 42 scores: too few."]
    (caution,) = [each for each in json.loads(done.out)["cautions"] if each["code"] == "metric-warned"]
    assert (caution["about"], caution["count"]) == ("metric:own_metrics:own", 42)
