"""What limits a comparison: pairs left out, runs that are too few or copies, scores that are not there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from holdsup.columns.crossing import cross
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results import Caution
from holdsup.scores import Scores
from holdsup.scores.roles import is_usual
from holdsup.verdict.claims import Pair, Rule
from holdsup.verdict.comparison.findings import Found
from holdsup.verdict.comparison.trust import caution_collapses, caution_skewness
from holdsup.verdict.evaluation import Evaluation, SystemRuns
from holdsup.verdict.phrases import join_names
from holdsup.verdict.repeats import caution_repeats, count_samples
from holdsup.verdict.samples import OF_THESE_RUNS
from holdsup.verdict.settings import sparse_facets
from holdsup.verdict.trainings import can_repeat, caution_reading, has_nested_runs, is_moved

MOST_REASONS = 3
FIXED_RUNS = ("these-runs", "these-raters", "new-raters")  # claims about runs as they are
MOST_READ = 50  # pairs whose runs are read the other way


def caution(found: Found, *, level: float) -> Iterator[Caution]:
    """Yield what limits the numbers of one metric, what changes the answer first."""
    by = f"{found.metric}: " if found.metric else ""
    yield from _left_out(found, by)
    if found.untold:  # tested by a rule of its own, whose cautions are said there
        yield from _less_claimed(found)
        return
    yield from _different_items(found, by)
    yield from found.distinct.cautions
    yield from caution_skewness(found, by)
    yield from caution_collapses(found, by)
    yield from _less_claimed(found)
    yield from _few_runs(found)
    yield from _gaps(found.evaluation, by)
    yield from _reading(found, by, level)
    yield from _seeds_of_both(found.covering)
    yield from caution_repeats(found.evaluation, averaged=True)
    yield from found.conditions.cautions


def _left_out(found: Found, by: str) -> Iterator[Caution]:
    if not found.refused:
        return
    count, all_pairs = len(found.refused), len(found.refused) + len(found.pairs)
    reasons = list(dict.fromkeys(str(error) for error in found.refused))
    shown = "; ".join(reasons[:MOST_REASONS])
    if not found.pairs:
        yield Caution(code="metric-left-out", message=f"{by}Nothing could be compared: {shown}.")
        return
    more = f"; and {len(reasons) - MOST_REASONS} more" if len(reasons) > MOST_REASONS else ""
    yield Caution(
        code="pairs-left-out",
        message=f"{by}{format_count(count)} of {format_count(all_pairs)} pairs could not be compared.",
        effect=f"{shown}{more}.",
        count=count,
    )


def _less_claimed(found: Found) -> Iterator[Caution]:
    """Yield why less is claimed of a pair than was asked for, or than anybody wants to know."""
    noted: dict[str, list[Pair]] = {}
    single: dict[str, None] = {}
    for pair in found.covering:
        lacking = [s.name for s in (pair.left, pair.right) if not can_repeat(found.evaluation, s)]
        if pair.claim in FIXED_RUNS and lacking and not found.evaluation.resplit:
            single |= dict.fromkeys(lacking)
        elif pair.note and pair.rule is not Rule.RATERS:
            noted.setdefault(f"{pair.note}; the claim is {pair.claim}.", []).append(pair)
    for said, pairs in noted.items():
        whose = join_names([f"{pair.left.name} - {pair.right.name}" for pair in pairs], most=3)
        message = f"{said[0].upper()}{said[1:]}" if len(pairs) == len(found.pairs) else f"{whose}: {said}"
        yield Caution(code="less-claimed", message=message)
    if single:
        every = len(single) == len(found.evaluation.systems)
        whose = "One run each" if every else f"One run of {join_names(list(single), most=3)}"
        sampled = count_samples(found.evaluation)
        if all(sampled[name] > 1 for name in single):  # several answers to an item show the luck of sampling
            return
        yield Caution(code="one-run-each", message=f"{whose}: a better system and a lucky run look the same.")


def _few_runs(found: Found) -> Iterator[Caution]:
    """Yield whose runs or settings are too few for much, and which are not paired."""
    few = {s.name for pair in found.covering if pair.claim not in OF_THESE_RUNS for s in (pair.left, pair.right)
           if not pair.nested and len(s.runs) - s.setting_count == 1}  # fmt: skip
    shared = found.evaluation.scores.roles.shared
    if shared and any(pair.claim not in OF_THESE_RUNS and pair.rule is not Rule.SEEDS for pair in found.covering):
        yield Caution(
            code="seeds-not-paired",
            message=f"Runs are not paired by {', '.join(shared)}: each system's runs count as independent.",
            effect="Pairing needs items and one dataset, and does not extend to new settings.",
        )
    if few:
        whose = "each" if len(few) == len(found.evaluation.systems) else f"of {join_names(sorted(few), most=3)}"
        message = f"Two runs {whose} say next to nothing about new ones."
        yield Caution(code="two-runs", about="table:systems", message=message, advice="Three are a start.")
    drawn = {s.name: s for pair in found.covering if pair.claim == "new-settings" for s in (pair.left, pair.right)}
    for name, system in sorted(drawn.items()):
        for facet in sparse_facets(found.evaluation, system):
            message = f"Two levels of {facet} in {name} say next to nothing about new ones."
            yield Caution(code="two-levels", about=f"system:{name}", message=message, advice="Three are a start.")


def _reading(found: Found, by: str, level: float) -> Iterator[Caution]:
    """Yield how runs on several datasets were read: by a pair whose verdict that changes, or else by the first."""
    if found.evaluation.unit == "items" and found.evaluation.datasets is None:
        return
    drawn, count = [pair for pair in found.pairs[:MOST_READ] if pair.nested is not None], len(found.pairs)
    moved = [pair for pair in drawn if pair.other and is_moved(pair.difference.p, pair.other.p, level, count)]
    for pair in (moved or drawn)[:1]:
        yield caution_reading(
            f"{by}{pair.left.name} - {pair.right.name}", bool(pair.nested), pair.difference, pair.other,
            declared=found.evaluation.nested_runs, level=level, pairs=len(found.pairs),
        )  # fmt: skip


def _seeds_of_both(pairs: Sequence[Pair]) -> Iterator[Caution]:
    """Yield how many seeds two systems share, where some runs have no partner."""
    said = []
    for pair in pairs:
        if pair.rule is Rule.SEEDS and pair.left.seeds is not None and pair.right.seeds is not None:
            left, right = set(pair.left.seeds.tolist()), set(pair.right.seeds.tolist())
            if left != right:
                both = format_counted(len(left & right), "seed")
                said.append(f"{pair.left.name} - {pair.right.name} on {both} (of {len(left)} and {len(right)})")
    if said:
        message = f"Differences rest on the seeds that both systems have: {join_names(said)}."
        yield Caution(code="seeds-of-one", severity="note", about="table:contrasts", message=message)


def _gaps(evaluation: Evaluation, by: str) -> Iterator[Caution]:
    """Yield how many scores runs lack on items, or datasets, that other runs of the system have."""
    counts = {system.name: count_missing(evaluation, system) for system in evaluation.systems}
    lacking = {name: count for name, count in counts.items() if count}
    if not lacking:
        return
    each = join_names([f"{name} {format_count(count)}" for name, count in lacking.items()])
    whose = f"{next(iter(lacking))} looks" if len(lacking) == 1 else "their systems look"
    total = sum(lacking.values())
    scores = "missing score is a" if total == 1 else f"{format_count(total)} missing scores are"
    hard = f"hard {evaluation.noun.removesuffix('s') if total == 1 else evaluation.noun}"
    yield Caution(
        code="missing-cells",
        about="table:systems",
        message=f"{by}If the {scores} {hard}, {whose} too good.",
        effect=f"Missing where other runs of the system have a score: {each}. Assumed to be missing at random.",
        count=total,
    )


def _different_items(found: Found, by: str) -> Iterator[Caution]:
    """Yield which systems lack items, or datasets, that others have, and on how many differences rest."""
    evaluation = found.evaluation
    lacking = {s.name: count for s in evaluation.systems if (count := count_lacking(evaluation, s))}
    if not found.pairs or not lacking:
        return
    each = join_names([f"{name} lacks {format_count(count)}" for name, count in lacking.items()])
    if len(lacking) > MOST_REASONS:
        each = f"{format_count(len(lacking))} systems lack some"
    common = sorted({pair.items for pair in found.covering})
    number = " to ".join(map(format_count, dict.fromkeys((common[0], common[-1]))))
    rests = f"{'the' if len(found.pairs) == 1 else 'each'} difference rests on the {number} that both have"
    yield Caution(
        code="different-items",
        about="table:systems",
        message=f"{by}{each} of {format_count(evaluation.items)} {evaluation.noun}: {rests}.",
        effect="Means are over each system's own.",
        count=sum(lacking.values()),
    )


def count_lacking(evaluation: Evaluation, system: SystemRuns) -> int:
    """Return how many items, or datasets, others have a score for and a system has none."""
    return 0 if evaluation.per_run else evaluation.items - int(evaluation.scored(system).sum())


def count_missing(evaluation: Evaluation, system: SystemRuns) -> int:
    """Return how many cells are empty; a run owes nothing to a dataset in which it has no score at all."""
    if evaluation.resplit or (evaluation.unit == "datasets" and has_nested_runs(evaluation, system)):
        return 0  # each run has items of its own, by design
    there = ~np.isnan(system.scores)
    if there.all():
        return 0
    datasets = np.zeros(evaluation.items, int) if evaluation.datasets is None else evaluation.datasets
    lacking = 0
    for dataset in np.unique(datasets):
        part = there[(datasets == dataset) & system.has]
        lacking += int((~part[:, part.any(axis=0)]).sum())
    return lacking


def caution_clusters(by: Sequence[str], given: str | None) -> Iterator[Caution]:
    """Yield which properties asked for are named like clusters, where `given` names none."""
    for name in () if given is not None else by:
        if is_usual("cluster", name):
            message = f"Items of one {name} count as independent, because --by asks for it as a property."
            yield Caution(code="clusters-as-property", message=message)


def caution_options(scores: Scores, average: str, nested_runs: bool) -> Iterator[Caution]:
    """Yield that options which are about several datasets change nothing where there are none."""
    if scores.dataset is None or cross(scores.dataset).count < 2:
        for option in ["--average micro"] * (average == "micro") + ["--nested-runs"] * nested_runs:
            message = f"{option} has no effect: there is only one dataset."
            yield Caution(code="option-without-effect", severity="note", message=message)
