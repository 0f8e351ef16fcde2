"""A table of scores as answers in the schema of every_eval_ever, which other tools read."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from holdsup.errors import ColumnError

VERSION = "0.3.0"  # of the schema
BATCH = 10_000


def write_every_eval_ever(
    table: pa.Table,
    path: Path,
    *,
    score: str = "score",
    item: str = "item",
    system: str = "system",
    dataset: str | None = None,
    metric: str | None = None,
    sample: str | None = None,
    runs: Sequence[str] = (),
    name: str = "scores",
    written: int | None = None,
) -> int:
    """Write a table of scores as one answer a line, and return how many rows had no score to write.

    The schema wants the texts of an answer, which a table of scores does not have: they are empty. Its
    `is_correct` is whether the score is 1, which means something for metrics of 0 and 1 alone. Every other column
    of the table goes into the metadata.

    Parameters
    ----------
    table : scores, a row for each
    path : file to write
    score, item, system, dataset, metric, sample : columns of the table; those that are None are not there
    runs : columns that tell several evaluations of a system apart, such as a seed; they stay in the metadata
    name : name of the evaluation where there is no column of datasets
    written : time for the ids of the evaluations, in seconds since 1970; now if None
    """
    roles = [each for each in (score, item, system, dataset, metric, sample, *runs) if each is not None]
    for role in roles:
        if role not in table.column_names:
            raise ColumnError.not_found(role, table.column_names, where="the scores to export")
    others = [column for column in table.column_names if column not in roles or column in runs]
    when = int(time.time()) if written is None else written
    left_out = 0
    with path.open("w", encoding="utf-8") as file:
        for row in _rows(table):
            value = row[score]
            if value is None or not math.isfinite(value):
                left_out += 1
                continue
            task = name if dataset is None else str(row[dataset])
            model = str(row[system])
            run = [f"{column}={row[column]}" for column in runs]
            about = {column: str(row[column]) for column in others if row[column] is not None}
            if sample is not None and row[sample] is not None:
                about["epoch"] = str(row[sample])
            result: dict[str, str] = {} if metric is None else {"evaluation_result_id": f"{task}.{row[metric]}"}
            record: dict[str, Any] = {
                "schema_version": VERSION,
                "evaluation_id": f"{task}/{'/'.join([model.replace('/', '_'), *run])}/{when}",
                "model_id": model,
                "evaluation_name": task,
                **result,
                "sample_id": str(row[item]),
                "sample_hash": None,
                "interaction_type": "single_turn",
                "input": {"raw": "", "reference": []},
                "output": {"raw": []},
                "messages": None,
                "answer_attribution": [],
                "evaluation": {"score": float(value), "is_correct": value == 1},
                "metadata": about or None,
            }
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return left_out


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(BATCH):
        yield from batch.to_pylist()
