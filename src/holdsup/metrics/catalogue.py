"""The metrics by their names, as a spec's [metric] has them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from holdsup.errors import MetricError, list_names
from holdsup.metrics.chunks import ChunkMetric
from holdsup.metrics.labels import AveragedMetric, LabelMetric
from holdsup.metrics.means import Agreement, NumberError, TokenAgreement
from holdsup.metrics.metric import Metric
from holdsup.metrics.scorers import FunctionMetric

__all__ = ["METRICS", "make_metric"]

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
}  # and the options that each takes
AVERAGES = ("micro", "macro", "weighted")
TYPES = {
    "normalize": (bool, "true or false"),
    "allow_unknown": (bool, "true or false"),
    "average": (str, "a text"),
    "scheme": (str, "a text"),
    "positive": (str | int | float, "a label: a text or a number"),
    "labels": (list | tuple, "a list of labels"),
    "zero_division": (int | float, "0, 1 or nan"),
}


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
            "weighted, not both; labels = [...] goes with an average."
        )
    if average == "micro":
        return LabelMetric(name=name, measure=measure, **options)
    return AveragedMetric(name=name, measure=measure, is_weighted=average == "weighted", **options)


def _check_labels(name: str, labels: Sequence[Any]) -> tuple[Any, ...]:
    if not labels or not all(isinstance(label, str | int | float) for label in labels):
        raise MetricError(f"labels = {labels!r:.40} of the metric {name}: it must be a list of texts or numbers.")
    return tuple(dict.fromkeys(labels))


def _check_options(name: str, options: dict[str, Any]) -> None:
    """Refuse a metric that is not there, and options that it does not take."""
    if name not in METRICS:
        near = get_close_matches(name.lower(), METRICS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise MetricError(f"no metric {name!r}; there are {', '.join(METRICS)}.{hint}")
    if strange := [option for option in options if option not in METRICS[name]]:
        raise MetricError(f"the metric {name} takes no {list_names(strange)}; it takes {list_names(METRICS[name])}.")
    for option, value in options.items():
        kind, words = TYPES[option]
        if not isinstance(value, kind):
            raise MetricError(f"{option} = {value!r:.40} of the metric {name}: it must be {words}.")
