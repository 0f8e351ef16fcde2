"""Files of predictions and references: a text a line, or a token a line with its tags (CoNLL)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from holdsup.columns.sources import TABLES, Source, find_sources, read_bytes
from holdsup.errors import ReadError, ScoresError
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results.cautions import Caution

DOCSTART = "-DOCSTART-"  # begins a document in CoNLL files, and is no token
Sentences = list[list[list[str]]]  # of each sentence the columns of each token


@dataclass(frozen=True, slots=True)
class Answered:
    """What runs answered, and what they should have."""

    files: list[Source]  # of each run
    predictions: list[list[Any]]  # of each run
    targets: list[Any]
    references: int = 0  # how many texts stand for each target
    notes: tuple[Caution, ...] = ()


def is_table(data: Any) -> bool:
    """Return whether data are tables, not files with a token a line."""
    several = [data] if isinstance(data, str) or hasattr(data, "__fspath__") else data
    return not isinstance(several, list | tuple) or any(str(e).lower().endswith((*TABLES, ".json")) for e in several)


def read_texts(data: Any, references: Sequence[Any], _: Sequence[str]) -> Answered:
    """Return texts, one a line; of several files of references each has one for every line."""
    sources, known = _find(data), _find(list(references))
    lines = {source.name: _lines(source) for source in (*known, *sources)}
    first = known[0].name
    for name, found in lines.items():
        if len(found) != len(lines[first]):
            raise ScoresError(
                f"{name} has {format_counted(len(found), 'line')} and {first} {format_count(len(lines[first]))}: a "
                "prediction and its reference stand on the same line, so files must have the same number of lines"
            )
    texts = [lines[source.name] for source in known]
    targets = texts[0] if len(texts) == 1 else [list(several) for several in zip(*texts, strict=True)]
    notes = tuple(_find_empty(texts, first))
    return Answered(sources, [lines[source.name] for source in sources], targets, len(texts), notes)


def _find_empty(known: list[list[str]], name: str) -> Iterator[Caution]:
    """Yield that there are lines without a reference."""
    if empty := sum(not any(text.strip() for text in texts) for texts in zip(*known, strict=True)):
        are = "line is" if empty == 1 else "lines are"
        yield Caution(
            code="empty-references", about="data", count=empty,
            message=f"{format_count(empty)} {are} empty in {name}: whatever is predicted there counts as wrong.",
            advice="Leave them out of all files if they are no part of the test set.",
        )  # fmt: skip


def read_tagged(data: Any, references: Sequence[Any], predictions: Sequence[str]) -> Answered:
    """Return sentences of tags from CoNLL files: targets and predictions are columns, or targets are another file."""
    sources, gold = _find(data), _find(list(references))
    places = [int(place) - 1 for place in predictions] or [-2, -1]
    if len(places) != 2 or (predictions and min(places) < 0):
        raise ScoresError("--predictions takes two columns, counted from 1: those of target and prediction")
    if len(gold) > 1:
        raise ScoresError("--references: tags have one target, so give one file of them")
    read = [_sentences(source) for source in sources]
    guessed = [_column(each, source.name, places[1]) for each, source in zip(read, sources, strict=True)]
    own = [] if gold else [_column(each, s.name, places[0]) for each, s in zip(read, sources, strict=True)]
    targets, first = (_column(_sentences(gold[0]), gold[0].name, -1), gold[0]) if gold else (own[0], sources[0])
    for place, source in enumerate(sources):
        _check_lengths(source.name, guessed[place], first.name, targets)
        pairs = enumerate(zip(own[place], targets, strict=True)) if own else ()
        if unlike := [item for item, (tags, known) in pairs if tags != known]:
            raise ScoresError(
                f"{source.name} and {first.name} have different targets in sentence {unlike[0] + 1}: the column of the "
                "target must be the same in all files (--predictions TARGET,PREDICTION, counted from 1)"
            )
    return Answered(sources, guessed, targets)


def _check_lengths(name: str, found: Sequence[Sequence[str]], first: str, known: Sequence[Sequence[str]]) -> None:
    if len(found) != len(known):
        raise ScoresError(
            f"{name} has {format_counted(len(found), 'sentence')} and {first} {format_count(len(known))}: both need "
            "the same sentences, with a blank line after each"
        )
    for item, (tags, others) in enumerate(zip(found, known, strict=True)):
        if len(tags) != len(others):
            raise ScoresError(
                f"sentence {item + 1} has {format_counted(len(tags), 'token')} in {name} and {len(others)} in {first}"
            )


def _find(data: Any) -> list[Source]:
    several = [data] if isinstance(data, str) or hasattr(data, "__fspath__") else data
    if not isinstance(several, list | tuple) or not all(
        isinstance(e, str) or hasattr(e, "__fspath__") for e in several
    ):
        raise ScoresError("predictions are files, one for each run: give their paths, or a pattern")
    return [source for each in several for source in find_sources(each)]


def _lines(source: Source) -> list[str]:
    """Return the lines of a file, whichever way they end; what ends the last is no line."""
    try:
        text = str(read_bytes(source).to_pybytes(), "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(f"{source.name} is not UTF-8 (byte {error.start}): convert it") from error
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    if not lines:
        raise ReadError(f"{source.name} is empty")
    return lines


def _sentences(source: Source) -> Sentences:
    found: Sentences = [[]]
    for line in _lines(source):
        columns = line.split()
        if not columns:
            found.append([])
        elif columns[0] != DOCSTART:
            found[-1].append(columns)
    return [sentence for sentence in found if sentence]


def _column(sentences: Sentences, name: str, place: int) -> list[list[str]]:
    """Return one column of the tokens of each sentence."""
    needed = place + 1 if place >= 0 else -place
    for item, sentence in enumerate(sentences):
        for columns in sentence:
            if len(columns) < needed:
                raise ScoresError(
                    f"{name}: a token of sentence {item + 1}, {' '.join(columns)!r:.60}, has "
                    f"{format_counted(len(columns), 'column')}, and {needed} are needed"
                )
    return [[columns[place] for columns in sentence] for sentence in sentences]
