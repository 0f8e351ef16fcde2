"""Tag sequences: chunks from tags, tags from chunks, one scheme as another, invalid sequences repaired.

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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MetricError
from holdsup.metrics.pairs import BadItem, require_lists, show

__all__ = [
    "SCHEMES",
    "Chunks",
    "Repaired",
    "convert_tags",
    "decode_chunks",
    "encode_chunks",
    "repair_tags",
    "require_scheme",
]

Tags = Sequence[Sequence[str]]

OUTSIDE, BEGIN, INSIDE, END, SINGLE = range(5)  # what the letter of a tag means
ROLES = 5
SCHEMES = {
    "iob1": {"B": BEGIN, "I": INSIDE},  # B only where a chunk follows another of its type
    "iob2": {"B": BEGIN, "I": INSIDE},
    "iobes": {"B": BEGIN, "I": INSIDE, "E": END, "S": SINGLE},
    "bilou": {"B": BEGIN, "I": INSIDE, "L": END, "U": SINGLE},
}


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """The chunks of some sequences, in order.

    Attributes
    ----------
    lengths : number of tags of each sequence
    item : the sequence of each chunk
    start : its first token, counted within the sequence
    stop : the token after its last
    kind : its type, as a place in `types`
    types : the names of types; "" where tags have none
    """

    lengths: NDArray[np.intp]
    item: NDArray[np.intp]
    start: NDArray[np.intp]
    stop: NDArray[np.intp]
    kind: NDArray[np.intp]
    types: tuple[str, ...]

    def of_item(self, item: int) -> list[tuple[str, int, int]]:
        """Return type, start and stop of the chunks of one sequence."""
        places = np.flatnonzero(self.item == item)
        return [(self.types[self.kind[i]], int(self.start[i]), int(self.stop[i])) for i in places]


def require_scheme(scheme: str) -> dict[str, int]:
    """Return the letters of a scheme and what they mean; refuse a scheme that there is none of."""
    if scheme not in SCHEMES:
        raise MetricError(f"no tag scheme {scheme!r}; there are {', '.join(SCHEMES)}.")
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
            raise BadItem(f"{show(tag)} of ", item, f" is no tag of {scheme}, which has {shown}.")
        kind = types.setdefault(name, len(types))
        book[tag] = kind * ROLES + letters.get(letter, OUTSIDE)
    codes = np.fromiter(map(book.__getitem__, flat), dtype=np.intp, count=len(flat))
    return codes % ROLES, codes // ROLES, tuple(types)
