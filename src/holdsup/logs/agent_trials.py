"""Trials of agents at tasks: tau2-bench, Terminal-Bench and Harbor. Each trial of a task is a sample of the system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from holdsup.logs.contract import Rows, TaskLog, describe
from holdsup.logs.documents import walk_file
from holdsup.logs.files import digest, read_document
from holdsup.logs.laid_out import FileReader, find_below, holds_marks, laid_out


class Trial(NamedTuple):
    """One try of a system at a task."""

    item: str
    scores: dict[str, float | None]
    status: str = "ok"
    error: str = "-"  # what failed, other than the system, where the failure counts as if it were the system's
    costs: dict[str, float | None] = {}  # noqa: RUF012  (a tuple's default is never changed)
    content: str | None = None


def _reader(
    name: str, title: str, file: str, marks: tuple[bytes, ...], others: str,
    read_log: Callable[[Path, list[Path]], Iterator[TaskLog]],
) -> FileReader:  # fmt: skip
    """Return a reader of runs; `others` is a pattern of the trials' own files, seen from the folder of the run."""

    def claim(path: Path) -> Iterator[Path]:
        if path.match(file) and holds_marks(path, marks):
            yield from (path, *find_below(path.parent, others))

    return FileReader(name, title, claim, lambda found: read_log(found.files[0], list(found.files[1:])))


def _rows_of(trials: Iterable[Trial]) -> Any:
    rows = Rows("sample", "status", "error", "content")
    tries: Counter[str] = Counter()
    for trial in trials:
        tries[trial.item] += 1
        for metric, value in (*trial.scores.items(), *((k, v) for k, v in trial.costs.items() if v is not None)):
            rows.add(
                item=trial.item, metric=metric, score=value, sample=str(tries[trial.item]), content=trial.content,
                status=trial.status if value is None else "ok", error=trial.error if metric in trial.scores else "-",
            )  # fmt: skip
    return rows.table()


def _log(path: Path, tool: str, system: str, task: str | None, trials: Iterable[Trial], **more: Any) -> TaskLog:
    trials = list(trials)
    costs = frozenset(name for trial in trials for name in trial.costs)
    return TaskLog(
        name=str(path), tool=tool, system=system, task=task, rows=_rows_of(trials), lower_is_better=costs,
        costs=costs, **more,
    )  # fmt: skip


# tau2-bench. The tool leaves out what its infrastructure broke, and counts what the simulated user broke.
NEEDED = ("task_id", "reward_info", "reward", "termination_reason", "agent_cost", "duration")
NO_TRIAL = ("infrastructure_error", "context_window_exceeded")
NOT_THE_AGENT = ("user_error", "unexpected_error")


def _read_tau2(path: Path, files: list[Path]) -> Iterator[TaskLog]:
    held: dict[str, Any] = {}
    simulations: list[dict[str, Any]] = []
    for key, value in walk_file(path, lists=("simulations",), wanted=NEEDED):
        if key == "simulations" and isinstance(value, dict):
            simulations.append({name: value.get(name) for name in NEEDED})
        else:
            held[key] = value
    info, tasks = held["info"], held.get("tasks") or ()
    simulations += held.get("simulation_index") or () if not simulations else ()
    simulations = simulations or [{name: read_document(each).get(name) for name in NEEDED} for each in files]
    contents = {str(task["id"]): digest(task.get("user_scenario"), task.get("evaluation_criteria")) for task in tasks}
    trials = [_read_simulation(each, contents) for each in simulations]
    tries = Counter(trial.item for trial in trials)
    agent, user = info["agent_info"], info["user_info"]
    settings = agent.get("llm_args") or {}
    yield _log(
        path, "tau2-bench", agent.get("llm") or agent["implementation"], info["environment_info"]["domain_name"],
        trials, identity=str(held.get("timestamp") or ""),
        facets=describe([("seed", info.get("seed")), ("temperature", settings.get("temperature"))]),
        conditions=describe(
            [("agent", agent["implementation"]), ("user", user.get("llm") or user["implementation"]),
             ("reasoning effort", settings.get("reasoning_effort")), ("max steps", info.get("max_steps")),
             ("retrieval", info.get("retrieval_config"))]
        ),
        planned=len(tasks) or None, finished=all(count >= info["num_trials"] for count in tries.values()),
    )  # fmt: skip


def _read_simulation(simulation: dict[str, Any], contents: dict[str, str]) -> Trial:
    item, ended = str(simulation["task_id"]), str(simulation.get("termination_reason"))
    reward = simulation.get("reward")
    if simulation.get("reward_info") is not None:
        reward = simulation["reward_info"]["reward"]
    return Trial(
        item, {"reward": None if ended in NO_TRIAL else reward}, f"no reward: {ended}",
        ended if ended in NOT_THE_AGENT else "-",
        {"agent_cost": simulation.get("agent_cost"), "duration": simulation.get("duration")}, contents.get(item),
    )  # fmt: skip


