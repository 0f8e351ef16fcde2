"""The means that a tool printed, against those of the rows that were read: an error where they differ."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdsup.errors import ReadError
from holdsup.logs.contract import TaskLog

TOLERANCE = 1e-9


def check_means(logs: Iterable[TaskLog]) -> int:
    """Return how many means of a tool are those of our rows; raise where one is not."""
    checked = 0
    for log in logs:
        ours = mean_by_metric(log.rows)
        for metric, printed in log.means.items():
            found = ours.get(metric)
            if found is None or not math.isclose(found, printed, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
                read = "have no such metric" if found is None else f"have a mean of {found:.12g}"
                raise ReadError(
                    f"{log.name}: {log.tool} reports {metric} = {printed:.12g}"
                    f"{f' on {log.task}' if log.task else ''}, but the scores in the log {read}: the log was edited, "
                    "or comes from a version that holdsup doesn't know; please report it"
                )
            checked += 1
    return checked


def mean_by_metric(rows: pa.Table) -> dict[str, float]:
    """Return the mean over items of each metric, samples of an item averaged first; rows without a score are out."""
    scored = rows.filter(pc.is_valid(rows["score"]))
    if not len(scored):
        return {}
    keys = pa.table({name: scored[name] for name in ("metric", "item", "score")})
    by_item = keys.group_by(["metric", "item"]).aggregate([("score", "mean")])
    metrics = by_item["metric"].combine_chunks().dictionary_encode()
    codes, values = np.asarray(metrics.indices), np.asarray(by_item["score_mean"])
    return {name: math.fsum(values[codes == code]) / int((codes == code).sum())
            for code, name in enumerate(metrics.dictionary.to_pylist())}  # fmt: skip
