"""The work of a training task: what is trained on what, and what is kept."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdsup.errors import ColumnError, ReadError
from holdsup.experiment.corpora import read_corpus
from holdsup.experiment.plan import Outcome, Task
from holdsup.experiment.sources import digest_file
from holdsup.experiment.training import note_unknown, train_and_test
from holdsup.splits import make_splitter
from holdsup.studies.specs import make_plan


@pytest.fixture
def train(study: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[Task, Outcome]]]:
    """A function that edits the spec and does all of its tasks in this process."""
    monkeypatch.syspath_prepend(str(study.parent))

    def call(*edits: tuple[str, str]) -> list[tuple[Task, Outcome]]:
        text = study.read_text()
        for old, new in edits:
            assert old in text
            text = text.replace(old, new)
        study.write_text(text)
        return [(task, train_and_test(json.loads(json.dumps(dict(task.arguments))))) for task in make_plan(study).tasks]

    return call


def described(path: Path, **columns: Any) -> dict[str, Any]:
    return {"path": str(path), "digest": digest_file(path), **columns}


def items(outcome: Outcome) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = outcome.tables["items"].to_pydict()
    return columns


def test_targets_and_predictions_of_the_test_items_are_kept(
    train: Callable[..., list[tuple[Task, Outcome]]], study: Path
) -> None:
    rows = [json.loads(line) for line in (study.parent / "toy.jsonl").read_text().splitlines()]
    split = make_splitter("holdout", test=0.25, seed=5).split_at(0, rows)
    for task, outcome in train():
        kept = items(outcome)
        assert kept["item"] == [str(i + 1) for i in split.test]
        assert [json.loads(text) for text in kept["target"]] == [rows[i]["label"] for i in split.test]
        assert (outcome.values["n_train"], outcome.values["n_test"]) == (45, 15)
        labels = [rows[i]["label"] for i in split.train]
        top = max(set(labels), key=labels.count)
        if task.labels["system"] == "majority":
            assert {json.loads(text) for text in kept["prediction"]} == {top}
        right = [t == p for t, p in zip(kept["target"], kept["prediction"], strict=True)]
        assert kept["count_correct"] == right
        assert outcome.values["score"] == sum(right) / 15
        assert outcome.values["seconds_train"] >= 0


def test_an_estimator_scores_as_it_does_without_us(
    train: Callable[..., list[tuple[Task, Outcome]]], study: Path
) -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics import f1_score
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    done = train(
        ('[systems.majority]\ncall = "systems:train_majority"', '[systems.tree]\nestimator = "systems:make_tree"\nsettings = { max_depth = 2, tree__splitter = "random" }'),
        ('name = "accuracy"', 'name = "f1"\naverage = "macro"'),
    )  # fmt: skip
    rows = [json.loads(line) for line in (study.parent / "toy.jsonl").read_text().splitlines()]
    texts, labels = [row["text"] for row in rows], [row["label"] for row in rows]
    split = make_splitter("holdout", test=0.25, seed=5).split_at(0, rows)
    trees = [(task, outcome) for task, outcome in done if task.labels["system"] == "tree"]
    assert len(trees) == 3
    for task, outcome in trees:
        tree = DecisionTreeClassifier(max_depth=2, splitter="random", random_state=task.labels["seed"])
        own = make_pipeline(CountVectorizer(analyzer="char"), tree)
        own.fit([texts[i] for i in split.train], [labels[i] for i in split.train])
        predicted = own.predict([texts[i] for i in split.test]).tolist()
        assert [json.loads(text) for text in items(outcome)["prediction"]] == predicted
        score = f1_score([labels[i] for i in split.test], predicted, average="macro")
        assert outcome.values["score"] == pytest.approx(score, rel=1e-12)


def test_groups_never_straddle_the_split(train: Callable[..., list[tuple[Task, Outcome]]], study: Path) -> None:
    done = train(
        ('target = "label"', 'target = "label"\ngroup = "doc"'),
        ('name = "holdout"\ntest = 0.25', 'name = "kfold"\nk = 4'),
    )
    docs = [json.loads(line)["doc"] for line in (study.parent / "toy.jsonl").read_text().splitlines()]
    for _, outcome in done:
        tested = {int(item) - 1 for item in items(outcome)["item"]}
        assert not {docs[i] for i in tested} & {docs[i] for i in range(60) if i not in tested}


def test_the_columns_of_indicator_rows_are_labels(
    train: Callable[..., list[tuple[Task, Outcome]]], study: Path
) -> None:
    rows = [{"text": str(i), "label": [1, 0, i % 2]} for i in range(8)]
    (study.parent / "toy.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (study.parent / "systems.py").write_text("""
def train_length(inputs, targets, *, seed): return lambda unseen: [[0, 1, 0] for _ in unseen]
def train_majority(inputs, targets, *, seed): return lambda unseen: [[1, 0, 0] for _ in unseen]
""")
    for task, outcome in train(('name = "accuracy"', 'name = "f1"\naverage = "micro"')):
        extra = sum(json.loads(text)[2] for text in items(outcome)["target"])
        matched = 0 if task.labels["system"] == "length" else 2  # of two items tested
        assert outcome.values["score"] == pytest.approx(2 * matched / (4 + extra))
        assert "count_matched" not in items(outcome)


def test_a_metric_that_fails_loses_no_prediction(train: Callable[..., list[tuple[Task, Outcome]]], study: Path) -> None:
    (study.parent / "own.py").write_text("def fail(known, predicted): raise ValueError('no such thing')")
    for _, outcome in train(('name = "accuracy"', 'name = "own:fail"')):
        assert math.isnan(outcome.values["score"])
        assert "no such thing" in outcome.values["reason"]
        assert len(items(outcome)["prediction"]) == 15


def test_a_system_that_changes_its_inputs_changes_them_for_itself_alone(
    train: Callable[..., list[tuple[Task, Outcome]]], study: Path
) -> None:
    tokens = [{"tokens": ["a", "b"], "tags": ["O", "O"]} for _ in range(8)]
    (study.parent / "tokens.jsonl").write_text("\n".join(map(json.dumps, tokens)))
    (study.parent / "systems.py").write_text("""
