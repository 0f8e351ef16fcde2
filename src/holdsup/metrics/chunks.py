"""Chunks: precision, recall and F1 of chunks; chunks from tags, tags from chunks, invalid sequences repaired.

A chunk starts and ends where conlleval (Tjong Kim Sang, 2000) says, so that every sequence has chunks, malformed
ones too: it starts at B, after O, and where the type changes; it ends before the next chunk and before O. conlleval
knows no tags for the end of a chunk (E, L) and for a chunk of one token (S, U) in these schemes: a chunk also
starts at a single and after an end or a single, as in seqeval's default mode.
All sequences are decoded at once, as one long array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MetricError
from holdsup.metrics.metric import BadItem, Counts, RatioMetric, read_sequences, require_lists, show

Tags = Sequence[Sequence[str]]

OUTSIDE, BEGIN, INSIDE, END, SINGLE = range(5)  # what the letter of a tag means
ROLES = 5
SCHEMES = {
    "iob1": {"B": BEGIN, "I": INSIDE},  # B only where a chunk follows another of its type
    "iob2": {"B": BEGIN, "I": INSIDE},
    "iobes": {"B": BEGIN, "I": INSIDE, "E": END, "S": SINGLE},
    "bilou": {"B": BEGIN, "I": INSIDE, "L": END, "U": SINGLE},
}


@dataclass(frozen=True, kw_only=True)
class ChunkMetric(RatioMetric):
    """Precision, recall or F1 of chunks of all types together, as conlleval has them overall."""

    noun = "chunk"
    scheme: str  # how chunks are written as tags: iob1, iob2, iobes or bilou

    def __post_init__(self) -> None:
        super().__post_init__()
        require_scheme(self.scheme)

    @property
    def signature(self) -> str:
        """How tags are read."""
        return f"scheme:{self.scheme}"

    def count(self, targets: Sequence[Any], predictions: Sequence[Any]) -> Counts:
        """Return how many chunks of each item were matched, predicted and expected."""
        known, predicted = read_sequences(targets, predictions)
        chunks = decode_chunks([*known, *predicted], self.scheme)  # in one go, so that types have the same codes
        return _count_matches(chunks, items=len(known))


def _count_matches(chunks: Chunks, *, items: int) -> Counts:
    """Return the three counts of each item, given the chunks of all targets and then of all predictions."""
    lengths = chunks.lengths[:items]
    item = np.where(chunks.item < items, chunks.item, chunks.item - items)
    token = (np.cumsum(lengths) - lengths)[item] + chunks.start  # at most one expected chunk starts at a token
    is_expected = chunks.item < items
    stop, kind = np.full((2, int(lengths.sum())), -1)
    stop[token[is_expected]], kind[token[is_expected]] = chunks.stop[is_expected], chunks.kind[is_expected]
    is_match = ~is_expected & (stop[token] == chunks.stop) & (kind[token] == chunks.kind)
    return np.stack([np.bincount(item[them], minlength=items) for them in (is_match, ~is_expected, is_expected)], 1)


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """The chunks of some sequences, in order."""

    lengths: NDArray[np.intp]  # number of tags of each sequence
    item: NDArray[np.intp]  # the sequence of each chunk
    start: NDArray[np.intp]  # its first token, counted within the sequence
    stop: NDArray[np.intp]  # the token after its last
    kind: NDArray[np.intp]  # its type, as a place in `types`
    types: tuple[str, ...]  # the names of types; "" where tags have none

    def of_item(self, item: int) -> list[tuple[str, int, int]]:
        """Return type, start and stop of the chunks of one sequence."""
        places = np.flatnonzero(self.item == item)
        return [(self.types[self.kind[i]], int(self.start[i]), int(self.stop[i])) for i in places]


def require_scheme(scheme: str) -> dict[str, int]:
    """Return the letters of a scheme and what they mean; refuse a scheme that there is none of."""
    if scheme not in SCHEMES:
        raise MetricError(f"unknown tag scheme {scheme!r}; choose from {', '.join(SCHEMES)}.")
    return SCHEMES[scheme]


class Repaired(NamedTuple):
    """Sequences that are valid in their scheme, and how many tags had to be changed for it."""

    tags: list[list[str]]
    changed: int


def decode_chunks(tags: Tags, scheme: str) -> Chunks:
    """Return the chunks of tag sequences.

    >>> decode_chunks([["O", "I-LOC", "I-PER", "B-PER"]], "iob2").of_item(0)
    [('LOC', 1, 2), ('PER', 2, 3), ('PER', 3, 4)]
    """
    role, kind, types = _read(tags, scheme)
    lengths = np.array([len(sequence) for sequence in tags], dtype=np.intp)
    offsets = np.cumsum(lengths) - lengths
    first = np.zeros(len(role), dtype=bool)
    first[offsets[lengths > 0]] = True
    before = np.where(first, OUTSIDE, np.roll(role, 1))
    fresh = np.isin(role, (BEGIN, SINGLE)) | np.isin(before, (OUTSIDE, END, SINGLE)) | (kind != np.roll(kind, 1))
    starts = np.flatnonzero((role != OUTSIDE) & fresh)
    # A chunk goes on until something starts, is outside, or belongs to the next sequence.
    breaks = np.flatnonzero(fresh | (role == OUTSIDE))
    stops = np.append(breaks, len(role))[np.searchsorted(breaks, starts, side="right")]
    item = np.repeat(np.arange(len(lengths)), lengths)[starts]
    return Chunks(lengths, item, starts - offsets[item], stops - offsets[item], kind[starts], types)


def encode_chunks(chunks: Chunks, scheme: str) -> list[list[str]]:
    """Return the tag sequences that write these chunks in a scheme."""
    letters = {role: letter for letter, role in require_scheme(scheme).items()}
    tags = [["O"] * int(length) for length in chunks.lengths]
    last = (-1, -1, -1)
    columns = (chunks.item.tolist(), chunks.start.tolist(), chunks.stop.tolist(), chunks.kind.tolist())
    for item, start, stop, kind in zip(*columns, strict=True):
        roles = [BEGIN, *[INSIDE] * (stop - start - 1)]
        if scheme == "iob1" and last != (item, start, kind):
            roles[0] = INSIDE  # nothing of its type is next to it
        if SINGLE in letters:
            roles[-1] = SINGLE if len(roles) == 1 else END
        ending = f"-{chunks.types[kind]}" if chunks.types[kind] else ""
        tags[item][start:stop] = [letters[role] + ending for role in roles]
        last = (item, stop, kind)
    return tags


def convert_tags(tags: Tags, source: str, target: str) -> list[list[str]]:
    """Return tag sequences of one scheme in another; the chunks stay the same.

    >>> convert_tags([["B-LOC", "I-LOC", "O", "B-PER"]], "iob2", "iobes")
    [['B-LOC', 'E-LOC', 'O', 'S-PER']]
    """
    return encode_chunks(decode_chunks(tags, source), target)


def repair_tags(tags: Tags, scheme: str) -> Repaired:
    """Return the sequences that write the same chunks as the scheme wants them written; valid ones are kept.

    >>> repair_tags([["O", "I-LOC", "I-PER"], ["B-LOC", "O", "O"]], "iob2")
    Repaired(tags=[['O', 'B-LOC', 'B-PER'], ['B-LOC', 'O', 'O']], changed=2)
    """
    repaired = convert_tags(tags, scheme, scheme)
    pairs = zip(chain.from_iterable(tags), chain.from_iterable(repaired), strict=True)
    return Repaired(repaired, sum(before != after for before, after in pairs))


def _read(tags: Tags, scheme: str) -> tuple[NDArray[np.intp], NDArray[np.intp], tuple[str, ...]]:
    """Return role and type of each tag, all sequences one after the other, and the names of types."""
    letters = require_scheme(scheme)
    require_lists(tags)
    flat = list(chain.from_iterable(tags))
    types: dict[str, int] = {}
    book: dict[str, int] = {}
    for tag in dict.fromkeys(map(str, flat)):
        letter, _, name = tag.partition("-")
        if tag != "O" and letter not in letters:
            item = next(i for i, sequence in enumerate(tags) if tag in map(str, sequence))
            shown = ", ".join(["O", *(f"{known}-TYPE" for known in letters)])
            raise BadItem(f"{show(tag)} of ", item, f" is not a tag of {scheme}, which has {shown}.")
        kind = types.setdefault(name, len(types))
        book[tag] = kind * ROLES + letters.get(letter, OUTSIDE)
    codes = np.fromiter(map(book.__getitem__, flat), dtype=np.intp, count=len(flat))
    return codes % ROLES, codes // ROLES, tuple(types)
