"""Moss, Leslie and Rayson (2018) end to end: texts to features to tuned systems.

    python replications/moss_texts.py [FOLDER]

FOLDER holds nltk/treebank.zip, reuters21578/corn_wheat_439unique.jsonl.gz and imdb/imdb_train.jsonl.gz; by default it
is ../shared/data from the project's folder. Takes some minutes. Exits with 1 if a part-of-speech accuracy is off.

- Part-of-speech tagging: first 10,000 words of NLTK's treebank (not Brown) after a shuffle of its sentences with seed
  1234. Four accuracies of the published grid must come out to the last digit.
- Reuters: the published grid has 520 rows, wheat and corn documents, 81 of which are both and stand there twice. The
  copies have the same label, so that they leak from training into test folds. Beside it: copies kept together in a
  fold, and without copies (439).
- IMDB: random forests on 1,000 reviews drawn from 25,000 with seed 1234 (the paper: from 50,000), max_features from
  0.01 to 0.46 in steps of 0.05; the other 24,000 reviews say what the picks are worth.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from holdsup.studies.tuning import JKSearchCV

ROOT = Path(__file__).resolve().parent.parent
LEAF = re.compile(r"\(([^\s()]+) ([^\s()]+)\)")  # (tag word) in a bracketed parse
PUBLISHED = {(1, 1): 0.9219, (1, 2): 0.9213, (10, 1): 0.9283, (10, 2): 0.9254}  # accuracy by C and partition
SVM_GRID = {"C": [1, 5, 10, 50, 100, 500, 1000, 5000, 10000], "gamma": [round(0.05 * i, 2) for i in range(1, 10)]}


def read_treebank(file: Path) -> Iterator[list[tuple[str, str]]]:
    """Yield the sentences of NLTK's treebank as (word, tag), traces among the words."""
    with zipfile.ZipFile(file) as archive:
        for name in sorted(name for name in archive.namelist() if name.endswith(".mrg")):
            parse = ""
            for line in archive.read(name).decode("ascii").splitlines():
                parse += line
                if parse.strip() and parse.count("(") == parse.count(")"):
                    yield [(word, tag) for tag, word in LEAF.findall(parse)]
                    parse = ""


def describe_word(words: list[str], at: int) -> dict[str, Any]:
    """Return what the tagger sees of a word: itself, its ends, its case, its place and its neighbours."""
    word = words[at]
    seen: dict[str, Any] = {
        "word": word,
        "before": words[at - 1] if at else "",
        "after": words[at + 1] if at + 1 < len(words) else "",
        "opens": at == 0,
        "ends": at + 1 == len(words),
        "capital": word[0] == word[0].upper(),
        "capitals": word == word.upper(),
        "small": word == word.lower(),
        "inner capital": word[1:] != word[1:].lower(),
        "hyphen": "-" in word,
        "digits": word.isdigit(),
    }
    for size in (1, 2, 3):
        seen[f"first {size}"], seen[f"last {size}"] = word[:size], word[-size:]
    return seen


def tag_words(folder: Path) -> int:
    """Print the four accuracies of the part-of-speech grid, and return how many are off."""
    sentences = list(read_treebank(folder / "nltk/treebank.zip"))
    random.Random(1234).shuffle(sentences)
    rows = [
        (describe_word([word for word, _ in sentence], at), tag)
        for sentence in sentences[:1000]
        for at, (_, tag) in enumerate(sentence)
    ][:10_000]
    features = DictVectorizer().fit_transform([seen for seen, _ in rows])
    print(f"Part-of-speech tagging: {len(rows):,} words, {features.shape[1]:,} features")
    off = 0
    for (c, partition), published in PUBLISHED.items():
        tagger = OneVsRestClassifier(LogisticRegression(C=c, solver="liblinear"))
        folds = KFold(5, shuffle=True, random_state=partition)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tags that a fold lacks
            obtained = cross_val_score(tagger, features, [tag for _, tag in rows], cv=folds).mean()
        off += f"{obtained:.6f}" != f"{published:.6f}"
        print(f"  C={c:<3} partition {partition}: published {published:.4f}, obtained {obtained:.10f}")
    return off


def read_lines(file: Path) -> list[dict[str, Any]]:
    """Return the objects of a compressed JSON-lines file."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def weigh_terms(texts: list[str]) -> Any:
    """Return tf-idf of the 300 commonest n-grams of one to three words, counted on all texts as in the paper."""
    return make_pipeline(CountVectorizer(ngram_range=(1, 3), max_features=300), TfidfTransformer()).fit_transform(texts)


def classify_topics(folder: Path) -> None:
    """Print what tuning an SVM finds with copies of documents, with copies kept together, and without copies."""
    documents = read_lines(folder / "reuters21578/corn_wheat_439unique.jsonl.gz")
    copies = [d for topic in ("wheat", "corn") for d in documents if topic in d["topics"]]
    print(f"\nReuters, wheat or corn: SVM, {np.prod([len(v) for v in SVM_GRID.values()])} candidates")
    for title, rows, together in (
        ("as published, copies leak", copies, False),
        ("copies kept in one fold", copies, True),
        ("without copies", documents, False),
    ):
        features = weigh_terms([f"{d['title']}\n{d['body']}" for d in rows])
        wheat = [int("wheat" in d["topics"]) for d in rows]
        groups = [d["id"] for d in rows] if together else None
        search = JKSearchCV(SVC(), SVM_GRID, j=2, k=5, stratify=False, refit=False).fit(features, wheat, groups=groups)
        found = search.tuning_
        print(f"  {title:26} {len(rows)} rows: {found.best:20} accuracy {found.pick.mean:.4f} (se {found.pick.se:.4f})")


def classify_reviews(folder: Path) -> None:
    """Print the pick for a random forest on 1,000 reviews, and what all candidates reach on the others."""
    reviews = read_lines(folder / "imdb/imdb_train.jsonl.gz")
    random.Random(1234).shuffle(reviews)
    counter = make_pipeline(CountVectorizer(ngram_range=(1, 3), max_features=300), TfidfTransformer())
    features = counter.fit_transform([review["text"] for review in reviews[:1000]])
    labels = np.array([review["label"] for review in reviews])
    forest = RandomForestClassifier(n_estimators=100, max_depth=4, random_state=42)
    grid = {"max_features": [round(0.01 + 0.05 * i, 2) for i in range(10)]}
    search = JKSearchCV(forest, grid, j=4, k=5, stratify=False, refit=False).fit(features, labels[:1000])
    print(f"\nIMDB, 1,000 reviews: random forest\n  {search.tuning_.verdict}")
    others = counter.transform([review["text"] for review in reviews[1000:]])
    for row in search.tuning_.candidates:
        truth = forest.set_params(**row.params).fit(features, labels[:1000]).score(others, labels[1000:])
        print(f"  {row.name:20} cross-validated {row.mean:.4f}, on {others.shape[0]:,} others {truth:.4f}")


def main() -> None:
    """Run the three experiments, and exit with 1 if an accuracy of the tagger is off."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/data"
    if not (folder / "nltk/treebank.zip").is_file():
        sys.exit(f"{folder / 'nltk/treebank.zip'} is not there: give the folder of the data")
    off = tag_words(folder)
    classify_topics(folder)
    classify_reviews(folder)
    sys.exit(int(off > 0))


if __name__ == "__main__":
    main()
