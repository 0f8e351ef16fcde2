"""What was found by one metric: the means of systems, their pairs, the test of all at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import ScoresError, list_names
from holdsup.numerics.distributions import Tail
from holdsup.progress import Progress
from holdsup.results import Caution, Rows
from holdsup.results.extras import find_extra
from holdsup.scores import Scores
from holdsup.scores.directions import Directions
from holdsup.verdict.averages import narrow_claim
from holdsup.verdict.claims import (
    STRONGEST,
    Pair,
    Rule,
    choose_claim,
    pair_systems,
)
from holdsup.verdict.comparison.conditions import Conditions, condition
from holdsup.verdict.comparison.likelihoods import OurFits, chi2_p, fit_ours, ratio_as_published
from holdsup.verdict.comparison.means import mean_of
from holdsup.verdict.comparison.pairs import ManyPairs, pair_all
from holdsup.verdict.comparison.records import (
    PAPER,
    HumanLabels,
    PaperTest,
    Raters,
    SystemContrast,
    SystemMean,
    SystemTest,
)
from holdsup.verdict.evaluation import Evaluation
from holdsup.verdict.repeats import COPY, Distinct, declare_deterministic, leave_out_copies

NO_MODEL = "a mixed model is of means of items, and a corpus score is none"
EARLY = "looked at early: a CI of a mean would hold for a single look"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareQuestion:
    """What is asked of the scores; see `compare_systems`."""

    claim: str | None
    baseline: str | None
    margin: float | None
    by: tuple[str, ...]
    scale: str  # that differences along properties are on
    deterministic: tuple[str, ...]
    bootstrap: int
    directions: Directions
    level: float
    seed: int
    processes: int | None
    human: str | None = None
    human_weight: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was found by one metric."""

    distinct: Distinct  # the scores, copies of runs left out
    pairs: Sequence[Pair]  # the pairs that can be compared
    refused: tuple[ScoresError, ...]  # why each of the others cannot
    lower_is_better: bool = False  # whether a lower score is a better one
    means: tuple[SystemMean, ...] = ()  # a row for each system
    paper: PaperTest | None = None  # the test as published
    conditions: Conditions = field(default_factory=Conditions)  # what was found along properties
    raters: Raters | None = None  # how much raters disagree, where they are adjusted for
    human: tuple[HumanLabels, ...] = ()  # what a judge adds to human labels, pair by pair
    untold: str = ""  # why there is no likelihood ratio; empty where there may be one

    @property
    def evaluation(self) -> Evaluation:
        """The scores."""
        return self.distinct.evaluation

    @property
    def metric(self) -> str | None:
        """The metric, None where there is only one."""
        return self.evaluation.metric

    @property
    def sigma(self) -> float | None:
        """The residual standard deviation of the paper's model, None where there is none."""
        return None if self.paper is None else self.paper.sigma

    @property
    def covering(self) -> Sequence[Pair]:
        """Pairs that show all there is to say of pairs: all of them, or those that cover many of one kind."""
        return list(self.pairs.covering()) if isinstance(self.pairs, ManyPairs) else self.pairs

    @property
    def datasets(self) -> int:
        """Number of datasets that a pair is compared on, the most of any pair."""
        codes = self.evaluation.datasets
        if codes is None:
            return max(1, len(self.evaluation.dataset_names))
        return max(len(np.unique(codes[pair.shared])) for pair in self.covering)

    @property
    def claims(self) -> tuple[str, ...]:
        """The claims that pairs carry, the one that most of them do first."""
        claims = [pair.claim for pair in self.covering]
        return tuple(sorted(dict.fromkeys(claims), key=lambda claim: -claims.count(claim)))


