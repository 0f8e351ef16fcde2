"""Items that may belong together although nobody said so get a hint; ids that merely look busy get none."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdsup import audit_scores, compare_systems, decompose_variance, read_scores
from holdsup.scores.item_groups import find_groupings

RNG = np.random.default_rng(5)
DOCUMENTS = [(d, s) for d in range(20) for s in range(10)]
HINT = "If items of a group belong together, as sentences of a document do, "


def table(items: Sequence[object], **columns: Sequence[object]) -> dict[str, Any]:
    """Return scores of two systems in three runs on items; `columns` have a value for each item."""
    count = len(items)
    rows = {"item": list(items), **{name: list(values) for name, values in columns.items()}}
    return {
        "system": np.repeat(["A", "B"], 3 * count).tolist(),
        "seed": np.tile(np.repeat([1, 2, 3], count), 2).tolist(),
        **{name: values * 6 for name, values in rows.items()},
        "score": RNG.random(6 * count).tolist(),
    }


@pytest.mark.parametrize(
    "write",
    [
        lambda d, s: f"doc{d}_s{s}",
        lambda d, s: f"doc{d}-s{s:02}",
        lambda d, s: f"doc{d}/{s}",
        lambda d, s: f"{d}_{s}",
        lambda d, s: f"talk.{d}:{s + 17 * d}",
        lambda d, s: f"{'abcdefghijklmnopqrst'[d] * 3}#{s}",
        lambda d, s: f"q{10 * d + s // 2}{'_a' if s % 2 else '_b'}",
    ],
)  # fmt: skip
def test_labels_that_number_the_parts_of_documents_get_a_hint(write: Any) -> None:
    scores = table([write(d, s) for d, s in DOCUMENTS])
    (hint,) = find_groupings(read_scores(scores))
    assert hint.message.startswith("Item names look like parts of groups, such as ")
    assert hint.advice == f"{HINT}give the group a column of its own and name it with --cluster."
    (found,) = (f for f in audit_scores(scores).findings if f.code == "grouped-items")
    assert (found.severity, found.count) == ("note", 200)


@pytest.mark.parametrize(
    "items",
    [
        [f"{i:05}" for i in range(200)],
        [f"item-{i:05}" for i in range(200)],
        [f"item_{i}" for i in range(200)],
        [str(uuid.UUID(int=int(x) << 64 | int(x))) for x in RNG.integers(1 << 62, size=200)],
        [f"{a:03}-{b:04}" for a, b in RNG.integers([100, 10000], size=(500, 2))],
        [f"{x:x}" for x in RNG.integers(1 << 62, size=200)],
        [f"{a / 10:.1f}" for a in range(200)],
        [f"2024-{m:02}-{d:02}" for m in range(1, 8) for d in range(1, 29)],
        [f"{part}-{i}" for part in ("train", "dev", "test", "other") for i in range(50)],
        [f"{language}_{i}" for language in ("en", "de", "fr") for i in range(60)],
        [f"page{i}.html" for i in range(200)],
        [f"a sentence of {i} words" for i in range(200)],
        ["x" * 5000 + f"_{i}" for i in range(20)],
        ["1", "2", "3"],
    ],
    ids=lambda items: str(items[0])[:20],
)  # fmt: skip
def test_other_labels_get_none(items: list[str]) -> None:
    assert not [*find_groupings(read_scores(table(list(dict.fromkeys(items)))))]


@pytest.mark.parametrize("number", [str, int])
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_column_that_is_the_same_in_groups_of_items_gets_a_hint(number: type, shuffled: bool) -> None:
    chapters = [number(d) if number is int else f"chapter {d}" for d, _ in DOCUMENTS]
    order = RNG.permutation(200) if shuffled else np.arange(200)
    scores = table(order.tolist(), chapter=[chapters[i] for i in order])
    said = [hint.sentence() for hint in find_groupings(read_scores(scores))]
    if shuffled and number is int:  # numbers in any order may be lengths, or counts
        assert not said
        return
    assert said == [
        "Column 'chapter' puts the 200 items into 20 groups. Each item counts as independent evidence; "
        f"related items carry less. {HINT}give --cluster chapter."
    ]


@pytest.mark.parametrize("given", [None, "chapter", "-"])
def test_the_hint_stands_beside_answers_unless_clusters_are_given_or_refused(given: str | None) -> None:
    scores = table(range(30), chapter=[f"chapter {i // 5}" for i in range(30)])
    said = [ask(scores, cluster=given).warnings for ask in (compare_systems, decompose_variance)]
    assert ["Column 'chapter' puts the 30 items into 6" in " ".join(lines) for lines in said] == [given is None] * 2
    assert any(f.code == "grouped-items" for f in audit_scores(scores, cluster=given).findings) == (given is None)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("source_length", [d + s for d, s in DOCUMENTS]),
        ("label", [f"class {d}" for d, _ in DOCUMENTS]),
        ("genre", [("news", "web", "talk")[d % 3] for d, _ in DOCUMENTS]),
        ("hard", [s % 2 for _, s in DOCUMENTS]),
        ("text", [f"sentence {d} {s}" for d, s in DOCUMENTS]),
        ("share", [d / 20 for d, _ in DOCUMENTS]),
        ("chapter", [None if d == 3 else f"chapter {d}" for d, _ in DOCUMENTS]),
    ],
)
def test_classes_measurements_and_texts_of_items_get_none(name: str, values: list[object]) -> None:
    assert not [*find_groupings(read_scores(table(range(200), **{name: values})))]


def test_a_column_that_changes_within_an_item_groups_no_items() -> None:
    scores = table(range(200), chapter=[f"chapter {d}" for d, _ in DOCUMENTS])
    scores["chapter"][-1] = "chapter 0"
    assert not [*find_groupings(read_scores(scores))]


def test_what_goes_with_the_dataset_is_no_cluster() -> None:
    names = [f"{'abcdefghijklmnopqrst'[d]}" for d, _ in DOCUMENTS]
    items = [f"{name}_{s}" for name, (_, s) in zip(names, DOCUMENTS, strict=True)]
    assert [*find_groupings(read_scores(table(items)))]
    domains = [f"domain {name}" for name in names]
    assert not [*find_groupings(read_scores(table(items, dataset=names, domain=domains)))]


def test_talks_in_the_ids_of_translated_sentences_are_seen(real_data: Path) -> None:
    (hint,) = find_groupings(read_scores(real_data / "hagmann_statnlp" / "data_ter.csv.gz"))
    assert "such as '0_0' and '0_1'" in hint.message
