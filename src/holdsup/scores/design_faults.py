"""What can be wrong with the design of an evaluation, and with its scales: one function per kind of fault."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels, Numbers
from holdsup.columns.crossing import cross
from holdsup.errors import ScoresError
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import EXAMPLES, Caution
from holdsup.results.direction_names import tell_direction
from holdsup.scores.faults import count_have, extremes, make_fault, show_rows, write_row
from holdsup.scores.table import Scores

__all__ = ["check_mixtures", "find_design_faults", "find_mixtures"]

CLOSE = 1e-6  # relative: scores may be rounded
LARGE = 5.0  # a mean of scores that are no shares, where those of other datasets are
FAR = 100.0  # times as large: such datasets decide alone


def find_design_faults(scores: Scores) -> Iterator[Caution]:
    """Yield what is wrong with the way systems, runs, items, datasets and facets are combined.

    All rows must have all labels: see `Scores.take`.
    """
    yield from _confounded(scores)
    yield from _item_per_dataset(scores)
    yield from _absent_from_datasets(scores)
    yield from _missing_cells(scores)
    yield from _items_of_one_system(scores)


def _confounded(scores: Scores) -> Iterator[Caution]:
    sides = [("system", scores.system), ("dataset", scores.dataset), ("item", scores.item)]
    sides += [(f"facet {name!r}", labels) for name, labels in scores.facets.items()]
    several = [(name, labels) for name, labels in sides if labels is not None and labels.count > 1]
    for (left, a), (right, b) in itertools.combinations(several, 2):
        nested = left == "system" and right.startswith("facet")
        if a.count != b.count and not (nested and b.count < a.count):  # too many levels for the other side
            continue
        pairs = cross(a, b).count
        one_to_one = a.count == b.count == pairs
        if one_to_one or (nested and pairs == a.count):
            said = f"{left} and {right} always change" if one_to_one else f"{right} changes only"
            yield make_fault(
                "confounded",
                f"{said[0].upper()}{said[1:]} together{'' if one_to_one else f' with {left}'}.",
                count=b.count,
                examples=_pairs(a, b),
                advice=f"Run the missing combinations, or leave {right.removeprefix('facet ')} out.",
            )


def _item_per_dataset(scores: Scores) -> Iterator[Caution]:
    """Find an "item" column that names the dataset: nearly every dataset has a single one."""
    if scores.item is None or scores.dataset is None or scores.dataset.count < 2:
        return
    pairs = cross(scores.dataset, scores.item)
    items_of = np.bincount(scores.dataset.codes[pairs.first], minlength=scores.dataset.count)
    single = int((items_of == 1).sum())
    if np.median(items_of) == 1:
        yield make_fault(
            "item-names-dataset",
            f"{count_have(single, 'dataset', scores.dataset.count)} only one item: column {scores.roles.item!r} seems "
            "to name the dataset.",
            count=single,
            examples=_pairs(scores.dataset, scores.item),
        )


def _absent_from_datasets(scores: Scores) -> Iterator[Caution]:
    if scores.dataset is None or scores.dataset.count < 2 or scores.system.count < 2:
        return
    present = np.zeros((scores.system.count, scores.dataset.count), bool)
    present[scores.system.codes, scores.dataset.codes] = True
    holes = np.argwhere(~present)
    if len(holes):
        systems, datasets = scores.system.names, scores.dataset.names
        yield make_fault(
            "systems-without-dataset",
            f"{len(holes):,} of {present.size:,} combinations of system and dataset have no row.",
            count=len(holes),
            examples=(f"system {systems[s]}, dataset {datasets[d]}" for s, d in holes),
        )


def _missing_cells(scores: Scores) -> Iterator[Caution]:
    """Find the cells item x run, within a dataset and a metric, for which there is no row."""
    if scores.item is None:
        return
    runs, short, planned = scores.holes
    count = int(short.sum())
    if count:
        worst = [r for r in np.argsort(-short, kind="stable")[:EXAMPLES] if short[r]]
        where = [(write_row(scores, runs.first[r], ("dataset", "metric", "run")), short[r]) for r in worst]
        yield make_fault(
            "missing-cells",
            f"{format_counted(count, 'row')} {'is' if count == 1 else 'are'} missing (of {planned:,}: every item in "
            "every run).",
            count=count,
            examples=(f"{format_counted(holes, 'item')} of {words}" for words, holes in where),
        )


def _items_of_one_system(scores: Scores) -> Iterator[Caution]:
    items = scores.items
    if items is None or scores.system.count < 2:
        return
    pairs = cross(items.codes, scores.system)
    systems_of = np.bincount(items.codes[pairs.first], minlength=items.count)
    lonely = np.flatnonzero(systems_of == 1)
    every = len(lonely) == items.count
    if len(lonely):
        yield make_fault(
            "items-of-one-system",
            f"{count_have(len(lonely), 'item', items.count)} a score for only one system.",
            count=len(lonely),
            examples=show_rows(scores, items.first[lonely], roles=("dataset", "item", "system")),
            severity="error" if every else "warning",
            advice="Check that items have the same names for every system." if every else "",
        )


def _pairs(a: Labels, b: Labels) -> tuple[str, ...]:
    first = cross(a, b).first
    known = [row for row in first if a.codes[row] >= 0 and b.codes[row] >= 0]
    return tuple(f"{a.names[a.codes[r]]} with {b.names[b.codes[r]]}" for r in known[:EXAMPLES])


@dataclass(frozen=True, slots=True)
class Mixture:
    """Which metric the scores of each dataset are, and the option that keeps those of one."""

    metrics: Mapping[int, str]
    remedy: str

    def say(self) -> str:
        """Return which metrics there are, on how many datasets."""
        names = list(self.metrics.values())
        return " and ".join(f"{n} on {format_counted(names.count(n), 'dataset')}" for n in dict.fromkeys(names))


def check_mixtures(scores: Scores) -> None:
    """Refuse scores that are of one metric on some datasets and on another scale on others."""
    usable = scores.only(scores.usable)
    found = _find(usable)
    if found is not None and not _is_one_scale(usable, found):
        raise ScoresError(
            f"{scores.roles.score!r} is {found.say()}, and a mean of both means nothing: choose one metric with "
            f"{found.remedy}"
        )


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
        rows = slice(None) if usable.metric is None else usable.metric.codes == code
        message = _say_scales(usable.score[rows], usable.dataset.take(np.arange(len(usable))[rows]))
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
