"""MTEB: one score of a system on each task, which is a dataset without items.

It is the mean over the splits and subsets that were evaluated, as MTEB's `get_score` has it: languages of one task are
no tasks of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from holdsup.logs.contract import NO_ITEMS, Rows, TaskLog, describe
from holdsup.logs.files import digest, read_document
from holdsup.logs.laid_out import document_reader

META, MAIN = "model_meta.json", "main_score"
SHORT = 6  # characters that tell one choice of subsets from another


def _logs(path: Path, document: dict[str, Any]) -> Iterator[TaskLog]:
    scores = {
        f"{split} {each.get('hf_subset')}": float("nan") if each[MAIN] is None else float(each[MAIN])
        for split, several in document["scores"].items()
        for each in several
    }
    mean = fmean(scores.values()) if scores else float("nan")
    known = math.isfinite(mean)
    rows = Rows("status")
    rows.add(item=NO_ITEMS, metric=MAIN, score=mean if known else None, status="ok" if known else "no number")
    yield TaskLog(
        name=str(path),
        tool="MTEB",
        system=_find_system(path),
        task=document["task_name"],
        rows=rows.table(),
        identity=digest(scores),
        conditions=describe(
            [
                ("dataset revision", document.get("dataset_revision")),
                ("subsets", f"{len(scores)}, {digest(sorted(scores))[:SHORT]}"),
            ]
        ),
    )


def _find_system(path: Path) -> str:
    """Return the model: as the file beside says, or as the folders are called (model/revision/Task.json)."""
    about = path.with_name(META)
    if about.is_file() and isinstance(meta := read_document(about), dict) and meta.get("name"):
        return str(meta["name"])
    place = path.absolute().parent
    revision = len(place.name) == 40 or place.name in ("no_revision_available", "external")
    return (place.parent if revision else place).name.replace("__", "/")


READER = document_reader("mteb", "MTEB", "*.json", (b'"mteb_version"', b'"task_name"', b'"scores"'), _logs, META)
