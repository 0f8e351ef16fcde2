"""Results as a plain view: what a page shows, in order, without a word of markup."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, TypeVar

from holdsup import __version__
from holdsup.errors import ResultError
from holdsup.plots import Panel, find_panels, one_palette
from holdsup.rendering import State, Table
from holdsup.rendering.table import visible
from holdsup.results import Caution, Method, Result, find_extra, find_scored, order_cautions
from holdsup.results.cautions import place_cautions
from holdsup.results.reading import showing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Drawn = TypeVar("Drawn")
CAVEATS = ("caveat", "error", "warning")  # labels of lines at the foot of a short answer; a page has all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A result that goes into a report, and what is said around it."""

    result: Result  # the result
    heading: str = ""  # what stands above it; by default its question
    gist: str = ""  # what to make of it in plain words; "" for nothing
    # paragraphs before its answer, such as how the data came about, each with the word that it begins with ("" for
    # none)
    notes: tuple[tuple[str, str], ...] = ()
    source: str = ""  # the name of the file that it was read from; "" for none
    remarks: tuple[str, ...] = ()  # what is to be said of that file


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture in a report."""

    name: str  # for the name of a file, other than that of any other picture of the report
    caption: str  # what is drawn
    alt: str  # the same for who does not see it, with the answer
    panel: Panel  # what draws it
    source: str = ""  # the file that its result was read from

    def draw(self) -> Figure:
        """Return the picture as a figure."""
        with showing(self.source):
            return self.panel.draw()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A table, what limits it, and its pictures."""

    name: str  # for the name of a file, other than that of any other block of the report
    table: Table  # the table
    cautions: tuple[str, ...] = ()  # those of the result that are about this table
    pictures: tuple[Picture, ...] = ()  # the pictures


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One result in a report."""

    name: str  # for links, other than that of any other section
    kind: str  # the kind of result
    heading: str  # what stands above it: the question, or what an entry says
    # what it is of: the score, the kind of result and the file, by which results on one page are told apart
    subject: str
    state: State | None  # the answer in one word; None where there is no such word
    headline: str  # the answer in one sentence
    foot: tuple[tuple[str, str], ...]  # what it holds for and what would settle it, each with its label
    # what limits it, the gravest first; what is only good to know about one table is at that table alone
    caveats: tuple[str, ...]
    gist: str  # what to make of it in plain words
    notes: tuple[tuple[str, str], ...]  # paragraphs before the answer, each with the word that it begins with
    source: str  # the file that it was read from
    remarks: tuple[str, ...]  # what is to be said of that file, and of the version that wrote it
    picture: Picture | None  # the picture that answers the question, if there is one
    small: tuple[Block, ...]  # the small tables of the answer
    blocks: tuple[Block, ...]  # all tables, with the other pictures
    rows: str  # rows used and planned
    method: tuple[str, ...]  # what was done, a sentence each
    citations: tuple[str, ...]  # keys of references
    signature: str  # the line from which a stranger can redo it
    command: str | None  # the command that does; None where none does

    @property
    def title(self) -> str:
        """The heading with what it is of."""
        return f"{self.heading} {self.subject}"

    def pictures(self) -> tuple[Picture, ...]:
        """Return all pictures, the one that answers the question first."""
        first = () if self.picture is None else (self.picture,)
        return (*first, *(picture for block in self.blocks for picture in block.pictures))


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A whole report."""

    title: str  # its title
    introduction: tuple[str, ...]  # paragraphs at its beginning
    sections: tuple[Section, ...]  # the results, in order
    systems: tuple[str, ...]  # all systems in it, which keep one colour each
    tales: bool = False  # whether cards tell all that most readers need, and the results are folded below them

    @property
    def citations(self) -> tuple[str, ...]:
        """Keys of all references, in the order of their first use."""
        return tuple(dict.fromkeys(key for section in self.sections for key in section.citations))


def make_view(
    entries: Iterable[Result | Entry],
    *,
    title: str | None = None,
    introduction: str | Sequence[str] = (),
    tales: bool = False,
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
        tales=tales,
    )


