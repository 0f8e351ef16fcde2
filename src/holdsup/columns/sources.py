"""What a user points at (a file, a folder, a pattern, standard input) as named pieces of bytes; columns in names."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from holdsup.columns.limits import LARGEST_STREAM, check_expansion, reason_of
from holdsup.errors import ColumnError, ReadError, list_names

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq")  # what is read out of a folder
DOCUMENT = ".json"  # read out of a folder that has none of these: next to tables it is a setting, or a result
PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
OTHERS = {
    b"PK\x03\x04": "a zip archive or an Excel workbook: unpack it, or save the sheet as CSV",
    b"\xfd7zXZ": "an xz archive: unpack it",
    b"\x93NUMPY": "a NumPy array: save the table as CSV or Parquet",
    b"SQLite format 3": "an SQLite database: export the table as CSV",
    b"ARROW1": "an Arrow file: save the table as Parquet",
    b"%PDF": "a PDF",
}
PICKLE = re.compile(rb"\x80[\x02-\x05]")
CHUNK = 4 * 2**20
PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Source:
    """A named place to read bytes from; `path` is None for standard input."""

    name: str
    path: Path | None

    @property
    def stem(self) -> str:
        """The file's name without folders and endings: what its system is called if nothing else says."""
        if self.path is None:
            return "stdin"
        return without_endings(self.path.name) or self.path.name


def without_endings(name: str) -> str:
    """Return the name of a file without the endings that say what kind of file it is.

    >>> without_endings("runs/A_seed1.csv.gz")
    'runs/A_seed1'
    """
    for ending in (".gz", ".zst", ".bz2", *TABLES, ".txt", ".json", ".conll", ".hyp"):
        name = name.removesuffix(ending)
    return name


def find_sources(asked: str | Path) -> list[Source]:
    """Return the files that a path, a folder, a glob pattern or "-" stands for."""
    text = str(asked)
    shown = _shown(text)
    if text == "-":
        return [Source("standard input", None)]
    if not text.strip():  # Python takes an empty path for the current folder
        raise ReadError("the path to read is empty: give a file, a folder, a pattern, or - for standard input")
    if "://" in text:
        raise ReadError(f"{shown} is an address on a network; holdsup reads local files only: download it first")
    try:
        path = Path(asked)
        if path.is_dir():
            return _in_folder(path)
        if path.exists():
            return [Source(shown, path)]
        matches = sorted(glob.glob(text, recursive=True)) if glob.has_magic(text) else []
        files = [Source(_shown(match), Path(match)) for match in matches if Path(match).is_file()]
    except (OSError, ValueError, re.error) as error:
        raise ReadError(f"cannot read {text!r:.200}: {reason_of(error)}") from error
    if not files:
        what = "no file matches this pattern" if glob.has_magic(text) else "there is no such file"
        raise ReadError(f"cannot read {text!r:.200}: {what} (looked from {Path.cwd().name or '/'}/)")
    return files


def _shown(path: str) -> str:
    """Return a path for a message, which must stay one line whatever a file is called."""
    return path if path.isprintable() else repr(path)


def _in_folder(folder: Path) -> list[Source]:
    files = sorted(f for f in folder.rglob("*") if f.is_file() and not f.name.startswith("."))
    tables = [f for f in files if _ending(f) in TABLES] or [f for f in files if _ending(f) == DOCUMENT]
    if not tables:
        raise ReadError(
            f"the folder {_shown(str(folder))} has no table and no log that holdsup knows: "
            f"none of its {len(files)} files ends in {', '.join((*TABLES, DOCUMENT))} (or these with .gz)"
        )
    return [Source(_shown(str(f)), f) for f in tables]


def _ending(file: Path) -> str:
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes and suffixes[-1] in (".gz", ".zst", ".bz2"):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def read_bytes(source: Source) -> pa.Buffer:
    """Return a source's bytes, unpacked if they are compressed; a plain file is mapped, not copied."""
    try:
        raw = _raw(source)
    except OSError as error:
        raise ReadError(f"cannot read {source.name}: {error.strerror or reason_of(error)}") from error
    head = _head(source.name, raw)
    packing = next((kind for magic, kind in PACKED.items() if head.startswith(magic)), None)
    if packing is None:
        return raw
    unpacked = _unpack(source.name, raw, packing)
    _head(source.name, unpacked)
    return unpacked


