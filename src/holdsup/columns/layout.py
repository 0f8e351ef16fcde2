"""How a text file is laid out (delimiter, header, decimal mark), found from its first lines."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

from holdsup.columns.limits import LONGEST_LINE
from holdsup.columns.typed import check_names
from holdsup.columns.values import MISSING_TOKENS, TRUTHS, parse_number
from holdsup.errors import ReadError

SAMPLE_ROWS = 200
BLANKS = " \t"  # a pseudo-delimiter: any run of blanks
COMMA_NUMBER = re.compile(r"[-+]?\d*,\d+([eE][-+]?\d+)?")
POINT_NUMBER = re.compile(r"[-+]?\d*\.\d+([eE][-+]?\d+)?")
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+")
THOUSANDS_POINTS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+")
STATED_FACET = "facets."  # begins the head of a column that is a facet, whatever it is called
UNNAMED = re.compile(r"unnamed[_:] ?\d+", flags=re.IGNORECASE)  # a column without a head, here and in pandas


@dataclass(frozen=True, slots=True)
class FileLayout:
    """What a delimited file looks like."""

    delimiter: str  # what stands between two fields; `BLANKS` for runs of blanks
    columns: tuple[str, ...]  # their names; made up for a file without a header line
    facets: tuple[str, ...]  # the columns of which the header says that they are facets: facets.rate is a column rate
    header: bytes  # the bytes before the first row: the names, and empty lines above them
    commas: frozenset[str]  # columns of numbers with a decimal comma
    # columns whose first rows hold nothing but numbers, not all of them written as true or false
    numeric: frozenset[str]


def find_layout(name: str, sample: bytes, *, complete: bool) -> FileLayout:
    """Return the layout of a file from its beginning; `complete` when `sample` is all of it."""
    # Not splitlines: a form feed or a Unicode line separator is part of a field, as it is for Arrow.
    lines = list(io.StringIO(sample.decode("utf-8", "surrogateescape"), newline=""))
    if not complete:
        lines.pop()  # cut in the middle
        if not lines:
            raise ReadError(f"line 1 of {name} is longer than {LONGEST_LINE >> 20} MiB: this is not a table")
    delimiter = _find_delimiter(lines)
    rows, ends = _rows(lines, delimiter)
    if not rows or not any(line.strip() for line in lines):
        raise ReadError(f"{name} is empty: a table needs a header line and rows")
    header, facets = b"", tuple[str, ...]()
    columns = ("item", "score")[-len(rows[0]) :]
    if _looks_like_scores(rows):
        _check_commas(name, lines, delimiter)
        _check_two_scores(name, rows)
    else:
        columns, facets = _column_names(name, rows[0])
        header = "".join(lines[: ends[0]]).encode("utf-8", "surrogateescape")
        rows = rows[1:]
    values = {c: [row[i] for row in rows if i < len(row)] for i, c in enumerate(columns)}
    commas = frozenset(c for c, tokens in values.items() if _has_decimal_commas(tokens))
    if commas:  # then 1.234 in another column may be a thousand: no number is read from it
        commas |= {c for c, tokens in values.items() if _has_thousands_points(tokens)}
    numeric = frozenset(
        c
        for c, tokens in values.items()
        if _all_numbers(tokens, "," if c in commas else ".") and not _all_truths(tokens)
    )
    return FileLayout(delimiter, columns, facets, header, commas, numeric)


def _rows(lines: list[str], delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Return the first rows of fields, empty lines passed over, and how many lines each reaches down."""
    rows: list[list[str]] = []
    ends: list[int] = []
    if delimiter == BLANKS:
        for number, line in enumerate(lines[: SAMPLE_ROWS + 1], start=1):
            if fields := re.findall(r"[^ \t\r\n]+", line):
                rows.append(fields)
                ends.append(number)
        return rows, ends
    reader = csv.reader(lines, delimiter=delimiter)
    before = csv.field_size_limit(LONGEST_LINE)
    try:
        for row in reader:
            if row:
                rows.append(row)
                ends.append(reader.line_num)
            if len(rows) > SAMPLE_ROWS:
                break
    except csv.Error:  # what came before has to do: Arrow says what is wrong
        pass
    finally:
        csv.field_size_limit(before)
    return rows, ends


