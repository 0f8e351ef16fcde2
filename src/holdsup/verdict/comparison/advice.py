"""What would settle it: the cheapest way to a firmer answer, by the power of the test that is used here."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from holdsup.columns.crossing import cross
from holdsup.errors import shell_names
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.scores import Scores
from holdsup.scores.suggestions import suggest_replicates
from holdsup.verdict.claims import Pair, Rule, pair_systems
from holdsup.verdict.comparison.findings import Found
from holdsup.verdict.comparison.records import Compared, SystemContrast
from holdsup.verdict.comparison.standings import find_open, is_told
from holdsup.verdict.evaluation import Evaluation, SystemRuns, is_repetition
from holdsup.verdict.phrases import join_names, name_items, say_runs
from holdsup.verdict.planning import MOST_ITEMS, MOST_RUNS, PairPlan, plan_items, plan_pair
from holdsup.verdict.repeats import Distinct, count_samples
from holdsup.verdict.samples import THESE_ITEMS
from holdsup.verdict.trainings import can_repeat

POWER = "80%"  # with which plans find the difference that was found, see `planning`
MOST_EMPTY = 0.25  # share of the items that runs may lack: with more, each is tested on items of its own


class Advice(NamedTuple):
    """What would make an answer firmer."""

    said: tuple[str, ...] = ()  # in words, the cheapest way first
    by: str | None = None  # what there must be more of; see `Compared.settled_by`


def advise(compared: Compared, found: Sequence[Found]) -> Advice:
    """Return what would settle the question: advice on the pair that decides it, or that has none for lack of runs."""
    if found[0].untold:
        return _advise_adjusted(compared)
    several, level, runs = len(compared.contrasts) > 1, compared.level, say_runs(compared.asked)
    if c := find_open(compared):
        alpha = 1 - (c.level_simultaneous or level)  # each is held to its share of the error
        return _advise_pair(*_find_pair(found, c, level), runs=runs, firm=False, alpha=alpha, named=several)
    single = {(each.metric, s.name) for each in found for s in each.evaluation.systems
              if not can_repeat(each.evaluation, s)}  # fmt: skip
    for c in compared.contrasts if single and all(is_told(c, level) for c in compared.contrasts) else ():
        if {(c.metric, c.left), (c.metric, c.right)} & single:
            return _advise_pair(*_find_pair(found, c, level), runs=runs, firm=True, alpha=1 - level, named=several)
    return Advice()


def _advise_adjusted(compared: Compared) -> Advice:
    """Return how many more raters, labels or items would tell the pair that decides, whichever adjusts it."""
    if (c := find_open(compared)) is None or c.difference == 0:
        return Advice()
    kind, now, most = "items", c.items, MOST_ITEMS
    word = name_items(str(compared.asked.roles.get("item")))
    if labels := [h for h in compared.human if (h.metric, h.left, h.right) == (c.metric, c.left, c.right)]:
        kind, now, most, word = "labels", labels[0].labels, labels[0].items, "human labels"
    elif c.claim == "new-raters":
        kind, now, most = "raters", next(r.count for r in compared.raters if r.metric == c.metric), MOST_RUNS
        word = "raters, each with as many scores,"
    plan = plan_items(c.left, c.right, c.metric, now, c.se, c.df)
    needed = plan.enough_items(abs(c.difference), 1 - (c.level_simultaneous or compared.level))
    if needed is None or not now < needed <= most:
        return Advice()
    tell = f"tell {c.left} from {c.right}" if len(compared.contrasts) > 1 else "would do"
    return Advice((f"{format_count(needed - now)} more {word} {tell} with {POWER} power",), kind)


def _find_pair(found: Sequence[Found], c: SystemContrast, level: float) -> tuple[Distinct, Pair]:
    """Return the pair of a row of the contrasts, and the scores it was made of."""
    each = next(each for each in found if each.metric == c.metric)
    return each.distinct, pair_systems(each.evaluation, c.left, c.right, c.claim, level=level)


def _advise_pair(distinct: Distinct, pair: Pair, *, runs: str, firm: bool, alpha: float, named: bool) -> Advice:
    """Return what would make the verdict on a pair firmer: runs, items, settings or datasets.

    The target is to detect the difference found with 80% power at the level `alpha`. Where there are several pairs the
    systems are `named`; `runs` is the word for them.
    """
    evaluation, size = distinct.evaluation, abs(pair.difference.estimate)
    unsure = not firm and size > 0
    by = f" by {evaluation.metric}" if evaluation.metric else ""
    tell = f"tell {pair.left.name} from {pair.right.name}{by}" if named else ""
    if pair.claim == THESE_ITEMS:
        samples, found = max(count_samples(evaluation).values()), pair.difference
        plan = plan_items(pair.left.name, pair.right.name, evaluation.metric, samples, found.se, found.df)
        enough = plan.enough_items(size, alpha) if unsure else None  # samples take the place of items
        said = (f"{format_count(enough)} samples of each item{_say_power(tell)}",) if enough else ()
        return Advice(said, "samples" if enough else None)
    if pair.claim == "these-runs":
        lacking = [system for system in (pair.left, pair.right) if not can_repeat(evaluation, system)]
        training = () if evaluation.resplit else _advise_training(evaluation, lacking, distinct.systems, runs)
        items = tuple(_advise_items(evaluation, pair, size, alpha, tell)) if unsure else ()
        said = (*items, *training)
        return Advice(said, "items" if items else "runs" if said else None)
    if not unsure or (pair.nested and pair.unit == "datasets"):
        return Advice()
    if pair.unit == "items" and pair.nested is not None:  # datasets are drawn anew, beside items
        first = shlex.quote(f"{evaluation.scores.roles.dataset}={evaluation.dataset_names[0]}")
        more = f"more datasets, because the difference varies between them; or ask about one: --where {first}"
        return Advice((more,), "datasets")
    if pair.claim == "these-datasets":
        return Advice((f"more {runs}{'' if pair.unit == 'datasets' else ', and more items of each dataset'}",), "runs")
    if any(np.isnan(system.scores).mean() > MOST_EMPTY for system in (pair.left, pair.right)):
        return Advice()  # a run that is added brings items of its own, and no plan knows which
    plan = plan_pair(evaluation, pair.left.name, pair.right.name)
    if pair.claim == "new-settings":
        return Advice((_advise_settings(pair, plan, size, alpha),), "settings")
    advice = _advise_new_runs(evaluation, pair, plan, size, alpha, tell, runs)
    return advice._replace(said=(*advice.said, *_suggest_shared(evaluation, pair)))


def _advise_training(
    evaluation: Evaluation, lacking: Sequence[SystemRuns], copied: Collection[str], runs: str
) -> Iterator[str]:
    """Yield whose runs are too few to say anything about new ones."""
    if same := [system.name for system in lacking if system.name in copied]:
        yield f"vary more than the seed of {join_names(same)}, such as its training data: its runs are all the same"
    if single := [system for system in lacking if system.name not in copied]:
        whose = "each system" if len(single) == 2 else single[0].name
        where = " at a setting" if any(len(system.runs) > 1 for system in single) else ""
        yield f"two or more {runs}{where} of {whose}"
        yield from _suggest_replicates(evaluation.scores)


def _suggest_replicates(scores: Scores) -> Iterator[str]:
    """Yield how to say that a facet is no setting, where none of them repeats runs."""
    if scores.facets and not any(is_repetition(scores, name) for name in scores.facets):
        first = next(iter(scores.facets))
        yield f"if {first} only repeats training, as a seed does, give {suggest_replicates(scores, [first])}"


def _advise_items(evaluation: Evaluation, pair: Pair, size: float, alpha: float, tell: str) -> Iterator[str]:
    """Yield how many items would do where runs are taken as they are."""
    found = pair.difference
    plan = plan_items(pair.left.name, pair.right.name, evaluation.metric, pair.items, found.se, found.df)
    if items := plan.enough_items(size, alpha):
        in_all = "" if tell else f" ({format_count(items)} in all)"
        yield f"{_say_items(evaluation, plan, items)}{in_all}{_say_power(tell)}"


def _say_power(tell: str) -> str:
    """Return how sure a plan is to do what it is for."""
    return f" {tell} with {POWER} power" if tell else f" for {POWER} power"


def _advise_settings(pair: Pair, plan: PairPlan, size: float, alpha: float) -> str:
    """Return how many more levels of the facets would do."""
    drawn = [system for system in (pair.left, pair.right) if system.setting_count > 1]
    times = plan.enough_levels(size, alpha)
    if times is None:
        names = " and ".join(system.name for system in drawn)
        return f"more settings of {names}, because scores vary between them"
    growth = dict(zip((pair.left.name, pair.right.name), plan.growth(times), strict=True))
    made = join_names([f"{format_count(growth[s.name] * s.setting_count)} settings of {s.name}" for s in drawn])
    return f"{'twice' if times == 2 else f'{times} times'} as many levels of each facet ({made}) for {POWER} power"


def _advise_new_runs(
    evaluation: Evaluation, pair: Pair, plan: PairPlan, size: float, alpha: float, tell: str, noun: str
) -> Advice:
    """Return how many more runs, or else items, would do."""
    word = evaluation.noun
    runs = plan.enough_runs(size, alpha)
    items = None if pair.unit is None else plan.enough_items(size, alpha)
    ways = {"runs": _say_runs(pair, plan, runs, noun)} if runs else {}
    ways |= {"items": f"{_say_items(evaluation, plan, items)} ({format_count(items)} in all)"} if items else {}
    if not ways and pair.unit is None:
        return Advice((f"only very many {noun} {tell or 'would do'}",), "runs")
    if not ways:
        return Advice((f"only more {noun} and more {word} together {tell or 'would do'}",), "runs and items")
    alone = "" if len(ways) == 2 or pair.unit is None else f"; more {word if runs else noun} won't do"
    return Advice((f"{' or '.join(ways.values())}{_say_power(tell)}{alone}",), " or ".join(ways))


def _suggest_shared(evaluation: Evaluation, pair: Pair) -> Iterator[str]:
    """Yield how to pair runs by labels, such as those of seeds, that recur in all systems."""
    scores = evaluation.scores
    if scores.roles.shared or pair.unit is None or evaluation.datasets is not None:
        return
    for name, labels in scores.facets.items():
        shown = labels.codes[cross(scores.system, labels).first]
        if is_repetition(scores, name) and (np.bincount(shown[shown >= 0]) == scores.system.count).sum() > 1:
            yield (
                f"if each {name} means the same in all systems, such as one order of the data, --shared "
                f"{shell_names([name])} pairs their runs, which makes the test more sensitive"
            )
            return


def _say_runs(pair: Pair, plan: PairPlan, more: int, noun: str) -> str:
    """Return so many more runs of each system in words, and how many these make."""
    if pair.rule is Rule.SEEDS:
        return f"{format_counted(more, 'more shared seed')} ({format_count(plan.runs[0] + more)} in all)"
    counts = dict.fromkeys(format_count(k + more * s) for k, s in zip(plan.runs, plan.settings, strict=False))
    where = " at each setting" if max(plan.settings) > 1 else ""
    varied = [system.name for system in (pair.left, pair.right) if not system.deterministic]
    whose, made = ("each" if len(varied) == 2 else varied[0]), " and ".join(counts)
    in_all = f"{made} each" if len(varied) == 2 and len(counts) == 1 else f"{made} in all"
    return f"{format_count(more)} more {noun.removesuffix('s') if more == 1 else noun} of {whose}{where} ({in_all})"


def _say_items(evaluation: Evaluation, plan: PairPlan, items: int) -> str:
    """Return so many more items in words; those of the same clusters would tell little that is new."""
    column = evaluation.scores.roles.cluster
    clusters = name_items(column, f"clusters ({column})")
    where = f" in new {clusters} of this size" if evaluation.clusters is not None else ""
    more, word = items - plan.items, evaluation.noun
    return f"{format_count(more)} more {word.removesuffix('s') if more == 1 else word}{where}"
