"""A conditional random field that finds chunks, with its tags written in one scheme or another.

Xue et al. compare IOB2 with IOBES: the corpus is the same, the tags that a CRF learns are not. Targets and predictions
are IOB2 in both cases, so that both are scored alike and votes are votes on the same tags.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pycrfsuite

from holdsup.metrics import convert_tags

Tokens = Sequence[Sequence[str]]  # the words of a sentence, and their parts of speech
Tags = list[list[str]]


def train_crf(
    inputs: Sequence[Tokens],
    targets: Tags,
    *,
    seed: int,
    scheme: str,
    iterations: int,
    keep: float = 1.0,
    draw: int = 0,
) -> Callable[[Sequence[Tokens]], Tags]:
    """Train a CRF by L-BFGS, which has no randomness; return what tags sentences.

    With `keep` below one, it trains on a random share of the sentences: two draws are one system with two seeds.
    """
    order = list(range(len(inputs)))
    if keep < 1:
        order = random.Random(f"{seed} {draw}").sample(order, round(keep * len(order)))
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c2": 1.0, "max_iterations": iterations})
    tags = convert_tags(targets, "iob2", scheme)
    for place in order:
        trainer.append(describe(inputs[place]), tags[place])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "crf"
        trainer.train(str(file))
        learnt = file.read_bytes()

    def predict(sentences: Sequence[Tokens]) -> Tags:
        tagger = pycrfsuite.Tagger()
        tagger.open_inmemory(learnt)
        return convert_tags([tagger.tag(describe(tokens)) for tokens in sentences], scheme, "iob2")

    return predict


def describe(tokens: Tokens) -> list[list[str]]:
    """Return the features of each token: itself, its shape, its part of speech, and its neighbours."""
    words, kinds = tokens
    before, after = ["<", *words[:-1]], [*words[1:], ">"]
    kinds_before, kinds_after = ["<", *kinds[:-1]], [*kinds[1:], ">"]
    columns = zip(words, kinds, before, after, kinds_before, kinds_after, strict=True)
    return [
        [
            f"w={word.lower()}", f"s={word[-3:]}", f"x={shape(word)}", f"p={kind}", f"w-={left.lower()}",
            f"w+={right.lower()}", f"p-={kind_left}", f"p+={kind_right}", f"p-p={kind_left} {kind}",
        ]
        for word, kind, left, right, kind_left, kind_right in columns
    ]  # fmt: skip


def shape(word: str) -> str:
    """Return what kinds of letters a word has.

    >>> shape("CoNLL-2003")
    'XxX-9'
    """
    kinds = ["9" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c for c in word]
    return "".join(kind for place, kind in enumerate(kinds) if place == 0 or kind != kinds[place - 1])
