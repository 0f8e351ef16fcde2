"""`Scores`: the one long table that every question is asked of; its digest and its columns in words."""

from __future__ import annotations

import dataclasses
import hashlib
import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns import Column, Labels, Numbers
from holdsup.columns.crossing import Crossing, cross
from holdsup.rendering import Table
from holdsup.rendering.markup import render_html
from holdsup.rendering.numbers import format_counted
from holdsup.rendering.table import visible
from holdsup.rendering.text import render_text
from holdsup.results import Caution, Rows
from holdsup.scores.roles import RESPLIT, Roles

if TYPE_CHECKING:
    from holdsup.metrics.corpus import Corpus

LABELLED = ("system", "item", "dataset", "metric", "rater")  # what a row must say to be of use, where the table has it
STATUSES = ("ok", "missing", "nan", "infinite")
REASONS = {"missing": "no score", "nan": "a score that is NaN", "infinite": "an infinite score"}
COLUMNS = ("role", "column", "levels", "such as")
EXAMPLES = 3
LONGEST = 24  # characters of a label that are shown
PIECE = 2**16  # rows worked on together: they stay in the cache


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """What scores that are made of several samples each are made of."""

    counts: NDArray[np.float64]  # how many samples each score is of, shape (n,)
    variance: NDArray[np.float64]  # of each score over new samples; NaN where it has too few


