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
from holdsup.rendering import Answer, Page, State, Table
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results.asked import Asked
from holdsup.results.cautions import Caution, place_cautions
from holdsup.results.files import write_file
from holdsup.results.kinds import KINDS
from holdsup.results.plain import escape_hidden, from_plain, to_plain

PAIRS = "contrasts"  # the name of the table that lists pairs


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """What was done to get a result, in words that a paper can print, and whom to cite."""

    question: str  # what was asked
    sentences: tuple[str, ...] = ()  # what was done
    citations: tuple[str, ...] = ()  # keys of the references, the most important first


@dataclasses.dataclass(frozen=True, slots=True)
class Rows:
    """How many rows there were, how many were used, and why the others were not."""

    planned: int  # rows that the input holds
    used: int  # rows that the numbers rest on
    # for the others, a reason and how many rows it took out
    reasons: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def sentence(self, noun: str = "row") -> str:
        """Return how many of what is counted were used.

        >>> Rows(10, 8, {"no score": 2}).sentence()
        '8 of 10 rows used (2 with no score).'
        """
        why = ", ".join(f"{format_count(count)} with {reason}" for reason, count in self.reasons.items())
        counted = f"{format_count(self.used)} of {format_counted(self.planned, noun)} used"
        return f"{counted}{f' ({why})' if why else ''}."


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Result(ABC):
    """An answer: a frozen value that prints well and can be saved, restored and put into a report."""

    kind: ClassVar[str]
    schema: ClassVar[int] = 2
    counted: ClassVar[str] = "row"  # what `rows` counts
    main_table: ClassVar[str] = ""  # what `to_frame` gives where nothing else is asked for; the first list if empty
    # What is saved for readers of the JSON and made anew from the fields when a result is restored.
    derived: ClassVar[Mapping[str, Any]] = {
        "state": State | None, "headline": str, "verdict": str, "warnings": tuple[str, ...], "signature": str,
    }  # fmt: skip

    version: str = __version__  # version of holdsup that made the result
    asked: Asked  # what was asked, of which data
    cautions: tuple[Caution, ...] = ()  # what limits the answer
    seed: int | None  # seed of the randomness, null where there is none
    rows: Rows  # rows planned and used, and why others were not

    @abstractmethod
    def answer(self) -> Answer:
        """Return what the result says in ten seconds."""

    @abstractmethod
    def tables(self) -> tuple[Table, ...]:
        """Return the tables behind the answer, as every rendering shows them."""

    @property
    def state(self) -> State | None:
        """The answer in one word: yes, no or unclear; null where the question has no yes or no."""
        return self.answer().state

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        return self.answer().headline

    @property
    def verdict(self) -> str:
        """The answer, and what it holds for."""
        return self.answer().sentence()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What limits the answer, as sentences."""
        return tuple(caution.sentence() for caution in self.cautions)

    @property
    def signature(self) -> str:
        """One line from which a stranger can redo the numbers."""
        return self.asked.sign(self.version)

    def describe_method(self) -> Method:
        """Return what was done, in words that a paper can print."""
        return Method(question=KINDS[self.kind].question)

    def remarks(self) -> tuple[Caution, ...]:
        """Return the cautions that a page shows at the answer or at a table: those that no table lists."""
        return self.cautions

    def page(self) -> Page:
        """Return the whole result, ready to be rendered."""
        tables = self.tables()
        whole, beside = place_cautions(self.remarks(), tables)
        return Page(
            answer=self.answer(),
            tables=tables,
            cautions=tuple(caution.sentence() for caution in whole),
            beside={place: tuple(caution.sentence() for caution in own) for place, own in beside.items()},
            rows=self.rows.sentence(self.counted),
        )

    def list_pairs(self) -> Page:
        """Return the answer with all pairs below it."""
        page = self.page()
        kept = [i for i, table in enumerate(page.tables) if table.name == PAIRS]
        if not kept:
            raise ResultError(f"a {self.kind} result has no pairs to list: leave --pairs out")
        beside = {place: page.beside[i] for place, i in enumerate(kept) if i in page.beside}
        return dataclasses.replace(page, tables=tuple(page.tables[i] for i in kept), beside=beside, cautions=())

    def __str__(self) -> str:
        return self.answer().text()

    def _repr_html_(self) -> str:
        return self.page().html()

    def to_dict(self) -> dict[str, Any]:
        """Return the contract's JSON object: plain values at full precision."""
        made = {name: to_plain(getattr(self, name)) for name in self.derived}
        return {"kind": self.kind, "schema": self.schema, **made, **to_plain(self)}

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
        hints = {**self.derived, **get_type_hints(type(self))}
        tables = {name: record for name, hint in hints.items() if (record := _record_of(hint))}
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
