"""Eight small data sets for text classification, cut from public corpora.

Each is a JSONL file of 1,000 texts with a label, drawn with a fixed seed, so that thousands of trainings fit into an
hour. The corpora are not part of this project::

    python replications/text_grid/datasets.py ../shared/data replications/text_grid/data

Four are about whole documents (sentiment, ratings, topics), four about what a sentence holds; labels of the latter come
from the corpus's own annotation, which the classifiers do not see.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SIZE = 1_000
TOPICS = ("earn", "acq", "crude", "trade", "money-fx", "interest")

Example = tuple[str, str]  # a text and its label


def main(corpora: Path, folder: Path) -> None:
    """Write the eight files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, examples in all_datasets(corpora):
        chosen = draw(examples, seed=name)
        lines = (json.dumps({"id": str(i), "text": text, "label": label}) for i, (text, label) in enumerate(chosen))
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{name}: {len(chosen):,} texts, {len({label for _, label in chosen})} labels")


def all_datasets(corpora: Path) -> Iterator[tuple[str, list[Example]]]:
    """Yield the name and all examples of each data set."""
    imdb = read_lines(corpora / "imdb/imdb_train.jsonl.gz")
    reuters = [
        story for story in read_lines(corpora / "reuters21578/aptemod90.jsonl.gz") if single_topic(story["topics"])
    ]
    conll2003 = list(read_columns((corpora / "conll2003/eng.train").read_text(encoding="utf-8")))
    with zipfile.ZipFile(corpora / "nltk/conll2000.zip") as archive:
        conll2000 = list(read_columns(archive.read("conll2000/train.txt").decode("utf-8")))
    yield "imdb_polarity", [(row["text"], row["label"]) for row in imdb]
    yield "imdb_rating", [(row["text"], str(row["rating"])) for row in imdb if row["rating"] in (1, 4, 7, 10)]
    yield "movie_reviews", read_movie_reviews(corpora / "nltk/movie_reviews.zip")
    yield "reuters_topic", [(f"{story['title']}\n{story['body']}", story["topics"][0]) for story in reuters]
    yield "conll_person", [(words(s), yes_or_no(s, 3, "-PER")) for s in conll2003 if len(s) > 4]
    yield "conll_place", [(words(s), yes_or_no(s, 3, "-LOC")) for s in conll2003 if len(s) > 4]
    yield "wsj_past_tense", [(words(s), yes_or_no(s, 1, "VBD")) for s in conll2000 if len(s) > 4]
    yield "wsj_subclause", [(words(s), yes_or_no(s, 2, "-SBAR")) for s in conll2000 if len(s) > 4]


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a gzipped JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def draw(examples: list[Example], seed: str) -> list[Example]:
    """Return SIZE examples in random order; the order of a corpus (by label, by time) says nothing here."""
    return random.Random(seed).sample(examples, SIZE)


def read_columns(text: str) -> Iterator[list[list[str]]]:
    """Yield the sentences of a file with a token a line, its annotations in columns, and empty lines between."""
    for block in text.split("\n\n"):
        rows = [line.split() for line in block.splitlines() if line.strip()]
        if rows and rows[0][0] != "-DOCSTART-":
            yield rows


def read_movie_reviews(path: Path) -> list[Example]:
    """Return the reviews with the folder they are in (pos, neg)."""
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".txt"))
        return [(archive.read(name).decode("utf-8"), name.split("/")[1]) for name in names]


def words(sentence: list[list[str]]) -> str:
    """Return the words of an annotated sentence."""
    return " ".join(row[0] for row in sentence)


def yes_or_no(sentence: list[list[str]], column: int, tag: str) -> str:
    """Return whether any token's annotation ends in a tag."""
    return "yes" if any(row[column].endswith(tag) for row in sentence) else "no"


def single_topic(topics: list[str]) -> bool:
    """Return whether a story has one topic, and that is one of the six largest."""
    return len(topics) == 1 and topics[0] in TOPICS


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
