"""`assess_repeatability`: the repeatability test at first reporting, from one's own runs."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from holdsup.columns import Labels
from holdsup.errors import ScoresError
from holdsup.measurements import CONDITIONS, Measurement
from holdsup.measurements.scales import are_ratings, may_be_ratings
from holdsup.progress import Progress, no_progress
from holdsup.results import Rows, sign
from holdsup.scores import Scores, read_scores
from holdsup.scores.misleading import caution_faults
from holdsup.verdict.evaluation import is_repetition
from holdsup.verdict.reproduction.assessing import assess_reproduction
from holdsup.verdict.reproduction.report import Reproduction

__all__ = ["assess_repeatability"]

SAME = "as in this table"  # what one's own runs have in common by construction
UNASSESSED = "a system that has one run only, or a mean of zero"


def assess_repeatability(
    data: Any,
    *,
    scale_minimum: float | None = None,
    level: float = 0.95,
    measures: bool = False,
    reference: bool = True,
    seed: int = 0,
    progress: Progress = no_progress,
    **roles: Any,
) -> Reproduction:
    """Return the repeatability of each system on each dataset by each metric: its runs are the measurements.

    Belz et al. (2022, section 5) ask for it at first reporting, so that others know what spread to expect. The mean
    score of a run is its value. Runs that differ in the seed alone are made under the same conditions; facets that are
    settings are conditions that differ.

    Parameters
    ----------
    data : `Scores`, or anything that `read_scores` takes
    scale_minimum : the lowest value that the scores can have; by default 0, or 1 where all scores by a metric, ten or
        more, are whole numbers from 1 to 7
    level, measures, reference, seed : as for `assess_reproduction`
    roles : passed on to `read_scores`

    Examples
    --------
    >>> from holdsup import simulate_scores
    >>> found = assess_repeatability(simulate_scores({"A": 0.7}, items=50, runs=5, seed=1))
    >>> found.assessments[0].repeatability, found.assessments[0].n
    (True, 5)
    """
    scores = data if isinstance(data, Scores) else read_scores(data, progress=progress, **roles)
    runs = list(_measure_runs(scores, scale_minimum))
    if max(Counter((run.object, run.measurand) for run, _ in runs).values(), default=0) < 2:
        raise ScoresError(
            f"no system of {scores.source} has two runs, so that there is no spread between runs: name the column "
            "that repeats runs with --replicates (seed, say), or the run with --run"
        )
    if below := next((run for run, _ in runs if run.value < run.scale_minimum), None):
        raise ScoresError(
            f"the mean of run {below.source!r} of {below.object} is {below.value:g}, below the minimum of the "
            f"scale, {below.scale_minimum:g}: give the lowest score there can be with --scale-minimum (scale_minimum= "
            "in Python)"
        )
    found = assess_reproduction(
        [run for run, _ in runs],
        level=level,
        measures=measures,
        reference=reference,
        seed=seed,
        progress=progress,
    )
    assessed = {(a.object, a.measurand) for a in found.assessments}
    rows = scores.rows()
    used = sum(count for run, count in runs if (run.object, run.measurand) in assessed)
    unused = {UNASSESSED: rows.used - used} if used < rows.used else {}
    return dataclasses.replace(
        found,
        warnings=(*scores.notes, *caution_faults(scores), *found.warnings),
        rows=Rows(rows.planned, used, {**rows.reasons, **unused}),
        signature=sign(
            "qra", data=scores.digest, runs=len(runs),
            scale_minimum=None if scale_minimum is None else f"{scale_minimum:g}", level=level,
            measures=True if measures else None, seed=found.seed,
        ),
    )  # fmt: skip


def _measure_runs(scores: Scores, scale_minimum: float | None) -> Iterator[tuple[Measurement, int]]:
    """Yield the mean of each run on each dataset by each metric, and of how many scores."""
    kept = scores.take(scores.usable)
    keys = [kept.metric, kept.dataset, kept.run]
    codes = np.column_stack([np.zeros(len(kept), int) if key is None else key.codes for key in keys])
    _, first, cell = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    counts = np.bincount(cell.ravel())
    means = np.bincount(cell.ravel(), kept.score) / counts
    settings = {name: labels for name, labels in kept.facets.items() if not is_repetition(kept, name)}
    scales = _find_scales(kept, scale_minimum)
    named = kept.roles.score if isinstance(kept.roles.score, str) else "score"
    for row, mean, count in zip(first.tolist(), means.tolist(), counts.tolist(), strict=True):
        own = {name: label for name, labels in settings.items() if (label := _label(labels, row))}
        measurement = Measurement(
            object=_label(kept.system, row),
            measurand=", ".join(filter(None, (_label(kept.metric, row), _label(kept.dataset, row)))) or named,
            value=mean,
            conditions={**dict.fromkeys(CONDITIONS, SAME), **own},
            source=_label(kept.run, row),
            **scales[0 if kept.metric is None else int(kept.metric.codes[row])],
        )
        yield measurement, count


def _find_scales(scores: Scores, asked: float | None) -> dict[int, dict[str, Any]]:
    """Return where the scale of each metric starts, and who says it; single scores tell ratings, means do not."""
    codes = np.zeros(len(scores), int) if scores.metric is None else scores.metric.codes
    found: dict[int, dict[str, Any]] = {}
    for metric in np.unique(codes).tolist():
        own = scores.score[codes == metric]
        if asked is None and are_ratings(own):
            found[metric] = {"scale_minimum": 1.0, "scale_from": "guess"}
        else:
            open_ = asked is None and may_be_ratings(own)
            found[metric] = {"scale_minimum": asked or 0.0, "scale_from": "default" if open_ else "stated"}
    return found


def _label(labels: Labels | None, row: int) -> str:
    code = -1 if labels is None else int(labels.codes[row])
    return "" if labels is None or code < 0 else labels.names[code]
