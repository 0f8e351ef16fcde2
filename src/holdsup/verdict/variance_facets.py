"""Facets that are none: a property of the items, a measurement of each run."""

from __future__ import annotations

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.errors import ScoresError, list_names
from holdsup.scores import Scores
from holdsup.verdict.evaluation import is_repetition

__all__ = ["check_facets"]


def check_facets(scores: Scores) -> None:
    """Refuse what is no source of variation between runs, before a fit gives it a variance that means nothing."""
    for name, labels in scores.facets.items():
        if _belongs_to_items(scores, labels):
            raise ScoresError(
                f"--facets {name}: every item has one value of {name!r}, so it is a property of the items, not a "
                f"source of variation between runs: leave it out of --facets, and use --by {name} or --dataset {name}"
            )
        others = {other: each for other, each in scores.facets.items() if other != name}
        if not is_repetition(scores, name) and _measures_runs(scores, labels, others):
            told = "tells" if len(others) == 1 else "tell"
            raise ScoresError(
                f"--facets {name}: {name!r} has a value of its own in every run, and {list_names(others)} {told} the "
                f"runs apart already, so their variances cannot be told from each other: leave {name} out of --facets"
            )


def _belongs_to_items(scores: Scores, labels: Labels) -> bool:
    """Return whether every item has one value, although items have several scores and values differ."""
    if scores.items is None or scores.items.count == len(scores) or len(set(labels.codes.tolist())) < 2:
        return False
    return cross(scores.items.codes, cross(labels).codes).count == scores.items.count


def _measures_runs(scores: Scores, labels: Labels, others: dict[str, Labels]) -> bool:
    """Return whether the values number the runs of every system once more, beside a seed that numbers them."""
    if not any(is_repetition(scores, name) for name in others):
        return False
    told = []
    for code in range(scores.system.count):
        rows = scores.system.codes == code
        runs = cross(scores.run.take(rows)).count
        if runs > 1:
            counts = (cross(labels.take(rows)).count, cross(*(each.take(rows) for each in others.values())).count)
            told.append(counts == (runs, runs))
    return bool(told) and all(told)
