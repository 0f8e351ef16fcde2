"""`compare_systems`: is one system better than another, and for what claim?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from holdsup.errors import ScoresError, list_names
from holdsup.fit import bootstrap_test
from holdsup.numerics.tails import Tail
from holdsup.progress import Progress, no_progress
from holdsup.rendering.numbers import format_count
from holdsup.results import sign
from holdsup.scores import Scores, read_scores
from holdsup.scores.audit import sign_roles
from holdsup.verdict.advice import advise
from holdsup.verdict.best import pick_best
from holdsup.verdict.claims import Pair, choose_claim, pair_systems
from holdsup.verdict.conditional import Conditions, condition, name_properties
from holdsup.verdict.conditional_report import describe_conditions
from holdsup.verdict.contrasts import adjust_contrasts, contrast_of
from holdsup.verdict.evaluation import Evaluation, lay_out
from holdsup.verdict.likelihoods import chi2_p, fit_ours, test_as_published
from holdsup.verdict.means import mean_of
from holdsup.verdict.records import PaperTest, SystemContrast, SystemTest
from holdsup.verdict.report import Comparison
from holdsup.verdict.sentences import write_verdict

__all__ = ["compare_systems"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of the scores; see `compare_systems`."""

    claim: str | None
    baseline: str | None
    margin: float | None
    by: tuple[str, ...]
    bootstrap: int
    lower_is_better: bool
    level: float
    seed: int
    processes: int | None


def compare_systems(
    data: Any,
    *,
    claim: str | None = None,
    baseline: str | None = None,
    margin: float | None = None,
    best: str | None = None,
    by: str | Sequence[str] = (),
    bootstrap: int = 0,
    lower_is_better: bool = False,
    level: float = 0.95,
    seed: int = 0,
    processes: int | None = None,
    progress: Progress = no_progress,
    **roles: Any,
) -> Comparison:
    """Return whether systems differ, pair by pair, and for what claim.

    Parameters
    ----------
    data : `Scores`, or anything that `read_scores` takes
    claim : "these-runs", "new-runs" or "new-settings"; by default new-runs where two systems have two runs or more
    baseline : the system that all others are compared with; by default all pairs are
    margin : differences below it do not matter: adds tests of equivalence and of non-inferiority
    best : a column, such as the score on development data, by which each system's best run is picked; the claim is
        then these-runs, and the pick is named as what it is
    by : properties of items, numbers or classes: do differences depend on them, and where do they hold?
    bootstrap : simulated responses by which the likelihood ratio is checked; 0 for no check
    lower_is_better : who is called better; the numbers stay as they are
    level : coverage of limits
    roles : passed on to `read_scores`

    Examples
    --------
    >>> from holdsup import simulate_scores
    >>> found = compare_systems(simulate_scores({"A": 0.70, "B": 0.72}, items=300, runs=5, seed=1))
    >>> found.claim, len(found.contrasts), found.contrasts[0].left
    ('new-runs', 1, 'B')
    """
    by = (by,) if isinstance(by, str) else tuple(by)
    scores = data if isinstance(data, Scores) else read_scores(data, progress=progress, **name_properties(by, roles))
    picked: tuple[str, ...] = ()
    if best is not None:
        scores, picked = pick_best(scores, best)
        claim = "these-runs"
    question = Question(
        claim=claim, baseline=baseline, margin=_checked_margin(margin), by=by, bootstrap=bootstrap,
        lower_is_better=lower_is_better, level=level, seed=seed, processes=processes,
    )  # fmt: skip
    evaluations = lay_out(scores)
    _check_systems(scores, question)
    made = choose_claim(evaluations[0], claim)
    found = [_Answer.of(evaluation, made, question, progress) for evaluation in evaluations]
    contrasts = adjust_contrasts([contrast for answer in found for contrast in answer.contrasts])
    tests = tuple(_overall(answer, contrasts, question) for answer in found)
    systems = tuple(mean for answer in found for mean in answer.means)
    per_run, datasets = evaluations[0].per_run, len(evaluations[0].dataset_names)
    said = found[0].claim
    conditional = tuple(each for answer in found for each in answer.conditions.ours)
    return Comparison(
        signature=_signature(scores, said, best, question),
        seed=seed if bootstrap else None,
        warnings=tuple(dict.fromkeys((*scores.notes, *picked, *(w for answer in found for w in answer.warnings)))),
        rows=scores.rows(),
        verdict=write_verdict(
            contrasts, systems, baseline=baseline, claim=said, level=level, lower_is_better=lower_is_better,
            per_run=per_run, datasets=datasets,
        ) + describe_conditions(conditional, level=level),
        claim=said,
        level=level,
        lower_is_better=lower_is_better,
        baseline=baseline,
        systems=systems,
        test=tests[0],
        tests=tests,
        contrasts=contrasts,
        conditional=conditional,
        paper=found[0].paper,
        papers=tuple(answer.paper for answer in found if answer.paper is not None),
        next=_next(found, contrasts, level),
    )  # fmt: skip


def _checked_margin(margin: float | None) -> float | None:
    if margin is not None and not (math.isfinite(margin) and margin > 0):
        raise ScoresError(f"the margin is {margin!r}: give a positive number in the unit of the scores")
    return margin


def _check_systems(scores: Scores, question: Question) -> None:
    names = scores.only(scores.usable).system.names
    if len(names) < 2:
        raise ScoresError(f"there is one system only, {names[0]!r}: a comparison needs two (is --system right?)")
    if question.baseline is not None and question.baseline not in names:
        raise ScoresError(f"the baseline {question.baseline!r} is none of the systems: {list_names(names)}")
    if not 0 < question.level < 1:
        raise ScoresError(f"level is {question.level!r}; it must lie between 0 and 1, such as 0.95")


