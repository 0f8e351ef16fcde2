"""The work of a training task: train on one part of a corpus, predict the other, count, keep the predictions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa

from holdsup.errors import TaskError
from holdsup.experiment.corpora import read_corpus
from holdsup.experiment.plan import Outcome
from holdsup.experiment.scoring import find_metric, score_predictions
from holdsup.experiment.sources import PREPARE
from holdsup.experiment.systems import load_system, train_system
from holdsup.metrics.means import Agreement
from holdsup.splits import Split, make_splitter
from holdsup.splits.corpus import Codes

WORK = "holdsup.experiment.training:train_and_test"
COUNT = "count_"  # begins the names of columns that hold counts
KEPT = 16  # splits that a process holds: systems and settings share them


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
    columns: dict[str, Any] = {"item": items, "target": _write(targets), "prediction": _write(predictions)}
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


def _prepare(arguments: Mapping[str, Any]) -> None:
    """Read the corpus and import the system of a task, once in each process."""
    find_split(arguments)
    load_system(arguments["system"])
    pa.array([""])  # Arrow imports pandas, if it is there, for the first array that it makes


setattr(train_and_test, PREPARE, _prepare)


def find_split(arguments: Mapping[str, Any]) -> Split:
    """Return who trains and who tests in a task."""
    return _find_split(json.dumps(arguments["data"]), json.dumps(arguments["split"]))


@lru_cache(maxsize=KEPT)
def _find_split(data: str, split: str) -> Split:
    corpus = read_corpus(json.loads(data))
    options = json.loads(split)
    index = options.pop("index")
    return make_splitter(**options).split_at(index, corpus.inputs, corpus.targets, corpus.groups)


def check_predictions(returned: Any, targets: Sequence[Any], *, source: str) -> list[Any]:
    """Return predictions as plain values that JSON can hold.

    A prediction of another kind than the targets (the text "1" where targets are numbers) would count as wrong
    without a word, so it is refused.
    """
    values = returned.tolist() if hasattr(returned, "tolist") else returned
    if not isinstance(values, list | tuple):
        raise TaskError(f"{source} predicts with a {type(returned).__name__}: return a list with a prediction an item")
    if len(values) != len(targets):
        raise TaskError(f"{source} gave {len(values):,} predictions for {len(targets):,} items: return one for each")
    plain = [_plain(value, place, source) for place, value in enumerate(values, start=1)]
    wanted = {_kind(target) for target in targets}
    for place, value in enumerate(plain, start=1):
        if _kind(value) not in wanted:
            raise TaskError(
                f"{source} predicts {_kind(value)} ({value!r:.40}, prediction {place}) where the targets are "
                f"{' or '.join(sorted(wanted))} ({targets[0]!r:.40}): return what the targets are"
            )
    return plain


def note_unknown(predictions: Sequence[Any], targets: Sequence[Any]) -> str | None:
    """Return a note on predictions that no target is, where targets are labels; None where there are none.

    Targets are labels if there are at most half as many different ones as items: answers in words differ more.

    >>> note_unknown(["a", "b "], ["a", "b", "a", "b"])
    "1 of 2 predictions is no label of the data, such as 'b '"
    """
    if not all(isinstance(target, str | int) for target in targets) or len(labels := set(targets)) > len(targets) / 2:
        return None
    unknown = [value for value in predictions if isinstance(value, list) or value not in labels]
    if not unknown:
        return None
    verb = "is" if len(unknown) == 1 else "are"
    return (
        f"{len(unknown):,} of {len(predictions):,} predictions {verb} no label of the data, such as {unknown[0]!r:.40}"
    )


def _plain(value: Any, place: int, source: str) -> Any:
    if isinstance(value, str | bool | int):
        return value
    if hasattr(value, "tolist"):  # of NumPy: a number, a string, an array
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(part, place, source) for part in value]
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        raise TaskError(
            f"prediction {place} of {source} is {value}, which is no prediction: the training may have diverged"
        )
    if isinstance(value, str | bool | int | float):
        return value
    raise TaskError(
        f"prediction {place} of {source} is a {type(value).__name__}: return text, numbers, truth values, or lists "
        "of these"
    )


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    return "lists" if isinstance(value, list) else "numbers"


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
