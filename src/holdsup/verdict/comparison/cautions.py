"""What limits trust in a comparison: pairs left out, runs that are too few or copies, scores that are not there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from holdsup.rendering.numbers import format_count, format_counted
from holdsup.scores import Scores
from holdsup.scores.groupings import caution_groupings
from holdsup.scores.roles import is_usual
from holdsup.verdict.claims import Pair
from holdsup.verdict.comparison.answers import Answer
from holdsup.verdict.comparison.many_pairs import ManyPairs
from holdsup.verdict.evaluation import Evaluation, SystemRuns
from holdsup.verdict.phrases import join_names
from holdsup.verdict.repeats import caution_repeats
from holdsup.verdict.settings import sparse_facets
from holdsup.verdict.trainings import has_nested_runs, say_reading

__all__ = ["caution", "caution_clusters"]

MOST_REASONS = 3


def caution(found: Answer, *, level: float) -> Iterator[str]:
    """Yield what limits trust in the numbers of one metric."""
    by = f"{found.evaluation.metric}: " if found.evaluation.metric else ""
    yield from (by + line for line in _left_out(found))
    yield from _less_claimed(found)
    yield from (by + line for line in _reading(found, level))
    yield from _seeds_of_both(found.covering)
    repeats = caution_repeats(found.evaluation, averaged=True)
    for line in (*found.distinct.lines, *_gaps(found.evaluation), *repeats):
        yield by + line
    if found.pairs and len({found.evaluation.scored(system).tobytes() for system in found.evaluation.systems}) > 1:
        unit = found.evaluation.unit
        yield f"Systems have different {unit}: means are over each system's own, differences over those both have."
    yield from found.conditions.warnings


def _reading(found: Answer, level: float) -> Iterator[str]:
    """Yield how runs on several datasets were read, and what the other reading gives for the first pair."""
    pairs = found.pairs[:1] if isinstance(found.pairs, ManyPairs) else found.pairs
    for pair in [pair for pair in pairs if pair.nested is not None][:1]:
        yield say_reading(
            f"{pair.left.name} - {pair.right.name}", bool(pair.nested), pair.difference, pair.other,
            declared=found.evaluation.nested_runs, level=level, pairs=len(found.pairs),
        )  # fmt: skip


def _seeds_of_both(pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield how many seeds two systems share, where some runs have no partner."""
    said = []
    for pair in pairs:
        if pair.paired and pair.left.seeds is not None and pair.right.seeds is not None:
            left, right = set(pair.left.seeds.tolist()), set(pair.right.seeds.tolist())
            if left != right:
                said.append(
                    f"{pair.left.name} - {pair.right.name} has {format_counted(len(left & right), 'seed')} of both (of "
                    f"{len(left)} and {len(right)})"
                )
    if said:
        yield f"Differences rest on the shared seeds that both systems have: {join_names(said)}."


def caution_clusters(scores: Scores, by: Sequence[str], given: str | None) -> Iterator[str]:
    """Yield what was made of columns that are named like clusters, where `given` names none."""
    if given is not None:
        return
    yield from caution_groupings(scores)
    if scores.cluster is not None:
        yield (
            f"Items are clustered in {scores.roles.cluster} (found by name); --cluster - to treat them as independent."
        )
    for name in by:
        if is_usual("cluster", name):
            yield (
                f"{name} is asked for with --by, so that items are not clustered in it: they count as independent "
                f"within each {name}."
            )


def _left_out(found: Answer) -> Iterator[str]:
    if not found.refused:
        return
    count, all_pairs = len(found.refused), len(found.refused) + len(found.pairs)
    reasons = list(dict.fromkeys(str(error) for error in found.refused))
    if not found.pairs:
        yield f"nothing is compared: {'; '.join(reasons[:MOST_REASONS])}."
        return
    more = f"; and {len(reasons) - MOST_REASONS} more" if len(reasons) > MOST_REASONS else ""
    yield f"{count} of {all_pairs} pairs are left out: {'; '.join(reasons[:MOST_REASONS])}{more}."


def _less_claimed(found: Answer) -> Iterator[str]:
    """Yield why less is claimed of a pair than was asked for, and whose runs are too few for much."""
    noted: dict[str, list[Pair]] = {}
    for pair in found.covering:
        if pair.note:
            noted.setdefault(f"{pair.note}; the claim is {pair.claim}.", []).append(pair)
    for line, pairs in noted.items():
        if len(pairs) == len(found.pairs) > 1:
            yield line[0].upper() + line[1:]
        else:
            yield f"{join_names([f'{pair.left.name} and {pair.right.name}' for pair in pairs])}: {line}"
    few = {s.name for pair in found.covering if pair.claim != "these-runs" for s in (pair.left, pair.right)
           if not pair.nested and len(s.runs) - s.setting_count == 1}  # fmt: skip
    shared = found.evaluation.scores.roles.shared
    if shared and any(pair.claim != "these-runs" and not pair.paired for pair in found.covering):
        yield (
            f"Runs are not paired by {', '.join(shared)}: without items, with several datasets and over new settings "
            "no rule for shared seeds was tried. They count as seeds of their own in each system."
        )
    if few:
        yield f"{', '.join(sorted(few))}: two runs tell next to nothing about new ones; three are a start."
    drawn = {s.name: s for pair in found.covering if pair.claim == "new-settings" for s in (pair.left, pair.right)}
    for name, system in sorted(drawn.items()):
        for facet in sparse_facets(found.evaluation, system):
            yield f"{name}: two levels of {facet} tell next to nothing about new ones; three are a start."


def _gaps(evaluation: Evaluation) -> Iterator[str]:
    """Yield how many scores runs lack on items, or datasets, that other runs of the system have."""
    if evaluation.resplit:  # each run has items of its own, by design
        return
    counts = {system.name: _lacking(evaluation, system) for system in evaluation.systems}
    lacking = {name: count for name, count in counts.items() if count}
    if lacking:
        each = join_names([f"{name} {format_count(count)}" for name, count in lacking.items()])
        total = format_counted(sum(lacking.values()), "score")
        yield (
            f"{total} missing: runs lack {evaluation.unit} that other runs of the same system have ({each}). Runs are "
            "compared as if the gaps were there by chance."
        )


def _lacking(evaluation: Evaluation, system: SystemRuns) -> int:
    """Return how many cells are empty; a run owes nothing to a dataset in which it has no score at all."""
    if evaluation.unit == "datasets" and has_nested_runs(evaluation, system):
        return 0
    there = ~np.isnan(system.scores)
    datasets = np.zeros(evaluation.items, int) if evaluation.datasets is None else evaluation.datasets
    lacking = 0
    for dataset in np.unique(datasets):
        part = there[(datasets == dataset) & system.has]
        lacking += int((~part[:, part.any(axis=0)]).sum())
    return lacking
