"""Plan -> tasks -> runner -> store: thousands of trainings, nothing lost."""

from holdsup.experiment.executors import ProcessExecutor, SerialExecutor, dask_executor
from holdsup.experiment.export import export_scores
from holdsup.experiment.plan import Outcome, Plan, Task
from holdsup.experiment.report import RunReport
from holdsup.experiment.runner import RunInterrupted, read_status, run_plan
from holdsup.experiment.store import Damage, Recorded, RecordedFailure, Store, rescue_store

__all__ = [
    "Damage",
    "Outcome",
    "Plan",
    "ProcessExecutor",
    "Recorded",
    "RecordedFailure",
    "RunInterrupted",
    "RunReport",
    "SerialExecutor",
    "Store",
    "Task",
    "dask_executor",
    "export_scores",
    "read_status",
    "rescue_store",
    "run_plan",
]
