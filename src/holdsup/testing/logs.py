"""The contract of a reader of logs, as a suite that anyone's can be run through."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from holdsup.errors import HoldsupError
from holdsup.logs import Found, Reader, TaskLog
from holdsup.logs.aggregates import check_means
from holdsup.logs.contract import COLUMNS
from holdsup.logs.reading import read_log
from holdsup.testing.contracts import BrokenPromise

# What is no log of any tool: a reader that claims one of these claims other people's files.
DECOYS = {
    "empty.json": b"", "brace.json": b"{", "list.json": b"[]", "object.json": b"{}", "numbers.jsonl": b"1\n2\n",
    "scores.csv": b"system,item,score\nA,1,0.5\n", "scores.jsonl": b'{"system": "A", "item": 1, "score": 0.5}\n',
    "noise.eval": bytes(range(256)), "empty.zip": b"PK\x05\x06" + bytes(18),
    "noise.db": b"SQLite format 3\x00" + bytes(84),
    "results.json": b'{"results": 3}', "config.json": b'{"model": "A", "task": "quiz"}',
}  # fmt: skip
CUTS = (0.0, 0.02, 0.5, 0.98)  # shares of a file that are left of it
MOST_CUT = 5  # files of one log that are cut in turn


def check_reader(reader: Reader, logs: str | Path) -> None:
    """Hold a reader to the contract on a folder of logs; return if it keeps it.

    It finds logs there and claims nothing else; it reads the same twice, in the columns of the contract; the means that
    a tool printed are those of its rows; and of a log that was cut off it gives an error in one line or fewer rows, but
    never another exception.

    Raises
    ------
    BrokenPromise : the first promise that it does not keep
    """
    folder = Path(logs)
    found = list(_find(reader, folder))
    if not found:
        raise BrokenPromise(f"{reader.name} finds no log in {folder}")
    _check_decoys(reader)
    for each in found:
        try:
            first, second = read_log(reader, each), read_log(reader, each)
            check_means(first)
        except HoldsupError as error:
            raise BrokenPromise(f"{reader.name}: {error}") from error
        if not first:
            raise BrokenPromise(f"{reader.name} reads nothing from {each.name}, and raises no error")
        for log, again in zip(first, second, strict=True):
            _check_log(reader, log)
            if not (log.rows.equals(again.rows) and log.means == again.means):
                raise BrokenPromise(f"{reader.name} reads {each.name} differently when it reads it again")
        _check_cuts(reader, each)


def _find(reader: Reader, folder: Path) -> Iterator[Found]:
    claimed: set[Path] = set()  # a log may lie in several folders
    for place in sorted({folder, *(each for each in folder.rglob("*") if each.is_dir())}):
        if files := tuple(file for file in _list_files(place) if file not in claimed):
            found = list(reader.recognise(place, files))
            claimed.update(file for each in found for file in each.files)
            yield from found


def _check_decoys(reader: Reader) -> None:
    with tempfile.TemporaryDirectory() as name:
        for decoy, content in DECOYS.items():
            Path(name, decoy).write_bytes(content)
        if claimed := [found.name for found in _find(reader, Path(name))]:
            raise BrokenPromise(f"{reader.name} claims {Path(claimed[0]).name}, which is no log: {claimed}")


def _check_log(reader: Reader, log: TaskLog) -> None:
    rows = log.rows
    for column in rows.schema:
        wanted = pa.float64() if column.name == "score" else pa.string() if column.name in COLUMNS else column.type
        if column.type != wanted:
            raise BrokenPromise(f"{reader.name} gives {column.name} as {column.type}; it should be {wanted}")
    cells = rows.select([name for name in ("item", "metric", "sample") if name in rows.column_names])
    if len(cells.group_by(cells.column_names).aggregate([])) < len(rows):
        raise BrokenPromise(f"{reader.name} gives several scores of one item, metric and sample in {log.name}")


def _check_cuts(reader: Reader, found: Found) -> None:
    """Cut each file of a log, and see that the reader says so or gives less, and breaks with nothing else."""
    folder = Path(os.path.commonpath([file.parent for file in found.files]))
    whole = sum(len(log.rows) for log in _read_all(reader, folder))
    for file in found.files[:MOST_CUT]:
        for share in CUTS:
            with tempfile.TemporaryDirectory() as name:
                place = Path(name, folder.name)
                shutil.copytree(folder, place)
                cut = place / file.relative_to(folder)
                cut.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
                try:
                    left = sum(len(log.rows) for log in _read_all(reader, place))
                except HoldsupError as error:
                    left = 0
                    if "\n" in str(error):
                        raise BrokenPromise(
                            f"{reader.name} says more than one line of a log that was cut off"
                        ) from error
                except Exception as error:
                    raise BrokenPromise(
                        f"{reader.name} breaks with {type(error).__name__} ({error}) where {file.name} was cut off "
                        f"after {share:.0%}"
                    ) from error
                if left > whole:
                    raise BrokenPromise(f"{reader.name} reads more from {file.name} after it was cut off")


def _read_all(reader: Reader, folder: Path) -> list[TaskLog]:
    return [log for found in _find(reader, folder) for log in read_log(reader, found)]


def _list_files(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(file for file in folder.iterdir() if file.is_file()))
