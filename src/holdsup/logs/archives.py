"""Zip archives of logs: members read as streams within limits, those that are packed by zstd on every Python."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import pyarrow as pa

from holdsup.columns.limits import LARGEST_DOCUMENT, check_expansion, reason_of
from holdsup.errors import ReadError
from holdsup.logs.files import parse

ZSTD = 93  # the method of compression that Python's zipfile knows from 3.14 only
ENCRYPTED = 1  # a flag of a member
LOCAL = struct.Struct("<4s22xHH")  # what stands before a member: mark, length of its name, length of what follows that
MARK = b"PK\x03\x04"
FAULTS = (zipfile.BadZipFile, zlib.error, pa.ArrowException, struct.error, OSError, EOFError, ValueError, RuntimeError)


class Archive:
    """A zip archive that is open for reading; of members with one name the last counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise ReadError(f"cannot read {path}: {reason_of(error)}") from error
        try:
            self._zip = zipfile.ZipFile(self._file)
        except (*FAULTS, NotImplementedError) as error:
            self._file.close()
            raise ReadError(
                f"{path} is not a whole zip archive ({reason_of(error)}): "
                "it was cut off, or is still being written; copy it again"
            ) from error

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()
        self._file.close()

    @property
    def names(self) -> list[str]:
        """The names of the members, each once."""
        return list(self._zip.NameToInfo)

    def document(self, name: str) -> Any:
        """Return a member that is one JSON value."""
        with self.open(name) as member:
            data = member.read(LARGEST_DOCUMENT + 1)
        if len(data) > LARGEST_DOCUMENT:
            raise ReadError(f"{name} in {self.path} is one JSON value of more than {LARGEST_DOCUMENT >> 20} MiB")
        return parse(data, f"{name} in {self.path}")

    def open(self, name: str) -> BinaryIO:
        """Return a member as a stream that ends in an error unless it held what the archive says."""
        info = self._zip.getinfo(name)
        label = f"{name} in {self.path}"
        if info.flag_bits & ENCRYPTED:
            raise ReadError(f"{label} is encrypted")
        if problem := check_expansion(label, info.compress_size, info.file_size):
            raise ReadError(problem)
        try:
            return io.BufferedReader(_Member(self._unpack(info), info, label))
        except (*FAULTS, NotImplementedError) as error:
            raise _damaged(label, error) from error

    def _unpack(self, info: zipfile.ZipInfo) -> Any:
        if info.compress_type != ZSTD:
            return self._zip.open(info)
        self._file.seek(info.header_offset)
        mark, name, extra = LOCAL.unpack(self._file.read(LOCAL.size))
        if mark != MARK:
            raise zipfile.BadZipFile("no member starts where the directory says")
        start = info.header_offset + LOCAL.size + name + extra
        section = _Section(self._file, start, start + info.compress_size)
        return pa.CompressedInputStream(pa.PythonFile(section, mode="r"), "zstd")


class _Section(io.RawIOBase):
    """A part of a file that others read from, too."""

    def __init__(self, file: BinaryIO, start: int, end: int) -> None:
        self._file, self._at, self._end = file, start, end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._at)
        data = self._file.read(min(len(buffer), self._end - self._at))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


class _Member(io.RawIOBase):
    """What comes out of a member, checked against its size and its checksum."""

    def __init__(self, stream: Any, info: zipfile.ZipInfo, label: str) -> None:
        self._stream, self._info, self._label = stream, info, label
        self._taken = self._sum = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._stream.read(len(buffer))
        except FAULTS as error:
            raise _damaged(self._label, error) from error
        buffer[: len(data)] = data
        self._taken += len(data)
        self._sum = zlib.crc32(data, self._sum)
        if self._taken > self._info.file_size:
            raise _damaged(self._label, "it holds more than it says")
        if not data and buffer and (self._taken, self._sum) != (self._info.file_size, self._info.CRC):
            raise _damaged(self._label, "its checksum is another")
        return len(data)


def _damaged(label: str, reason: BaseException | str) -> ReadError:
    why = reason if isinstance(reason, str) else reason_of(reason)
    return ReadError(f"{label} is damaged ({why}): copy the archive again")