def train_length(inputs, targets, *, seed):
    seen = [list(x) for x in inputs]
    for x in inputs: x.clear()
    for y in targets: y[:] = ["X"]
    return lambda unseen: [y for y in seen[: len(unseen)]]

train_majority = lambda inputs, targets, *, seed: train_length(inputs, targets, seed=seed)
""")
    done = train(
        ('path = "toy.jsonl"\ninput = "text"\ntarget = "label"', 'path = "tokens.jsonl"\ninput = "tokens"\ntarget = "tags"'),
        ('name = "accuracy"', 'name = "token_accuracy"'),
    )  # fmt: skip
    for _, outcome in done:
        assert set(items(outcome)["prediction"]) == {'["a", "b"]'}
        assert set(items(outcome)["target"]) == {'["O", "O"]'}


ROWS = [{"x": f"t{i}", "y": i % 3, "g": f"d{i // 2}", "id": f"n{i}"} for i in range(6)]


@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz", "csv", "parquet"])
def test_a_corpus_is_the_same_in_every_format(tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"data.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), file)
    elif kind == "csv":
        lines = ["x,y,g,id", *(",".join(map(str, row.values())) for row in ROWS)]
        file.write_text("\n".join(lines) + "\n")
    else:
        text = "\n".join(map(json.dumps, ROWS)).encode()
        file.write_bytes(gzip.compress(text) if kind.endswith("gz") else text)
    corpus = read_corpus(described(file, input="x", target="y", group="g", item="id"))
    assert corpus.inputs == [row["x"] for row in ROWS]
    assert corpus.targets == [row["y"] for row in ROWS]
    assert all(type(target) is int for target in corpus.targets)
    assert corpus.groups == [row["g"] for row in ROWS]
    assert corpus.items == tuple(row["id"] for row in ROWS)


def test_several_input_columns_are_a_list_of_values(tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    file.write_text("a,b,y\n1,0.5,p\n2,1.5,q\n")
    corpus = read_corpus(described(file, input=["a", "b"], target="y"))
    assert corpus.inputs == [[1, 0.5], [2, 1.5]]
    assert corpus.items == ("1", "2")
    assert corpus.groups is None


@pytest.mark.parametrize(
    ("text", "columns", "error", "said"),
    [
        ('{"x": "a", "y": 1}\n{"x": "b", "y": null}\n', {}, ColumnError, "row 2 of .* has no 'y'"),
        ('{"x": "a", "y": 1}\n{"y": 2}\n', {}, ColumnError, "row 2 of .* has no 'x'"),
        ('{"x": "a", "y": 1}\n{"x": "b", "y": 2}\n', {"group": "doc"}, ColumnError, "no column 'doc'"),
        ('{"x": "a", "y": 1}\n{"x": "a", "y": 2}\n', {"item": "x"}, ColumnError, "'a' more than once"),
        ('{"x": "a", "y": 1}\n', {}, ReadError, "has 1 rows"),
        ("", {}, ReadError, "is empty"),
    ],
)
def test_a_corpus_that_cannot_be_used_is_one_line(
    tmp_path: Path, text: str, columns: dict[str, str], error: type[Exception], said: str
) -> None:
    file = tmp_path / "data.jsonl"
    file.write_text(text)
    with pytest.raises(error, match=said) as refused:
        read_corpus(described(file, input="x", target="y", **columns))
    assert "\n" not in str(refused.value)


def test_data_that_changed_since_the_plan_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    file.write_text("x,y\na,1\nb,2\n")
    source = described(file, input="x", target="y")
    file.write_text("x,y\na,1\nb,3\n")
    with pytest.raises(ReadError, match="has changed since the tasks were planned"):
        read_corpus(source)


@pytest.mark.parametrize(
    ("metric", "label", "noted"),
    [
        ('name = "accuracy"', "long ", "15 of 15 predictions are not labels in the data, such as 'long '"),
        ('name = "accuracy"', "long", None),
        ('name = "f1"\naverage = "macro"\nallow_unknown = true', "long ", None),  # it was asked for
    ],
)
def test_predictions_that_are_no_label_at_all_are_noted(
    study: Path, train: Callable[..., Any], metric: str, label: str, noted: str | None
) -> None:
    with (study.parent / "systems.py").open("a") as file:
        file.write(
            f"\n\ndef train_blank(inputs, targets, *, seed):\n    return lambda unseen: [{label!r}] * len(unseen)\n"
        )
    edits = ('"systems:train_length"', '"systems:train_blank"'), ('name = "accuracy"', metric)
    (_, outcome), *_ = train(*edits)
    assert outcome.values.get("note") == noted


def test_answers_in_words_are_no_labels() -> None:
    assert note_unknown(["x"], ["a", "b", "c"]) is None
    assert note_unknown([0.5], [0.1, 0.1, 0.1]) is None
