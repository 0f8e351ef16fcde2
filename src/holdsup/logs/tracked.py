"""Runs of experiment trackers: one score a run and metric, with the parameters of the run; there are no items.

A parameter that names the model is the system and one that names the data the dataset; seeds tell runs of a system
apart, and every other parameter that differs makes another system.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from holdsup.errors import ReadError
from holdsup.logs.contract import NO_ITEMS, Rows, TaskLog, describe
from holdsup.logs.naming import is_seed
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import Caution
from holdsup.results.direction_names import find_direction

SYSTEMS = ("system", "model", "model_name", "model_name_or_path", "method", "algorithm", "classifier", "estimator")
DATASETS = ("dataset", "dataset_name", "task", "task_name", "benchmark")
REPEATS = {"fold", "repeat", "replicate", "run", "trial"}  # these and seeds only repeat an evaluation
# Where a run lies and what it is called, and what is logged of it that is no score.
PLACES = re.compile(
    r"(?:.*_)?(?:dir|path|file|uri|id|date|time|timestamp|host|user)|run_name|name|report_to", re.IGNORECASE
)
BOOKKEEPING = re.compile(
    r"(?:.*[/_.])?(?:epochs?|steps?|global_step|runtime|samples_per_second|steps_per_second|total_flos|lr|learning_rate"
    r"|grad_norm|num_tokens|samples|duration|timestamp)|system/.*",
    re.IGNORECASE,
)
TRAINING = re.compile(r"train(?:ing)?(?:[/_.].*)?|.*[/_.]train", re.IGNORECASE)


class Run(NamedTuple):
    """One run as a tracker has it."""

    name: str
    experiment: str
    parameters: Mapping[str, str]
    metrics: Mapping[str, float]
    identity: str = ""
    finished: bool = True
    lower: frozenset[str] = frozenset()  # metrics that were minimised


def log_of_run(where: str, tool: str, run: Run, *cautions: Caution) -> TaskLog | None:
    """Return a run as a log; None where it has no score."""
    scores = {name: value for name, value in run.metrics.items() if not BOOKKEEPING.fullmatch(name)}
    training = [name for name in scores if TRAINING.fullmatch(name)]
    if training:
        scores = {name: value for name, value in scores.items() if name not in training}
        message = f"What was measured in training is no evaluation, and is left out: {', '.join(sorted(training))}."
        cautions = (*cautions, Caution(code="training-metrics", severity="note", message=message))
    if not scores:
        return None
    rows = Rows("status")
    for name, value in scores.items():
        known = math.isfinite(value)
        rows.add(item=NO_ITEMS, metric=name, score=value if known else None, status="ok" if known else "no number")
    system, task, facets, settings = tell_apart(run.parameters)
    return TaskLog(
        name=f"{where} ({run.name})" if run.name else where,
        tool=tool, system=system or run.experiment, task=task, rows=rows.table(), identity=run.identity,
        finished=run.finished,
        facets=describe(facets.items()), conditions=describe(settings.items()), cautions=cautions,
        lower_is_better=run.lower | {name for name in scores if find_direction(name) == "lower"},
    )  # fmt: skip


def tell_apart(parameters: Mapping[str, str]) -> tuple[str | None, str | None, dict[str, str], dict[str, str]]:
    """Return what parameters say a run is of: its system and its data set, what only repeats it, other settings."""
    left = dict(parameters)
    system, task = (next((left.pop(name) for name in names if left.get(name)), None) for names in (SYSTEMS, DATASETS))
    facets = {name: value for name, value in left.items() if is_seed(name) or name.lower() in REPEATS}
    settings = {name: value for name, value in left.items() if name not in facets and not PLACES.fullmatch(name)}
    return system, task, facets, settings


def logs_of_runs(where: str, tool: str, runs: Sequence[Run], advice: str) -> list[TaskLog]:
    """Return runs as logs, those without a score counted; raise where none has one."""
    logs = [log for run in runs if (log := log_of_run(where, tool, run)) is not None]
    if not logs:
        raise ReadError(f"{where} holds no run with a metric that is a score: {advice}")
    if bare := len(runs) - len(logs):
        message = f"{format_counted(bare, 'run')} without a score {'is' if bare == 1 else 'are'} left out."
        said = Caution(code="runs-without-score", severity="note", message=message, count=bare)
        logs[0] = replace(logs[0], cautions=(*logs[0].cautions, said))
    return logs
