"""CSV, TSV and their kin: parsed by Arrow, explained by Python when something is wrong."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv as pa_csv

from holdsup.columns.encoding import MISSING_TOKENS, TEXT
from holdsup.columns.layout import BLANKS, Layout, find_layout
from holdsup.columns.limits import LONGEST_LINE
from holdsup.errors import ReadError

__all__ = ["DelimitedTable", "open_delimited"]

BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True, slots=True, eq=False)
class DelimitedTable:
    """A delimited text file, its layout known, its columns not read yet."""

    name: str
    stem: str
    data: pa.Buffer
    layout: Layout

    @property
    def columns(self) -> tuple[str, ...]:
        """The names in the header line."""
        return self.layout.columns

    def guess(self, column: str) -> str:
        """Return "number" when the first rows hold only numbers, else "label"."""
        return "number" if column in self.layout.numeric else "label"

    def declares_order(self, column: str) -> bool:
        """Text declares no order of levels."""
        return False

    def read(self, kinds: Mapping[str, str]) -> dict[str, pa.ChunkedArray]:
        """Return the columns asked for; one that turns out not to hold numbers comes back as text."""
        types = {column: pa.float64() if kind == "number" else TEXT for column, kind in kinds.items()}
        while True:
            try:
                table = self._parse(types)
            except pa.ArrowInvalid as error:
                failed = re.match(r"In CSV column #(\d+): CSV conversion error to double", str(error))
                if not failed:
                    raise ReadError(self._explain(str(error))) from error
                types[self.columns[int(failed[1])]] = TEXT
            else:
                return {column: table[column] for column in kinds}

    def _parse(self, types: Mapping[str, pa.DataType]) -> pa.Table:
        return pa_csv.read_csv(
            pa.BufferReader(self.data),
            read_options=pa_csv.ReadOptions(
                column_names=list(self.columns), skip_rows=int(self.layout.header), block_size=LONGEST_LINE
            ),
            parse_options=pa_csv.ParseOptions(
                delimiter="\t" if self.layout.delimiter == BLANKS else self.layout.delimiter,
                newlines_in_values=True,
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict(types),
                include_columns=list(types),
                null_values=list(MISSING_TOKENS),
                strings_can_be_null=False,
                decimal_point=self.layout.decimal,
            ),
        )

    def locate(self, row: int) -> str:
        """Return where the data row `row` (from 0) stands, as an editor counts lines."""
        for i, (line, _) in enumerate(self._rows()):
            if i == row:
                return f"line {line}"
        return f"row {row + 1}"

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and the fields of each data row, as Python reads them."""
        text = io.TextIOWrapper(io.BytesIO(self.data), encoding="utf-8-sig", errors="replace", newline="")
        before = csv.field_size_limit(LONGEST_LINE)
        try:
            delimiter = "\t" if self.layout.delimiter == BLANKS else self.layout.delimiter
            reader = csv.reader(text, delimiter=delimiter)
            start, header = 1, self.layout.header
            for row in reader:
                if row and not header:
                    yield start, row
                header = header and not row
                start = reader.line_num + 1
        except csv.Error:
            return
        finally:
            csv.field_size_limit(before)

    def _explain(self, reason: str) -> str:
        """Return one line that names the row at which Arrow gave up."""
        if "straddling" in reason:
            return f"{self.name} has a line longer than {LONGEST_LINE >> 20} MiB: this is no table of scores"
        if "UTF8" in reason or "UTF-8" in reason:
            return f"{self.name} is not UTF-8 text (first bad byte in line {_bad_line(self.data)}): save it as UTF-8"
        wanted = len(self.columns)
        for line, row in self._rows():
            if len(row) != wanted:
                quote = " A quotation mark may be missing." if any('"' in f or "\n" in f for f in row) else ""
                return (
                    f"line {line} of {self.name} has {len(row)} fields, but the header names {wanted} columns: "
                    f"{','.join(row)!r:.80}.{quote} Mend that line (quote fields that contain the delimiter)."
                )
        return f"{self.name} cannot be read as a table: {reason.partition(chr(10))[0]}"


def open_delimited(name: str, stem: str, data: pa.Buffer) -> DelimitedTable:
    """Return a text file as a table whose columns can be read."""
    data = _as_utf8(name, data)
    sample = data[: min(LONGEST_LINE, data.size)].to_pybytes()
    if b"\0" in sample:
        raise ReadError(f"{name} is binary (or UTF-16 without its mark), not a table of text: save it as UTF-8 CSV")
    layout = find_layout(name, sample.decode("utf-8", "replace"), complete=data.size <= LONGEST_LINE)
    if layout.delimiter == BLANKS:
        data = pa.py_buffer(re.sub(rb"[ \t]+", b"\t", re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", data.to_pybytes())))
    return DelimitedTable(name, stem, data, layout)


def _as_utf8(name: str, data: pa.Buffer) -> pa.Buffer:
    head = data[: min(3, data.size)].to_pybytes()
    encoding = next((e for mark, e in BYTE_ORDER_MARKS.items() if head.startswith(mark)), None)
    if encoding == "utf-8-sig":
        return data[3:]
    if encoding is None:
        return data
    try:
        return pa.py_buffer(data.to_pybytes().decode(encoding).encode())
    except UnicodeDecodeError as error:
        raise ReadError(f"{name} begins as UTF-16 but breaks off at byte {error.start:,}: copy it again") from error


def _bad_line(data: pa.Buffer) -> int:
    raw: bytes = data.to_pybytes()
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return raw.count(b"\n", 0, error.start) + 1
    return 1
