"""Per-item counts, and the score of summed counts."""

from holdsup.metrics.catalogue import make_metric
from holdsup.metrics.chunks import convert_tags, decode_chunks, repair_tags
from holdsup.metrics.metric import Counted, Metric, count_systems

__all__ = ["Counted", "Metric", "convert_tags", "count_systems", "decode_chunks", "make_metric", "repair_tags"]
