"""Run folders of HELM: right scores, bookkeeping is none of them, and means as HELM computed them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from holdsup.errors import ReadError
from holdsup.logs.helm import READER
from reading import means_of, read_all

ADAPTER = {
    "method": "generation",
    "instructions": "Answer.",
    "input_prefix": "Q: ",
    "max_train_instances": 5,
    "max_eval_instances": 100,
    "num_train_trials": 1,
    "model": "lab/model",
    "model_deployment": "host/model",
    "temperature": 0.0,
    "max_tokens": 5,
    "stop_sequences": ["\n"],
}
Instance = dict[str, Any]


def instance(ident: str, trial: int = 0, split: str = "test", sub: str = "", by: str = "", **values: float) -> Instance:
    return {"id": ident, "trial": trial, "split": split, "sub": sub, "by": by, "values": values}


def name_of(metric: str, one: Instance) -> dict[str, Any]:
    optional = {"sub_split": one["sub"], "perturbation": one["by"] and {"name": one["by"], "robustness": True}}
    return {"name": metric, "split": one["split"], **{key: value for key, value in optional.items() if value}}


def stat(name: dict[str, Any], values: Iterable[float]) -> dict[str, Any]:
    kept = list(values)
    return {"name": name, "count": len(kept), "sum": sum(kept)} | ({"mean": sum(kept) / len(kept)} if kept else {})


def write_run(
    folder: Path, instances: list[Instance], *, spec: str = "toy:subject=a,model=lab_model", **adapter: Any
) -> Path:
    """Write a run as HELM does: means over instances, then over trials."""
    folder.mkdir(parents=True, exist_ok=True)
    adapter_spec = {**ADAPTER, **adapter}
    records, states, grouped = [], [], {}
    for one in instances:
        record = {"instance_id": one["id"], "train_trial_index": one["trial"]}
        if one["by"]:
            record["perturbation"] = {"name": one["by"], "robustness": True}
        stats = [stat(name_of("num_references", one), [4]), stat(name_of("training_co2_cost", one), [])]
        for metric, value in {"num_prompt_tokens": 7, "inference_runtime": 0.5, **one["values"]}.items():
            stats.append(stat(name_of(metric, one), [value]))
            key = json.dumps(name_of(metric, one))
            grouped.setdefault(key, {}).setdefault(one["trial"], []).append(value)
        records.append({**record, "stats": stats})
        states.append(
            {
                "instance": {
                    "input": {"text": f"What is {one['id']}?"},
                    "references": [{"output": {"text": "x"}, "tags": ["correct"]}],
                    "id": one["id"],
                }
                | ({"perturbation": {"name": one["by"]}} if one["by"] else {}),
                "train_trial_index": one["trial"],
                "request": {"prompt": f"Draw {one['trial']}. What is {one['id']}?"},
                "result": {"success": True, "completions": [{"text": "]}", "tokens": [{"text": "  },\n  {"}]}]},
            }
        )
    means = [stat(json.loads(name), [sum(of) / len(of) for of in trials.values()]) for name, trials in grouped.items()]
    documents = {
        "run_spec.json": {
            "name": spec,
            "scenario_spec": {"class_name": "Toy", "args": {}},
            "adapter_spec": adapter_spec,
            "metric_specs": [],
        },
        "per_instance_stats.json": records,
        "scenario_state.json": {"adapter_spec": adapter_spec, "request_states": states},
        "stats.json": means,
    }
    for name, document in documents.items():
        (folder / name).write_text(json.dumps(document, indent=2))
    return folder


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    answers = [("id1", 1.0), ("id2", 0.0), ("id3", 1.0)]
    return write_run(
        tmp_path / "toy:subject=a,model=lab_model", [instance(ident, exact_match=value) for ident, value in answers]
    )


def edit(path: Path, change: Any) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document, indent=2))


def test_scores_come_first_and_bookkeeping_is_none(plain: Path) -> None:
    (log,) = read_all(READER, plain)
    assert (log.system, log.task, log.tool) == ("lab/model", "toy:subject=a", "HELM")
    rows = log.rows.to_pylist()
    assert [(row["item"], row["score"]) for row in rows[:3]] == [("id1", 1.0), ("id2", 0.0), ("id3", 1.0)]
    assert list(dict.fromkeys(row["metric"] for row in rows)) == ["exact_match", "input_tokens", "latency_s"]
    assert log.lower_is_better == {"input_tokens", "output_tokens", "latency_s"}
    assert (
        means_of(log) == pytest.approx(dict(log.means)) == {"exact_match": 2 / 3, "input_tokens": 7, "latency_s": 0.5}
    )
    assert log.conditions["few-shot examples"] == "5"
    assert log.facets == {"temperature": "0.0", "deployment": "host/model", "few-shot seed": "0"}


@pytest.mark.parametrize(
    "run", ["helm/simple_mcqa:model=simple_model1", "eee_fixtures/helm/commonsense*", "eee_fixtures/helm/mmlu*"]
)
def test_means_are_those_of_the_tool(formats: Path, run: str) -> None:
    (folder,) = formats.glob(run)
    (log,) = read_all(READER, folder)
    found = means_of(log)
    assert found.keys() == log.means.keys()
    assert found == pytest.approx(dict(log.means), abs=1e-9)
    assert len(found) == 8 + 3
    assert "perplexity" in log.cautions[-1].message
    assert log.planned == len(set(log.rows["item"].to_pylist()))


def test_a_run_without_metrics_says_that_it_has_no_scores(formats: Path) -> None:
    logs = read_all(READER, formats / "helm" / "simple1:model=simple_model1")
    assert [log.facets["few-shot seed"] for log in logs] == ["0", "1", "2"]
    assert all("log-without-scores" in [caution.code for caution in log.cautions] for log in logs)


def test_draws_of_examples_are_logs_of_their_own(tmp_path: Path) -> None:
    scores = {0: (1, 0, 1), 1: (0, 0, 1)}
    many = [instance(f"id{i}", trial, f1_score=float(s)) for trial, of in scores.items() for i, s in enumerate(of)]
    logs = read_all(READER, write_run(tmp_path / "run", many, num_train_trials=2))
    assert [means_of(log)["f1_score"] for log in logs] == pytest.approx([2 / 3, 1 / 3])
    first, second = (log.rows.to_pylist()[0] for log in logs)
    assert first["content"] == second["content"]
    assert first["prompt"] != second["prompt"]
    assert len({log.identity for log in logs}) == 2
    edit(tmp_path / "run" / "stats.json", lambda stats: stats[-1].update(mean=0.9))
    with pytest.raises(ReadError, match="mean of f1_score over 2 draws"):
        read_all(READER, tmp_path / "run")


def test_perturbed_instances_and_the_smaller_split_are_left_out(tmp_path: Path) -> None:
    own = [instance("id1", exact_match=1.0), instance("id2", exact_match=0.0)]
    other = [instance("id1", by="typos", exact_match=0.0), instance("id3", split="valid", exact_match=0.0)]
    (log,) = read_all(READER, write_run(tmp_path / "run", own + other))
    assert means_of(log)["exact_match"] == log.means["exact_match"] == 0.5
    assert {"perturbed-instances-left-out", "split-left-out"} <= {caution.code for caution in log.cautions}


def test_a_run_of_perturbed_instances_of_another_split_is_a_task_of_its_own(tmp_path: Path) -> None:
    (log,) = read_all(
        READER, write_run(tmp_path / "run", [instance("id1", split="valid", by="typos", exact_match=1.0)])
    )
    assert log.task == "toy:subject=a,split=valid,perturbation=typos"
    assert log.rows["prompt"].null_count == 0


def test_parts_of_a_split_have_means_of_their_own(tmp_path: Path) -> None:
    parts = [instance("id1", sub="toxic", exact_match=1.0), instance("id2", sub="nontoxic", exact_match=0.0)]
    logs = read_all(READER, write_run(tmp_path / "run", parts))
    found = {log.task: log.means["exact_match"] for log in logs}
    assert found == {"toy:subject=a,sub_split=toxic": 1.0, "toy:subject=a,sub_split=nontoxic": 0.0}


def test_the_task_is_the_same_whatever_the_settings_of_the_adapter(tmp_path: Path) -> None:
    one = write_run(tmp_path / "a", [instance("id1", exact_match=1.0)], spec="toy:subject=a,method=generation,model=b")
    two = write_run(
        tmp_path / "b",
        [instance("id1", exact_match=1.0)],
        spec="toy:subject=a,max_train_instances=0",
        max_train_instances=0,
    )
    (first,), (second,) = read_all(READER, one), read_all(READER, two)
    assert first.task == second.task == "toy:subject=a"
    assert first.conditions != second.conditions
    assert "few-shot seed" not in second.facets


def test_a_failed_request_is_marked_although_it_was_scored(plain: Path) -> None:
    edit(
        plain / "scenario_state.json",
        lambda state: state["request_states"][1].update(result={"success": False, "error": "content\nblocked"}),
    )
    (log,) = read_all(READER, plain)
    assert log.rows["error"].to_pylist()[:3] == ["-", "request failed: content blocked", "-"]


def test_an_instance_without_a_score_is_counted(plain: Path) -> None:
    edit(plain / "per_instance_stats.json", lambda records: records[2]["stats"].pop())
    edit(plain / "stats.json", lambda stats: stats[-1].update(mean=0.5))
    (log,) = read_all(READER, plain)
    row = log.rows.to_pylist()[2]
    assert (row["item"], row["score"], row["status"]) == ("id3", None, "HELM logged no score")
    assert means_of(log) == pytest.approx(dict(log.means))


def test_metrics_that_are_no_means_of_instances_are_left_out(plain: Path) -> None:
    edit(plain / "stats.json", lambda stats: stats.append(stat({"name": "ece_10_bin", "split": "test"}, [0.1])))
    edit(
        plain / "per_instance_stats.json",
        lambda records: records[0]["stats"].append(stat({"name": "toxic", "split": "test"}, [1, 0])),
    )
    (log,) = read_all(READER, plain)
    assert {"'ece_10_bin'", "'toxic'"} == {caution.message.split(" ")[0] for caution in log.cautions}
    assert "toxic" not in log.rows["metric"].to_pylist()


def test_the_likelihood_is_a_score_only_where_nothing_else_is_asked(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [instance("id1", logprob=-3.0)], method="language_modeling")
    assert "logprob" in read_all(READER, run)[0].means
    run = write_run(tmp_path / "other", [instance("id1", logprob=-3.0, exact_match=1.0)])
    assert "logprob" not in read_all(READER, run)[0].means


def test_two_specifications_may_compute_one_metric_if_they_agree(plain: Path) -> None:
    scores = plain / "per_instance_stats.json"
    edit(scores, lambda records: records.append(json.loads(json.dumps(records[0]))))
    assert means_of(read_all(READER, plain)[0])["exact_match"] == pytest.approx(2 / 3)
    edit(scores, lambda records: records[-1]["stats"][-1].update(sum=0))
    with pytest.raises(ReadError, match="scores 'id1' twice on 'exact_match', and differently"):
        read_all(READER, plain)


def test_files_that_were_written_anew_without_indentation_say_the_same(plain: Path) -> None:
    before = read_all(READER, plain)[0].rows
    for path in plain.iterdir():
        path.write_text(json.dumps(json.loads(path.read_text())))
    assert read_all(READER, plain)[0].rows == before


def test_large_files_are_read_in_pieces(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read_all(READER, plain)[0].rows
    for size in (1, 57, 700):
        monkeypatch.setattr("holdsup.logs.documents.CHUNK", size)
        assert read_all(READER, plain)[0].rows == before


def test_text_that_arrow_does_not_take_is_read_all_the_same(plain: Path) -> None:
    edit(plain / "scenario_state.json", lambda state: state["request_states"][0]["request"].update(prompt="\ud800"))
    edit(plain / "scenario_state.json", lambda state: state["request_states"][1]["instance"]["input"].update(text=None))
    assert read_all(READER, plain)[0].rows["prompt"].null_count == 0


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("run_spec.json", None, "without its run_spec.json"),
        ("per_instance_stats.json", None, "without its per_instance_stats.json"),
        ("run_spec.json", '{"scenario_spec": 1, "adapter_spec": {}}', "which model"),
        ("per_instance_stats.json", "[]", "holds no scores"),
        (
            "per_instance_stats.json",
            '[{"instance_id": 5, "train_trial_index": "x", "stats": [5]}]',
            "not laid out as HELM writes it",
        ),
        ("per_instance_stats.json", '[{"instance_id": "a"}]', "without instance_id"),
        ("per_instance_stats.json", '["a"]', "holds something else among its records: .*a"),
        ("scenario_state.json", '{"request_states": 3}', "holds something else among request_states: .3"),
        ("stats.json", "[{", "cut off"),
    ],
)
def test_bad_files_are_refused_by_name(plain: Path, name: str, text: str | None, said: str) -> None:
    (plain / name).unlink()
    if text is not None:
        (plain / name).write_text(text)
    with pytest.raises(ReadError, match=said) as caught:
        read_all(READER, plain, [path for path in plain.iterdir() if path.name != name] + [plain / "run_spec.json"])
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["per_instance_stats.json", "scenario_state.json"])
@pytest.mark.parametrize("kept", [0.3, 0.9, 0.999])
def test_a_file_that_was_cut_off_is_refused(plain: Path, name: str, kept: float) -> None:
    text = (plain / name).read_bytes()
    (plain / name).write_bytes(text[: int(kept * len(text))])
    with pytest.raises(ReadError, match=f"{name}.*cut off"):
        read_all(READER, plain)


def test_files_of_other_tools_are_not_claimed(tmp_path: Path) -> None:
    (tmp_path / "run_spec.json").write_text('{"name": "mine"}')
    (tmp_path / "stats.json").write_text("[]")
    assert read_all(READER, tmp_path) == []


def test_one_file_is_enough_to_find_the_run(plain: Path) -> None:
    assert len(read_all(READER, plain, [plain / "per_instance_stats.json"])) == 1
