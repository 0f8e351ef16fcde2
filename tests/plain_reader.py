"""A reader of logs as somebody outside would write it: `holdsup compare logs/ --reader plain_reader`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from holdsup.logs import Found, Rows, TaskLog
from holdsup.logs.files import read_document, read_head
from holdsup.results.cautions import Caution


class PlainReader:
    """Reads {"plain": 1, "system": ..., "rows": [...]}."""

    name = "plain"
    title = "Plain"

    def recognise(self, folder: Path, files: tuple[Path, ...]) -> Iterator[Found]:
        for file in files:
            if file.suffix == ".json" and b'"plain"' in read_head(file):
                yield Found(self.name, str(file), (file,))

    def read(self, found: Found) -> Iterator[TaskLog]:
        log = read_document(found.files[0])
        rows = Rows(*log.get("extra", ()))
        for row in log["rows"]:
            rows.add(**row)
        keys = ("identity", "facets", "conditions", "means", "planned", "finished")
        given = {key: log[key] for key in keys if key in log}
        named = {key: frozenset(log[key]) for key in ("lower_is_better", "costs") if key in log}
        cautions = tuple(Caution(code="said", message=message) for message in log.get("said", ()))
        yield TaskLog(
            name=found.name, tool=log.get("tool", "Plain 1"), system=log["system"], task=log.get("task", "quiz"),
            rows=rows.table(), cautions=cautions, **given, **named,
        )  # fmt: skip


READER = PlainReader()
