"""`assess_reproduction`: did others reproduce it, and how closely?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdsup.arguments import check_count, check_level, check_progress
from holdsup.errors import MeasurementError
from holdsup.measurements import Measurement, read_measurements, reading_notes
from holdsup.numerics.precision import Precision, share_within
from holdsup.progress import Progress, no_progress
from holdsup.results import Rows, sign
from holdsup.results.extras import find_extra, list_extras
from holdsup.verdict.reproduction.groups import Group, digest_measurements, group_measurements, select_measurements
from holdsup.verdict.reproduction.matrix import (
    MOST_PAIRED,
    Agreement,
    compare_conditions,
    pair_measurements,
    sort_conditions,
)
from holdsup.verdict.reproduction.models import model_conditions
from holdsup.verdict.reproduction.records import Assessment, ConditionSpread, MeasuredValue, Measures
from holdsup.verdict.reproduction.reference import reference_cvs
from holdsup.verdict.reproduction.report import Reproduction
from holdsup.verdict.reproduction.sentences import advise, caution_scales, find_cautions, write_reproduction_verdict
from holdsup.verdict.reproduction.spread import is_exact, spread_within
from holdsup.verdict.rows import write_values

__all__ = ["assess_reproduction"]


def assess_reproduction(
    measurements: Any,
    *,
    where: Mapping[str, Iterable[str] | str] | None = None,
    scale_minimum: float | None = None,
    level: float = 0.95,
    measures: bool = False,
    reference: bool = True,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Reproduction:
    """Return how closely repeated measurements agree, under which conditions, and what goes with their spread.

    Measurements of one measurand of one object are assessed together; others are never pooled with them. It is
    repeatability if all conditions of measurement agree, reproducibility if one differs.

    Parameters
    ----------
    measurements : what `read_measurements` takes: a file, records, a frame, `Measurement` values
    where : objects, measurands or values of conditions to keep, such as ``{"object": "PASS"}``
    scale_minimum : where the scale starts of measurements that do not say it: by default 0, or 1 where all values of a
        measurand, ten or more, are whole numbers from 1 to 7
    level : coverage of limits
    measures : whether to add the other measures of precision of the paper's section 3.2
    reference : whether to say how many of the paper's 18 results are less reproducible
    seed : of the random divisions that say what chance would explain, from eight measurements on
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
    given = read_measurements(measurements, scale_minimum=scale_minimum)
    chosen, unasked = select_measurements(given, where or {})
    groups, unused, said = group_measurements(chosen)
    cvs = find_extra("the published results", reference_cvs, said, None) if reference else None
    parts = []
    for i, group in enumerate(groups):
        progress(i, len(groups), f"assessing {group.object}")
        parts.append((group, *_assess(group, level, measures, cvs, seed, said)))
    parts.sort(key=lambda part: (part[1].cv, part[1].object, part[1].measurand))
    ordered = [group for group, _, _ in parts]
    assessments = tuple(assessment for _, assessment, _ in parts)
    spread = tuple(row for _, _, rows in parts for row in rows)
    models = list_extras(
        "the mixed models over conditions",
        lambda: model_conditions(ordered, said, level=level, seed=seed, progress=progress), said,
    )  # fmt: skip
    conditions = list_extras(
        "conditions side by side", lambda: (row for group in ordered for row in compare_conditions(group)), said
    )
    paired = [group for group in ordered if _is_paired(group)]
    pairs = list_extras(
        "measurements pair by pair", lambda: (pair for group in paired for pair in pair_measurements(group)), said
    )
    drawn = any(row for group, _, rows in parts for row in rows if not is_exact(group))
    return Reproduction(
        signature=_signature(chosen, where, scale_minimum, level, measures, seed if drawn else None),
        seed=seed if drawn else None,
        warnings=(*reading_notes(chosen), *caution_scales(ordered), *said, *find_cautions(assessments)),
        rows=Rows(len(given), sum(a.n for a in assessments), {**unasked, **unused}),
        verdict=write_reproduction_verdict(assessments, level=level),
        level=level,
        assessments=assessments,
        measurements=tuple(value for group in ordered for value in _values(group)),
        conditions=conditions,
        pairs=pairs,
        spread=spread,
        models=models,
        reference=cvs or (),
    )


def _assess(
    group: Group, level: float, measures: bool, cvs: Sequence[float] | None, seed: int, said: list[str]
) -> tuple[Assessment, tuple[ConditionSpread, ...]]:
    found = group.precision(level)
    agreement = sort_conditions(group)
    spread = list_extras("what goes with the spread", lambda: spread_within(group, agreement, seed=seed), said)
    return _assessment(group, found, agreement, spread, measures, cvs), spread


def _assessment(
    group: Group,
    found: Precision,
    agreement: Agreement,
    spread: Sequence[ConditionSpread],
    measures: bool,
    cvs: Sequence[float] | None,
) -> Assessment:
    others = Measures(
        s=found.s,
        cv=100 * found.s / found.mean,
        within_1=share_within(group.values, 1),
        within_2=share_within(group.values, 2),
    )
    return Assessment(
        object=group.object,
        measurand=group.measurand,
        n=found.n,
        mean=found.mean,
        sd=found.sd,
        sd_se=found.sd_se,
        sd_low=found.sd_low,
        sd_high=found.sd_high,
        sd_low_chi2=found.sd_low_chi2,
        sd_high_chi2=found.sd_high_chi2,
        cv=found.cv,
        cv_plain=found.cv_plain,
        cv_low=found.cv_low,
        cv_high=found.cv_high,
        next_low=group.scale_minimum + max(0.0, found.next_low),  # nothing lies below the minimum of the scale
        next_high=min(group.scale_maximum, group.scale_minimum + found.next_high),
        repeatability=agreement.repeatability,
        differing=agreement.differing,
        agreeing=agreement.agreeing,
        not_reported=agreement.not_reported,
        more_reproducible_than=None if cvs is None else sum(cv > found.cv * (1 + 1e-9) for cv in cvs),
        of=None if cvs is None else len(cvs),
        align_next=advise(agreement, found.n, found.sd, spread),
        measures=others if measures else None,
    )


def _values(group: Group) -> Iterable[MeasuredValue]:
    for measurement, label in zip(group.measurements, group.labels, strict=True):
        yield MeasuredValue(
            object=measurement.object,
            measurand=measurement.measurand,
            label=label,
            value=measurement.value,
            reported=measurement.reported,
            scale_minimum=measurement.scale_minimum,
            scale_from=measurement.scale_from,
            unit=measurement.unit,
            source=measurement.source,
            time=measurement.time,
            conditions=dict(measurement.conditions),
        )


def _is_paired(group: Group) -> bool:
    return bool(group.conditions) and len(group.values) <= MOST_PAIRED


def _signature(
    chosen: Sequence[Measurement],
    where: Mapping[str, Iterable[str] | str] | None,
    scale_minimum: float | None,
    level: float,
    measures: bool,
    seed: int | None,
) -> str:
    kept = ",".join(f"{name}={'/'.join(write_values(name, v))}" for name, v in (where or {}).items())
    return sign(
        "qra", data=digest_measurements(chosen), measurements=len(chosen), where=kept or None,
        scale_minimum=None if scale_minimum is None else f"{scale_minimum:g}", level=level,
        measures=True if measures else None, seed=seed,
    )  # fmt: skip
