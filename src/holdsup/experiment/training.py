"""The work of a training task: train on one part of a corpus, predict the other, count, keep the predictions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa

from holdsup.experiment.corpora import read_corpus
from holdsup.experiment.importing import prepared_by
from holdsup.experiment.plan import Outcome
from holdsup.experiment.predictions import check_predictions, note_unknown
from holdsup.experiment.scoring import find_metric, score_predictions
from holdsup.experiment.systems import load_system, train_system
from holdsup.metrics.means import Agreement
from holdsup.splits import Split, make_splitter
from holdsup.splits.corpus import Codes

__all__ = ["COUNT", "WORK", "find_split", "train_and_test"]

WORK = "holdsup.experiment.training:train_and_test"
COUNT = "count_"  # begins the names of columns that hold counts
KEPT = 16  # splits that a process holds: systems and settings share them


def prepare_training(arguments: Mapping[str, Any]) -> None:
    """Read the corpus and import the system of a task, once in each process."""
    find_split(arguments)
    load_system(arguments["system"])
    pa.array([""])  # Arrow imports pandas, if it is there, for the first array that it makes


@prepared_by(prepare_training)
def train_and_test(arguments: Mapping[str, Any]) -> Outcome:
    """Return what a system does on one split of a corpus.

    The table "items" of the outcome keeps each item's target and prediction as JSON text, so that any metric can be
    computed later, and the counts of the metric asked for. A metric that cannot be computed loses no training: the
    score is NaN, and a reason says why.

    Parameters
    ----------
    arguments : system (see `train_system`), data (see `read_corpus`), split (name, seed and options of a splitter,
        and the index of the split), metric (name and options), seed
    """
    data, system = arguments["data"], arguments["system"]
    corpus = read_corpus(data)
    train, test = find_split(arguments)
    targets = _pick(corpus.targets, test)
    trained = train_system(
        system, _pick(corpus.inputs, train), _pick(corpus.targets, train), _pick(corpus.inputs, test),
        seed=arguments["seed"], groups=None if corpus.groups is None else _pick(corpus.groups, train),
    )  # fmt: skip
    named = system["source"] if isinstance(system["source"], str) else "the command"
    predictions = check_predictions(trained.predictions, targets, source=named)
    metric = find_metric(data, arguments["metric"])
    items = [corpus.items[i] for i in test]
    scored, counts = score_predictions(metric, targets, predictions, items)
    columns: dict[str, Any] = {
        "item": items,
        "target": _write(targets),
        "prediction": _write(predictions),
    }
    if counts is not None and metric.keeps_counts:
        columns |= {f"{COUNT}{name}": counts[:, i] for i, name in enumerate(metric.columns)}
    values = {
        "metric": arguments["metric"],
        "score": math.nan if scored.score is None else scored.score,
        "seconds_train": trained.seconds_train,
        "seconds_test": trained.seconds_test,
        "n_train": len(train),
        "n_test": len(test),
    }
    if scored.reason:
        values["reason"] = scored.reason
    elif isinstance(metric, Agreement) and (note := note_unknown(predictions, corpus.targets)):
        values["note"] = note
    return Outcome(values, {"items": pa.table(columns)})


def find_split(arguments: Mapping[str, Any]) -> Split:
    """Return who trains and who tests in a task."""
    return _find_split(json.dumps(arguments["data"]), json.dumps(arguments["split"]))


@lru_cache(maxsize=KEPT)
def _find_split(data: str, split: str) -> Split:
    corpus = read_corpus(json.loads(data))
    options = json.loads(split)
    index = options.pop("index")
    return make_splitter(**options).split_at(index, corpus.inputs, corpus.targets, corpus.groups)


def _pick(values: Any, places: Codes) -> Any:
    """Return some items, as a list where the corpus is one."""
    if isinstance(values, list):
        return [_copy(values[i]) for i in places]
    from sklearn.utils import _safe_indexing  # knows arrays, sparse matrices and frames of all makes

    return _safe_indexing(values, places)


def _copy(value: Any) -> Any:
    """Return a value whose lists a system may change: the corpus is there for the next task, too."""
    return [_copy(part) for part in value] if isinstance(value, list) else value


def _write(values: Sequence[Any]) -> pa.DictionaryArray:
    return pa.array([json.dumps(value, ensure_ascii=False) for value in values], pa.string()).dictionary_encode()