def _find_delimiter(lines: list[str]) -> str:
    """Return the delimiter that cuts most lines into as many fields as the first one; else a comma."""
    quoted = any('"' in line for line in lines[:SAMPLE_ROWS])
    best, found = (50, 0, 0), ","
    for rank, delimiter in enumerate(["\t", ",", ";", "|", " " if quoted else BLANKS]):
        rows, _ = _rows(lines, delimiter)
        if not rows or len(rows[0]) < 2:
            continue
        alike = sum(len(row) == len(rows[0]) for row in rows)
        merit = (alike * 100 // len(rows), len(rows[0]) if delimiter in "\t,;|" else 0, -rank)
        if merit > best:
            best, found = merit, delimiter
    return found


def _looks_like_scores(rows: list[list[str]]) -> bool:
    """Return whether there is no header: lines of one number, or of an id and a number."""
    first = rows[0]
    if len(first) > 2 or any(len(row) != len(first) for row in rows[1:20]):
        return False
    token = first[-1].strip()
    # "NA" as the first score is no name of a column when numbers follow it
    absent = token in MISSING_TOKENS[1:] and len(first) == 1 and _all_numbers([row[-1] for row in rows[1:]], ".")
    return parse_number(token) is not None or absent


def _check_commas(name: str, lines: list[str], delimiter: str) -> None:
    """Refuse `0,5`: a score with a decimal comma, or item 0 with the score 5?"""
    filled = [line.strip() for line in lines[:SAMPLE_ROWS] if line.strip()]
    if delimiter == "," and all(COMMA_NUMBER.fullmatch(line) for line in filled):
        raise ReadError(
            f"{name} holds {filled[0]!r:.40}: is this a decimal comma, or an id and a score? Write decimals with "
            "a point, or name the columns in a first line `item,score`"
        )


def _check_two_scores(name: str, rows: list[list[str]]) -> None:
    """Refuse `0.50,0.61`: the scores of two systems, or an item called 0.50?"""
    if len(rows[0]) == 2 and all(POINT_NUMBER.fullmatch(row[0].strip()) for row in rows):
        raise ReadError(
            f"{name} holds {' '.join(rows[0])!r:.40} without a header: are these two scores, or an id and a score? "
            "Name the columns in a first line: `A,B` (and give --wide system=A,B), or `item,score`"
        )


def _all_numbers(values: list[str], decimal: str) -> bool:
    known = [token for value in values if (token := value.strip()) not in MISSING_TOKENS]
    return bool(known) and all(parse_number(token, decimal) is not None for token in known)


def _all_truths(values: list[str]) -> bool:
    known = [token for value in values if (token := value.strip()) not in MISSING_TOKENS]
    return all(token.lower() in TRUTHS for token in known)


def _has_decimal_commas(values: list[str]) -> bool:
    """Return whether a column's numbers have decimal commas beyond doubt: 1,234 may be a thousand or one."""
    known = [token for value in values if (token := value.strip()) not in MISSING_TOKENS]
    with_comma = [token for token in known if COMMA_NUMBER.fullmatch(token)]
    return (
        bool(with_comma)
        and not all(THOUSANDS.fullmatch(token) for token in with_comma)
        and not any(POINT_NUMBER.fullmatch(token) for token in known)
        and all(parse_number(token, ",") is not None for token in known)
    )


def _has_thousands_points(values: list[str]) -> bool:
    with_point = [value.strip() for value in values if "." in value]
    return bool(with_point) and all(THOUSANDS_POINTS.fullmatch(token) for token in with_point)


def _column_names(name: str, header: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the columns, and those of them that the header calls facets."""
    heads = [column.strip() or f"unnamed_{i}" for i, column in enumerate(header, start=1)]
    bare = [head.removeprefix(STATED_FACET) or head for head in heads]
    columns, facets = tuple(bare), tuple(column for head, column in zip(heads, bare, strict=True) if head != column)
    if not all(_is_unicode(column) for column in columns):
        raise ReadError(f"{name} is not UTF-8 text (first bad byte in its header): save it as UTF-8")
    check_names(name, columns)
    return columns, facets


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
