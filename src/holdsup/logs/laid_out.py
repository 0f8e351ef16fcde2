"""Formats that are one JSON document a log: known by the file's name and its first bytes, read in one piece.

What a tool calls its fields is all that such a format is; a module of its own says it, and everything else is here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from holdsup.columns.limits import reason_of
from holdsup.errors import ReadError, quote_text
from holdsup.logs.contract import Found, TaskLog
from holdsup.logs.files import digest, read_document, read_head

SHOWN = 60  # characters of a text that serves as the name of an item


@dataclass(frozen=True)
class FileReader:
    """A reader of logs each of which has one file that tells by itself what it is."""

    name: str
    title: str
    claim: Callable[[Path], Iterable[Path]]  # all files of the log that this one tells of, itself first; else none
    logs: Callable[[Found], Iterable[TaskLog]]
    folder_of: str = ""  # the name of a file whose log is called as its folder

    def recognise(self, folder: Path, files: tuple[Path, ...]) -> Iterator[Found]:
        """Yield the logs that these files tell of."""
        for path in files:
            if own := tuple(self.claim(path)):
                yield Found(self.name, str(folder if path.name == self.folder_of else path), own)

    def read(self, found: Found) -> Iterator[TaskLog]:
        """Yield what a log holds."""
        yield from self.logs(found)


def document_reader(
    name: str, title: str, files: str, marks: tuple[bytes, ...], logs: Callable[[Path, Any], Iterator[TaskLog]],
    beside: str = "",
) -> FileReader:  # fmt: skip
    """Return a reader of documents of one layout, known by a pattern of their names and by what all of them say first.

    `logs` takes a file and what it holds; a file of the name `beside` may lie there and say more.
    """

    def claim(path: Path) -> Iterator[Path]:
        if fnmatchcase(path.name.removesuffix(".gz"), files) and holds_marks(path, marks):
            yield from (path, *find_beside(path, beside))

    return FileReader(name, title, claim, lambda found: logs(found.files[0], read_document(found.files[0])))


def find_beside(path: Path, name: str) -> list[Path]:
    """Return the file of this name in the folder of another, if it is there."""
    beside = path.with_name(name) if name else path
    return [beside] if beside != path and beside.is_file() and not beside.is_symlink() else []


def find_below(folder: Path, pattern: str) -> list[Path]:
    """Return the files in and below a folder; links that lead out of it are passed over."""
    inside = folder.resolve()
    found = (each for each in folder.glob(pattern) if each.is_file())
    return sorted(each for each in found if each.resolve().is_relative_to(inside))


def holds_marks(path: Path, marks: tuple[bytes, ...]) -> bool:
    """Return whether the beginning of a file has these bytes in it."""
    head = read_head(path)
    return all(mark in head for mark in marks)


@contextmanager
def laid_out(name: str | Path, title: str) -> Iterator[None]:
    """Say in one line that a log lacks what the tool always writes, or holds something else there."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        # What Python says of the others is about our code, and nothing to a person.
        what = (
            f"it has no {reason_of(error)}" if isinstance(error, KeyError) else "a value is missing or of another kind"
        )
        raise ReadError(f"{name} is not laid out as {title} writes it: {what}") from error


def read_number(value: Any, name: str) -> float:
    """Return a value that must be a number, or text of one; `name` is what it is called, for messages."""
    try:
        if not isinstance(value, bool) and isinstance(value, int | float | str):
            return float(value)
    except (ValueError, OverflowError):
        pass
    raise ReadError(f"{name} is no number: {quote_text(json.dumps(value))}")


def short_name(text: str) -> str:
    """Return a text as the name of an item: itself, or its beginning with a digest of all of it."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 13]}… {digest(text)[:10]}"
