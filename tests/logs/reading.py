"""What tests of readers share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

from holdsup.logs.contract import Reader, TaskLog
from holdsup.logs.reading import read_log


def read_all(reader: Reader, folder: Path, files: Iterable[Path] | None = None) -> list[TaskLog]:
    """Every log that a reader finds among the files of a folder."""
    given = tuple(sorted(folder.iterdir()) if files is None else files)
    return [log for found in reader.recognise(folder, given) for log in read_log(reader, found)]


def means_of(log: TaskLog) -> dict[str, float]:
    """The mean over items of each metric, each item being the mean of its samples; nothing is taken from the reader."""
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in log.rows.to_pylist():
        if row["score"] is not None:
            scores[row["metric"]][row["item"]].append(row["score"])
    return {metric: fmean(fmean(values) for values in items.values()) for metric, items in scores.items()}
