"""Matched blocks of a real corpus: the table in docs/splits.md."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from holdsup.splits import BlockedCV


def read_conll(path: Path) -> tuple[list[list[str]], list[int]]:
    """Return the tags of each sentence, and its document."""
    sentences: list[list[str]] = []
    documents: list[int] = []
    document, tags = 0, []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("-DOCSTART-"):
            document += 1
        elif line.strip():
            tags.append(line.split()[-1])
        elif tags:
            sentences.append(tags)
            documents.append(document)
            tags = []
    return sentences, documents


# blocks (from m), whether of documents; then the largest deviation, mean over 10 seeds: random, matched
TABLE = [(3, False, 0.17, 0.0006), (3, True, 0.91, 0.005), (11, False, 0.58, 0.0017), (11, True, 1.84, 0.019)]


@pytest.mark.parametrize(("m", "by_document", "random", "matched"), TABLE)
def test_matched_blocks_deviate_a_hundred_times_less(
    real_data: Path, m: int, by_document: bool, random: float, matched: float
) -> None:
    tags, documents = read_conll(real_data / "conll2003" / "eng.train")
    assert len(tags) == 14_041
    names = sorted({tag for sentence in tags for tag in sentence})
    counts = np.array([[sentence.count(name) for name in names] for sentence in tags])
    for match, expected in ((None, random), ("targets", matched)):
        worst = []
        for seed in range(10):
            [block] = BlockedCV(m=m, seed=seed, match=match).blocks(
                None, tags, groups=documents if by_document else None
            )
            means = np.stack([counts[block == b].mean(axis=0) for b in range(block.max() + 1)])
            worst.append(np.abs(means - counts.mean(axis=0)).max())
        assert np.mean(worst) == pytest.approx(expected, rel=0.1)
