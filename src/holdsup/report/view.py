"""Results as a plain view: what a page shows, in order, without a word of markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

from holdsup.errors import ResultError
from holdsup.plots import Panel, find_panels
from holdsup.rendering import Table
from holdsup.rendering.table import visible
from holdsup.report.cautions import place_warnings
from holdsup.report.methods import describe_method
from holdsup.report.origins import remark_version
from holdsup.report.redoing import command_of
from holdsup.results import Result, find_scored, parse_signature

__all__ = ["Block", "Entry", "Picture", "Section", "View", "make_view"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A result that goes into a report, and what is said around it.

    Attributes
    ----------
    result : the result
    heading : what stands above it; by default its question
    gist : what to make of it in plain words, for readers of the verdicts alone; "" for nothing
    notes : paragraphs before its verdict, such as how the data came about, each with the word that it begins with
        ("" for none)
    source : the name of the file that it was read from; "" for none
    remarks : what is to be said of that file
    """

    result: Result
    heading: str = ""
    gist: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    source: str = ""
    remarks: tuple[str, ...] = ()


@contextmanager
def showing(source: str) -> Iterator[None]:
    """Say of which file a result cannot be shown: one that was edited may name what it does not hold."""
    try:
        yield
    except (LookupError, ValueError, TypeError, ArithmeticError, StopIteration) as error:
        if not source:  # made here, just now: a fault of ours
            raise
        raise ResultError(
            f"{source} cannot be shown, since its parts contradict each other (at {error}): was it edited? Make it anew"
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture in a report.

    Attributes
    ----------
    name : for the name of a file, other than that of any other picture of the report
    caption : what is drawn
    alt : the same for who does not see it, with the verdict
    panel : what draws it
    source : the file that its result was read from
    """

    name: str
    caption: str
    alt: str
    panel: Panel
    source: str = ""

    def draw(self) -> Any:
        """Return the picture as a figure."""
        with showing(self.source):
            return self.panel.draw()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A table, what limits trust in it, and the pictures beside it.

    Attributes
    ----------
    name : for the name of a file, other than that of any other block of the report
    table : the table
    warnings : those of the result that are of this table
    pictures : the pictures
    """

    name: str
    table: Table
    warnings: tuple[str, ...]
    pictures: tuple[Picture, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One result in a report.

    Attributes
    ----------
    name : for links, other than that of any other section
    kind : the kind of result
    heading : what stands above it
    subject : what it is of: the score, the kind of result and the file, by which results on one page are told apart
    question : what was asked
    gist : what to make of it in plain words
    notes : paragraphs before the verdict, each with the word that it begins with
    source : the file that it was read from
    remarks : what is to be said of that file, and of the version that wrote it
    verdict : the answer
    warnings : what limits trust in all of it; what limits a table stands in its block
    blocks : tables and pictures
    rows : rows used and planned
    method : what was done, a sentence each
    citations : keys of references
    signature : the line from which a stranger can redo it
    command : the command that does; None where the signature does not tell all of it
    """

    name: str
    kind: str
    heading: str
    subject: str
    question: str
    gist: str
    notes: tuple[tuple[str, str], ...]
    source: str
    remarks: tuple[str, ...]
    verdict: str
    warnings: tuple[str, ...]
    blocks: tuple[Block, ...]
    rows: str
    method: tuple[str, ...]
    citations: tuple[str, ...]
    signature: str
    command: str | None

    @property
    def title(self) -> str:
        """The heading with what it is of."""
        return f"{self.heading} {self.subject}"

    @property
    def limits(self) -> int:
        """How many warnings there are in all."""
        return len(self.warnings) + sum(len(block.warnings) for block in self.blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A whole report.

    Attributes
    ----------
    title : its title
    introduction : paragraphs at its beginning
    sections : the results, in order
    systems : all systems in it, which keep one colour each
    """

    title: str
    introduction: tuple[str, ...]
    sections: tuple[Section, ...]
    systems: tuple[str, ...]

    @property
    def citations(self) -> tuple[str, ...]:
        """Keys of all references, in the order of their first use."""
        return tuple(dict.fromkeys(key for section in self.sections for key in section.citations))


def make_view(
    entries: Iterable[Result | Entry], *, title: str | None = None, introduction: str | Sequence[str] = ()
) -> View:
    """Return what a report of these results shows, in the order given."""
    given = [entry if isinstance(entry, Entry) else Entry(result=entry) for entry in entries]
    if not given:
        raise ResultError("a report needs results: give one or more, as commands save them with --format json -o FILE")
    usual = "Does this result hold up?" if len(given) == 1 else "Do these results hold up?"
    paragraphs = [introduction] if isinstance(introduction, str) else introduction
    return View(
        title=visible(usual if title is None else title),
        introduction=tuple(visible(paragraph) for paragraph in paragraphs if paragraph),
        sections=tuple(
            _section(entry, place, subject)
            for place, (entry, subject) in enumerate(zip(given, _subjects(given), strict=True), start=1)
        ),
        systems=tuple(sorted({name for entry in given for name in find_systems(entry.result)})),
    )


def _subjects(entries: Sequence[Entry]) -> list[str]:
    """Return what each result is of; where two would be the same, with the digest of their data."""
    plain = [_subject(entry) for entry in entries]
    return [
        said if plain.count(said) == 1 else _subject(entry, parse_signature(entry.result.signature).get("data", ""))
        for entry, said in zip(entries, plain, strict=True)
    ]


def _subject(entry: Entry, digest: str = "") -> str:
    scored = find_scored(entry.result).caption()
    known = [entry.result.kind, entry.source, f"data {digest}" if digest else ""]
    return f"{f'Of {scored} ' if scored else ''}({', '.join(part for part in known if part)})"


def _section(entry: Entry, place: int, subject: str) -> Section:
    with showing(entry.source):
        return _show(entry, place, subject)


def _show(entry: Entry, place: int, subject: str) -> Section:
    result = entry.result
    name = f"{place}-{result.kind}"
    page, method, command = result.page(), describe_method(result), command_of(result)
    warnings, beside = place_warnings(result, page.tables, tuple(map(visible, page.warnings)))
    return Section(
        name=name,
        kind=result.kind,
        heading=visible(entry.heading or method.question),
        subject=visible(subject),
        question=method.question,
        gist=visible(entry.gist),
        notes=tuple((visible(word), visible(text)) for word, text in entry.notes),
        source=visible(entry.source),
        remarks=tuple(visible(remark) for remark in (remark_version(result), *entry.remarks) if remark),
        verdict=visible(page.verdict),
        warnings=warnings,
        blocks=_blocks(result, page.tables, beside, name, entry.source),
        rows=visible(page.rows),
        method=tuple(map(visible, method.sentences)),
        citations=method.citations,
        signature=visible(page.signature),
        command=None if command is None else visible(command),
    )


def _blocks(
    result: Result, tables: Sequence[Table], warnings: Mapping[int, tuple[str, ...]], name: str, source: str
) -> tuple[Block, ...]:
    """Return the tables with their pictures; one that belongs to none of them stands beside the first.

    Captions say what the score is: in a report, and in a paper, a table stands far from its verdict.
    """
    scored = find_scored(result)
    beside: dict[int, list[Picture]] = {}
    for panel in find_panels(result):
        own = [i for i, table in enumerate(tables) if panel.beside and table.title.startswith(panel.beside)]
        shows = visible(scored.caption_table(panel.shows or "The figure of this result."))
        alt = f"{shows} {visible(result.verdict)}"
        picture = Picture(name=f"{name}-{panel.name}", caption=shows, alt=alt, panel=panel, source=source)
        beside.setdefault(own[0] if own else 0, []).append(picture)
    return tuple(
        Block(
            name=f"{name}-table-{i + 1}",
            table=replace(table, title=scored.caption_table(table.title)),
            warnings=warnings.get(i, ()),
            pictures=tuple(beside.get(i, ())),
        )
        for i, table in enumerate(tables)
    )


def find_systems(result: Result) -> set[str]:
    """Return the names of the systems in a result, whatever its kind: fields have the same names in all."""
    found: set[str] = set()
    for field in fields(result):
        rows = getattr(result, field.name)
        for row in rows if isinstance(rows, tuple) else ():
            name = getattr(row, "system", None) or (getattr(row, "name", None) if field.name == "systems" else None)
            found.update([name] if isinstance(name, str) else [])
    return found
