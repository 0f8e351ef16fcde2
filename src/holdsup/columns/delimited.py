"""CSV, TSV and their kin: parsed by Arrow, explained by Python when something is wrong."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from holdsup.columns.formulas import rearm_texts
from holdsup.columns.layout import BLANKS, Layout, find_layout
from holdsup.columns.limits import LONGEST_LINE, reason_of
from holdsup.columns.raw_text import Extended, count_lines, drop_last_blanks, find_bad_line, say_too_long, tab_blanks
from holdsup.columns.values import MISSING_TOKENS, TEXT
from holdsup.errors import ReadError, quote_text

__all__ = ["DelimitedTable", "open_delimited"]

SAMPLE = 256 * 2**10  # bytes from which the layout is found, unless the first line alone is longer


@dataclass(frozen=True, slots=True, eq=False)
class DelimitedTable:
    """A delimited text file, its layout known, its columns not read yet; `body` is what follows the header."""

    name: str
    stem: str
    body: pa.Buffer
    layout: Layout

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
