"""Every reader of a simple format keeps the contract, claims its own files only, and gives the tool's own means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made import ITEMS, MAKERS, MEANS, RIGHT, make_evalplus, make_mlflow_database, write

from holdsup import audit_scores, compare_systems, rank_systems, read_scores
from holdsup.errors import ReadError
from holdsup.logs.registry import find_readers
from holdsup.testing import check_reader
from reading import means_of as means_in, read_all

READERS = {reader.name: reader for reader in find_readers()}


def codes(found: Any) -> dict[str, str]:
    return {caution.code: caution.message for caution in found.cautions}


def means_of(found: Any) -> dict[tuple[str, str], float]:
    return {(each.name, each.metric): each.mean for each in found.systems}


@pytest.mark.parametrize("name", MAKERS)
def test_readers_keep_the_contract(tmp_path: Path, name: str) -> None:
    MAKERS[name](tmp_path)
    check_reader(READERS[name], tmp_path)


@pytest.mark.parametrize("name", MAKERS)
def test_no_reader_claims_the_files_of_another_tool(tmp_path: Path, name: str) -> None:
    MAKERS[name](tmp_path)
    folders = [tmp_path, *(each for each in tmp_path.rglob("*") if each.is_dir())]
    for other, reader in READERS.items():
        found = [
            log
            for folder in folders
            for log in reader.recognise(folder, tuple(f for f in folder.iterdir() if f.is_file()))
        ]
        assert bool(found) == (other == name)


@pytest.mark.parametrize("name", ["evalplus", "swebench", "lighteval", "terminal_bench", "harbor", "openai_evals"])
def test_a_mean_that_is_not_the_tools_own_is_an_error(tmp_path: Path, name: str) -> None:
    """The scores of one item are turned round, and the tool's own mean stays."""
    MAKERS[name](tmp_path)
    turned = {
        "evalplus": ('"base_status": "pass"', '"base_status": "fail"'),
        "swebench": ('"unresolved_ids": ["django__django-2"]', '"unresolved_ids": []'),
        "lighteval": ('"em": 0.', '"em": 0.1'),
        "terminal_bench": ('"is_resolved": true', '"is_resolved": false'),
        "harbor": ('"reward": 1.0', '"reward": 0.0'),
        "openai_evals": ('"correct": true', '"correct": false'),
    }[name]
    files = [f for f in sorted(tmp_path.rglob("*.json*")) if turned[0] in f.read_text()]
    for file in files:
        file.write_text(file.read_text().replace(*turned, 1))
    with pytest.raises(ReadError, match=r"but the scores in the log have a mean of|it was changed"):
        read_scores(files if name != "lighteval" and name != "harbor" else tmp_path)


def test_evalplus_has_two_metrics_and_samples(tmp_path: Path) -> None:
    make_evalplus(tmp_path)
    scores = read_scores(tmp_path)
    assert (scores.roles.sample, scores.system.names, scores.metric.names) == (
        "sample", ("A_vllm", "B_vllm"), ("base", "plus"),
    )  # fmt: skip
    found = means_of(compare_systems(tmp_path))
    assert found["A_vllm", "base"] == pytest.approx((MEANS["A"] + 1) / 2, abs=1e-12)
    assert found["B_vllm", "plus"] == pytest.approx(MEANS["B"] / 2, abs=1e-12)  # extra tests count with the base's


def test_evalplus_of_earlier_versions_and_without_extra_tests(tmp_path: Path) -> None:
    old = {
        f"Mbpp/{i}": {"nfiles": 2, "base": [["pass", [1]], ["fail", [0]]], "plus": [["fail", [0]], ["pass", [1]]]}
        for i in range(4)
    }
    make_evalplus(tmp_path, eval=old, pass_at_k=None)
    log, _ = read_all(READERS["evalplus"], tmp_path / "humaneval")
    assert (log.task, means_in(log)) == ("MBPP", {"base": 0.5, "plus": 0.0})
    bare = {item: {"base": each["base"]} for item, each in old.items()}
    make_evalplus(tmp_path, eval=bare, pass_at_k=None)
    assert means_in(read_all(READERS["evalplus"], tmp_path / "humaneval")[0]) == {"base": 0.5}


def test_swebench_tells_errors_and_what_was_not_submitted_from_failures(tmp_path: Path) -> None:
    MAKERS["swebench"](tmp_path)
    found = compare_systems(tmp_path)
    assert means_of(found) == pytest.approx({("org__A-1.5", "resolved"): MEANS["A"], ("B", "resolved"): 0.25})
    said = codes(found)
    assert said["errors-as-wrong"] == "1 item of B failed with an error, and SWE-bench counts it as wrong."
    assert said["unfinished-log"] == "The log of org__A-1.5 on SWE-bench has only 8 of 10 items."
    left = compare_systems(tmp_path, where={"error": "-"})
    assert means_of(left)["B", "resolved"] == pytest.approx(2 / 7)  # without the one that never ran


