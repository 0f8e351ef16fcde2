"""Several metrics in one column of scores, and datasets on different scales: a mean over them has no unit."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels, Numbers
from holdsup.columns.crossing import cross
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import Caution
from holdsup.results.direction_names import tell_direction
from holdsup.scores.faults import extremes, make_fault, refuse
from holdsup.scores.table import Scores

CLOSE = 1e-6  # relative: scores may be rounded
LARGE = 5.0  # a mean of scores that are no shares, where those of other datasets are
FAR = 100.0  # times as large: such datasets decide alone


@dataclass(frozen=True, slots=True)
class Mixture:
    """Which metric the scores of each dataset are, and the option that keeps those of one."""

    metrics: Mapping[int, str]
    remedy: str

    def say(self) -> str:
        """Return which metrics there are, on how many datasets."""
        names = list(self.metrics.values())
        return " and ".join(f"{n} on {format_counted(names.count(n), 'dataset')}" for n in dict.fromkeys(names))


def refuse_mixtures(faults: Iterable[Caution]) -> None:
    """Refuse a table if among its faults there are several metrics on different scales."""
    refuse(fault for fault in faults if fault.code == "mixed-metrics" and fault.severity == "error")


def find_mixtures(scores: Scores) -> Iterator[Caution]:
    """Find several metrics in one column, and datasets whose scores differ in size or sign as those of metrics do."""
    usable = scores.only(scores.usable)
    if usable.dataset is None or usable.dataset.count < 2:
        return
    found = _find(usable)
    if found is not None:
        yield make_fault(
            "mixed-metrics",
            f"Column {scores.roles.score!r} holds {found.say()}.",
            count=len(set(found.metrics.values())),
            severity="warning" if _is_one_scale(usable, found) else "error",
            advice=f"Choose one with {found.remedy}.",
        )
        return
    for code in range(1 if usable.metric is None else usable.metric.count):
        score, dataset = usable.score, usable.dataset
        if usable.metric is not None:
            rows = usable.metric.codes == code
            score, dataset = score[rows], dataset.take(rows)
        message = _say_scales(score, dataset)
        if message:
            yield make_fault("mixed-scales", message)


def _find(usable: Scores) -> Mixture | None:
    """Return the metrics of datasets if they differ: as a column says, or by the columns that scores are copies of."""
    dataset = usable.dataset
    if dataset is None or dataset.count < 2 or usable.metric is not None or not isinstance(usable.roles.score, str):
        return None
    for name, column in usable.others.items():
        if isinstance(column, Labels) and _names_metrics(column) and cross(dataset, column).count == dataset.count:
            first = cross(dataset).first
            named = {code: column.names[column.codes[row]] for code, row in enumerate(first) if column.codes[row] >= 0}
            return Mixture(named, f"--where {shlex.quote(f'{name}={column.names[0]}')}")
    copied = _find_copies(usable, dataset)
    return Mixture(copied, f"--score {shlex.quote(min(copied.values()))}") if len(set(copied.values())) > 1 else None


def _find_copies(usable: Scores, dataset: Labels) -> dict[int, str]:
    """Return the column, named like a metric, that all scores of a dataset are copies of; most columns are of none.

    Scores that are named like a metric themselves are its own: where accuracy equals recall it is still accuracy.
    """
    found: dict[int, str] = {}
    if tell_direction(str(usable.roles.score)) is not None:
        return found
    for name, column in usable.others.items():
        if not isinstance(column, Numbers) or tell_direction(name) is None:
            continue
        near = np.abs(np.abs(column.values) - np.abs(usable.score)) <= CLOSE * np.abs(usable.score)
        same = np.bincount(dataset.codes, ~near, dataset.count) == 0
        if same.all():
            return {}
        found |= {int(code): name for code in np.flatnonzero(same) if int(code) not in found}
    return found


def _names_metrics(column: Labels) -> bool:
    """Return whether labels are names of metrics: two or more, and at least half of them all, are known."""
    known = sum(tell_direction(name) is not None for name in column.names[:100]) if 2 <= column.count <= 100 else 0
    return known >= 2 and 2 * known >= column.count


def _is_one_scale(usable: Scores, found: Mixture) -> bool:
    """Return whether metrics are better the same way and all are shares, or all percentages, as accuracy and F1."""
    if usable.dataset is None or len({tell_direction(name) for name in found.metrics.values()}) > 1:
        return False
    low, high = extremes(usable.score, usable.dataset.codes.astype(np.int64), usable.dataset.count)
    return bool(low.min() >= 0 and (high.max() <= 1 or (high.min() > 1 and high.max() <= 100)))


def _say_scales(values: NDArray[np.float64], dataset: Labels) -> str:
    """Return how the scores of datasets differ in sign or size, nothing where they do not."""
    if dataset.count < 2:
        return ""
    low, high = extremes(values, dataset.codes.astype(np.int64), dataset.count)
    size = np.bincount(dataset.codes, np.abs(values), dataset.count) / np.bincount(dataset.codes)
    names = dataset.names
    if (high < 0).any() and (low > 0).any():
        return f"All scores are below 0 on {names[high.argmin()]} and above 0 on {names[low.argmax()]}."
    shares = (low >= 0) & (high <= 1)
    known = size > 0
    largest, least = int(size.argmax()), int(np.where(known, size, np.inf).argmin())
    if (shares.any() and size[largest] > LARGE) or (size[largest] > FAR and size[largest] > FAR * size[least]):
        return (
            f"Datasets are on different scales: scores average {size[least]:.3g} on {names[least]} and "
            f"{size[largest]:.3g} on {names[largest]}."
        )
    return ""
