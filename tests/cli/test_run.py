"""`holdsup run`: from a spec to a table that `holdsup compare` takes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import holdsup
from holdsup.cli import main
from waiting import LIMIT, wait_for

Run = Callable[..., Any]


def edit(spec: Path, old: str, new: str) -> None:
    text = spec.read_text()
    assert old in text
    spec.write_text(text.replace(old, new))


def test_a_spec_is_run_to_the_end_and_the_second_time_nothing_is_left_to_do(run: Run, study: Path) -> None:
    done = run("run", study)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Is everything trained and tested?")
    assert done.out.splitlines()[1] == "All 6 tasks are done."
    again = json.loads(run("run", study, "--format", "json").out)
    assert (again["kind"], again["executed"], again["statuses"]["done"]) == ("run", 0, 6)


def test_the_report_is_a_result_that_can_be_read_back(run: Run, study: Path, tmp_path: Path) -> None:
    assert run("run", study, "--format", "json", "-o", tmp_path / "report.json").code == 0
    report = holdsup.read_result(tmp_path / "report.json")
    assert isinstance(report, holdsup.RunReport)
    assert report.rows.used == 6


def test_compare_takes_what_is_exported(run: Run, study: Path, tmp_path: Path) -> None:
    run("run", study)
    for name in ("scores.parquet", "scores.csv"):
        done = run("run", study, "--export", tmp_path / name)
        assert (done.code, done.err) == (0, f"90 rows written to {tmp_path / name}\n")
        compared = json.loads(run("compare", tmp_path / name, "--format", "json").out)
        means = {system["name"]: system["mean"] for system in compared["systems"]}
        assert set(means) == {"length", "majority"}
        assert compared["rows"]["planned"] == 90
        scores = holdsup.read_scores(tmp_path / name)
        for code, system in enumerate(scores.system.names):
            assert means[system] == pytest.approx(scores.score[scores.system.codes == code].mean(), rel=1e-9)


def test_variance_takes_what_is_exported(run: Run, study: Path, tmp_path: Path) -> None:
    systems = study.parent / "systems.py"
    coin = "\n\ndef train_coin(inputs, targets, *, seed):\n    import random\n    rng = random.Random(seed)\n    return lambda unseen: [rng.choice(['long', 'short', 'short']) for _ in unseen]\n"
    systems.write_text(systems.read_text() + coin)
    edit(study, '"systems:train_length"', '"systems:train_coin"')
    run("run", study)
    run("run", study, "--export", tmp_path / "scores.parquet")
    found = json.loads(run("variance", tmp_path / "scores.parquet", "--where", "system=length", "--format", "json").out)
    assert found["rows"]["used"] == 45
    assert {component["name"] for component in found["components"]} >= {"item", "seed"}


def test_a_dry_run_imports_runs_and_writes_nothing(run: Run, study: Path) -> None:
    (study.parent / "systems.py").write_text("raise SystemExit('imported')")
    edit(study.parent / "tag.py", "import sys", "import sys\nimport helper")
    (study.parent / "helper.py").write_text("raise SystemExit('imported')")
    edit(
        study,
        "[facets]",
        '[systems.program]\ncommand = ["{python}", "tag.py", "{train}", "{test}", "{out}", "{seed}"]\n[facets]',
    )
    before = sorted(study.parent.iterdir())
    done = run("run", study, "--dry-run")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("run.toml would run 9 tasks")
    for shown in ("train_length(inputs, targets, seed=1)", "{python} tag.py {train} {test} {out} 1", "toy.jsonl"):
        assert shown in done.out
    lines = [line.split() for line in done.out.splitlines()]
    assert ["program", "tag.py,", "helper.py"] in lines
    assert ["length", "systems.py"] in lines
    assert ["toy", "toy.jsonl", "60", "45", "15", "text", "(text)", "label", "(text)", "1"] in lines
    assert sorted(study.parent.iterdir()) == before


def test_the_status_runs_nothing(run: Run, study: Path) -> None:
    done = run("run", study, "--status")
    assert (done.code, done.out) == (1, "")
    assert "there is no store" in done.err
    run("run", study)
    edit(study, "seed = [1, 2, 3]", "seed = [1, 2, 3, 4]")
    status = run("run", study, "--status")
    assert status.code == 0
    assert status.out.splitlines()[1] == "6 of 8 tasks are done, 2 are left to run."
    assert json.loads(run("run", study, "--format", "json").out)["executed"] == 2


def test_a_task_that_fails_is_named_the_others_are_done_and_the_exit_code_is_1(run: Run, study: Path) -> None:
    systems = study.parent / "systems.py"
    systems.write_text(
        systems.read_text()
        + "\n\ndef train_bad(inputs, targets, *, seed):\n    return lambda unseen: [1] * (len(unseen) + seed)\n"
    )
    edit(study, '"systems:train_length"', '"systems:train_bad"')
    done = run("run", study)
    assert done.code == 1
    assert done.err == ("holdsup: 3 of 6 tasks failed; the others are done. Fix the cause, then add --retry-failed\n")
    assert "systems:train_bad gave 16 predictions for 15 items" in " ".join(done.out.split())
    report = json.loads(run("run", study, "--format", "json").out)
    assert (report["executed"], report["statuses"]["failed"]) == (0, 3)
    retried = json.loads(run("run", study, "--retry-failed", "--format", "json").out)
    assert {failure["attempts"] for failure in retried["failures"]} == {2}


@pytest.mark.parametrize("code", ["print('epoch 1')", "__import__('os').system('echo epoch 1')"])
def test_what_systems_and_their_programs_print_stays_out_of_the_report(
    study: Path, capfd: pytest.CaptureFixture[str], code: str
) -> None:
    systems = study.parent / "systems.py"
    systems.write_text(systems.read_text().replace("    cut =", f"    {code}\n    cut ="))
    with pytest.raises(SystemExit):
        main(["run", str(study), "--format", "json"])
    printed = capfd.readouterr()  # of the worker, too
    assert json.loads(printed.out)["statuses"]["done"] == 6
    assert printed.err == "epoch 1\n" * 3


def test_an_edited_system_is_trained_again_and_the_others_are_not(run: Run, study: Path) -> None:
    (study.parent / "other.py").write_text((study.parent / "systems.py").read_text())
    edit(study, '"systems:train_length"', '"other:train_length"')
    assert json.loads(run("run", study, "--format", "json").out)["executed"] == 6
    with (study.parent / "other.py").open("a") as file:
        file.write("\n# edited\n")
    assert json.loads(run("run", study, "--format", "json").out)["executed"] == 3


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--export", "scores.xlsx"], 1, "must end in .parquet or .csv"),
        (["--export", "s.csv", "--metric", "f1"], 1, "f1 of which labels?"),
        (["--export", "s.csv", "--metric", "acuracy"], 1, "Did you mean 'accuracy'?"),
        (["--export", "s.csv", "--metric", "f1,average"], 2, "is not of the form average=macro"),
        (["--export", "s.csv", "--metric", "sklearn:balanced_accuracy", "--per", "item"], 1, "--per run"),
        (["--export", "s.csv", "--metric", "f1,average=macro", "--per", "item"], 1, "--per run"),
        (["--export", "s.csv", "--metric", "mse"], 1, "mse does not fit these targets"),
        (["--export", "s.csv", "--metric", "f1,positive=zzz"], 1, "no target is 'zzz'; there are 'long', 'short'"),
        (["--per", "fold"], 2, "--per"),
        (["--per", "run"], 2, "--per needs --export FILE"),
        (["--metric", "f1,average=macro"], 2, "--metric needs --export FILE"),
        (["--status", "--metric", "accuracy"], 2, "--metric needs --export FILE"),
        (["--status", "--retry-failed"], 2, "--status runs nothing: leave out --retry-failed"),
        (["--dry-run", "--retries", "2", "--dask", "local"], 2, "leave out --retries and --dask"),
        (["--status", "--export", "s.csv"], 2, "--status and --export exclude each other"),
        (["--dry-run", "--rescue", "s.db"], 2, "--dry-run and --rescue exclude each other"),
        (["--plot", "p.svg"], 1, "no figure for 'run'"),
    ],
)
def test_wrong_options_are_one_line(
    run: Run, study: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], code: int, said: str
) -> None:
    monkeypatch.chdir(study.parent)
    run("run", study)
    done = run("run", study, *options)
    assert done.code == code
    assert said in done.err
    assert "Traceback" not in done.err
    assert not list(study.parent.glob("s*.csv"))


def test_a_text_file_is_refused_as_a_store_and_no_rescue_is_advised(run: Run, study: Path) -> None:
    done = run("run", study, "--store", study.parent / "tag.py")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "tag.py is not a holdsup store: give another file" in done.err


def test_a_metric_that_the_targets_rule_out_is_refused_before_anything_is_trained(run: Run, study: Path) -> None:
    edit(study, 'name = "accuracy"', 'name = "mse"')
    done = run("run", study)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "mse does not fit these targets" in done.err
    assert not (study.parent / "runs.db").exists()


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_importing_a_system_is_not_counted_as_its_time(run: Run, study: Path, jobs: int) -> None:
    """The clock that stops a task is not set while a system is imported, and is while it trains."""
    systems = study.parent / "systems.py"
    clock = "import signal\n\n\ndef is_set():\n    return signal.getitimer(signal.ITIMER_REAL)[0] > 0\n\n\n"
    text = systems.read_text().replace("    cut =", "    assert is_set()\n    cut =")
    systems.write_text(f"{clock}assert not is_set()\nprint('imported')\n{text}")
    edit(study, '"systems:train_length"', '"systems:train_length"\ntimeout = 600')
    done = run("run", study, "--jobs", jobs, "--quiet", "--format", "json")
    assert done.code == 0
    assert json.loads(done.out)["statuses"]["done"] == 6


def test_a_spec_that_is_not_there_or_not_right_is_one_line(run: Run, study: Path) -> None:
    assert run("run", study.with_name("none.toml")).err.startswith("holdsup: cannot read ")
    edit(study, "[facets]", "[facet]")
    done = run("run", study)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "Did you mean 'facets'?" in done.err
    assert not (study.parent / "runs.db").exists()


def test_data_and_specs_are_never_overwritten(run: Run, study: Path) -> None:
    for options in (["-o", study], ["--store", study.parent / "toy.jsonl"]):
        done = run("run", study, *options)
        assert done.code == 1
        assert "it is one of the files to read" in done.err
    assert study.read_text().startswith("\nholdsup = 1")


def test_a_damaged_store_is_not_exported_before_it_is_rescued(run: Run, study: Path, tmp_path: Path) -> None:
    run("run", study)
    store = study.parent / "runs.db"
    content = store.read_bytes()
    assert content.count(b'"n_test":15') == 6
    store.write_bytes(content.replace(b'"n_test":15', b'"n_test":16', 1))
    for asked in (["--export", tmp_path / "scores.csv"], []):
        refused = run("run", study, *asked)
        assert (refused.code, refused.out, refused.err.count("\n")) == (1, "", 1)
        assert refused.err.startswith("holdsup: the store runs.db has 1 damaged row (row ")
        assert "holdsup run SPEC --rescue NEW.db" in refused.err
    assert not (tmp_path / "scores.csv").exists()
    run("run", study, "--rescue", tmp_path / "new.db")
    assert run("run", study, "--store", tmp_path / "new.db", "--export", tmp_path / "scores.csv").code == 0
    scores = holdsup.read_scores(tmp_path / "scores.csv")
    assert scores.rows().used == 75
    assert scores.rows().planned == 90


@pytest.mark.parametrize("kind", ["run", "contest"])
def test_a_damaged_store_is_rescued_and_the_run_goes_on_from_there(
    run: Run, study: Path, tmp_path: Path, kind: str
) -> None:
    run("run", study)
    store, fresh = study.parent / "runs.db", tmp_path / "fresh.db"
    store.write_bytes(store.read_bytes().replace(b'"n_test":15', b'"n_test":16', 1))
    spec = study
    if kind != "run":  # the store is that of the spec, whatever its kind
        spec = study.with_name("contest.toml")
        spec.write_text(study.read_text().replace('kind = "run"', 'kind = "contest"').partition("[facets]")[0])
    done = run("run", spec, "--rescue", fresh)
    assert (done.code, done.err) == (0, "")
    assert "1 row could not be saved" in " ".join(done.out.split())
    assert "its checksum is wrong" in done.out
    went_on = json.loads(run("run", study, "--store", fresh, "--format", "json").out)
    assert (went_on["executed"], went_on["statuses"]["done"]) == (1, 6)
    again = run("run", spec, "--rescue", fresh)
    assert (again.code, again.err.count("\n")) == (1, 1)
    assert "already exists" in again.err


def test_a_list_of_labels_can_be_given_with_the_metric(run: Run, study: Path, tmp_path: Path) -> None:
    run("run", study)
    metric = 'f1,average=micro,labels=["long", "short"]'
    assert run("run", study, "--export", tmp_path / "s.parquet", "--metric", metric).code == 0
    assert set(pq.read_table(tmp_path / "s.parquet")["metric"].to_pylist()) == {metric}


def test_undefined_results_and_strange_predictions_are_told_with_the_reason(run: Run, study: Path) -> None:
    systems = study.parent / "systems.py"
    strange = "\n\ndef train_strange(inputs, targets, *, seed):\n    return lambda unseen: ['huge'] * len(unseen)\n"
    systems.write_text(systems.read_text() + strange)
    edit(study, '"systems:train_length"', '"systems:train_strange"')
    noted = json.loads(run("run", study, "--format", "json").out)["warnings"]
    assert noted == ["3 results to look at: 15 of 15 predictions are not labels in the data, such as 'huge'."]
    edit(study, 'name = "accuracy"', 'name = "f1"\naverage = "macro"')
    edit(study, 'store = "runs.db"', 'store = "other.db"')
    (undefined,) = json.loads(run("run", study, "--format", "json").out)["warnings"]
    assert undefined.startswith("3 results with a value that is not defined: the prediction of item '")
    assert undefined.endswith("or set allow_unknown = true to count it as wrong.")


def test_when_all_tasks_fail_nobody_is_told_that_the_others_are_done(run: Run, study: Path) -> None:
    systems = study.parent / "systems.py"
    systems.write_text(
        "def train_length(inputs, targets, *, seed):\n    raise ValueError('no')\n\ntrain_majority = train_length\n"
    )
    edit(study, '"systems:train_majority"', '"systems:train_majority"\nkey = "2"')
    done = run("run", study)
    assert done.code == 1
    assert done.err.startswith("holdsup: all 6 tasks failed. Fix the cause")
    assert done.out.splitlines()[1] == "All 6 tasks failed."
    assert "ValueError" in done.out
    assert "; and 5 others" in done.out


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), signal.SIGSEGV)"])
def test_a_system_that_ends_its_process_fails_alone(run: Run, study: Path, end: str) -> None:
    systems = study.parent / "systems.py"
    crash = f"\n\ndef train_crash(inputs, targets, *, seed):\n    import os, signal\n    {end}\n"
    systems.write_text(systems.read_text() + crash)
    edit(study, '"systems:train_length"', '"systems:train_crash"')
    done = run("run", study, "--format", "json")
    assert done.code == 1
    report = json.loads(done.out)
    assert (report["statuses"]["done"], report["statuses"]["failed"]) == (3, 3)
    assert [(failure["error"], failure["others"]) for failure in report["failures"]] == [("worker died", 2)]


@pytest.mark.parametrize("share", [2 / 3, 0.8])
def test_of_a_store_that_was_cut_off_nobody_is_told_that_nothing_is_lost(
    run: Run, study: Path, tmp_path: Path, share: float
) -> None:
    run("run", study)
    store, fresh = study.parent / "runs.db", tmp_path / "fresh.db"
    content = store.read_bytes()
    store.write_bytes(content[: int(len(content) * share)])
    done = run("run", study, "--rescue", fresh)
    said = " ".join(done.out.split())
    assert done.code == 0
    assert "The file is cut off (" in said
    assert "how many rows are gone is unknown" in said
    assert "0 rows" not in said
    went_on = json.loads(run("run", study, "--store", fresh, "--format", "json").out)
    assert went_on["executed"] > 0
    assert f"{went_on['executed']} task" in said


@pytest.mark.slow
def test_processes_and_a_dask_cluster_give_the_same_scores(run: Run, study: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    edit(
        study,
        "[facets]",
        '[systems.program]\ncommand = ["{python}", "tag.py", "{train}", "{test}", "{out}", "{seed}"]\n[facets]',
    )
    tables = []
    for name, options in (("a", []), ("b", ["--jobs", 2]), ("c", ["--dask", "local", "--jobs", 2])):
        done = subprocess.run(
            [sys.executable, "-m", "holdsup", "run", study, "--store", tmp_path / f"{name}.db", *map(str, options)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        run("run", study, "--store", tmp_path / f"{name}.db", "--export", tmp_path / f"{name}.csv")
        tables.append((tmp_path / f"{name}.csv").read_text())
    assert tables[0].count("\n") == 1 + 9 * 15
    assert tables[0] == tables[1] == tables[2]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_ctrl_c_stops_with_one_line_that_says_how_to_go_on(study: Path, tmp_path: Path) -> None:
    systems = study.parent / "systems.py"
    slow = f"\n\ndef train_slow(inputs, targets, *, seed):\n    import time\n    open({str(tmp_path / 'started')!r}, 'a').write('x')\n    time.sleep(0 if seed == 1 else 600)\n    return lambda unseen: ['long'] * len(unseen)\n"
    systems.write_text(systems.read_text() + slow)
    edit(study, '"systems:train_length"', '"systems:train_slow"')
    command = [sys.executable, "-m", "holdsup", "run", str(study)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: (tmp_path / "started").exists() and (tmp_path / "started").read_text() == "xx")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert "1 of 6 tasks are recorded in runs.db; run the same command again to continue" in err
    assert "Traceback" not in err
