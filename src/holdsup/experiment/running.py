"""`run_plan`: every task of a plan done once and recorded, however often the run is stopped."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import Executor
from pathlib import Path

from holdsup.errors import RunError, list_names
from holdsup.experiment.environment import describe_environment
from holdsup.experiment.executors import SerialExecutor
from holdsup.experiment.interruption import Interruption, RunInterrupted
from holdsup.experiment.plan import Plan
from holdsup.experiment.report import RunReport, report_run
from holdsup.experiment.runner import Runner
from holdsup.experiment.store import Store
from holdsup.progress import Progress, no_progress

__all__ = ["read_status", "run_plan"]


def run_plan(
    plan: Plan,
    store: Store | str | Path,
    executor: Executor | None = None,
    progress: Progress | None = None,
    *,
    retries: int = 0,
    retry_failed: bool = False,
) -> RunReport:
    """Run every task of a plan that the store has no result of, record what they give, and say how it went.

    A task that fails is recorded with its error, and the others go on. A run that is stopped, by Ctrl-C or by
    kill -9, is resumed by calling this again; several processes may call it at once and share the work.

    Parameters
    ----------
    plan : what to run
    store : where results are; a file that is not there is made
    executor : where tasks run: this process by default, or any `concurrent.futures.Executor`
    progress : called with the number of tasks settled, of all tasks, after each time results are on the disk
    retries : how many more times a task that fails is tried
    retry_failed : whether to try tasks again that failed in runs before this one

    Raises
    ------
    RunInterrupted : Ctrl-C or SIGTERM; what was done by then is recorded
    StoreError : the store cannot be written, or is damaged
    RunError : the executor is gone
    """
    _require_distinct(plan)
    opened = store if isinstance(store, Store) else Store(store)
    executor = executor or SerialExecutor()
    started = time.monotonic()
    names = plan.description.get("distributions", ())
    environment = describe_environment(plan.folder, executor=type(executor).__name__, distributions=names)
    environment["plan"] = dict(plan.description)
    try:
        with Interruption() as interruption, opened.begin(environment) as run:
            run.add_tasks(plan.tasks)
            forgiven = opened.ledger.last_row("failures") if retry_failed else 0
            runner = Runner(
                plan, run, executor, interruption, progress or no_progress, retries=retries, forgiven=forgiven
            )
            runner.go()
        if interruption.asked:
            raise RunInterrupted(
                f"stopped by {interruption.asked.name}: {runner.settled:,} of {len(plan.tasks):,} tasks are recorded "
                f"in {opened.path.name}; run the same again to go on",
                interruption.asked,
            )
        return report_run(plan, opened, executed=runner.executed, seconds=time.monotonic() - started)
    finally:
        if opened is not store:
            opened.close()


def read_status(plan: Plan, store: Store | str | Path) -> RunReport:
    """Return how far a plan has come; nothing is run, and a damaged store is read as far as it can be."""
    if isinstance(store, Store):
        return report_run(plan, store)
    with Store(store, writing=False) as opened:
        return report_run(plan, opened)


def _require_distinct(plan: Plan) -> None:
    if not plan.tasks:
        raise RunError("the plan has no tasks: give it some")
    twice = [task for task, count in Counter(task.id for task in plan.tasks).items() if count > 1]
    if twice:
        raise RunError(f"{len(twice)} tasks of the plan have the id of another ({list_names(twice, most=3)})")
