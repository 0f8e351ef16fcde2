"""Runs of experiment trackers: one score a run and metric, with the parameters of the run; there are no items.

A parameter that names the model is the system and one that names the data the dataset; seeds tell runs of a system
apart, and every other parameter that differs makes another system.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from holdsup.logs.contract import NO_ITEMS, Rows, TaskLog, describe
from holdsup.logs.naming import is_seed
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
    parameters = dict(run.parameters)
    system = next((parameters.pop(name) for name in SYSTEMS if parameters.get(name)), run.experiment)
    task = next((parameters.pop(name) for name in DATASETS if parameters.get(name)), None)
    facets = {name: value for name, value in parameters.items() if is_seed(name) or name.lower() in REPEATS}
    settings = {name: value for name, value in parameters.items() if name not in facets and not PLACES.fullmatch(name)}
    return TaskLog(
        name=f"{where} ({run.name})" if run.name else where,
        tool=tool, system=system, task=task, rows=rows.table(), identity=run.identity, finished=run.finished,
        facets=describe(facets.items()), conditions=describe(settings.items()), cautions=cautions,
        lower_is_better=run.lower | {name for name in scores if find_direction(name) == "lower"},
    )  # fmt: skip
