"""`Result`: what every answer carries, whatever the question."""

from __future__ import annotations

import dataclasses
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self, get_args, get_origin, get_type_hints

from holdsup import __version__
from holdsup.errors import MissingExtra, ResultError, list_names
from holdsup.rendering import Page, Table
from holdsup.rendering.numbers import format_count
from holdsup.results.files import write_file
from holdsup.results.plain import escape_hidden, from_plain, to_plain

__all__ = ["Result", "Rows", "to_backend"]


@dataclasses.dataclass(frozen=True, slots=True)
class Rows:
    """How many rows there were, how many were used, and why the others were not.

    Attributes
    ----------
    planned : rows that the input holds
    used : rows that the numbers rest on
    reasons : for the others, a reason and how many rows it took out
    """

    planned: int
    used: int
    reasons: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def sentence(self) -> str:
        """Return the line that stands under every table.

        >>> Rows(10, 8, {"no score": 2}).sentence()
        '8 of 10 rows used (2 with no score).'
        """
        why = ", ".join(f"{format_count(count)} with {reason}" for reason, count in self.reasons.items())
        return f"{format_count(self.used)} of {format_count(self.planned)} rows used{f' ({why})' if why else ''}."


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Result(ABC):
    """An answer: a frozen value that prints well and can be saved, restored and put into a report.

    Attributes
    ----------
    version : version of holdsup that made the result
    signature : one line from which a stranger can redo the numbers
    seed : seed of the randomness, null where there is none
    warnings : what limits trust in the numbers
    rows : rows planned and used, and why others were not
    verdict : the answer in words
    """

    kind: ClassVar[str]
    schema: ClassVar[int] = 1
    main_table: ClassVar[str] = ""  # what `to_frame` gives where nothing else is asked for; the first list if empty

    version: str = __version__
    signature: str
    seed: int | None
    warnings: tuple[str, ...] = ()
    rows: Rows
    verdict: str

    @abstractmethod
    def tables(self) -> tuple[Table, ...]:
        """Return the tables behind the verdict, as every rendering shows them."""

    def page(self) -> Page:
        """Return the whole answer, ready to be rendered."""
        return Page(
            verdict=self.verdict,
            tables=self.tables(),
            warnings=self.warnings,
            rows=self.rows.sentence(),
            signature=self.signature,
        )

    def __str__(self) -> str:
        return self.page().text()

    def _repr_html_(self) -> str:
        return self.page().html()

    def to_dict(self) -> dict[str, Any]:
        """Return the contract's JSON object: plain values at full precision."""
        return {"kind": self.kind, "schema": self.schema, **to_plain(self)}

    def to_json(self, *, ascii_only: bool = False) -> str:
        """Return `to_dict` as JSON text, which a terminal can show whatever labels hold."""
        return escape_hidden(json.dumps(self.to_dict(), ensure_ascii=ascii_only, allow_nan=False, indent=2)) + "\n"

    def write_json(self, path: str | Path) -> None:
        """Write `to_json` to a file that `holdsup.read_result` and `holdsup report` read."""
        write_file(path, self.to_json().encode())

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Return the result that `to_dict` was called on."""
        restored = from_plain(cls, dict(plain), path=cls.kind)
        assert isinstance(restored, cls)
        return restored

    def to_frame(self, table: str | None = None, backend: str = "pandas") -> Any:
        """Return one of the lists of the JSON object as a frame.

        Parameters
        ----------
        table : name of a list field such as "findings"; by default the one that answers the question
        backend : "pandas", "polars" or "pyarrow"
        """
        tables = {name: record for name, hint in get_type_hints(type(self)).items() if (record := _record_of(hint))}
        name = table or self.main_table or next(iter(tables), "")
        if name not in tables:
            raise ResultError(f"this {self.kind} result has no table {name!r}; it has {list_names(tables)}")
        rows = to_plain(getattr(self, name))
        import pyarrow as pa

        columns = {f.name: [row[f.name] for row in rows] for f in dataclasses.fields(tables[name])}
        return to_backend(pa.table(columns), backend)


def _record_of(hint: Any) -> Any:
    """Return the record that a field of type tuple[record, ...] is a table of, or None."""
    record = next(iter(get_args(hint)), None) if get_origin(hint) is tuple else None
    return record if dataclasses.is_dataclass(record) else None


def to_backend(arrow: Any, backend: str) -> Any:
    """Return an Arrow table as a pandas or polars frame, or as it is."""
    if backend == "pyarrow":
        return arrow
    if backend not in ("pandas", "polars"):
        raise ResultError(f"backend is {backend!r}; it can be 'pandas', 'polars' or 'pyarrow'")
    try:
        if backend == "pandas":
            return arrow.to_pandas()
        import polars

        return polars.from_arrow(arrow)
    except ModuleNotFoundError as error:
        raise MissingExtra.named(backend, purpose=f"to_frame(backend={backend!r})") from error
