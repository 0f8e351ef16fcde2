"""Delimited text: its bytes made ready, its columns read by Arrow, what cannot be read explained."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from holdsup.columns.layout import BLANKS, FileLayout, find_layout
from holdsup.columns.limits import LONGEST_LINE, reason_of
from holdsup.columns.values import MISSING_TOKENS, TEXT
from holdsup.errors import ReadError, quote_text
from holdsup.rendering.spreadsheet import FORMULA

SAMPLE = 256 * 2**10  # bytes from which the layout is found, unless the first line alone is longer
MARK = b"\xef\xbb\xbf"  # of the order of bytes, in UTF-8
PIECE = 2**18  # bytes looked at together: they stay in the cache


@dataclass(frozen=True, slots=True, eq=False)
class DelimitedTable:
    """A delimited text file, its layout known, its columns not read yet; `body` is what follows the header."""

    name: str
    stem: str
    body: pa.Buffer
    layout: FileLayout

    @property
    def columns(self) -> tuple[str, ...]:
        """The names in the header line."""
        return self.layout.columns

    @property
    def stated(self) -> dict[str, list[str]]:
        """The facets, if names in the header say that columns are some."""
        return {"facets": list(self.layout.facets)} if self.layout.facets else {}

    def guess(self, column: str) -> str:
        """Return "number" when the first rows hold only numbers, else "label"."""
        return "number" if column in self.layout.numeric else "label"

    def declares_order(self, column: str) -> bool:
        """Text declares no order of levels."""
        return False

    def decimal(self, column: str) -> str:
        """Return the decimal mark of a column's numbers."""
        return "," if column in self.layout.commas else "."

    def read(self, kinds: Mapping[str, str]) -> dict[str, pa.ChunkedArray]:
        """Return the columns asked for; one that turns out not to hold numbers comes back as text."""
        numbers = {column for column, kind in kinds.items() if kind == "number"}
        decimal = "," if numbers and numbers <= self.layout.commas else "."
        parsed = {column for column in numbers if self.decimal(column) == decimal}  # the others later, as text
        # The last column tells whether a quotation mark was left open.
        types = {column: pa.float64() if column in parsed else pa.string() for column in (*kinds, self.columns[-1])}
        while True:
            try:
                table = self._parse(types, decimal)
            except pa.ArrowInvalid as error:
                failed = re.match(r"In CSV column #(\d+): CSV conversion error to double", str(error))
                if not failed:
                    raise ReadError(self._explain(str(error))) from error
                types[self.columns[int(failed[1])]] = pa.string()
            else:
                if table[self.columns[-1]][-1].as_py():
                    raise ReadError(f"{self.name} ends within quotation marks: a closing one is missing, or its end")
                found = {column: table[column].slice(0, table.num_rows - 1) for column in kinds}
                return {c: _rearm(values) if kinds[c] == "label" else values for c, values in found.items()}

    def _parse(self, types: Mapping[str, pa.DataType], decimal: str) -> pa.Table:
        """Return the rows, and one of empty fields at the end, which an open quotation mark would swallow.

        Arrow is faster when told that no field holds a line break. That was so if it finds as many rows as
        there are lines; if it was not, it may have lost rows without a word.
        """
        try:
            table = self._parse_as(types, decimal, breaks=False)
            if table.num_rows - 1 == count_lines(self.body):
                return table
        except pa.ArrowInvalid:
            pass
        return self._parse_as(types, decimal, breaks=True)

    def _parse_as(self, types: Mapping[str, pa.DataType], decimal: str, *, breaks: bool) -> pa.Table:
        last = '""\n' if len(self.columns) == 1 else self._delimiter * (len(self.columns) - 1) + "\n"
        return pa_csv.read_csv(
            Extended(self.body, last.encode()),
            read_options=pa_csv.ReadOptions(column_names=list(self.columns), block_size=LONGEST_LINE),
            parse_options=pa_csv.ParseOptions(
                delimiter=self._delimiter,
                quote_char=False if self.layout.delimiter == BLANKS else '"',
                newlines_in_values=breaks,
                ignore_empty_lines=self._skips_empty,
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict(types),
                include_columns=list(types),
                null_values=list(MISSING_TOKENS),
                strings_can_be_null=False,
                decimal_point=decimal,
            ),
        )

    @property
    def _delimiter(self) -> str:
        return "\t" if self.layout.delimiter == BLANKS else self.layout.delimiter

    @property
    def _skips_empty(self) -> bool:
        """An empty line is a missing score where lines are paired by number; elsewhere it is nothing."""
        return len(self.columns) > 1

    def locate(self, row: int) -> str:
        """Return where the data row `row` (from 0) stands, as an editor counts lines."""
        for i, (line, _) in enumerate(self._rows()):
            if i == row:
                return f"line {line}"
        return f"row {row + 1}"

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and the fields of each data row, as Python reads them."""
        text = io.TextIOWrapper(pa.BufferReader(self.body), encoding="utf-8", errors="replace", newline="")
        above = len(self.layout.header.splitlines())
        before = csv.field_size_limit(LONGEST_LINE)
        try:
            if self.layout.delimiter == BLANKS:
                reader = csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE)
            else:
                reader = csv.reader(text, delimiter=self.layout.delimiter)
            start = above + 1
            for row in reader:
                if row or not self._skips_empty:
                    yield start, row
                start = above + reader.line_num + 1
        except csv.Error:
            return
        finally:
            csv.field_size_limit(before)

    def _explain(self, reason: str) -> str:
        """Return one line that names the row at which Arrow gave up."""
        if "straddling" in reason:
            return say_too_long(self.name)
        if "UTF8" in reason or "UTF-8" in reason:
            line = len(self.layout.header.splitlines()) + find_bad_line(self.body)
            return f"{self.name} is not UTF-8 text (first bad byte in line {line}): save it as UTF-8"
        wanted = len(self.columns)
        for line, row in self._rows():
            if len(row) != wanted:
                quote = " A quotation mark may be missing." if any('"' in f or "\n" in f for f in row) else ""
                return (
                    f"line {line} of {self.name} has {len(row)} fields, but the header has {wanted}: "
                    f"{quote_text(','.join(row), most=80)}.{quote} "
                    "Fix that line (quote fields that contain the delimiter)."
                )
        return f"{self.name} cannot be read as a table: {reason_of(ValueError(reason))}"


def _rearm(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return labels without the apostrophe that an export puts before what a spreadsheet would run."""
    if not pc.any(pc.starts_with(column, "'")).as_py():
        return column  # as nearly all are
    column = column.dictionary_encode()
    restored = rearm_texts(column.chunk(0).dictionary)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(chunk.indices, restored) for chunk in column.chunks], TEXT)


