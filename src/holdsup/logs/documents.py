"""One JSON value that is larger than memory: an object member by member, an array element by element."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from holdsup.columns.limits import check_ratio, reason_of
from holdsup.errors import ReadError
from holdsup.logs.files import LONGEST, UNREADABLE, explain, open_file

CHUNK = 2**22  # bytes taken at a time
SPACE = re.compile(r"[ \t\n\r]*")
BEHIND = tuple(",:]} \t\n\r")  # what can stand behind a value
DECODER = json.JSONDecoder()


def walk(
    file: BinaryIO,
    name: str,
    *,
    size: int | None = None,
    lists: Container[str] = (),
    inside: Container[str] = (),
    wanted: Container[str] | None = None,
) -> Iterator[tuple[str, Any]]:
    """Yield the members of a JSON object as they are read; of an array its elements, under an empty name.

    Of a member in `lists` that is an array each element is yielded by itself, and the members of one in `inside` that
    is an object as if they were the document's own. Of elements that are objects only the members in `wanted` are
    needed: where each stands on a line of its own, as tools write documents for people, the others are passed over
    unread. Memory is that of the largest value. `size` is what a packed file takes.
    """
    text = _Text(file, name, size)
    if (opening := text.next()) == "[":
        yield from (("", element) for element in text.elements(wanted))
    elif opening == "{":
        yield from text.members(lists, inside, wanted)
    else:
        raise text.broken("it is neither an object nor an array")


def walk_file(path: Path, **how: Any) -> Iterator[tuple[str, Any]]:
    """Yield the members of a file that is one JSON value, packed or not, as `walk` does."""
    try:
        file = open_file(path)
    except OSError as error:
        raise ReadError(f"cannot read {path}: {reason_of(error)}") from error
    with file:
        yield from walk(file, str(path), size=path.stat().st_size, **how)


class _Text:
    """The text of a document, of which a window is in memory."""

    def __init__(self, file: BinaryIO, name: str, size: int | None) -> None:
        self._file, self._name, self._size = file, name, size
        self._taken = 0
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.data, self.at = "", 0
        self.space = ""  # the white space before `at`
        self.ended = False

    def more(self) -> bool:
        """Take more of the document; return whether there was more."""
        self.data, self.at = self.data[self.at :], 0
        if len(self.data) > LONGEST:
            raise ReadError(f"{self._name} holds a value of more than {LONGEST >> 20} MiB, or is not whole JSON")
        while not self.ended:
            try:
                chunk = self._file.read(max(CHUNK, len(self.data)))  # so that a long value is tried a few times only
                self.ended = not chunk
                taken = self._decoder.decode(chunk, self.ended)
            except UnicodeDecodeError as error:
                raise self.broken(explain(error)) from error
            except UNREADABLE as error:
                raise ReadError(f"cannot read {self._name}: {reason_of(error)}") from error
            self._taken += len(chunk)
            if self._size is not None and (problem := check_ratio(self._name, self._size, self._taken)):
                raise ReadError(problem)
            if taken:
                self.data += taken
                return True
        return False

    def broken(self, reason: object) -> ReadError:
        """Return the error that says what is wrong here."""
        return ReadError(f"{self._name} is not whole JSON ({reason}): it was cut off, or is still being written")

    def next(self) -> str:
        """Pass over white space; return the character behind it, none at the end."""
        self.space = ""
        while True:
            end = SPACE.match(self.data, self.at).end()  # type: ignore[union-attr]  # it matches nothing, too
            self.space += self.data[self.at : end]
            self.at = end
            if end < len(self.data):
                return self.data[end]
            if not self.more():
                return ""

    def take(self, marks: str) -> str:
        """Pass over white space and the mark behind it, which must be one of these."""
        mark = self.next()
        if not mark or mark not in marks:
            raise self.broken(f"{' or '.join(marks)} is missing")
        self.at += 1
        return mark

    def value(self) -> Any:
        """Return the value that begins behind white space."""
        self.next()
        while True:
            try:
                value, end = DECODER.raw_decode(self.data, self.at)
                if self.data[end : end + 1] in BEHIND or not self.more():  # the window may end within a number
                    self.at = end
                    return value
            except (ValueError, RecursionError) as error:
                if isinstance(error, RecursionError) or not self.more():
                    raise self.broken(explain(error)) from error

    def members(
        self, lists: Container[str], inside: Container[str], wanted: Container[str] | None
    ) -> Iterator[tuple[str, Any]]:
        """Yield the members of the object that begins here."""
        self.at += 1
        if self.next() == "}":
            self.at += 1
            return
        while True:
            key = self.value()
            if not isinstance(key, str):
                raise self.broken("a member has no name")
            self.take(":")
            if key in lists and self.next() == "[":
                yield from ((key, element) for element in self.elements(wanted))
            elif key in inside and self.next() == "{":
                yield from self.members(lists, inside, wanted)
            else:
                yield key, self.value()
            if self.take(",}") == "}":
                return
            self.next()

    def elements(self, wanted: Container[str] | None) -> Iterator[Any]:
        """Yield the elements of the array that begins here."""
        self.at += 1
        if self.next() == "]":
            self.at += 1
            return
        line, indent = self.space.rpartition("\n")[1:]
        while True:
            laid_out = wanted is not None and line and self.data[self.at : self.at + 1] == "{"
            yield self._members(line + indent, wanted or ()) if laid_out else self.value()
            if self.take(",]") == "]":
                return
            self.next()

    def _members(self, indent: str, wanted: Container[str]) -> Any:
        """Return the wanted members of an object that begins and ends at this indent.

        No text in JSON holds a line break, so that a line which begins so is never inside one.
        """
        closing, searched = indent + "}", self.at
        while (end := self.data.find(closing, searched)) < 0:
            passed = max(0, len(self.data) - self.at - len(closing))
            if not self.more():
                return self.value()  # which says what is wrong
            searched = self.at + passed
        inner = SPACE.match(self.data, self.at + 1).group()  # type: ignore[union-attr]
        if not inner.startswith(indent) or len(inner) == len(indent):
            return self.value()
        found, mark, at = {}, inner + '"', self.at
        while (at := self.data.find(mark, at, end)) >= 0:
            at += len(inner)
            try:
                key, at = DECODER.raw_decode(self.data, at)
                if key in wanted:
                    found[key], at = DECODER.raw_decode(self.data, at + len(": "))
            except (ValueError, RecursionError) as error:
                raise self.broken(explain(error)) from error
        self.at = end + len(closing)
        return found