# Terminal-Bench counts whatever kept a trial from being judged as not resolved.
NOT_JUDGED = ("unknown_agent_error", "agent_installation_failed", "test_timeout", "parse_error", "unknown")


def _read_terminal_bench(path: Path, files: list[Path]) -> Iterator[TaskLog]:
    document = read_document(path)
    run: dict[str, Any] = read_document(files[0]) if files else {}
    trials = [_read_terminal_trial(each) for each in document["results"]]
    tries = set(Counter(trial.item for trial in trials).values())
    place = path.absolute().parent
    agent = run.get("agent_name") or place.name
    attempts, size = run.get("n_attempts") or 1, run.get("dataset_size") or None
    yield _log(  # an agent that names no model may be run with several, each in a folder
        path, "Terminal-Bench", f"{agent} | {run.get('model_name') or place.parent.name}",
        run.get("dataset_name") or "terminal-bench", trials, identity=str(document.get("id") or ""),
        conditions=describe([("dataset version", run.get("dataset_version"))]),
        means={"resolved": document["accuracy"]} if len(tries) == 1 and "accuracy" in document else {},
        planned=size, finished=min(tries, default=0) >= attempts,
    )  # fmt: skip


def _read_terminal_trial(trial: dict[str, Any]) -> Trial:
    mode = trial.get("failure_mode") or "-"
    tokens = [trial.get(f"total_{kind}_tokens") for kind in ("input", "output")]
    known = [count for count in tokens if count is not None]
    text = trial.get("instruction") or trial.get("task_description")
    return Trial(
        trial["task_id"], {"resolved": float(bool(trial.get("is_resolved")))}, mode,
        mode if mode in NOT_JUDGED and not trial.get("is_resolved") else "-",
        {"total_tokens": float(sum(known)) if known else None}, digest(text) if text else None,
    )  # fmt: skip


def _read_harbor(path: Path, files: list[Path]) -> Iterator[TaskLog]:
    """Yield the trials of a job by agent and dataset; Harbor's mean counts a trial without a reward as 0."""
    job = read_document(path)
    sides: dict[tuple[str, str | None, str], list[dict[str, Any]]] = {}
    for each in files:
        with laid_out(each, "Harbor"):
            trial = read_document(each)
            agent = trial["agent_info"]
            model = (agent.get("model_info") or {}).get("name")
            sides.setdefault((agent["name"], model, trial.get("source") or "adhoc"), []).append(trial)
    for (name, model, task), found in sides.items():
        rewards = sorted({reward for trial in found for reward in _rewards(trial)}) or ["reward"]
        trials = [_read_harbor_trial(each, rewards) for each in found]
        tries = set(Counter(trial.item for trial in trials).values())
        key = "__".join(part for part in (name, model, task) if part)
        printed = ((job["stats"].get("evals") or {}).get(key) or {}).get("metrics") or [{}]
        means = {rewards[0]: printed[0]["mean"]} if len(rewards) == 1 and "mean" in printed[0] else {}
        yield _log(
            path, "Harbor", f"{name} | {model}" if model else name, task, trials, identity=str(job.get("id") or ""),
            means=means if len(tries) == 1 else {},
            finished=job.get("finished_at") is not None and len(files) >= job["n_total_trials"],
        )  # fmt: skip


def _rewards(trial: dict[str, Any]) -> dict[str, float]:
    return (trial.get("verifier_result") or {}).get("rewards") or {}


def _read_harbor_trial(trial: dict[str, Any], names: list[str]) -> Trial:
    failed = (trial.get("exception_info") or {}).get("exception_type")
    rewards, used = _rewards(trial), trial.get("agent_result") or {}
    tokens = [used.get(f"n_{kind}_tokens") for kind in ("input", "output")]
    known = [count for count in tokens if count is not None]
    return Trial(
        trial["task_name"], {name: float(rewards.get(name, 0.0)) for name in names}, "ok",
        failed or "no reward" if not rewards else "-",
        {"total_tokens": float(sum(known)) if known else None, "cost_usd": used.get("cost_usd")},
        str(trial.get("task_checksum") or "") or None,
    )  # fmt: skip


TAU2_BENCH = _reader(
    "tau2_bench", "tau2-bench", "*.json", (b'"user_info"', b'"agent_info"'), "simulations/*.json", _read_tau2
)
TERMINAL_BENCH = _reader(
    "terminal_bench", "Terminal-Bench", "results.json", (b'"trial_name"', b'"is_resolved"', b'"results"'),
    "run_metadata.json", _read_terminal_bench,
)  # fmt: skip
HARBOR = _reader("harbor", "Harbor", "result.json", (b'"n_total_trials"', b'"stats"'), "*/result.json", _read_harbor)
