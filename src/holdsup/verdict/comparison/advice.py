"""What to do next: the cheapest way to a firmer answer, by the power of the test that is used here."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from holdsup.columns.crossing import cross
from holdsup.errors import shell_names
from holdsup.rendering.numbers import format_count, format_counted, format_number
from holdsup.scores import Scores
from holdsup.scores.suggestions import suggest_replicates
from holdsup.verdict.claims import Pair
from holdsup.verdict.copies import Distinct
from holdsup.verdict.evaluation import Evaluation, SystemRuns, is_repetition
from holdsup.verdict.phrases import join_names
from holdsup.verdict.planning import PairPlan, plan_items, plan_pair
from holdsup.verdict.trainings import can_repeat

__all__ = ["advise"]

MOST_EMPTY = 0.25  # share of the items that runs may lack: with more, each is tested on items of its own


def advise(distinct: Distinct, pair: Pair, *, firm: bool, alpha: float) -> tuple[str, ...]:
    """Return what would make the answer firmer: runs, items, settings or datasets; nothing where it is firm.

    The target is that the difference found would show four times in five, tested at the level `alpha`.
    """
    evaluation, size = distinct.evaluation, abs(pair.difference.estimate)
    lacking = [system for system in (pair.left, pair.right) if not can_repeat(evaluation, system)]
    if pair.claim == "these-runs":
        training = () if evaluation.resplit else _advise_training(evaluation, lacking, distinct.systems)
        return (*training, *(() if firm or size == 0 else _advise_items(evaluation, pair, size, alpha)))
    if firm or size == 0 or (pair.nested and pair.unit == "datasets"):
        return ()
    if _over_datasets(pair):
        return (_advise_datasets(evaluation, pair),)
    if any(_has_own_items(system) for system in (pair.left, pair.right)):
        return ()  # a run that is added brings items of its own, and no plan knows which
    plan = plan_pair(evaluation, pair.left.name, pair.right.name)
    if pair.claim == "new-settings":
        return (_advise_settings(evaluation, pair, plan, size, alpha),)
    return (_advise_new_runs(evaluation, pair, plan, size, alpha) + _suggest_shared(evaluation, pair),)


def _over_datasets(pair: Pair) -> bool:
    """Return whether datasets are drawn anew, beside items."""
    return pair.unit == "items" and "dataset" in pair.method


def _has_own_items(system: SystemRuns) -> bool:
    return bool(np.isnan(system.scores).mean() > MOST_EMPTY)


def _advise_training(evaluation: Evaluation, lacking: Sequence[SystemRuns], copied: Collection[str]) -> Iterator[str]:
    """Yield whose runs are too few to say anything about new ones."""
    if same := [system.name for system in lacking if system.name in copied]:
        yield (
            f"Vary more than the seed of {join_names(same)}, such as its training data: all its runs do the same, so "
            "that nothing is known of new ones."
        )
    if single := [system for system in lacking if system.name not in copied]:
        yield from _suggest_replicates(evaluation.scores)
        names, each = " and ".join(system.name for system in single), " each" if len(single) > 1 else ""
        where = " at a setting" if any(len(system.runs) > 1 for system in single) else ""
        yield (
            f"Train {names} with two seeds or more{where}{each}: one run cannot tell a better system from a lucky run."
        )


def _suggest_replicates(scores: Scores) -> Iterator[str]:
    """Yield how to say that a facet is no setting, where none of them repeats runs."""
    if scores.facets and not any(is_repetition(scores, name) for name in scores.facets):
        first = next(iter(scores.facets))
        yield f"If {first} only repeats training, as a seed does, give {suggest_replicates(scores, [first])}."


def _advise_datasets(evaluation: Evaluation, pair: Pair) -> str:
    first = shlex.quote(f"{evaluation.scores.roles.dataset}={evaluation.dataset_names[0]}")
    return (
        f"More datasets: how much {pair.left.name} and {pair.right.name} differ from one to the next is what decides "
        f"here. Or ask of one dataset at a time: --where {first}."
    )


def _advise_items(evaluation: Evaluation, pair: Pair, size: float, alpha: float) -> Iterator[str]:
    """Yield how many items would do where runs are taken as they are."""
    found = pair.difference
    plan = plan_items(pair.left.name, pair.right.name, evaluation.metric, pair.items, found.se, found.df)
    if items := plan.enough_items(size, alpha):
        more = _say_items(evaluation, pair, plan, items)
        yield f"To show a difference of {_say_size(evaluation, size)} of these runs four times in five: {more}."


def _advise_settings(evaluation: Evaluation, pair: Pair, plan: PairPlan, size: float, alpha: float) -> str:
    """Return how many more levels of the facets would do."""
    drawn = [system for system in (pair.left, pair.right) if system.setting_count > 1]
    names = " and ".join(system.name for system in drawn)
    times = plan.enough_levels(size, alpha)
    if times is None:
        return f"More settings of {names}: how much these differ is what decides here."
    growth = dict(zip((pair.left.name, pair.right.name), plan.growth(times), strict=True))
    made = join_names([f"{format_count(growth[s.name] * s.setting_count)} settings of {s.name}" for s in drawn])
    return (
        f"To show a difference of {_say_size(evaluation, size)} over new settings four times in five: {times} times as "
        f"many levels of each facet ({made})."
    )


def _advise_new_runs(evaluation: Evaluation, pair: Pair, plan: PairPlan, size: float, alpha: float) -> str:
    """Return how many more runs, or else items, would do."""
    said = []
    if runs := plan.enough_runs(size, alpha):
        said.append(_say_runs(pair, plan, runs))
    items = None if pair.unit is None else plan.enough_items(size, alpha)
    if items:
        said.append(_say_items(evaluation, pair, plan, items))
    shown = _say_size(evaluation, size)
    if not said and pair.unit is None:
        return f"A difference of {shown} would show four times in five only with very many runs."
    if not said:
        return (
            f"A difference of {shown} would show four times in five only with more runs and more {pair.unit} together."
        )
    alone = "" if len(said) == 2 or pair.unit is None else f" More {pair.unit if runs else 'runs'} alone would not do."
    return f"To show a difference of {shown} four times in five: {', or '.join(said)}.{alone}"


def _suggest_shared(evaluation: Evaluation, pair: Pair) -> str:
    """Return how to pair runs by labels, such as those of seeds, that recur in all systems."""
    scores = evaluation.scores
    if scores.roles.shared or pair.unit is None or evaluation.datasets is not None:
        return ""
    for name, labels in scores.facets.items():
        shown = labels.codes[cross(scores.system, labels).first]
        if is_repetition(scores, name) and (np.bincount(shown[shown >= 0]) == scores.system.count).sum() > 1:
            return (
                f" If each {name} means the same in all systems, such as one order of the data, --shared "
                f"{shell_names([name])} pairs their runs and tells more."
            )
    return ""


def _say_size(evaluation: Evaluation, size: float) -> str:
    """Return a difference; where there are several metrics, with the one that it is of."""
    return format_number(size) + (f" {evaluation.metric}" if evaluation.metric else "")


def _say_runs(pair: Pair, plan: PairPlan, more: int) -> str:
    """Return so many more runs of each system in words, and how many these make."""
    if pair.paired:
        seeds = format_counted(more, "more shared seed")
        return f"{seeds} of {pair.left.name} and {pair.right.name} ({format_count(plan.runs[0] + more)} in all)"
    left, right = (format_count(k + more * s) for k, s in zip(plan.runs, plan.settings, strict=True))
    made = f"{left} each" if left == right else f"{left} and {right}"
    where = " at each setting" if max(plan.settings) > 1 else ""
    return f"{format_counted(more, 'more run')} of each of {pair.left.name} and {pair.right.name}{where} ({made})"


def _say_items(evaluation: Evaluation, pair: Pair, plan: PairPlan, items: int) -> str:
    """Return so many more items in words; those of the same clusters would tell little that is new."""
    column = evaluation.scores.roles.cluster
    where = f" in new clusters ({column}) of this size" if evaluation.clusters is not None else ""
    return f"{format_count(items - plan.items)} more {pair.unit}{where} ({format_count(items)} in all)"
