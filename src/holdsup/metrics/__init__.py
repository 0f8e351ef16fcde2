"""Per-item counts, and the score of summed counts."""

from holdsup.metrics.catalogue import make_metric
from holdsup.metrics.counting import Counted, count_systems
from holdsup.metrics.metric import Metric
from holdsup.metrics.tags import convert_tags, decode_chunks, repair_tags

__all__ = ["Counted", "Metric", "convert_tags", "count_systems", "decode_chunks", "make_metric", "repair_tags"]
