"""Comparisons conditional on properties of the items: does a lead depend on them, and where does it hold?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from holdsup.errors import ScoresError
from holdsup.numerics.distributions import adjust_holm
from holdsup.rendering.numbers import format_counted
from holdsup.results import Caution
from holdsup.results.extras import find_extra
from holdsup.scores.roles import is_usual
from holdsup.verdict.claims import Pair, pair_systems
from holdsup.verdict.comparison.conditional_records import Conditional, ConditionalTest, PairTrend, PaperConditional
from holdsup.verdict.comparison.likelihoods import compare_models, condition_as_published
from holdsup.verdict.comparison.trends import (
    BAND_OF_CLASSES,
    BANDS,
    Subject,
    follow_pair,
    follow_system,
    interaction_given,
    subject_of_pair,
    subject_of_system,
)
from holdsup.verdict.evaluation import Evaluation
from holdsup.verdict.properties import ItemProperty, find_property
from holdsup.verdict.samples import THESE_ITEMS

Ratio: TypeAlias = tuple[float, int, float]  # a likelihood ratio: its statistic, degrees of freedom and chi-square p


@dataclass(frozen=True, slots=True)
class Conditions:
    """What was found along all properties, by one metric."""

    ours: tuple[Conditional, ...] = ()  # our tests, lines and ranges
    paper: tuple[PaperConditional, ...] = ()  # the tests as published
    cautions: tuple[Caution, ...] = ()  # what limits them


def name_properties(by: Sequence[str], roles: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `read_scores` with the properties asked for among the columns to read."""
    given = roles.get("properties") or ()
    stated = (given,) if isinstance(given, str) else tuple(map(str, given))
    computed = (each.partition("=")[0].strip() for each in stated if "(" in each)  # a column's name may hold "=", too
    dataset = roles.get("dataset")  # a column of datasets stays one
    named = {*stated, *computed, *(name for name in by if name == dataset or (dataset is None and _is_dataset(name)))}
    return {**roles, "properties": (*stated, *(name for name in by if name not in named))} if by else roles


def _is_dataset(name: str) -> bool:
    return is_usual("dataset", name)


def condition(
    evaluation: Evaluation,
    pairs: Sequence[Pair],
    by: Sequence[str],
    asked: str,
    *,
    log_odds: bool,
    level: float,
    lower_is_better: bool,
) -> Conditions:
    """Return how the pairs compare along each property, on its own and given the others; `asked` is the claim.

    With `log_odds` what is compared are the log-odds of scores from 0 to 1.
    """
    if not by:
        return Conditions()
    if asked == THESE_ITEMS:
        raise ScoresError(f"--by {by[0]}: it asks about new items, and --claim {THESE_ITEMS} about none: leave one out")
    if evaluation.datasets is not None and list(by) == [evaluation.scores.roles.dataset]:
        evaluation = _as_classes(evaluation, by[0])
        pairs = [pair_systems(evaluation, p.left.name, p.right.name, asked, level=level) for p in pairs]
    if evaluation.datasets is not None:
        raise ScoresError(
            f"--by {by[0]}: there are {len(evaluation.dataset_names)} datasets, and it may matter differently "
            "in each: compare one dataset at a time (--where), or give --dataset -"
        )
    if log_odds:
        _check_rates(evaluation)
    properties = [find_property(evaluation, name) for name in dict.fromkeys(by)]
    options: dict[str, Any] = {"log_odds": log_odds, "level": level, "lower_is_better": lower_is_better}
    ours, said = [], list[Caution]()
    for given in properties:
        others = [each for each in properties if each is not given]
        ours.append(_along(evaluation, pairs, given, others, asked, said, **options))
    published = (
        find_extra(
            f"the published test along {given.name}", partial(condition_as_published, evaluation, given), said, None
        )
        for given in properties
    )
    paper = tuple(found for found in published if found is not None)
    return Conditions(tuple(found for found, _ in ours), paper, (*_caution(pairs, ours), *said))


def _as_classes(evaluation: Evaluation, name: str) -> Evaluation:
    """Return the evaluation with its datasets as classes of its items."""
    scores = evaluation.scores
    assert scores.dataset is not None
    scores = replace(scores, properties={**scores.properties, name: scores.dataset})
    return replace(evaluation, scores=scores, datasets=None, dataset_names=(), by_items=False, weights=None)


def _check_rates(evaluation: Evaluation) -> None:
    for system in evaluation.systems:
        beyond = system.scores[(system.scores < 0) | (system.scores > 1)]
        if len(beyond):
            raise ScoresError(
                f"--scale logit: {system.name} has a score of {beyond[0]:g}, and log-odds take scores from 0 to 1"
            )