def test_a_report_of_swebench_stands_for_its_instances(tmp_path: Path) -> None:
    MAKERS["swebench"](tmp_path)
    place = tmp_path / "logs" / "run_evaluation" / "first" / "org__A-1.5" / "django__django-0" / "report.json"
    write(place, {"django__django-0": {"patch_exists": True, "resolved": False}})
    scores = read_scores(tmp_path)
    assert len(scores) == 2 * ITEMS
    assert "copied-log" not in {each.code for each in scores.notes}


def test_reports_that_name_no_system_are_called_as_their_folders(tmp_path: Path) -> None:
    MAKERS["swebench"](tmp_path / "made")
    text = (tmp_path / "made" / "org__A-1.5.first.json").read_text()
    for system, name in (("one", "final_report.json"), ("two", "output.report.json")):
        (tmp_path / "logs" / system).mkdir(parents=True)
        (tmp_path / "logs" / system / name).write_text(text)
    assert read_scores(tmp_path / "logs").system.names == ("one", "two")


def test_lighteval_says_which_metrics_are_no_means(tmp_path: Path) -> None:
    MAKERS["lighteval"](tmp_path)
    found = compare_systems(tmp_path, where={"metric": "em"})
    assert means_of(found) == pytest.approx({("org/A", "em"): MEANS["A"], ("org/B", "em"): MEANS["B"]})
    assert codes(found)["no-item-scores"].startswith("'bleu', 'ppl' are no mean over samples")
    assert found.asked.roles["dataset"] == "task"


def test_lighteval_before_0_10_is_refused_in_one_line(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = tmp_path / "details_quiz|0_2024-01-01T10-00-00.1.parquet"
    pq.write_table(pa.table({"example": ["q"], "metrics": ["{'em': 1}"]}), file)
    with pytest.raises(ReadError, match=r"before 0\.10"):
        read_scores(file)


def test_alpaca_eval_compares_win_rates_against_the_reference(tmp_path: Path) -> None:
    MAKERS["alpaca_eval"](tmp_path)
    found = compare_systems(tmp_path, where={"metric": "win_rate"})
    shares = {system: (sum(right) * 0.75 + 0.5) / 9 for system, right in RIGHT.items()}
    assert means_of(found) == pytest.approx({(system, "win_rate"): share for system, share in shares.items()})
    assert "All 4 means match the ones the tool reported" in codes(found)["logs-read"]
    assert "unread-files" not in codes(found)


def test_trials_are_samples_and_agents_are_compared_on_tasks(tmp_path: Path) -> None:
    MAKERS["tau2_bench"](tmp_path)
    found = compare_systems(tmp_path)
    assert means_of(found) == pytest.approx({(s, "reward"): (mean + 1) / 2 for s, mean in MEANS.items()})
    assert "2 samples x 8 items" in str(found)
    assert compare_systems(tmp_path, where={"metric": "agent_cost"}).contrasts[0].lower_is_better


def test_what_the_infrastructure_broke_has_no_reward(tmp_path: Path) -> None:
    MAKERS["tau2_bench"](tmp_path)
    file = tmp_path / "B" / "simulations" / "B00.json"
    file.write_text(file.read_text().replace("user_stop", "infrastructure_error"))
    other = tmp_path / "B" / "simulations" / "B20.json"
    other.write_text(other.read_text().replace("user_stop", "user_error").replace('"reward": 1.0', '"reward": 0.0'))
    found = compare_systems(tmp_path)
    assert codes(found)["errors-as-wrong"].startswith("1 item of B failed with an error, and tau2-bench counts it")
    assert means_of(found)["B", "reward"] == pytest.approx((0 + 1 + 0 + 0.5 + 1 + 0.5 + 0.5 + 1) / 8)


def test_terminal_bench_and_harbor_count_trials_that_failed(tmp_path: Path) -> None:
    for name, tool in (("terminal_bench", "Terminal-Bench"), ("harbor", "Harbor")):
        MAKERS[name](tmp_path / name)
        found = compare_systems(tmp_path / name)
        assert sorted(means_of(found).values()) == pytest.approx(sorted(MEANS.values()))
        assert f"and {tool} counts it as wrong" in codes(found)["errors-as-wrong"]
        assert "Both means match the ones the tool reported" in codes(found)["logs-read"]


def test_openai_evals_have_matches_and_metrics(tmp_path: Path) -> None:
    MAKERS["openai_evals"](tmp_path)
    found = compare_systems(tmp_path, where={"metric": "accuracy"})
    assert means_of(found) == pytest.approx({(system, "accuracy"): mean for system, mean in MEANS.items()})
    assert codes(found)["other-summary"].startswith(
        "The final report has length = 99, and the mean over samples is 13.5"
    )
    assert "1 row has status 'Timeout'" in str(found) or "2 rows have status 'Timeout'" in str(audit_scores(tmp_path))


def test_a_log_of_openai_evals_that_is_still_written_says_so(tmp_path: Path) -> None:
    MAKERS["openai_evals"](tmp_path)
    file = tmp_path / "A.jsonl"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:16], lines[16][:30]]))
    assert codes(audit_scores(tmp_path))["unfinished-log"].startswith(
        "The evaluation of A on quiz.test.v0 did not finish"
    )
    file.write_text("\n".join([*lines[:5], lines[5][:30], *lines[6:]]))
    with pytest.raises(ReadError, match=r"line 6 of .*A.jsonl is not whole JSON"):
        read_scores(file)