@dataclass(frozen=True, eq=False, kw_only=True)
class Scores:
    """Scores of systems on items: one row is one score of one system on one item in one run."""

    source: str  # what was read, for messages
    roles: Roles  # which column has which role
    score: NDArray[np.float64]  # the scores, shape (n,), NaN where `status` is not "ok"
    status: Labels  # "ok", or why there is no score
    system: Labels  # what was scored; runs are nested in systems
    run: Labels
    item: Labels | None = None  # None where the table has no such column
    dataset: Labels | None = None
    metric: Labels | None = None
    cluster: Labels | None = None
    sample: Labels | None = None  # which of several answers of a run to an item
    sampled: Sampled | None = None  # the same, of scores that are made of several answers each
    rater: Labels | None = None  # who gave each score
    facets: Mapping[str, Labels]  # named sources of variation between runs
    properties: Mapping[str, Column]  # facts about items, numbers or labels
    others: Mapping[str, Column]  # columns without a role, by which the audit can tell what was forgotten
    notes: tuple[Caution, ...] = ()  # what the reader had to decide
    left_out: Mapping[str, int] = field(default_factory=dict)  # why rows of the input are not among these, and how many
    names: str | None = None  # the pattern by which columns were found in the names of files
    corpus: Corpus | None = None  # counts of each row, where runs have the score of a corpus and no mean of items

    def __len__(self) -> int:
        return len(self.score)

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        """Where a row says whose score, and on what, it is; shape (n,)."""
        mask = np.ones(len(self), bool)
        for role in LABELLED:
            labels = getattr(self, role)
            if labels is not None:
                mask &= labels.codes >= 0
        return mask

    @cached_property
    def usable(self) -> NDArray[np.bool_]:
        """Where a row has all of these labels and a finite score; shape (n,)."""
        return self.labelled & np.isfinite(self.score)

    @cached_property
    def items(self) -> Crossing | None:
        """The items: an item belongs to its dataset, so that item 1 of two datasets is two items."""
        if self.item is None:
            return None
        return cross(self.dataset, self.item)

    @property
    def unit(self) -> str | None:
        """What a run has scores on: items, else datasets; None where it has one score."""
        if self.item is not None:
            return "item"
        return "dataset" if self.dataset is not None and self.dataset.count > 1 else None

    @property
    def units(self) -> Crossing:
        """The items, or the datasets where there are none, or all rows as one."""
        if self.items is not None:
            return self.items
        return cross(self.dataset if self.unit else None, rows=len(self))

    @cached_property
    def holes(self) -> tuple[Crossing, NDArray[np.int64], int]:
        """The runs of each dataset and metric, how many items each lacks, and how many cells there should be."""
        assert self.item is not None
        # A run on a split of its own owes nothing to items that other splits test.
        parts = (self.dataset, self.metric, self.facets.get(RESPLIT))
        blocks, items, runs = (cross(*parts, *each, rows=len(self)) for each in ((), (self.item,), (self.run,)))
        items_of = np.bincount(blocks.codes[items.first], minlength=blocks.count)
        cells = cross(self.run, *parts, self.item)
        planned = items_of[blocks.codes[runs.first]]
        # Where no cell has two rows, as in most tables, the rows of a run are its cells.
        shown = runs.codes if cells.count == len(self) else runs.codes[cells.first]
        return runs, planned - np.bincount(shown, minlength=runs.count), int(planned.sum())

    @property
    def planned(self) -> int:
        """How many rows the input has, those that were left out among them."""
        return len(self) + sum(self.left_out.values())

    def take(self, rows: NDArray[Any]) -> Scores:
        """Return some of the rows (indices or a mask)."""
        single = ("status", "run", *LABELLED, "cluster", "sample")
        taken: dict[str, Any] = {
            name: column.take(rows) for name in single if (column := getattr(self, name)) is not None
        }
        for group in ("facets", "properties", "others"):
            taken[group] = {name: take_rows(column, rows) for name, column in getattr(self, group).items()}
        if self.sampled is not None:
            taken["sampled"] = Sampled(self.sampled.counts[rows], self.sampled.variance[rows])
        corpus = None if self.corpus is None else self.corpus.take(rows)
        return dataclasses.replace(self, score=self.score[rows], corpus=corpus, **taken)

    def only(self, mask: NDArray[np.bool_]) -> Scores:
        """Return the rows of a mask: the same table if that is all of them."""
        return self if mask.all() else self.take(mask)

    def count(self, mask: NDArray[np.bool_]) -> int:
        """Return how many scores were read for the rows of a mask."""
        return int(mask.sum() if self.sampled is None else self.sampled.counts[mask].sum())

    def rows(self) -> Rows:
        """Return how many rows can be used, and why the others cannot; each row counts once."""
        left = ~self.usable
        reasons: dict[str, int] = dict(self.left_out)
        for code, name in enumerate(self.status.names):
            if name != "ok":
                reasons[REASONS.get(name, f"status {name!r}")] = int((left & (self.status.codes == code)).sum())
        left = (
            left & (self.status.codes == self.status.names.index("ok")) if "ok" in self.status.names else left & False
        )
        for role in LABELLED:
            labels = getattr(self, role)
            if labels is not None:
                lacking = left & (labels.codes < 0)
                reasons[f"no {role}"] = int(lacking.sum())
                left = left & ~lacking
        return Rows(self.planned, int(self.usable.sum()), {why: count for why, count in reasons.items() if count})

    @cached_property
    def digest(self) -> str:
        """Eight hex digits that change when any score, label or role does, but not with the order of rows."""
        named = {f"column {name}": column for name, column in (*self.facets.items(), *self.properties.items())}
        named |= {role: getattr(self, role) for role in (*LABELLED, "run", "cluster", "status", "sample")}
        labels = {name: column for name, column in named.items() if isinstance(column, Labels)}
        numbers = {name: column.values for name, column in named.items() if isinstance(column, Numbers)}
        if self.corpus is not None:
            return digest_rows(
                labels, numbers | dict(zip(self.corpus.metric.columns, self.corpus.counts.T, strict=True))
            )
        return digest_rows(labels, {**numbers, "score": self.score})

    def to_arrow(self) -> pa.Table:
        """Return the table with the contract's columns: dataset, system, run, item, metric, score, status, ..."""
        columns: dict[str, Any] = {}
        for role in ("dataset", "system", "run", "item", "metric"):
            labels = getattr(self, role)
            if labels is not None:
                columns[role] = as_arrow(labels)
        columns["score"] = pa.array(self.score, from_pandas=True)
        columns["status"] = as_arrow(self.status)
        for name, column in (*self.facets.items(), *self.properties.items()):
            columns.setdefault(name, as_arrow(column))
        for role in ("cluster", "sample", "rater"):
            if (labels := getattr(self, role)) is not None:
                columns[role] = as_arrow(labels)
        return pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Give the table to pandas, polars, DuckDB or anything else that reads an Arrow stream."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def overview(self) -> Table:
        """Return what each column was taken for."""
        return Table(title=f"Scores from {self.source}", columns=COLUMNS, rows=tuple(describe_columns(self)))

    def __repr__(self) -> str:
        counts = [format_counted(len(self), "row"), format_counted(self.system.count, "system")]
        return f"<Scores from {self.source}: {', '.join(counts)}; print it to see its columns>"

    def __str__(self) -> str:
        return "\n".join(
            [render_text(self.overview()), *(note.sentence() for note in self.notes), self.rows().sentence()]
        )

    def _repr_html_(self) -> str:
        lines = (*(note.sentence() for note in self.notes), self.rows().sentence())
        return render_html(self.overview()) + "".join(f"<p>{html.escape(visible(line))}</p>\n" for line in lines)


def take_rows(column: Column, rows: NDArray[Any]) -> Column:
    """Return some rows (indices or a mask) of a column."""
    if isinstance(column, Labels):
        return column.take(rows)
    return Numbers(column.values[rows], column.absent[rows])


