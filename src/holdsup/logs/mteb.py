"""MTEB: one score of a system on each task; tasks, and their languages or other subsets, are datasets without items."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdsup.logs.contract import NO_ITEMS, Rows, TaskLog, describe
from holdsup.logs.files import read_document
from holdsup.logs.laid_out import DocumentReader

META, USUAL_SPLIT, WHOLE = "model_meta.json", "test", "default"
MAIN = "main_score"


def _logs(path: Path, document: dict[str, Any]) -> Iterator[TaskLog]:
    system = _find_system(path)
    for split, scores in document["scores"].items():
        for each in scores:
            rows = Rows("status")
            score = each[MAIN] if each[MAIN] is not None and math.isfinite(each[MAIN]) else None
            rows.add(item=NO_ITEMS, metric=MAIN, score=score, status="ok" if score is not None else "no number")
            subset = each.get("hf_subset") or WHOLE
            task = document["task_name"] if subset == WHOLE else f"{document['task_name']} {subset}"
            yield TaskLog(
                name=str(path),
                tool="MTEB",
                system=system,
                task=task if split == USUAL_SPLIT else f"{task} ({split})",
                rows=rows.table(),
                identity=f"{document.get('dataset_revision')} {each[MAIN]!r}",
                conditions=describe([("dataset revision", document.get("dataset_revision"))]),
            )


def _find_system(path: Path) -> str:
    """Return the model: as the file beside says, or as the folders are called (model/revision/Task.json)."""
    about = path.with_name(META)
    if about.is_file() and isinstance(meta := read_document(about), dict) and meta.get("name"):
        return str(meta["name"])
    place = path.absolute().parent
    revision = len(place.name) == 40 or place.name in ("no_revision_available", "external")
    return (place.parent if revision else place).name.replace("__", "/")


READER = DocumentReader("mteb", "MTEB", "*.json", (b'"mteb_version"', b'"task_name"', b'"scores"'), _logs, META)