def open_delimited(name: str, stem: str, data: pa.Buffer) -> DelimitedTable:
    """Return a text file (UTF-8, no mark) as a table whose columns can be read."""
    sample = data[: min(SAMPLE, data.size)].to_pybytes()
    if data.size > SAMPLE and sample.count(b"\n") + sample.count(b"\r") < 2:  # a very wide table
        sample = data[: min(LONGEST_LINE, data.size)].to_pybytes()
    if b"\0" in sample:
        raise ReadError(f"{name} is binary (or UTF-16 without its mark), not a table of text: save it as UTF-8 CSV")
    layout = find_layout(name, sample, complete=len(sample) == data.size)
    body = data[len(layout.header) :]
    if layout.delimiter == BLANKS:
        body = tab_blanks(name, body)
    elif len(layout.columns) == 1:  # an empty line is a row there, but not at the end
        body = drop_last_blanks(body)
    return DelimitedTable(name, stem, body, layout)


class Extended(io.RawIOBase):
    """A buffer, its last line ended, and a last row after it."""

    def __init__(self, body: pa.Buffer, last: bytes) -> None:
        ended = body.size == 0 or body[body.size - 1 :].to_pybytes() in b"\r\n"
        marked = body[: min(3, body.size)].to_pybytes() == MARK  # Arrow drops one at the start, also a label's own
        self._parts = [
            memoryview(MARK if marked else b""),
            memoryview(body),
            memoryview(last if ended else b"\n" + last),
        ]

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; without a size, all of them."""
        taken = b""
        while self._parts and (size < 0 or len(taken) < size):
            part = self._parts.pop(0)
            room = len(part) if size < 0 else size - len(taken)
            taken += part[:room]
            if room < len(part):
                self._parts.insert(0, part[room:])
        return taken


def blank_comments(data: pa.Buffer, mark: bytes) -> pa.Buffer:
    """Return text with empty lines for those at its beginning that begin with `mark`: rows keep their line numbers.

    Below the header a line that begins with the mark is a row. A spreadsheet puts a comment that holds a
    comma between quotation marks.
    """
    stream = io.BufferedReader(pa.BufferReader(data))
    lines, end = 0, 0
    while line := stream.readline(LONGEST_LINE):
        if line.strip() and not line.startswith((mark, b'"' + mark)):
            break
        lines, end = lines + 1, end + len(line)
    return pa.py_buffer(b"\n" * lines + data[end:].to_pybytes()) if lines else data


def tab_blanks(name: str, body: pa.Buffer) -> pa.Buffer:
    """Return text with a tab for each run of blanks between fields, and none around them."""
    out = pa.BufferOutputStream()
    start = 0
    while start < body.size:
        piece = body[start : min(start + LONGEST_LINE, body.size)].to_pybytes()
        if start + len(piece) < body.size:
            piece = piece[: max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1]
            if not piece:
                raise ReadError(say_too_long(name))
        bare = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", piece)
        out.write(re.sub(rb"[ \t]+", b"\t", bare))
        start += len(piece)
    return out.getvalue()


def drop_last_blanks(body: pa.Buffer) -> pa.Buffer:
    """Return text without the blanks and empty lines at its end."""
    while body.size:
        last = body[max(0, body.size - PIECE) :].to_pybytes()
        blanks = len(last) - len(last.rstrip())
        body = body[: body.size - blanks]
        if blanks < len(last):
            break
    return body


def say_too_long(name: str) -> str:
    """Return what is wrong with a file whose lines do not end."""
    return f"{name} has a line longer than {LONGEST_LINE >> 20} MiB: this is not a table of scores"


def count_lines(body: pa.Buffer) -> int | None:
    """Return how many lines a text has, or None if they do not all end in a bare line feed."""
    text = np.frombuffer(body, np.uint8)
    lines = 0
    for start in range(0, len(text), PIECE):
        piece = text[start : start + PIECE]
        if (piece == ord("\r")).any():
            return None
        lines += int(np.count_nonzero(piece == ord("\n")))
    return lines + int(len(text) > 0 and text[-1] != ord("\n"))


def find_bad_line(data: pa.Buffer) -> int:
    """Return the first line, from 1, that is not UTF-8."""
    raw: bytes = data.to_pybytes()
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return raw.count(b"\n", 0, error.start) + 1
    return 1


def rearm_texts(levels: pa.StringArray) -> pa.StringArray:
    """Return the different texts of a column as they were before `disarm_text`.

    A column in which a text begins like a formula was not written so, and is left as it is: no two texts become one.
    """
    texts = levels.to_pylist()
    marked = [text is not None and FORMULA.match(text) is not None for text in texts]
    if not any(marked) or any(mark and not text.startswith("'") for mark, text in zip(marked, texts, strict=True)):
        return levels
    return pa.array([text[1:] if mark else text for mark, text in zip(marked, texts, strict=True)], pa.string())