def _subjects(entries: Sequence[Entry]) -> list[str]:
    """Return what each result is of; where two would be the same, with the digest of their data."""
    plain = [_subject(entry) for entry in entries]
    return [
        said if plain.count(said) == 1 else _subject(entry, entry.result.asked.data or "")
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
    result, answer = entry.result, entry.result.answer()
    name = f"{place}-{result.kind}"
    method, command = describe_method(result), result.asked.command()
    whole, blocks = _blocks(result, result.tables(), f"{name}-table")
    grave = [caution for caution in result.remarks() if caution.severity != "note"]
    small = _blocks(result, tuple(part for part in answer.parts if isinstance(part, Table)), f"{name}-answer")[1]
    first, blocks = _place_pictures(entry, blocks, name, visible(answer.headline))
    version = _remark_version(result)
    return Section(
        name=name,
        kind=result.kind,
        heading=visible(entry.heading or answer.question),
        subject=visible(subject),
        state=answer.state,
        headline=visible(answer.headline),
        foot=tuple((label, visible(said)) for label, said in answer.foot if label not in CAVEATS),
        caveats=tuple(visible(caution.sentence()) for caution in order_cautions((*grave, *whole))),
        gist=visible(entry.gist),
        notes=tuple((visible(word), visible(text)) for word, text in entry.notes),
        source=visible(entry.source),
        remarks=tuple(visible(remark) for remark in (version, *entry.remarks) if remark),
        picture=first,
        small=small,
        blocks=blocks,
        rows=visible(result.rows.sentence(result.counted)),
        method=tuple(map(visible, method.sentences)),
        citations=method.citations,
        signature=visible(result.signature),
        command=None if command is None else visible(command),
    )


def describe_method(result: Result) -> Method:
    """Return what was done to get a result; the last sentence names the program, its version and the seed."""
    method = result.describe_method()
    seed = "" if result.seed is None else f", seed {result.seed}"
    score = find_scored(result).sentence()
    made = f"Computed with holdsup {result.version}{seed}."
    return replace(
        method,
        sentences=(*method.sentences, *([score] if score else []), made),
        citations=tuple(dict.fromkeys([*method.citations, "holdsup"])),
    )


def _remark_version(result: Result) -> str:
    """Return what is to be said of a result that another version of holdsup made; "" of one of this version."""
    if result.version == __version__:
        return ""
    return (
        f"holdsup {result.version} made these numbers; this report is by holdsup {__version__}, which may describe "
        "them differently."
    )


def _blocks(result: Result, tables: Sequence[Table], name: str) -> tuple[tuple[Caution, ...], tuple[Block, ...]]:
    """Return the cautions that limit all of a result, and tables with those that limit each of them.

    Titles say what the score is: in a report, and in a paper, a table stands far from its answer.
    """
    scored = find_scored(result)
    whole, beside = place_cautions(result.remarks(), tables)
    return whole, tuple(
        Block(
            name=f"{name}-{i + 1}",
            table=replace(table, title=scored.caption_table(table.title)),
            cautions=tuple(visible(caution.sentence()) for caution in beside.get(i, ())),
        )
        for i, table in enumerate(tables)
    )


def _place_pictures(
    entry: Entry, blocks: tuple[Block, ...], name: str, headline: str
) -> tuple[Picture | None, tuple[Block, ...]]:
    """Return the picture that answers the question, and the blocks with the others, each at the table it is beside.

    Where several tables have its name, as with several properties, the second picture goes to the second table.
    """
    scored, own, taken = find_scored(entry.result), dict[int, list[Picture]](), dict[str, int]()
    first: Picture | None = None
    for panel in find_panels(entry.result):
        shows = visible(scored.caption_table(panel.shows))
        picture = Picture(
            name=f"{name}-{panel.name}", caption=shows, alt=f"{shows} {headline}", panel=panel, source=entry.source
        )
        named = [i for i, block in enumerate(blocks) if block.table.name == panel.beside] or [0]
        place = named[min(taken.get(panel.beside, 0), len(named) - 1)]
        taken[panel.beside] = taken.get(panel.beside, 0) + 1
        if first is None:
            first = picture
        else:
            own.setdefault(place, []).append(picture)
    return first, tuple(replace(block, pictures=tuple(own.get(i, ()))) for i, block in enumerate(blocks))


def find_systems(result: Result) -> set[str]:
    """Return the names of the systems in a result, whatever its kind: fields have the same names in all."""
    found: set[str] = set()
    for field in fields(result):
        rows = getattr(result, field.name)
        for row in rows if isinstance(rows, tuple) else ():
            name = getattr(row, "system", None) or (getattr(row, "name", None) if field.name == "systems" else None)
            found.update([name] if isinstance(name, str) else [])
    return found


def draw_pictures(view: View, draw: Callable[[Figure], Drawn]) -> tuple[View, dict[str, Drawn]]:
    """Return the report without the pictures that failed, and what `draw` makes of each of the others, by its name.

    Where one failed, the table that it belongs to, or the answer, says so.
    """
    drawn: dict[str, Drawn] = {}

    def keep(pictures: Iterable[Picture]) -> tuple[tuple[Picture, ...], tuple[str, ...]]:
        said: list[Caution] = []
        for picture in pictures:

            def compute(picture: Picture = picture) -> None:
                drawn[picture.name] = draw(picture.draw())

            find_extra(f"the picture {picture.name}", compute, said, None, asked=True)
        there = tuple(picture for picture in pictures if picture.name in drawn)
        return there, tuple(visible(caution.sentence()) for caution in said)

    def complete(section: Section) -> Section:
        first, failed = keep(() if section.picture is None else (section.picture,))
        blocks = []
        for block in section.blocks:
            pictures, cautions = keep(block.pictures)
            blocks.append(replace(block, pictures=pictures, cautions=(*block.cautions, *cautions)))
        return replace(
            section,
            picture=first[0] if first else None,
            caveats=(*section.caveats, *failed),
            blocks=tuple(blocks),
        )

    with one_palette(view.systems):
        sections = tuple(map(complete, view.sections))
    return replace(view, sections=sections), drawn
