"""`assess_reproduction`: how closely was it reproduced? `assess_repeatability` asks it of one's own runs."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from holdsup.arguments import check_count, check_level, check_progress
from holdsup.columns import Labels
from holdsup.data import belz2022
from holdsup.errors import MeasurementError, ScoresError
from holdsup.measurements import CONDITIONS, Measurement, caution_reading, digest_measurements, read_measurements
from holdsup.measurements.units import are_ratings, may_be_ratings
from holdsup.progress import Progress, no_progress
from holdsup.results import Asked, Caution, Rows, order_cautions
from holdsup.results.extras import find_extra, list_extras
from holdsup.scores import Scores
from holdsup.verdict.evaluation import is_repetition
from holdsup.verdict.intake import take_in, write_values
from holdsup.verdict.reproduction.groups import (
    Group,
    caution_scales,
    compare_conditions,
    group_measurements,
    select_measurements,
    sort_conditions,
)
from holdsup.verdict.reproduction.records import Assessment, ConditionSpread, MeasuredValue
from holdsup.verdict.reproduction.result import Reproduction
from holdsup.verdict.reproduction.spread import is_exact, model_conditions, spread_within
from holdsup.verdict.reproduction.words import advise, find_cautions

SAME = "as in this table"  # what one's own runs have in common by construction
UNASSESSED = "a system that has one run only, or a mean of zero"
COPIED = tuple(field.name for field in dataclasses.fields(Measurement))


def assess_reproduction(
    measurements: Any,
    *,
    where: Mapping[str, Iterable[str] | str] | None = None,
    within: float | None = None,
    scale_minimum: float | None = None,
    level: float = 0.95,
    reference: bool = True,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Reproduction:
    """Return how closely repeated measurements agree, under which conditions, and what explains their spread.

    Measurements of one measurand of one object are assessed together; others are never pooled with them. It is
    repeatability if all conditions of measurement agree, reproducibility if one differs.

    Parameters
    ----------
    measurements : what `read_measurements` takes: a file, records, a frame, `Measurement` values
    where : objects, measurands or values of conditions to keep, such as ``{"object": "PASS"}``
    within : a CV* in percent, such as 5, to get a yes or no: yes if the whole exact CI is at or below it, no if above
    scale_minimum : where the scale starts of measurements that do not say it: by default 0, or 1 where all values of a
        measurand, ten or more, are whole numbers from 1 to 7
    level : coverage of CIs
    reference : whether to say how many of the paper's 18 results are less reproducible
    seed : of the random groups that say what chance would explain, from eight measurements on
    progress : called as the work goes on

    Examples
    --------
    >>> found = assess_reproduction(
    ...     [
    ...         {"object": "PASS", "measurand": "Fluency", "value": 5.36, "scale_minimum": 1, "performed_by": "vdL"},
    ...         {"object": "PASS", "measurand": "Fluency", "value": 6.14, "scale_minimum": 1, "performed_by": "Mille"},
    ...     ]
    ... )
    >>> round(found.assessments[0].cv, 3), found.assessments[0].repeatability, found.assessments[0].differing
    (16.372, False, ('performed_by',))
    """
    check_level(level, MeasurementError)
    check_count(seed, "seed", MeasurementError)
    check_progress(progress)
    _check_within(within)
    given = read_measurements(measurements, scale_minimum=scale_minimum)
    chosen, unasked = select_measurements(given, where or {})
    groups, unused, said = group_measurements(chosen)
    cvs = find_extra("the comparison with published results", reference_cvs, said, None) if reference else None
    found: list[tuple[Group, Assessment, tuple[ConditionSpread, ...]]] = []
    for i, group in enumerate(groups):
        progress(i, len(groups), f"assessing {group.object}")
        found.append((group, *_assess(group, level, cvs, seed, said)))
    found.sort(key=lambda part: (part[1].cv, part[1].object, part[1].measurand))
    ordered, assessments = [group for group, _, _ in found], tuple(assessment for _, assessment, _ in found)
    models = list_extras(
        "the mixed model over conditions",
        lambda: model_conditions(ordered, said, level=level, seed=seed, progress=progress), said, about="table:models",
    )  # fmt: skip
    conditions = list_extras(
        "the conditions matrix", lambda: (row for group in ordered for row in compare_conditions(group)), said
    )
    drawn = any(spread and not is_exact(group) for group, _, spread in found)
    kept = {name: tuple(write_values(name, values)) for name, values in (where or {}).items()}
    asked = Asked.about(
        "qra", data=digest_measurements(chosen), measurements=len(chosen), where=kept,
        **_options(scale_minimum, level, seed if drawn else None, within),
    )  # fmt: skip
    return Reproduction(
        asked=asked,
        seed=seed if drawn else None,
        cautions=order_cautions(
            (*caution_scales(ordered), *find_cautions(assessments), *caution_reading(chosen), *said)
        ),
        rows=Rows(len(given), sum(a.n for a in assessments), {**unasked, **unused}),
        level=level,
        within=within,
        assessments=assessments,
        measurements=tuple(value for group in ordered for value in _values(group)),
        conditions=conditions,
        spread=tuple(row for _, _, spread in found for row in spread),
        models=models,
        reference=cvs or (),
    )


def _check_within(within: float | None) -> None:
    if within is not None and not (isinstance(within, int | float) and 0 < within < math.inf):
        raise MeasurementError(f"within is {within!r}; it must be a percentage above 0, such as 5")


@functools.cache
def reference_cvs() -> tuple[float, ...]:
    """Return CV* of the paper's 18 objects and measurands, the smallest first, from its measurements."""
    groups, _, _ = group_measurements(belz2022())
    return tuple(sorted(group.precision(0.95).cv for group in groups))


