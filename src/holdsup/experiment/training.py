"""The work of a training task: train on one part of a corpus, predict the other, score and keep the predictions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdsup.columns.limits import reason_of
from holdsup.errors import HoldsupError, MetricError, TaskError, list_names
from holdsup.experiment.corpora import read_corpus
from holdsup.experiment.plan import Outcome
from holdsup.experiment.sources import PREPARE
from holdsup.experiment.systems import Examples, load_system, train_system
from holdsup.metrics import Metric, make_metric
from holdsup.metrics.labels import LabelMetric
from holdsup.metrics.means import Agreement
from holdsup.metrics.metric import BadItem
from holdsup.splits import Split, make_splitter
from holdsup.splits.corpus import Codes

WORK = "holdsup.experiment.training:train_and_test"
COUNT = "count_"  # begins the names of columns that hold counts
KEPT = 16  # splits, and metrics that know their labels, which a process holds: systems and settings share them


class Scored(NamedTuple):
    """The score of a set of items, or why there is none (None where there is one)."""

    score: float | None
    reason: str | None


def find_metric(data: Mapping[str, Any], metric: Mapping[str, Any]) -> Metric:
    """Return the metric of a task, which knows the labels of the task's corpus."""
    return _find(json.dumps(data), json.dumps(metric))


@lru_cache(maxsize=KEPT)
def _find(data: str, metric: str) -> Metric:
    return make_metric(**json.loads(metric)).for_targets(read_corpus(json.loads(data)).targets)


def check_metric(metric: Metric, targets: Sequence[Any], items: Sequence[str]) -> None:
    """Refuse a metric that cannot score even the targets themselves; a function of the user's is not called.

    Parameters
    ----------
    items : what each item is called
    """
    known = metric.for_targets(targets)
    if not known.columns:
        return
    try:
        counts = known.count(targets, targets)
    except MetricError as error:
        why = _explain(error, items).rstrip(".")
        raise MetricError(f"{metric.name} does not fit these targets: {why}") from error
    reason = known.why_undefined(np.asarray(counts.sum(axis=0)))
    if reason and isinstance(known, LabelMetric):
        labels = list_names(map(str, known.known or ()), most=5)
        raise MetricError(f"{metric.name} has nothing to find: no target is {known.noun}; there are {labels}")
    if reason:
        raise MetricError(f"{metric.name} does not fit these targets: {reason}")


def score_predictions(
    metric: Metric, targets: Sequence[Any], predictions: Sequence[Any], items: Sequence[str]
) -> tuple[Scored, NDArray[Any] | None]:
    """Return the score of items, and their counts (None where they cannot be counted).

    Nothing is raised: a metric that fails must not lose the training whose predictions it was given.

    Parameters
    ----------
    items : what each item is called, so that a reason can name it
    """
    try:
        counts = metric.count(targets, predictions)
        if metric.columns:
            return score_counts(metric, np.asarray(counts.sum(axis=0))), counts
        score = metric.evaluate(targets, predictions)
    except Exception as error:  # a metric may be a function of the user's
        return Scored(None, _explain(error, items)), None
    return (Scored(score, None) if math.isfinite(score) else Scored(None, f"{metric.name} is {score}")), counts


def score_counts(metric: Metric, sums: NDArray[Any]) -> Scored:
    """Return the score of summed counts, shape (counts,)."""
    reason = metric.why_undefined(sums)
    return Scored(None, reason) if reason else Scored(float(metric.score(sums)), None)


def _explain(error: Exception, items: Sequence[str]) -> str:
    """Return why a metric fails: our own words whole, with what to do; those of others as part of a line."""
    if isinstance(error, BadItem):
        return error.naming(items)
    return str(error) if isinstance(error, HoldsupError) else reason_of(error)


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
    groups = None if corpus.groups is None else _pick(corpus.groups, train)
    inputs, known, unseen = _pick(corpus.inputs, train), _pick(corpus.targets, train), _pick(corpus.inputs, test)
    trained = train_system(system, Examples(inputs, known, unseen, arguments["seed"], groups))
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
        raise TaskError(f"{source} predicts with a {type(returned).__name__}: return a list, one prediction per item")
    if len(values) != len(targets):
        raise TaskError(f"{source} gave {len(values):,} predictions for {len(targets):,} items: return one per item")
    plain = [_plain(value, place, source) for place, value in enumerate(values, start=1)]
    wanted = {_kind(target) for target in targets}
    for place, value in enumerate(plain, start=1):
        if _kind(value) not in wanted:
            raise TaskError(
                f"{source} predicts {_kind(value)} ({value!r:.40}, prediction {place}) where the targets are "
                f"{' or '.join(sorted(wanted))} ({targets[0]!r:.40}): return the same kind"
            )
    return plain


def note_unknown(predictions: Sequence[Any], targets: Sequence[Any]) -> str | None:
    """Return a note on predictions that no target is, where targets are labels; None where there are none.

    Targets are labels if there are at most half as many different ones as items: answers in words differ more.

    >>> note_unknown(["a", "b "], ["a", "b", "a", "b"])
    "1 of 2 predictions is not a label in the data, such as 'b '"
    """
    if not all(isinstance(target, str | int) for target in targets) or len(labels := set(targets)) > len(targets) / 2:
        return None
    unknown = [value for value in predictions if isinstance(value, list) or value not in labels]
    if not unknown:
        return None
    what = "is not a label" if len(unknown) == 1 else "are not labels"
    return f"{len(unknown):,} of {len(predictions):,} predictions {what} in the data, such as {unknown[0]!r:.40}"


def _plain(value: Any, place: int, source: str) -> Any:
    if isinstance(value, str | bool | int):
        return value
    if hasattr(value, "tolist"):  # of NumPy: a number, a string, an array
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(part, place, source) for part in value]
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        raise TaskError(f"prediction {place} of {source} is {value}: the training may have diverged")
    if isinstance(value, str | bool | int | float):
        return value
    raise TaskError(
        f"prediction {place} of {source} is a {type(value).__name__}: return text, numbers, booleans, or lists of these"
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