def _head(name: str, data: pa.Buffer) -> bytes:
    """Return the first bytes, which say what a file is; refuse what is known to be no table."""
    head: bytes = data[: min(16, data.size)].to_pybytes()
    if PICKLE.match(head):
        raise ReadError(f"{name} is a pickle, and holdsup never loads one: save the table as CSV or Parquet")
    for magic, what in OTHERS.items():
        if head.startswith(magic):
            raise ReadError(f"{name} is {what}")
    return head


def _raw(source: Source) -> pa.Buffer:
    if source.path is None:
        if sys.stdin is None:
            raise ReadError("there is no standard input to read: it is closed")
        return _drain(source.name, sys.stdin.buffer)
    if source.path.is_file():
        return pa.memory_map(str(source.path)).read_buffer() if source.path.stat().st_size else pa.py_buffer(b"")
    if source.path.is_fifo():  # cannot be mapped
        with source.path.open("rb") as stream:
            return _drain(source.name, stream)
    # /dev/zero never ends
    raise ReadError(f"{source.name} is a device, not a file: give a file, a folder, or - for standard input")


def _drain(name: str, stream: BinaryIO) -> pa.Buffer:
    """Return what a stream gives, piece by piece: asked for all at once, Python sets as much memory aside."""
    out = pa.BufferOutputStream()
    while chunk := stream.read(CHUNK):
        out.write(chunk)
        if out.tell() > LARGEST_STREAM:
            raise ReadError(f"{name} gives more than {LARGEST_STREAM >> 30} GiB: write it to a Parquet file first")
    return out.getvalue()


def _unpack(name: str, raw: pa.Buffer, packing: str) -> pa.Buffer:
    out = pa.BufferOutputStream()
    try:
        with pa.CompressedInputStream(pa.BufferReader(raw), packing) as stream:
            while chunk := stream.read(CHUNK):
                out.write(chunk)
                if problem := check_expansion(name, raw.size, out.tell()):
                    raise ReadError(problem)
    except (OSError, pa.ArrowException) as error:
        raise ReadError(
            f"{name} is damaged: its {packing} data end early or are wrong after "
            f"{out.tell():,} unpacked bytes ({reason_of(error)}); copy it again"
        ) from error
    return out.getvalue()


def columns_in_names(pattern: str, paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the columns that a pattern finds in paths: for each `{column}`, its text in each path.

    The pattern is matched against the end of a path, whole folders and the name without its endings; a
    place takes any text but "/", the first ones as much as they can.

    >>> columns_in_names("{system}/seed{seed}", ["runs/A/seed1.csv", "runs/B/seed2.csv.gz"])
    {'system': ['A', 'B'], 'seed': ['1', '2']}
    """
    columns = PLACE.findall(pattern)
    if not columns:
        raise ColumnError(f"the pattern {pattern!r} names no column: write something like {{system}}_seed{{seed}}")
    if twice := [column for column, count in Counter(columns).items() if count > 1]:
        raise ColumnError(f"the pattern {pattern!r} names {list_names(twice)} more than once")
    literals = PLACE.split(pattern)[::2]
    shape = re.compile("(?:.*/)?" + "([^/]+)".join(re.escape(text) for text in literals), flags=re.DOTALL)
    found: dict[str, list[str]] = {column: [] for column in columns}
    for path in paths:
        whole = os.path.abspath(path).replace(os.sep, "/")  # noqa: PTH100 (a name need not be that of a file)
        match = shape.fullmatch(without_endings(whole))
        if match is None:
            raise ColumnError(f"the name of {path} does not match the pattern {pattern!r}: all files must")
        for column, text in zip(columns, match.groups(), strict=True):
            found[column].append(text)
    return found