def find(evaluation: Evaluation, question: CompareQuestion, said: list[Caution], progress: Progress) -> Found:
    """Return what one metric says; a pair that cannot be compared is left out, and `said` gets what else is missing."""
    distinct = declare_deterministic(leave_out_copies(evaluation), question.deterministic)
    evaluation = distinct.evaluation
    claim = choose_claim(evaluation, question.claim)
    pairs, refused = _compare(evaluation, question, claim, progress)
    if not pairs:
        return Found(distinct, (), refused)
    lower = question.directions.is_lower(evaluation.metric)
    early = evaluation.looking is not None  # what is tested and shown is then what holds at every look
    paper = (
        None
        if early or evaluation.scores.corpus
        else find_extra(f"the test of {PAPER}", lambda: ratio_as_published(evaluation), said, None)
    )
    asked = narrow_claim(evaluation, question.claim or STRONGEST)
    conditions = find_extra(
        f"how differences depend on {list_names(question.by)}",
        lambda: condition(
            evaluation, pairs, question.by, asked, log_odds=question.scale == "logit", level=question.level,
            lower_is_better=lower,
        ),
        said, Conditions(), asked=True,
    )  # fmt: skip
    scale = evaluation.scale
    unbound = (mean_of(evaluation, s, asked, level=question.level) for s in evaluation.systems)
    means = (
        replace(mean, low=math.nan, high=math.nan, note=EARLY)
        if early
        else replace(scale.bound(mean, evaluation.independent(s), question.level), scale=scale.name)
        for mean, s in zip(unbound, evaluation.systems, strict=True)
    )
    paper = None if paper is None else replace(paper, conditional=conditions.paper)
    return Found(distinct, pairs, refused, lower, tuple(means), paper, conditions)


def _compare(
    evaluation: Evaluation, question: CompareQuestion, claim: str, progress: Progress
) -> tuple[Sequence[Pair], tuple[ScoresError, ...]]:
    """Return the pairs, all at once where they have enough in common, and why others cannot be compared."""
    try:
        left, right = list_couples(evaluation, question)
    except ScoresError as error:
        return (), (error,)
    found = _compare_couples(evaluation, question, claim, (left, right), progress)
    if question.baseline is None and len(found[0]) == len(left) == 1 and found[0][0].difference.estimate < 0:
        # On the items that both have, the one with the lower mean is ahead: it goes to the left.
        return _compare_couples(evaluation, question, claim, (right, left), progress)
    return found


def _compare_couples(
    evaluation: Evaluation,
    question: CompareQuestion,
    claim: str,
    couples: tuple[NDArray[np.intp], NDArray[np.intp]],
    progress: Progress,
) -> tuple[Sequence[Pair], tuple[ScoresError, ...]]:
    left, right = couples
    if found := pair_all(evaluation, left, right, claim, level=question.level, progress=progress):
        return found
    names = [system.name for system in evaluation.systems]
    pairs: list[Pair] = []
    refused: list[ScoresError] = []
    for i, (one, other) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        progress(i, len(left), "comparing")
        try:
            pairs.append(pair_systems(evaluation, names[one], names[other], claim, level=question.level))
        except ScoresError as error:
            refused.append(error)
    return tuple(pairs), tuple(refused)