def _assess(
    group: Group, level: float, cvs: Sequence[float] | None, seed: int, said: list[Caution]
) -> tuple[Assessment, tuple[ConditionSpread, ...]]:
    agreement = sort_conditions(group)
    spread = list_extras(
        "what explains the spread", lambda: spread_within(group, agreement, seed=seed), said, about="table:spread"
    )
    measured = dataclasses.asdict(group.precision(level))
    del measured["s"]
    measured["next_low"] = group.scale_minimum + max(0.0, measured["next_low"])  # nothing is below the scale's minimum
    measured["next_high"] = min(group.scale_maximum, group.scale_minimum + measured["next_high"])
    assessment = Assessment(
        object=group.object,
        measurand=group.measurand,
        **measured,
        repeatability=agreement.repeatability,
        differing=agreement.differing,
        agreeing=agreement.agreeing,
        not_reported=agreement.not_reported,
        more_reproducible_than=None if cvs is None else sum(cv > measured["cv"] * (1 + 1e-9) for cv in cvs),
        of=None if cvs is None else len(cvs),
        align_next=advise(agreement, measured["n"], measured["sd"], spread),
    )
    return assessment, spread


def _values(group: Group) -> Iterator[MeasuredValue]:
    for measurement, label in zip(group.measurements, group.labels, strict=True):
        yield MeasuredValue(label=label, **{name: getattr(measurement, name) for name in COPIED})


def _options(scale_minimum: float | None, level: float, seed: int | None, within: float | None) -> dict[str, Any]:
    start = None if scale_minimum is None else f"{scale_minimum:g}"
    asked = None if within is None else f"{within:.15g}%"
    return {"scale_minimum": start, "level": level, "seed": seed, "within": asked}


def assess_repeatability(
    data: Any,
    *,
    within: float | None = None,
    scale_minimum: float | None = None,
    level: float = 0.95,
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
    within, level, reference, seed : as for `assess_reproduction`
    roles : passed on to `read_scores`

    Examples
    --------
    >>> from holdsup import simulate_scores
    >>> found = assess_repeatability(simulate_scores({"A": 0.7}, items=50, runs=5, seed=1))
    >>> found.assessments[0].repeatability, found.assessments[0].n
    (True, 5)
    """
    # Which way is better is no matter here: nothing is said of it.
    taken = take_in(data, roles, lower_is_better=False, progress=progress)
    scores, rows = taken.scores, taken.rows()
    runs = list(_measure_runs(scores, scale_minimum))
    if max(Counter((run.object, run.measurand) for run, _ in runs).values(), default=0) < 2:
        raise ScoresError(
            f"no system of {scores.source} has two runs, so there is no spread between runs: name the column that "
            "repeats runs with --replicates (such as seed), or the run with --run"
        )
    if below := next((run for run, _ in runs if run.value < run.scale_minimum), None):
        raise ScoresError(
            f"the mean of run {below.source!r} of {below.object} is {below.value:g}, below the scale's minimum, "
            f"{below.scale_minimum:g}: give the lowest possible score with --scale-minimum (scale_minimum= in Python)"
        )
    found = assess_reproduction(
        [run for run, _ in runs], within=within, level=level, reference=reference, seed=seed, progress=progress
    )
    assessed = {(a.object, a.measurand) for a in found.assessments}
    used = sum(count for run, count in runs if (run.object, run.measurand) in assessed)
    unused = {UNASSESSED: rows.used - used} if used < rows.used else {}
    options = _options(scale_minimum, level, found.seed, within)
    return dataclasses.replace(
        found,
        cautions=order_cautions((*found.cautions, *taken.cautions)),
        rows=Rows(rows.planned, used, {**rows.reasons, **unused}),
        asked=Asked.about("qra", data=scores.digest, runs=len(runs), **options),
    )


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
