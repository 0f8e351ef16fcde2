"""Python objects (frames, dicts of columns, lists of records) as Arrow tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import pyarrow as pa

from holdsup.columns.limits import FLATTENED, MOST_COLUMNS, check_expansion, reason_of
from holdsup.columns.values import write_value
from holdsup.errors import ReadError, list_names

CELL = 8  # bytes that a value takes in a list, a missing one too


def to_arrow(name: str, frame: Any) -> pa.Table:
    """Return anything with an Arrow stream as an Arrow table; columns of mixed values become labels."""
    if hasattr(frame, "collect") and not hasattr(frame, "__arrow_c_stream__"):  # a polars LazyFrame
        raise ReadError(f"a {type(frame).__name__} holds no rows yet: call .collect() on it first")
    if hasattr(frame, "to_frame") and not hasattr(frame, "columns"):  # a Series of pandas or polars
        raise ReadError(f"a {type(frame).__name__} is one column, not a table: pass a frame or a dict of columns")
    streams = hasattr(frame, "__arrow_c_stream__")
    framed = streams and hasattr(frame, "dtypes")  # pandas, polars, DuckDB
    named = [str(column) for column in frame.columns] if framed else []
    if twice := [column for column, count in Counter(named).items() if count > 1]:  # pandas allows it
        raise ReadError(f"{name} has more than one column named {list_names(twice)}: rename all but one")
    try:
        try:
            return pa.table(frame)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            if not framed:
                raise
            return _mended(name, frame)
    except ReadError:
        raise
    except Exception as error:  # a DuckDB relation, say, runs its query only now
        if streams:
            raise ReadError(f"{name} cannot be read as an Arrow table: {reason_of(error)}") from error
        raise ReadError(
            f"an object of type {type(frame).__name__} is not a table: pass a path, a frame with an Arrow stream "
            "(pandas 2.2+, polars, pyarrow, DuckDB), a dict of columns or a list of records"
        ) from error


def _mended(name: str, frame: Any) -> pa.Table:
    """Return a frame of which Arrow cannot take some column; its mixed values are written as labels."""
    if not hasattr(frame, "index"):  # polars
        return from_columns(name, {column: frame[column] for column in frame.columns})
    frame = frame.copy(deep=False)
    for column in frame.columns:
        if frame[column].dtype == object:
            frame[column] = _array(name, str(column), frame[column]).to_numpy(zero_copy_only=False)
    return pa.table(frame)


def from_columns(name: str, columns: Mapping[Any, Any]) -> pa.Table:
    """Return a dict of columns as an Arrow table."""
    named = Counter(str(column) for column in columns)
    if twice := [column for column, count in named.items() if count > 1]:  # 1 and "1", say
        raise ReadError(f"{name} has more than one column named {list_names(twice)}: rename all but one")
    arrays = {str(column): _array(name, str(column), values) for column, values in columns.items()}
    lengths = {len(array): column for column, array in arrays.items()}
    if len(lengths) > 1:
        (short, first), (long, second) = min(lengths.items()), max(lengths.items())
        raise ReadError(f"the columns of {name} differ in length: {first!r} has {short:,} rows, {second!r} {long:,}")
    try:
        return pa.table(arrays)
    except UnicodeEncodeError as error:
        raise ReadError(f"the name of a column of {name} is not Unicode text ({reason_of(error)})") from error


def from_records(name: str, records: Sequence[Any]) -> pa.Table:
    """Return a list of dicts as an Arrow table; a key that a record lacks is a missing value."""
    columns: dict[str, list[Any]] = {}
    given = 0
    for i, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise ReadError(f"record {i + 1} of {name} is {record!r:.60}, not an object with named fields")
        before = len(columns)
        for key, value in _fields(record):
            given += 1
            values = columns.setdefault(key, [])
            if len(values) > i:  # 1 and "1", say
                raise ReadError(f"record {i + 1} of {name} has more than one field named {key!r}: rename one")
            values.extend([None] * (i - len(values)))
            values.append(value)
        if len(columns) > MOST_COLUMNS:
            raise ReadError(f"the records of {name} have more than {MOST_COLUMNS:,} different fields")
        if len(columns) > before or i + 1 == len(records):
            problem = check_expansion(name, CELL * given, CELL * (i + 1) * len(columns))
            if problem:
                raise ReadError(problem)
    for values in columns.values():
        values.extend([None] * (len(records) - len(values)))
    return from_columns(name, columns)


def _fields(record: Mapping[Any, Any], prefix: str = "", level: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a record; those of an object in it by a name with a point: metrics.f1."""
    for key, value in record.items():
        if isinstance(value, Mapping) and level < FLATTENED:
            yield from _fields(value, f"{prefix}{key}.", level + 1)
        else:
            yield f"{prefix}{key}", value


def _array(name: str, column: str, values: Any) -> Any:
    """Return a column as Arrow has it; values of mixed types, each written as a label."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    odd = isinstance(values, str | bytes | Mapping | Set) or not isinstance(values, Iterable)
    if odd or getattr(values, "ndim", 1) != 1:
        raise ReadError(f"column {column!r} of {name} is a {type(values).__name__}, not a list of values")
    values = values if hasattr(values, "__len__") else list(values)
    try:
        try:
            return pa.array(values)
        except UnicodeEncodeError:
            raise
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return pa.array([write_value(value) for value in values], pa.string())
    except Exception as error:  # half a surrogate pair, an integer of 5,000 digits, an object without text
        raise ReadError(f"column {column!r} of {name} holds a value that is not a label: {reason_of(error)}") from error