def _along(
    evaluation: Evaluation,
    pairs: Sequence[Pair],
    given: ItemProperty,
    others: list[ItemProperty],
    asked: str,
    said: list[Caution],
    *,
    log_odds: bool,
    level: float,
    lower_is_better: bool,
) -> tuple[Conditional, str]:
    """Return how the pairs compare along one property, and why it has no likelihood ratio of ours."""
    trends, where = [], []
    for pair in pairs:
        subject = subject_of_pair(evaluation, pair, [given], log_odds=log_odds)
        options = {"level": level, "pairs": len(pairs)}
        trend, found = _ask(follow_pair, subject, given, pair, **options, lower_is_better=lower_is_better)
        trends.append(trend)
        where.extend(found)
    claims = [trend.claim for trend in trends]
    claim = max(dict.fromkeys(claims), key=claims.count)
    systems = [
        subject_of_system(evaluation, s, [given], new_runs=asked != "these-runs", log_odds=log_odds)
        for s in evaluation.systems
    ]
    tried: PaperConditional | str = "" if log_odds else "pairs carry different claims, and a model has one"
    if len(set(claims)) == 1 and not log_odds:  # the model is one of scores
        name, new_runs = f"the likelihood ratio along {given.name}", claim != "these-runs"
        compute = partial(compare_models, evaluation, given, new_runs=new_runs)
        tried = find_extra(name, compute, said, "its computation failed")
    ratios, why = (None, tried) if isinstance(tried, str) else (tried, "")
    known, scale = given.known, evaluation.scale
    alone = (_ask(follow_system, s, given, level=level) for s in systems)
    tests = dict[str, Ratio]()
    if ratios is not None:
        tests["joint"] = ratios.statistic, ratios.df, ratios.p
        tests["interaction"] = ratios.interaction_statistic, ratios.interaction_df, ratios.interaction_p
    found = Conditional(
        property=given.name, metric=evaluation.metric, claim=claim, classes=given.classes,
        scale="logit" if log_odds else "score",
        sizes=tuple(int((given.values == place).sum()) for place in range(len(given.classes))),
        items=int(known.sum()), without=int((~known).sum()), model=ratios.alternative if ratios else None,
        joint=_overall(pairs, trends, tests.get("joint"), "joint", given),
        interaction=_overall(pairs, trends, tests.get("interaction"), "interaction", given),
        given_others=_given_others(evaluation, pairs, given, others, level, log_odds=log_odds) if others else None,
        slopes=tuple(replace(t, line=t.line.as_rates() if log_odds else t.line.cut(scale)) for t in alone),
        differences=tuple(trends),
        limits=BAND_OF_CLASSES if given.classes else " or ".join(BANDS[claim] for claim in dict.fromkeys(claims)),
        significant_where=tuple(where),
    )  # fmt: skip
    return found, why


def _ask(question: Callable[..., Any], subject: Subject, *arguments: Any, **options: Any) -> Any:
    """Return an answer; what the numbers cannot tell becomes one line."""
    try:
        return question(subject, *arguments, **options)
    except ValueError as error:
        raise ScoresError(f"--by: {subject.name} can't be tested along a property: {str(error).rstrip('.')}") from error


def _overall(
    pairs: Sequence[Pair], trends: Sequence[PairTrend], ratio: Ratio | None, what: str, given: ItemProperty
) -> ConditionalTest:
    """Return the test over all pairs: the smallest of Holm's p, the likelihood ratio beside it."""
    logs = [float(getattr(trend, f"log10_p_{what}")) for trend in trends]
    least = logs.index(min(logs))
    mixed = len({trend.claim for trend in trends}) > 1
    method = _method(pairs[least], what, given)
    return _test(logs, getattr(trends[least], f"p_{what}"), method, ratio, mixed=mixed)


def _test(
    logs: Sequence[float], least: float, method: str, ratio: Ratio | None, *, mixed: bool = False
) -> ConditionalTest:
    """Return the smallest p of several pairs; `mixed` ones carry different claims, each by a method of its own."""
    rule = ", each for its own claim" if mixed else f" by {method}"
    several = f"smallest of {len(logs)} p-values{rule}, Holm-adjusted"
    p, log10_p = min(1.0, least * len(logs)), min(adjust_holm(logs))
    return ConditionalTest(
        statistic=ratio[0] if ratio else None, df=ratio[1] if ratio else None, p_chi2=ratio[2] if ratio else None,
        p=p, log10_p=log10_p, p_adjusted=p, log10_p_adjusted=log10_p, p_method=several if len(logs) > 1 else method,
    )  # fmt: skip


def _method(pair: Pair, what: str, given: ItemProperty) -> str:
    new_runs = pair.claim != "these-runs"
    rule = "paired t-test (items, robust SE)"
    if new_runs:
        rule = "two-way Welch t-test (items and runs, conservative df)" if pair.claim == "new-settings" else pair.method
    if given.classes:
        return f"{rule} of {'each class' if what == 'joint' else 'each class against the rest'}, Bonferroni"
    if what == "interaction":
        return f"{rule} of slopes"
    return f"{rule} of the mean and the slope, Bonferroni" if new_runs else "F-test (items, robust SE)"


def _given_others(
    evaluation: Evaluation, pairs: Sequence[Pair], given: ItemProperty, others: list[ItemProperty], level: float,
    *, log_odds: bool,
) -> ConditionalTest:  # fmt: skip
    """Return the interaction with one property when all are in the same regression."""
    subjects = (subject_of_pair(evaluation, pair, [given, *others], log_odds=log_odds) for pair in pairs)
    found = [_ask(interaction_given, subject, given, others, level=level) for subject in subjects]
    method = "the same, all properties in one regression"
    return _test([each.log10_p for each in found], min(each.p for each in found), method, None)


def _caution(pairs: Sequence[Pair], found: Sequence[tuple[Conditional, str]]) -> Iterator[Caution]:
    for each, why in found:
        if each.without:
            message = f"{each.property}: {format_counted(each.without, 'item')} without a value are left out here."
            yield Caution(code="property-missing", about="table:conditional", message=message, count=each.without)
        if why:
            message = f"{each.property}: no likelihood ratio by holdsup: {why}."
            yield Caution(code="no-likelihood-ratio", severity="note", about="table:conditional", message=message)
    if any(pair.claim == "new-settings" for pair in pairs):
        names = ", ".join(each.property for each, _ in found)
        message = f"Results along {names} cover new runs, not new settings."
        yield Caution(code="less-claimed", about="table:conditional", message=message)