def test_tasks_of_mteb_are_datasets_and_their_languages_are_not(tmp_path: Path) -> None:
    MAKERS["mteb"](tmp_path)
    scores = read_scores(tmp_path)
    assert (scores.roles.dataset, scores.roles.item, len(scores)) == ("task", None, 2 * ITEMS)
    assert scores.system.names == ("org/A", "org/B")
    own = {
        system: [(0.6 + hit / 4 + 3 * i / 100) / 2 for i, hit in enumerate(right)] for system, right in RIGHT.items()
    }
    found = compare_systems(tmp_path)
    assert found.contrasts[0].difference == pytest.approx((sum(own["A"]) - sum(own["B"])) / ITEMS)
    assert "tasks" in str(found)
    assert rank_systems(tmp_path).headline


def test_other_subsets_of_a_task_are_said(tmp_path: Path) -> None:
    MAKERS["mteb"](tmp_path)
    file = tmp_path / "org__A" / "no_revision_available" / "Task3.json"
    file.write_text(file.read_text().replace('"hf_subset": "de"', '"hf_subset": "fr"'))
    assert (
        "Task3: Systems were evaluated with different settings: subsets (2"
        in codes(compare_systems(tmp_path))["different-settings"]
    )


@pytest.mark.parametrize("name", ["optuna", "mlflow", "hf_trainer"])
def test_runs_of_trackers_are_runs_by_seed_without_items(tmp_path: Path, name: str) -> None:
    MAKERS[name](tmp_path)
    scores = read_scores(tmp_path)
    assert (scores.roles.item, scores.roles.facets) == (None, ("seed",))
    found = compare_systems(
        tmp_path, where={"metric": {"optuna": "value", "mlflow": "eval/f1", "hf_trainer": "eval_f1"}[name]}
    )
    assert found.claim == "new-runs"
    leader = (min if name == "optuna" else max)(found.systems, key=lambda each: each.mean)
    assert leader.name == {"optuna": "solver A", "mlflow": "A", "hf_trainer": "A-large"}[name]
    assert ("lower is better" in str(found)) == (name == "optuna")


def test_mlflow_gives_the_value_of_the_last_step_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    MAKERS["mlflow"](tmp_path)
    found = compare_systems(tmp_path)
    assert means_of(found) == pytest.approx({("A", "eval/f1"): 0.25 + 1 / 3, ("B", "eval/f1"): 0.25 + 1 / 6})
    assert codes(found)["training-metrics"].startswith(
        "What was measured in training is no evaluation, and is left out: train_loss."
    )
    (tmp_path / "mlruns" / "1" / "A0" / "metrics" / "eval" / "f1").unlink()
    assert "holds no run with a metric that is a score" in codes(compare_systems(tmp_path))["unread-log"]


def test_mlflow_databases_are_read_without_deleted_runs(tmp_path: Path) -> None:
    make_mlflow_database(tmp_path)
    check_reader(READERS["mlflow"], tmp_path)
    found = compare_systems(tmp_path)
    assert means_of(found) == pytest.approx({("A", "f1"): 0.5, ("B", "f1"): 1 / 6})


def test_a_search_is_no_comparison(tmp_path: Path) -> None:
    MAKERS["optuna"](tmp_path)
    file = tmp_path / "journal.log"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:5], *lines[13:17]]).replace('"trial_id":3', '"trial_id":1'))
    with pytest.raises(
        ReadError, match=r"2 complete trials of 2 settings: that is a search, not a comparison.*two seeds"
    ):
        compare_systems(file)


def test_a_trainer_that_only_left_checkpoints_stands_by_the_last(tmp_path: Path) -> None:
    for step, score in ((8, 0.3), (16, 0.4)):
        state = {"global_step": step, "max_steps": 32, "log_history": [{"step": step, "eval_f1": score}]}
        write(tmp_path / "seed_3" / f"checkpoint-{step}" / "trainer_state.json", state)
    found = audit_scores(tmp_path)
    assert codes(found)["unfinished-log"] == f"A run of {tmp_path.name} did not finish."
    assert [each.mean for each in found.systems] == [0.4]


def test_real_folders_of_trackers_are_read_or_refused(formats: Path, run: Callable[..., Any]) -> None:
    assert "bert and roberta scored the same eval_f1" in run("compare", formats / "mlflow").out
    assert "there is only one system" in run("compare", formats / "hf_trainer").err
    assert "8 complete trials of 8 settings: that is a search" in run("compare", formats / "optuna" / "study.db").err
    assert "that is a search" in run("compare", formats / "optuna" / "journal.log").err
