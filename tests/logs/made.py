"""Logs of two systems, A and B, in the layouts of many tools; what each file says is made from the same few scores."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from wandb_layout import changes, exit_record, field, run_record, write_log

ITEMS = 8
RIGHT = {"A": [1, 1, 0, 1, 1, 0, 1, 1], "B": [0, 1, 0, 0, 1, 0, 0, 1]}
MEANS = {system: fmean(scores) for system, scores in RIGHT.items()}


def write(path: Path, document: Any, **layout: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, **layout))
    return path


def make_evalplus(folder: Path, **more: Any) -> None:
    for system, right in RIGHT.items():
        document = {
            "date": "2026-01-01 10:00",
            "hash": "abc",
            "eval": {
                f"HumanEval/{i}": [
                    {"task_id": f"HumanEval/{i}", "solution": f"{system}{i}{n}", "base_status": base, "plus_status": plus,
                     "base_fail_tests": [], "plus_fail_tests": []}
                    for n, (base, plus) in enumerate([("pass" if hit else "fail", "pass"), ("pass", "timeout")])
                ]
                for i, hit in enumerate(right)
            },
            "pass_at_k": {"base": {"pass@1": (MEANS[system] + 1) / 2}, "plus": {"pass@1": MEANS[system] / 2}},
            **more,
        }  # fmt: skip
        write(folder / "humaneval" / f"{system}_vllm_temp_0.8_eval_results.json", document)


def make_swebench(folder: Path) -> None:
    """A's report of a run, and B's reports of instances alone."""
    names = [f"django__django-{i}" for i in range(ITEMS)]
    lists = {
        "resolved": [n for n, hit in zip(names, RIGHT["A"], strict=True) if hit],
        "unresolved": names[2:3],
        "empty_patch": names[5:6],
        "error": [],
    }
    counts = {f"{name}_instances": len(listed) for name, listed in lists.items()}
    document = {"total_instances": ITEMS + 2, "completed_instances": 7, **counts}
    ids = {f"{name}_ids": listed for name, listed in lists.items()}
    write(folder / "org__A-1.5.first.json", document | ids | {"incomplete_ids": ["x-1", "x-2"], "schema_version": 2})
    place = folder / "logs" / "run_evaluation" / "first" / "B"
    for name, hit in zip(names, RIGHT["B"], strict=True):
        patch = {"patch_is_None": False, "patch_exists": True, "patch_successfully_applied": True}
        if name != names[-1]:
            write(place / name / "report.json", {name: patch | {"resolved": bool(hit)}}, indent=4)
    (place / names[-1]).mkdir()
    (place / names[-1] / "run_instance.log").write_text("the container did not start")


def make_lighteval(folder: Path) -> None:
    for system, right in RIGHT.items():
        date = f"2026-01-01T10-00-00.{ord(system)}"
        rows = [
            {
                "doc": {"id": str(i), "query": f"question {i}", "choices": ["a", "b"]},
                "metric": {"em": float(hit), "bleu": {"golds": ["x"]}, "ppl": None if i else float("inf")},
                "model_response": {"input": [{"role": "user", "content": f"question {i}"}], "text": ["a"]},
            }
            for i, hit in enumerate(right)
        ]
        details = folder / "details" / "org" / system / date / f"details_quiz:easy|5_{date}.parquet"
        details.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows), details)
        metrics = [{"metric_name": ["em", "ppl"], "higher_is_better": {"em": True, "ppl": False},
                    "corpus_level_fn": {"em": "mean", "ppl": "perplexity"}}]  # fmt: skip
        results = {
            "config_general": {"model_name": f"org/{system}", "max_samples": None, "model_config": {
                "generation_parameters": {"temperature": 0.5}}},
            "results": {"quiz:easy:5": {"em": MEANS[system], "em_stderr": 0.1, "ppl": 12.5}},
            "versions": {"quiz:easy:5": 1},
            "config_tasks": {"quiz:easy:5": {"metrics": metrics}},
        }  # fmt: skip
        write(folder / "results" / "org" / system / f"results_{date}.json", results)


def make_alpaca_eval(folder: Path) -> None:
    for system, right in RIGHT.items():
        records = [
            {"dataset": "koala", "instruction": f"Explain {'a long thing ' * 9}{i}", "output_1": "x",
             "generator_1": "reference", "output_2": "y", "generator_2": system, "annotator": "judge",
             "preference": 1 + hit * 0.75, "glm_preference": hit * 0.5}
            for i, hit in enumerate(right)
        ]  # fmt: skip
        records.append({**records[0], "instruction": "a tie", "preference": 0, "glm_preference": 0.5})
        records.append({**records[0], "instruction": "no answer", "preference": None, "glm_preference": 0.25})
        write(folder / system / "annotations.json", records, indent=2)
        win, controlled = (sum(right) * 0.75 + 0.5) / 9, (sum(right) * 0.5 + 0.75) / 10
        line = f"{system},{win * 100!r},1.0,{controlled * 100!r}"
        (folder / system / "leaderboard.csv").write_text(
            f",win_rate,standard_error,length_controlled_winrate\nother,1.0,1.0,1.0\n{line}\n"
        )


def make_tau2_bench(folder: Path) -> None:
    """A in one file, B with its simulations in files of their own; each does each task twice."""
    for system, right in RIGHT.items():
        simulations = [
            {"id": f"{system}{i}{trial}", "task_id": str(i), "trial": trial, "seed": trial, "duration": 10.0 + i,
             "termination_reason": "user_stop", "agent_cost": 0.01 * i, "messages": [{"content": "hello\n" * 20}],
             "reward_info": {"reward": float(hit if trial else 1), "db_check": None}}
            for trial in range(2)
            for i, hit in enumerate(right)
        ]  # fmt: skip
        info = {
            "git_commit": "abc", "num_trials": 2, "max_steps": 200, "max_errors": 10, "seed": 300,
            "user_info": {"implementation": "user_simulator", "llm": "gpt-4.1", "llm_args": {}},
            "agent_info": {"implementation": "llm_agent", "llm": system, "llm_args": {"temperature": 0.0}},
            "environment_info": {"domain_name": "retail", "policy": "be kind"},
        }  # fmt: skip
        tasks = [{"id": str(i), "user_scenario": {"task": i}, "evaluation_criteria": None} for i in range(ITEMS)]
        document = {"timestamp": f"2026-01-01T{system}", "info": info, "tasks": tasks}
        if system == "A":
            write(folder / "A.json", document | {"simulations": simulations}, indent=2)
        else:
            write(folder / "B" / "results.json", document, indent=2)
            for each in simulations:
                write(folder / "B" / "simulations" / f"{each['id']}.json", each, indent=2)


def make_terminal_bench(folder: Path) -> None:
    for system, right in RIGHT.items():
        trials = [
            {"id": f"{i}", "trial_name": f"t{i}.1-of-1", "task_id": f"t{i}", "instruction": f"do {i}",
             "is_resolved": bool(hit), "failure_mode": "unset" if hit or i else "test_timeout",
             "total_input_tokens": 100, "total_output_tokens": 20 + i}
            for i, hit in enumerate(right)
        ]  # fmt: skip
        run = {"run_id": system, "agent_name": "terminus", "model_name": system, "n_attempts": 1, "dataset_size": ITEMS,
               "dataset_name": "terminal-bench-core", "dataset_version": "0.1.1"}  # fmt: skip
        document = {"id": f"run-{system}", "results": trials, "accuracy": MEANS[system]}
        write(folder / system / "results.json", document, indent=4)
        write(folder / system / "run_metadata.json", run)
        write(folder / system / "t0" / "t0.1-of-1" / "results.json", trials[0], indent=4)


def make_harbor(folder: Path) -> None:
    for system, right in RIGHT.items():
        for i, hit in enumerate(right):
            trial = {
                "task_name": f"t{i}", "trial_name": f"t{i}__x", "source": "terminal-bench", "task_checksum": f"sum{i}",
                "agent_info": {"name": "terminus-2", "version": "2", "model_info": {"name": system, "provider": "p"}},
                "agent_result": {"n_input_tokens": 100, "n_output_tokens": 20 + i, "cost_usd": 0.1 * (i + 1)},
                "verifier_result": {"rewards": {"reward": float(hit)}} if i != 2 else None,
                "exception_info": {"exception_type": "AgentTimeoutError"} if i == 2 else None,
            }  # fmt: skip
            write(folder / system / f"t{i}__x" / "result.json", trial, indent=4)
        side = {"n_trials": ITEMS - 1, "n_errors": 1, "metrics": [{"mean": MEANS[system]}]}
        job = {"id": f"job-{system}", "finished_at": "2026-01-01T10:00:00", "n_total_trials": ITEMS,
               "stats": {"evals": {f"terminus-2__{system}__terminal-bench": side}}}  # fmt: skip
        write(folder / system / "result.json", job, indent=4)


def make_openai_evals(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for system, right in RIGHT.items():
        spec = {"completion_fns": [system], "eval_name": "quiz.test.v0", "base_eval": "quiz", "split": "test",
                "run_config": {"seed": 7, "max_samples": None, "eval_spec": {"args": {"samples_jsonl": "q.jsonl"}}},
                "run_id": f"run{system}", "created_by": ""}  # fmt: skip
        lines: list[Any] = [{"spec": spec}]
        for i, hit in enumerate(right):
            about = {"run_id": f"run{system}", "sample_id": f"quiz.test.{i}"}
            lines.append({**about, "type": "sampling", "data": {"prompt": "q", "sampled": "a"}})
            lines.append({**about, "type": "match", "data": {"correct": bool(hit), "expected": "a", "picked": "a"}})
            lines.append({**about, "type": "metrics", "data": {"length": 10 + i, "note": "text"}})
        lines.append({"run_id": "r", "sample_id": "quiz.test.9", "type": "error", "data": {"type": "Timeout"}})
        lines.append({"final_report": {"accuracy": MEANS[system], "boostrap_std": 0.1, "length": 99.0}, "run_id": "r"})
        (folder / f"{system}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def make_mteb(folder: Path) -> None:
    for system, right in RIGHT.items():
        place = folder / f"org__{system}" / "no_revision_available"
        for i, hit in enumerate(right):
            subsets = [{"main_score": 0.5 + hit / 4 + i / 100, "hf_subset": "en", "languages": ["eng-Latn"], "ap": 0.1},
                       {"main_score": 0.1 + i / 50, "hf_subset": "de", "languages": ["deu-Latn"]}]  # fmt: skip
            document = {"dataset_revision": "1", "task_name": f"Task{i}", "mteb_version": "2.0.0",
                        "scores": {"test": subsets}, "evaluation_time": 1.5, "kg_co2_emissions": None}  # fmt: skip
            write(place / f"Task{i}.json", document, indent=2)
        if system == "A":
            write(place / "model_meta.json", {"name": "org/A", "revision": None})


def make_optuna(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    choices = json.dumps({"name": "CategoricalDistribution", "attributes": {"choices": ["A", "B"]}})
    whole = json.dumps({"name": "IntDistribution", "attributes": {"low": 0, "high": 9}})
    trials = [(solver, seed, 0.9 - RIGHT["AB"[solver]][seed] / 10) for solver in range(2) for seed in range(3)]
    lines: list[Any] = [{"op_code": 0, "worker_id": "w", "study_name": "quiz", "directions": [1]}]
    for number, (solver, seed, value) in enumerate([*trials, (0, 0, 0.1)]):
        lines.append({"op_code": 4, "worker_id": "w", "study_id": 0, "datetime_start": "2026-01-01T10:00:00"})
        for name, kept, distribution in (("solver", solver, choices), ("seed", float(seed), whole)):
            lines.append({"op_code": 5, "worker_id": "w", "trial_id": number, "param_name": name,
                          "param_value_internal": kept, "distribution": distribution})  # fmt: skip
        state = 1 if number < len(trials) else 2  # the last one was pruned
        lines.append({"op_code": 6, "worker_id": "w", "trial_id": number, "state": state, "values": [value]})
    (folder / "journal.log").write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


def make_mlflow(folder: Path) -> None:
    experiment = folder / "mlruns" / "1"
    for system, right in RIGHT.items():
        for seed in range(3):
            run = experiment / f"{system}{seed}"
            for name, text in {
                "meta.yaml": f"artifact_uri: file:///x\nlifecycle_stage: active\nrun_id: {system}{seed}\n"
                f"run_name: 'my: {system}'\nstatus: 3\ntags: []\n",
                "params/model": system, "params/seed": str(seed), "params/lr": "1e-05", "params/output_dir": f"out/{seed}",
                "metrics/eval/f1": f"10 0.1 0\n12 {right[seed] / 2 + 0.25} 2\n11 0.2 1\n",
                "metrics/train_loss": "10 3.5 0\n",
            }.items():  # fmt: skip
                (run / name).parent.mkdir(parents=True, exist_ok=True)
                (run / name).write_text(text)
    (experiment / "meta.yaml").write_text("artifact_location: x\nexperiment_id: '1'\nname: demo\n")


def make_mlflow_database(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / "mlflow.db")) as base:
        base.executescript(
            "CREATE TABLE experiments (experiment_id INTEGER, name TEXT);"
            "CREATE TABLE runs (run_uuid TEXT, name TEXT, status TEXT, lifecycle_stage TEXT, experiment_id INTEGER);"
            "CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT);"
            "CREATE TABLE latest_metrics (key TEXT, value FLOAT, is_nan BOOLEAN, run_uuid TEXT);"
            "INSERT INTO experiments VALUES (1, 'demo');"
        )
        for system, right in RIGHT.items():
            for seed in range(3):
                stage = "deleted" if system == "A" and seed == 2 else "active"
                run = f"{system}{seed}"
                base.execute("INSERT INTO runs VALUES (?, ?, 'FINISHED', ?, 1)", (run, run, stage))
                base.executemany("INSERT INTO params VALUES (?, ?, ?)", [("model", system, run), ("seed", seed, run)])
                base.execute("INSERT INTO latest_metrics VALUES ('f1', ?, 0, ?)", (right[seed] / 2, run))
        base.commit()


def make_hf_trainer(folder: Path) -> None:
    for system, right in RIGHT.items():
        for seed in range(3):
            run = folder / f"{system}-seed{seed}-large"
            history = [{"step": 8, "loss": 0.7}, {"step": 8, "eval_f1": 0.1}, {"step": 16, "eval_f1": 0.2}]
            state = {"global_step": 16, "max_steps": 16, "best_metric": 0.2, "log_history": history}
            write(run / "checkpoint-8" / "trainer_state.json", state | {"log_history": history[:2], "global_step": 8})
            write(run / "trainer_state.json", state)
            scores = {"epoch": 2.0, "eval_f1": right[seed] / 2 + seed / 10, "eval_loss": 0.5, "eval_runtime": 3.0}
            write(run / "eval_results.json", scores)
            write(run / "all_results.json", scores | {"train_loss": 0.9})


def make_cv_results(folder: Path) -> None:
    """A table of a search as pandas writes it, of which A and B are the candidates and each item a split."""
    records = [
        {"mean_fit_time": 0.1, "std_fit_time": 0.0, "mean_score_time": 0.1, "std_score_time": 0.0,
         "param_kind": system, "params": {"kind": system}, **{f"split{i}_test_score": hit for i, hit in enumerate(right)},
         "mean_test_score": MEANS[system], "std_test_score": 0.5, "rank_test_score": 1}
        for system, right in RIGHT.items()
    ]  # fmt: skip
    write(folder / "cv_results.json", records)


def make_wandb(folder: Path) -> None:
    for system, right in RIGHT.items():
        for seed in range(3):
            config = {"model": system, "seed": seed, "opt": {"name": "adam"}, "_wandb": {}}
            summary = {
                "eval/f1": right[seed] / 2 + seed / 10,
                "train/loss": 0.1,
                "_step": 9,
                "table": {"_type": "table"},
            }
            ident = f"{system}{seed}"
            records = [run_record(ident, f"run {ident}", config), field(3, changes(summary)), exit_record()]
            write_log(folder / "wandb" / f"run-20260101_100000-{ident}" / f"run-{ident}.wandb", records)


MAKERS: dict[str, Callable[[Path], None]] = {
    "evalplus": make_evalplus, "swebench": make_swebench, "lighteval": make_lighteval,
    "alpaca_eval": make_alpaca_eval, "tau2_bench": make_tau2_bench, "terminal_bench": make_terminal_bench,
    "harbor": make_harbor, "openai_evals": make_openai_evals, "mteb": make_mteb, "optuna": make_optuna,
    "mlflow": make_mlflow, "hf_trainer": make_hf_trainer, "cv_results": make_cv_results, "wandb": make_wandb,
}  # fmt: skip
