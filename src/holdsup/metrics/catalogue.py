"""The metrics by their names, as a spec's [metric], --metric and tables of scores have them."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from holdsup.errors import MetricError, hint_at, list_names
from holdsup.metrics.chunks import ChunkMetric
from holdsup.metrics.edits import ErrorRate, TranslationEditRate
from holdsup.metrics.labels import AveragedMetric, LabelMetric
from holdsup.metrics.means import Agreement, NumberError, Perplexity, TokenAgreement
from holdsup.metrics.metric import Metric
from holdsup.metrics.scorers import FunctionMetric
from holdsup.metrics.translation import Bleu, ChrF

LABELS = ("average", "positive", "labels", "zero_division", "allow_unknown")
CHUNKS = ("scheme", "zero_division")
METRICS: dict[str, tuple[str, ...]] = {
    "accuracy": (),
    "exact_match": ("normalize",),
    "precision": LABELS,
    "recall": LABELS,
    "f1": LABELS,
    "chunk_precision": CHUNKS,
    "chunk_recall": CHUNKS,
    "chunk_f1": CHUNKS,
    "token_accuracy": (),
    "mse": (),
    "rmse": (),
    "mae": (),
    "bleu": ("tokenize", "smooth"),
    "chrf": ("word_order",),
    "ter": (),
    "wer": (),
    "cer": (),
    "perplexity": (),
}  # and the options that each takes
CORPUS: dict[str, Callable[..., Metric]] = {
    "bleu": Bleu, "chrf": ChrF, "ter": TranslationEditRate, "wer": ErrorRate, "cer": ErrorRate,
    "perplexity": Perplexity,
}  # fmt: skip
AVERAGES = ("micro", "macro", "weighted")
TYPES = {
    "normalize": (bool, "true or false"),
    "allow_unknown": (bool, "true or false"),
    "average": (str, "text"),
    "scheme": (str, "text"),
    "tokenize": (str, "text"),
    "smooth": (str, "text"),
    "word_order": (int, "a number"),
    "positive": (str | int | float, "a label: text or a number"),
    "labels": (list | tuple, "a list of labels"),
    "zero_division": (int | float, "0, 1 or nan"),
}
QUOTED = r"\"[^\"]*\"|'[^']*'"
PART = re.compile(rf"(?:\[(?:{QUOTED}|[^\]\"'])*\]|{QUOTED}|[^,])+")  # up to a comma that is in no list and no text
SPECIAL = set(",[]\"'")  # text with one of these needs quotation marks


def make_metric(name: str, **options: Any) -> Metric:
    """Return a metric by its name, with the options of a spec's ``[metric]``.

    A name with a colon is a function of targets and predictions: ``sklearn:balanced_accuracy``, or ``module:function``.
    It is imported when it is first used; its options are handed to it, but for `lower_is_better`.

    >>> make_metric("f1", positive="spam").evaluate(["spam", "ham", "spam"], ["spam", "spam", "ham"])
    0.5

    Raises
    ------
    MetricError : no metric of this name, or an option that it does not take
    """
    if ":" in name:
        lower_is_better = options.pop("lower_is_better", None)
        if not isinstance(lower_is_better, bool | None):
            raise MetricError(f"lower_is_better = {lower_is_better!r:.40} of the metric {name}: give true or false.")
        return FunctionMetric(name=name, lower_is_better=lower_is_better, options=options)
    _check_options(name, options)
    measure = name.removeprefix("chunk_")
    if name in CORPUS:
        return CORPUS[name](name=name, **options)
    if name in ("mse", "rmse", "mae"):
        return NumberError(name=name)
    if name == "token_accuracy":
        return TokenAgreement(name=name)
    if name in ("accuracy", "exact_match"):
        return Agreement(name=name, **options)
    if name.startswith("chunk_"):
        if "scheme" not in options:
            raise MetricError(f"{name} needs the scheme of the tags: scheme = iob1, iob2, iobes or bilou.")
        return ChunkMetric(name=name, measure=measure, **options)
    return _label_metric(name, measure, **options)


def _label_metric(
    name: str, measure: str, *, average: str | None = None, positive: Any = None, **options: Any
) -> Metric:
    if "labels" in options:
        options["labels"] = _check_labels(name, options["labels"])
    if positive is not None and average in (None, "binary") and "labels" not in options:
        return LabelMetric(name=name, measure=measure, labels=(positive,), **options)
    if positive is not None or average not in AVERAGES:
        raise MetricError(
            f"{name} of which labels? Name the one to find with positive = ..., or set average to micro, macro or "
            "weighted, not both; labels = [...] needs an average."
        )
    if average == "micro":
        return LabelMetric(name=name, measure=measure, **options)
    return AveragedMetric(name=name, measure=measure, is_weighted=average == "weighted", **options)


def _check_labels(name: str, labels: Sequence[Any]) -> tuple[Any, ...]:
    if not labels or not all(isinstance(label, str | int | float) for label in labels):
        raise MetricError(f"labels = {labels!r:.40} of the metric {name}: give a list of text or numbers.")
    return tuple(dict.fromkeys(labels))


def _check_options(name: str, options: dict[str, Any]) -> None:
    """Refuse a metric that is not there, and options that it does not take."""
    if name not in METRICS:
        raise MetricError(f"unknown metric {name!r}; choose from {', '.join(METRICS)}.{hint_at(name, METRICS)}")
    if strange := [option for option in options if option not in METRICS[name]]:
        raise MetricError(f"the metric {name} has no option {list_names(strange)}; it has {list_names(METRICS[name])}.")
    for option, value in options.items():
        kind, words = TYPES[option]
        if not isinstance(value, kind):
            raise MetricError(f"{option} = {value!r:.40} of the metric {name}: it must be {words}.")


def read_metric(line: str) -> dict[str, Any]:
    """Return name and options of a metric; values are TOML, and text needs no quotation marks.

    >>> read_metric('f1,average=micro,labels=["pos", "neg"]')
    {'name': 'f1', 'average': 'micro', 'labels': ['pos', 'neg']}
    """
    name, *options = [part.strip() for part in PART.findall(line)] or [""]
    found: dict[str, Any] = {"name": name}
    for option in options:
        key, equals, value = (part.strip() for part in option.partition("="))
        if not (key and equals and value):
            raise MetricError(f"{option!r} is not of the form average=macro")
        found[key] = _read_value(value)
    return found


def write_metric(metric: Mapping[str, Any]) -> str:
    """Return a metric in one line, from which `read_metric` reads the same.

    >>> write_metric({"name": "f1", "average": "micro", "labels": ["pos", "neg"]})
    'f1,average=micro,labels=["pos", "neg"]'
    """
    options = [f"{option}={_write_value(value)}" for option, value in metric.items() if option != "name"]
    return ",".join([str(metric["name"]), *options])


def _read_value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:  # text without quotation marks
        return text


def _write_value(value: Any) -> str:
    if isinstance(value, str) and not SPECIAL & set(value) and _read_value(value) == value == value.strip():
        return value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool | list | tuple) else str(value)