@dataclass(frozen=True, slots=True, eq=False)
class _Answer:
    """What was found by one metric."""

    evaluation: Evaluation
    pairs: tuple[Pair, ...]
    contrasts: tuple[SystemContrast, ...]
    means: tuple[Any, ...]
    paper: PaperTest | None
    conditions: Conditions

    @classmethod
    def of(cls, evaluation: Evaluation, claim: str, question: Question, progress: Progress) -> _Answer:
        names = [system.name for system in evaluation.systems]
        couples = list(_couples(names, evaluation, question))
        pairs = []
        for i, (left, right) in enumerate(couples):
            progress(i, len(couples), "comparing")
            pairs.append(pair_systems(evaluation, left, right, claim, level=question.level))
        paper = test_as_published(evaluation)
        sigma = None if paper is None else paper.sigma
        conditions = condition(
            evaluation, pairs, question.by, level=question.level, lower_is_better=question.lower_is_better
        )
        return cls(
            evaluation,
            tuple(pairs),
            tuple(
                contrast_of(
                    pair,
                    metric=evaluation.metric,
                    sigma=sigma,
                    margin=question.margin,
                    lower_is_better=question.lower_is_better,
                )
                for pair in pairs
            ),
            tuple(mean_of(evaluation, s, claim, level=question.level) for s in evaluation.systems),
            None if paper is None else replace(paper, conditional=conditions.paper),
            conditions,
        )

    @property
    def claim(self) -> str:
        """The claim that all pairs carry, or else the one that most of them do."""
        claims = [pair.claim for pair in self.pairs]
        return max(dict.fromkeys(claims), key=claims.count)

    @property
    def warnings(self) -> Iterator[str]:
        """What limits trust in the numbers."""
        for pair in self.pairs:
            if pair.note:
                yield f"{pair.left.name} and {pair.right.name}: {pair.note}; the claim is {pair.claim}."
        few = {s.name for pair in self.pairs if pair.claim != "these-runs" for s in (pair.left, pair.right)
               if len(s.runs) - s.setting_count == 1}  # fmt: skip
        if few:
            yield f"{', '.join(sorted(few))}: two runs tell next to nothing about new ones; three are a start."
        repeated = len(self.evaluation.scores) - sum(int(np.isfinite(s.scores).sum()) for s in self.evaluation.systems)
        if repeated:
            yield (
                f"{format_count(repeated)} scores repeat a run and an item and were averaged: name the columns that "
                "tell them apart (--facets, --run), or see holdsup check."
            )
        counts = {int(system.has.sum()) for system in self.evaluation.systems}
        if len(counts) > 1:
            yield "Systems have different items: means are over each system's own, differences over those both have."
        yield from self.conditions.warnings


def _couples(names: Sequence[str], evaluation: Evaluation, question: Question) -> Iterator[tuple[str, str]]:
    """Yield the pairs to compare, the baseline or else the one with the lower mean on the right."""
    if question.baseline is not None:
        yield from ((name, question.baseline) for name in names if name != question.baseline)
        return
    means = {system.name: system.mean() for system in evaluation.systems}
    yield from itertools.combinations(sorted(names, key=lambda name: -means[name]), 2)


def _overall(answer: _Answer, contrasts: Sequence[SystemContrast], question: Question) -> SystemTest:
    """Return the test of all systems by one metric: its p is the smallest adjusted one of the pairs."""
    fits = fit_ours(answer.evaluation, answer.claim)
    own = [c for c in contrasts if c.metric == answer.evaluation.metric]
    least = min(own, key=lambda c: c.log10_p_adjusted)
    unknown = math.nan, len(answer.evaluation.systems) - 1, Tail(math.nan, math.nan)
    statistic, df, chi2 = chi2_p(fits) if fits else unknown
    method = least.p_method if len(own) == 1 else f"smallest of {len(own)} p-values by {least.p_method}, Holm-adjusted"
    check = None
    if fits is not None and question.bootstrap:
        check = bootstrap_test(
            fits.null, fits.alternative, question.bootstrap, seed=question.seed, processes=question.processes
        )
    return SystemTest(
        metric=answer.evaluation.metric,
        model=fits.alternative.formula if fits else None,
        statistic=statistic,
        df=df,
        p_chi2=chi2.p,
        log10_p_chi2=chi2.log10_p,
        p=least.p_adjusted,
        log10_p=least.log10_p_adjusted,
        p_method=method,
        p_bootstrap=None if check is None else check.p,
        bootstrap_draws=0 if check is None else check.draws,
        bootstrap_failed=0 if check is None else check.failed,
    )


def _next(found: Sequence[_Answer], contrasts: Sequence[SystemContrast], level: float) -> tuple[str, ...]:
    """Return the advice for the pair that is nearest to a verdict, or has none for lack of runs."""
    pairs = [pair for answer in found for pair in answer.pairs]
    unsure = [(c, pair) for c, pair in zip(contrasts, pairs, strict=True) if c.p_adjusted > 1 - level]
    if unsure:
        _, pair = min(unsure, key=lambda both: both[0].log10_p_adjusted)
        return advise(pair, firm=False, tests=len(contrasts))
    lacking = [pair for pair in pairs if not (pair.left.repeats and pair.right.repeats)]
    return advise(lacking[0], firm=True) if lacking else ()


def _signature(scores: Scores, claim: str, best: str | None, question: Question) -> str:
    return sign(
        "compare", data=scores.digest, **sign_roles(scores), claim=claim, baseline=question.baseline, best=best,
        by=",".join(question.by) or None, level=question.level,
        margin=question.margin, lower_is_better=question.lower_is_better or None, bootstrap=question.bootstrap or None,
        seed=question.seed if question.bootstrap else None,
    )  # fmt: skip