def as_arrow(column: Column) -> pa.Array:
    """Return a column as Arrow has it: labels as a dictionary, numbers that are absent as null."""
    if isinstance(column, Labels):
        codes = pa.array(column.codes, mask=column.codes < 0 if column.has_gaps else None)
        return pa.DictionaryArray.from_arrays(codes, column.levels, ordered=column.declared)
    return pa.array(column.values, from_pandas=True)


def describe_columns(scores: Scores) -> Iterator[tuple[str, str, int | None, str]]:
    """Yield the role, the name, the number of levels and examples of each column."""
    roles = scores.roles
    stated = dict(zip(roles.properties, roles.stated_properties(), strict=True))
    yield "score", ", ".join(roles.score_columns), None, _range(scores.score)
    if roles.wide:
        yield roles.wide, "(the names of these columns)", *_levels(getattr(scores, roles.wide))
    for column, role in roles.columns().items():
        if role == "score":
            continue
        if role == "status":
            said = [name for name in scores.status.names if name not in REASONS]
            yield role, column, len(said), _listed(said)
        else:
            named = {"facet": scores.facets, "property": scores.properties}.get(role)
            yield role, stated.get(column, column), *_levels(named[column] if named else getattr(scores, role))
    for column, values in scores.others.items():
        yield "none", column, *_levels(values)


def _levels(column: Column) -> tuple[int | None, str]:
    if isinstance(column, Labels):
        return column.count, _listed(column.names if column.declared else _in_order(column.names))
    return None, _range(column.values)


def _in_order(names: tuple[str, ...]) -> list[str] | tuple[str, ...]:
    """Return labels that are all numbers by their size: 2 before 10."""
    try:
        return sorted(names, key=Decimal)
    except InvalidOperation:
        return names


def _listed(names: list[str] | tuple[str, ...]) -> str:
    shown = [_shown(name) for name in names[:EXAMPLES]]
    return ", ".join([*shown, "..."] if len(names) > EXAMPLES else shown)


def _shown(name: str) -> str:
    cut = name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..."
    return repr(cut) if "," in cut else cut


def _range(values: NDArray[np.float64]) -> str:
    finite = values[np.isfinite(values)]
    return f"{finite.min() + 0.0:.6g} to {finite.max() + 0.0:.6g}" if len(finite) else "no number"


def hash_rows(
    labels: Mapping[str, Labels], numbers: Mapping[str, NDArray[Any]]
) -> Iterator[tuple[slice, NDArray[np.uint64]]]:
    """Yield rows, piece by piece, with a hash of each, made of its labels and numbers and the names of their columns.

    Each label has a hash (BLAKE2b), and each number its bits times a hash of its column; the sum over the
    columns is mixed by the finalizer of SplitMix64, so that rows which swap a label get other hashes.
    """
    tables = [(column.codes, _hash_levels(name, column)) for name, column in labels.items()]
    factors = [(values, _hash(f"{name}\0") | np.uint64(1)) for name, values in numbers.items()]
    count = len(tables[0][0] if tables else factors[0][0])
    for start in range(0, count, PIECE):
        rows = slice(start, min(start + PIECE, count))
        hashes = np.zeros(rows.stop - start, np.uint64)
        for codes, of_level in tables:
            hashes += of_level[codes[rows]]
        for values, factor in factors:
            hashes += _bits(values[rows].astype(np.float64, copy=False)) * factor
        _mix(hashes)
        yield rows, hashes


def digest_rows(labels: Mapping[str, Labels], numbers: Mapping[str, NDArray[Any]]) -> str:
    """Return eight hex digits of the sum of the hashes of all rows, modulo 2^64."""
    total = sum(int(hashes.sum(dtype=np.uint64)) for _, hashes in hash_rows(labels, numbers)) % 2**64
    return f"{total >> 32 ^ total & 0xFFFFFFFF:08x}"


def _hash_levels(name: str, column: Labels) -> NDArray[np.uint64]:
    """Return a hash for each level, and last (where code -1 leads) one for no label."""
    texts = (*(f"{name}\0{level}" for level in column.names), name)
    return np.frombuffer(b"".join(map(_digest, texts)), "<u8").astype(np.uint64)


def _hash(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(_digest(text), "little"))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _bits(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return the bits of numbers; every NaN has the same, and 0 and -0."""
    plain = np.where(np.isnan(values), np.nan, values + 0.0)
    return plain.view(np.uint64)


def _mix(state: NDArray[np.uint64]) -> None:
    """Mix each word in place: Steele, Lea & Flood (2014), SplitMix64."""
    state ^= state >> np.uint64(30)
    state *= np.uint64(0xBF58476D1CE4E5B9)
    state ^= state >> np.uint64(27)
    state *= np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
