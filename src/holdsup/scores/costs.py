"""Metrics of what answers cost (tokens, seconds): in the table, and asked about by name only."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

import numpy as np

from holdsup.errors import list_names
from holdsup.scores.faults import note
from holdsup.scores.table import Scores


def leave_out_costs(scores: Scores, *, asked: Container[str] = ()) -> Scores:
    """Return the scores without metrics of costs, unless rows are asked for by metric, or nothing else is there."""
    metric, costs = scores.metric, scores.roles.costs
    if metric is None or "metric" in asked or scores.roles.metric in asked or not set(metric.names) - set(costs):
        return scores
    costly = np.isin(metric.codes, [code for code, name in enumerate(metric.names) if name in costs])
    if not costly.any():
        return scores
    named = list_names([name for name in metric.names if name in costs])
    said = note("costs-aside", f"Costs ({named}) were left aside; compare one with --where metric=NAME.")
    left_out = {**scores.left_out, "a metric of costs": int(costly.sum())}
    return replace(scores.take(~costly), notes=(*scores.notes, said), left_out=left_out)
