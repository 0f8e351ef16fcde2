"""Facets that are none: a property of the items, a measurement of each run."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.errors import ScoresError, list_names, shell_names
from holdsup.scores import Scores
from holdsup.verdict.evaluation import is_repetition

__all__ = ["check_facets", "check_item_facets"]


def check_item_facets(scores: Scores, facets: Iterable[str]) -> None:
    """Refuse those of the facets that are properties of the items."""
    for name in facets:
        if _belongs_to_items(scores, scores.facets[name]):
            raise ScoresError(
                f"--facets {name}: every item has one value of {name!r}, so it is a property of the items, not a "
                f"source of variation between runs: leave it out of --facets, and use --by {shell_names([name])} or "
                f"--dataset {shlex.quote(name)}"
            )


def check_facets(scores: Scores) -> None:
    """Refuse what is no source of variation between runs, before a fit gives it a variance that means nothing."""
    check_item_facets(scores, scores.facets)
    for name, labels in scores.facets.items():
        others = {other: each for other, each in scores.facets.items() if other != name}
        if not is_repetition(scores, name) and _measures_runs(scores, labels, others):
            raise ScoresError(
                f"--facets {name}: {name!r} has a value of its own in every run, whatever {list_names(others)} may be, "
                f"as a measurement has: its variance is that of the runs, so leave {name} out of --facets"
            )


def _belongs_to_items(scores: Scores, labels: Labels) -> bool:
    """Return whether every item has one value, although items have several scores and values differ."""
    if scores.items is None or scores.items.count == len(scores) or len(set(labels.codes.tolist())) < 2:
        return False
    return cross(scores.items.codes, cross(labels).codes).count == scores.items.count


def _measures_runs(scores: Scores, labels: Labels, others: dict[str, Labels]) -> bool:
    """Return whether the values number the runs of every system, although it has seeds, at which settings repeat."""
    seeds = [each for name, each in others.items() if is_repetition(scores, name)]
    told = []
    for code in range(scores.system.count):
        rows = scores.system.codes == code
        runs = cross(scores.run.take(rows)).count
        if runs > 1:
            repeated = any(cross(each.take(rows)).count > 1 for each in seeds)
            told.append(repeated and cross(labels.take(rows)).count == runs)
    return bool(told) and all(told)
