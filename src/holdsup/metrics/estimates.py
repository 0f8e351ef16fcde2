"""The metric that an estimate names: by its own name, or as people write it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from holdsup.errors import MetricError, hint_at
from holdsup.metrics.catalogue import METRICS, make_metric, read_metric
from holdsup.metrics.chunks import ChunkMetric
from holdsup.metrics.metric import Metric

ALSO = {
    "chrf++": "chrf,word_order=2", "chrf2": "chrf", "chrf2++": "chrf,word_order=2", "sacrebleu": "bleu",
    "ppl": "perplexity", "micro_f1": "f1,average=micro", "micro_precision": "precision,average=micro",
    "micro_recall": "recall,average=micro", "macro_f1": "f1,average=macro",
}  # fmt: skip


def find_estimate(asked: str, *, counted: bool) -> Metric:
    """Return the metric of an estimate; where items are `counted` already, options that only counting needs may lack.

    >>> find_estimate("chrF++", counted=False).signature, find_estimate("F1", counted=True).columns
    ('case:mixed|eff:yes|nc:6|nw:2|space:no', ('matched', 'predicted', 'expected'))
    """
    name, comma, options = asked.partition(",")
    name = name.strip() if ":" in name else name.strip().lower().replace("-", "_").replace(" ", "_")
    given = read_metric(f"{ALSO.get(name, name)}{comma}{options}")
    name = str(given.pop("name"))
    if name not in METRICS and ":" not in name:
        hint = hint_at(name, [*METRICS, *ALSO])
        raise MetricError(f"unknown estimate {asked!r:.60}; choose from {', '.join(METRICS)}.{hint}")
    if name.startswith("chunk_"):
        given.setdefault("scheme", "iob2")
    if counted and name in ("f1", "precision", "recall") and not {"average", "positive"} & set(given):
        given["average"] = "micro"
    return make_metric(name, **given)


def choose_scheme(metric: ChunkMetric, tagged: Iterable[Iterable[str]]) -> ChunkMetric:
    """Return the metric for tags as they are written: E and S are of iobes, L and U of bilou."""
    letters = {tag[:2] for tags in tagged for tag in tags}
    if letters & {"E-", "S-"}:
        return replace(metric, scheme="iobes")
    return replace(metric, scheme="bilou") if letters & {"L-", "U-"} else metric