def list_couples(evaluation: Evaluation, question: CompareQuestion) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs to compare, the baseline or else the one with the lower mean on the right."""
    names, means = [system.name for system in evaluation.systems], [system.mean() for system in evaluation.systems]
    if len(names) < 2 or question.baseline not in (None, *names):
        raise ScoresError(f"there are only scores of {list_names(names)} by {evaluation.metric}")
    if question.baseline is not None:
        others = np.array([place for place, name in enumerate(names) if name != question.baseline])
        return others, np.full(len(others), names.index(question.baseline))
    order = np.argsort(-np.array(means), kind="stable")
    first, second = np.triu_indices(len(names), 1)
    return order[first], order[second]


def judge_systems(
    found: Found,
    contrasts: Sequence[SystemContrast],
    question: CompareQuestion,
    said: list[Caution],
    progress: Progress,
) -> SystemTest:
    """Return the test of all systems by one metric: its p is the smallest adjusted one of the pairs.

    `said` gets what is missing beside it.
    """
    several = len(found.claims) > 1 or bool(found.untold)
    fits: OurFits | str = found.untold or "pairs carry different claims, and a model has one"
    if found.evaluation.looking is not None:
        fits = "a likelihood ratio holds for a single look, and several were planned"
    elif found.evaluation.scores.corpus:
        fits = NO_MODEL
    elif not several:
        compute, failed = lambda: fit_ours(found.evaluation, *found.claims), "its computation failed"
        fits = find_extra("the likelihood ratio of the systems", compute, said, failed)
    own = [c for c in contrasts if c.metric == found.evaluation.metric]
    least = min(own, key=lambda c: c.log10_p_adjusted)
    rule = ", each for its own claim" if len(found.claims) > 1 else f" by {least.p_method}"
    method = (
        least.p_method if len(own) == 1 else f"smallest of {len(own)} p-values{rule}, adjusted ({least.adjusted_by})"
    )
    statistic, df, chi2 = math.nan, len(found.evaluation.systems) - 1, Tail(math.nan, math.nan)
    check = None
    if not isinstance(fits, str):
        statistic, df, chi2 = chi2_p(fits)
        if question.bootstrap:
            from holdsup.fit import bootstrap_test  # only here: it brings worker processes

            fitted, draws, shared = (fits.null, fits.alternative), question.bootstrap, question.processes
            check = find_extra(
                "the bootstrap of the likelihood ratio",
                lambda: bootstrap_test(*fitted, draws, seed=question.seed, processes=shared, progress=progress),
                said, None, asked=True,
            )  # fmt: skip
    return SystemTest(
        metric=found.evaluation.metric, model=None if isinstance(fits, str) else fits.shown,
        note=fits if isinstance(fits, str) else "", statistic=statistic, df=df, p_chi2=chi2.p,
        log10_p_chi2=chi2.log10_p, p=least.p_adjusted, log10_p=least.log10_p_adjusted, p_method=method,
        p_bootstrap=None if check is None else check.p, bootstrap_draws=0 if check is None else check.draws,
        bootstrap_failed=0 if check is None else check.failed,
    )  # fmt: skip


def count_rows(scores: Scores, found: Sequence[Found], passed_over: Mapping[str, int]) -> Rows:
    """Return the rows planned and used; `passed_over` were left out before, with the reasons."""
    rows = scores.rows()
    reasons = {**rows.reasons, **passed_over}
    unused = 0
    for each in found:
        counts = {reason: each.evaluation.scores.count(mask) for reason, mask in _unused(each).items()}
        for reason, count in {COPY: each.distinct.rows, **counts}.items():
            unused += count
            if count:
                reasons[reason] = reasons.get(reason, 0) + count
    return Rows(rows.planned + sum(passed_over.values()), rows.used - unused, reasons)


def _unused(found: Found) -> dict[str, NDArray[np.bool_]]:
    """Return the rows that are in no difference, each under the first reason that holds."""
    evaluation = found.evaluation
    scores, place = evaluation.scores, {name: code for code, name in enumerate(evaluation.scores.system.names)}
    # Of each system whether it is compared, and on which items and seeds.
    systems = np.zeros(len(place), bool)
    items = np.zeros((len(place), evaluation.items), bool)
    seeds = np.zeros((len(place), 1 if evaluation.seeds is None else int(evaluation.seeds.max()) + 1), bool)
    for pair in found.covering:
        sides = [evaluation.system(side.name) for side in (pair.left, pair.right)]
        for side, other in (sides, sides[::-1]):
            mine = place[side.name]
            systems[mine] = True
            items[mine] |= pair.shared
            paired = pair.rule is Rule.SEEDS and other.seeds is not None
            seeds[mine, other.seeds if paired else slice(None)] = True
    compared, on_item, by_seed = (np.ones(len(scores), bool) for _ in range(3))
    code = scores.system.codes
    if not (systems.all() and items.all() and seeds.all()):
        compared, on_item = systems[code], items[code, evaluation.item]
        by_seed = seeds[code, 0 if evaluation.seeds is None else evaluation.seeds]
    unit = "a dataset" if evaluation.unit == "datasets" else "an item"
    whole = ", in each setting" if any(system.setting_count > 1 for system in evaluation.systems) else ""
    return {
        "a system that can be compared with no other": ~compared,
        f"{unit} that no two systems compared both have{whole}: in no difference": compared & ~on_item,
        "a shared seed that no system compared with it has: in no difference": on_item & ~by_seed,
    }
