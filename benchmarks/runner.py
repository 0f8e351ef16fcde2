"""What does the runner cost on top of the work, beside joblib.Memory and an Optuna study doing the same?

    python benchmarks/runner.py                  # everything: some minutes
    python benchmarks/runner.py --tasks 2000 --trainings 8

Empty tasks show the overhead: each is claimed, called, its value recorded with a checksum and put on the disk.
joblib.Memory writes a file per call and does not wait for the disk; Optuna keeps its study in SQLite, as we do, and is
given fewer tasks.
Memory is what the run takes beyond the plan itself. Training is a real classifier, one BLAS thread for everybody.
Results go to benchmarks/results/runner.jsonl. Needs joblib, scikit-learn and optuna.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from measuring import measure, record

WORK = """
import time
from holdsup.experiment import Outcome

def empty(arguments):
    return Outcome({"score": arguments["number"] / 7})

def train(arguments):
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    rng = np.random.default_rng(arguments["number"])
    X = rng.normal(size=(30_000, 60)); y = X[:, 0] + rng.normal(size=30_000) > 0
    return Outcome({"score": float(LogisticRegression(max_iter=300, C=1 + arguments["number"]).fit(X, y).score(X, y))})
"""
PLAN = """
import os, sys
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
sys.path.insert(0, {folder!r})
import pyarrow
import work
from holdsup.experiment import Plan, ProcessExecutor, Store, Task, run_plan
plan = Plan(tuple(Task(f"{{i:032x}}", {{"system": "S", "seed": i}}, "work:{work}", {{"number": i}})
    for i in range({tasks})), {{}}, {folder!r})
"""
RUN = 'report = run_plan(plan, {store!r})\nassert report.statuses["done"] == {tasks}\nreturn report.executed'
SHARED = (
    "with ProcessExecutor(2) as executor:\n"
    "    report = run_plan(plan, {store!r}, executor)\n"
    'assert report.statuses["done"] == {tasks}\nreturn report.executed'
)
MEMORY = """
import os, sys
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
sys.path.insert(0, {folder!r})
import joblib, work
kept = joblib.Memory({store!r}, verbose=0).cache(work.{work})
"""
MEMORY_RUN = 'return sum(bool(kept({{"number": i}}).values["score"] >= 0) for i in range({tasks}))'
PARALLEL_RUN = 'return len(joblib.Parallel(n_jobs=2)(joblib.delayed(kept)({{"number": i}}) for i in range({tasks})))'
STUDY = """
import sys
sys.path.insert(0, {folder!r})
import optuna, work
optuna.logging.set_verbosity(optuna.logging.ERROR)
"""
STUDY_RUN = (
    'study = optuna.create_study(storage="sqlite:///" + {store!r}, study_name="s", load_if_exists=True,\n'
    '    sampler=optuna.samplers.RandomSampler(0))\n'
    'study.optimize(lambda trial: work.empty({{"number": trial.number}}).values["score"], n_trials={tasks})\n'
    "return len(study.trials)"
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--trainings", type=int, default=100)
    parser.add_argument("--only", choices=("overhead", "training"))
    options = parser.parse_args()
    few = max(options.tasks // 50, 100)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "work.py").write_text(WORK)
        rows = overheads(folder, options.tasks, few) if options.only != "training" else []
        rows += speed_ups(folder, options.trainings) if options.only != "overhead" else []
    record("runner", rows)


def overheads(folder: str, tasks: int, few: int) -> list[dict[str, object]]:
    """Return the cost of empty tasks: ours in process, resumed, on two processes; then the others'."""
    rows = []
    for count in (tasks // 10, tasks):
        store = f"{folder}/in-process-{count}.db"
        bare = case("plan alone", PLAN, "return 0", folder, store, count)
        done = case("in process", PLAN, RUN, folder, store, count)
        again = case("resumed", PLAN, RUN, folder, store, count)
        assert (done["answer"], again["answer"]) == (count, 0)  # never time a run that did not run, or ran again
        size = Path(store).stat().st_size
        rows += [{**done, "memory_mb": done["peak_mb"] - bare["peak_mb"], "bytes_a_task": size / count}, again]
    rows.append(case("two processes", PLAN, SHARED, folder, f"{folder}/shared.db", tasks))
    rows.append(case("joblib.Memory", MEMORY, MEMORY_RUN, folder, f"{folder}/memory", tasks))
    rows.append(case("joblib.Memory resumed", MEMORY, MEMORY_RUN, folder, f"{folder}/memory", tasks))
    rows.append(case("Optuna study", STUDY, STUDY_RUN, folder, f"{folder}/study.db", few))
    for row in rows:
        print({key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()}, flush=True)
    return rows


def speed_ups(folder: str, tasks: int) -> list[dict[str, object]]:
    """Return wall times of real trainings in one process and on two, ours and joblib's."""
    rows = [
        case("training, in process", PLAN, RUN, folder, f"{folder}/train-1.db", tasks, work="train"),
        case("training, two processes", PLAN, SHARED, folder, f"{folder}/train-2.db", tasks, work="train"),
        case("training, joblib in process", MEMORY, MEMORY_RUN, folder, f"{folder}/t-1", tasks, work="train"),
        case("training, joblib two processes", MEMORY, PARALLEL_RUN, folder, f"{folder}/t-2", tasks, work="train"),
    ]
    for one, two in ((0, 1), (2, 3)):
        rows[two]["speed_up"] = rows[one]["seconds"] / rows[two]["seconds"]
    for row in rows:
        print({key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()}, flush=True)
    return rows


def case(
    name: str, setup: str, body: str, folder: str, store: str, tasks: int, *, work: str = "empty"
) -> dict[str, float]:
    """Return what one contestant takes, in a process of its own."""
    filled = {"folder": folder, "store": store, "tasks": tasks, "work": work}
    found = measure(setup.format(**filled), body.format(**filled), repeats=1)
    return {
        "case": name,
        "tasks": tasks,
        "seconds": found["wall"],
        "ms_a_task": 1_000 * found["wall"] / tasks,
        "peak_mb": found["peak_mb"],
        "answer": found["answer"],
    }


if __name__ == "__main__":
    main()
