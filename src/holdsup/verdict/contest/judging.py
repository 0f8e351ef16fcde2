"""`judge_contest`: from trained instances to a verdict on whether a conclusion survives another split."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from typing import Any

from holdsup.arguments import check_level, is_number
from holdsup.errors import MetricError, ScoresError, list_names
from holdsup.metrics import Metric
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.results import Rows, sign
from holdsup.results.extras import list_extras
from holdsup.verdict.contest.curve import TOLD, LearningCurve, check_curve, list_points
from holdsup.verdict.contest.estimates import ENOUGH, ESTIMATORS, order_strategies
from holdsup.verdict.contest.fold_tests import count_units
from holdsup.verdict.contest.pairs import Judged, Question, find_decider, judge_pairs
from holdsup.verdict.contest.partitions import Partition, check_partitions
from holdsup.verdict.contest.records import Conclusion, CurveCheck
from holdsup.verdict.contest.report import Contest
from holdsup.verdict.contest.scoring import Scored, count_votes, list_scores, mean_scores, score_partitions
from holdsup.verdict.contest.sentences import name_pairs, write_contest_verdict

__all__ = ["check_question", "judge_contest"]

CORRECTIONS = ("holm", "bonferroni")


def judge_contest(
    partitions: Sequence[Partition],
    targets: Sequence[Any] | None,
    metric: Metric,
    *,
    level: float = 0.95,
    margin: float = 0.0,
    pairs: Sequence[tuple[str, str]] | None = None,
    conclusion: str | None = None,
    estimator: str | None = None,
    correction: str = "holm",
    learning_curve: LearningCurve | None = None,
    seed: int | None = None,
    grouped: bool | None = None,
    groups: Sequence[Any] | None = None,
    signed: Mapping[str, object] | None = None,
) -> Contest:
    """Return whether conclusions about systems, trained on splits of one corpus, survive another split.

    Parameters
    ----------
    partitions : re-partitions of the corpus, each with all systems trained on it; several strategies may be among them
    targets : what should be predicted, one for each item of the corpus; None where trained instances have counts only
    metric : how predictions are scored
    level : coverage of limits
    margin : lead, in raw units of the metric, from which a system counts as better
    pairs : pairs of systems; by default all
    conclusion : what is claimed, as "A>B"; by default the sign of the mean over these partitions
    estimator : which one decides; by default the average over the folds of a partition, which the tests are about, too
    correction : holm or bonferroni, for the p-values of several pairs
    learning_curve : scores by system and number of items trained on, all systems on the same samples
    seed : seed of the splits
    grouped : whether splits kept groups of items whole; None where that is not known
    groups : what each item belongs to, where they did: a test has no more degrees of freedom than there are groups
    signed : what the signature says besides, or instead, such as a digest of the corpus and the splitter

    Raises
    ------
    SplitError : systems that were not tested on the same splits, or partitions that do not belong together
    MetricError : predictions of unequal length, or a metric that is undefined in every partition
    ScoresError : an option that cannot be
    """
    items = None if targets is None else len(targets)
    check_partitions(partitions, items)
    systems = list(partitions[0].trained)
    _check_options(level, margin, estimator, correction)
    if learning_curve is not None:
        check_curve(learning_curve, systems)
    chosen = _choose_pairs(pairs, systems)
    question = Question(
        metric=metric if targets is None else metric.for_targets(targets),
        level=level, margin=margin, pairs=chosen, winner=_read_conclusion(conclusion, systems, chosen),
        estimator=estimator, correction=correction, items=items, units=count_units(items, groups),
    )  # fmt: skip
    scored = score_partitions(partitions, targets, question.metric)
    used = [one for one in scored if one.problem is None]
    if not used:
        raise MetricError(
            f"{scored[0].problem}, and no partition is without such a fold. Stratify the splits, match them on the "
            "targets, or test on more items"
        )
    said: list[str] = []
    judged = judge_pairs(used, question, learning_curve, said)
    votes = list_extras("the votes", lambda: count_votes(used), said)
    curve = () if learning_curve is None else list_points(learning_curve, systems)
    planned = _instances(scored) + sum(point.repeats for point in curve)
    left = _instances(scored) - _instances(used)
    return Contest(
        signature=sign("contest", **{
            "metric": metric.name, "splits": ",".join(order_strategies(used)), "partitions": len(used),
            "systems": len(systems), "items": items, "margin": margin or None, "conclusion": conclusion,
            "estimator": judged.conclusions[0].estimator,
            "pairs": None if pairs is None else ",".join(f"{left}-{right}" for left, right in pairs),
            "correction": correction if len(judged.conclusions) > 1 else None, "level": level, "seed": seed,
            **(signed or {}),
        }),
        seed=seed,
        warnings=(*question.metric.cautions, *_warn(scored, used, judged), *dict.fromkeys(said)),
        rows=Rows(planned, planned - left, {"an undefined score in their partition": left} if left else {}),
        verdict=write_contest_verdict(
            judged, mean_scores(used), metric, level=level, margin=margin, correction=correction
        ),
        metric=metric.name,
        lower_is_better=not metric.higher_is_better,
        level=level,
        margin=margin,
        correction=correction,
        items=items,
        grouped=grouped,
        conclusions=judged.conclusions,
        estimators=judged.estimators,
        signs=judged.signs,
        tests=judged.tests,
        votes=votes,
        curve=curve,
        curve_checks=judged.checks,
        scores=list_scores(scored),
    )  # fmt: skip


def check_question(
    systems: Sequence[str],
    *,
    level: float = 0.95,
    margin: float = 0.0,
    pairs: Sequence[tuple[str, str]] | None = None,
    conclusion: str | None = None,
    estimator: str | None = None,
    correction: str = "holm",
) -> None:
    """Refuse what cannot be asked about systems (see `judge_contest`), before anything is trained."""
    _check_options(level, margin, estimator, correction)
    _read_conclusion(conclusion, systems, _choose_pairs(pairs, systems))


def _check_options(level: float, margin: float, estimator: str | None, correction: str) -> None:
    check_level(level)
    if not is_number(margin) or not (math.isfinite(margin) and margin >= 0):
        raise ScoresError(f"margin is {margin!r}; it must be a number that is not negative")
    if estimator is not None and estimator not in ESTIMATORS:
        raise ScoresError(f"no estimator {estimator!r}; there are {', '.join(ESTIMATORS)}")
    if correction not in CORRECTIONS:
        raise ScoresError(f"no correction {correction!r}; there are {', '.join(CORRECTIONS)}")


def _choose_pairs(pairs: Sequence[tuple[str, str]] | None, systems: Sequence[str]) -> tuple[tuple[str, str], ...]:
    if pairs is None:
        return tuple(combinations(systems, 2))
    for pair in pairs:
        if len(pair) != 2 or pair[0] == pair[1] or not set(pair) <= set(systems):
            raise ScoresError(f"{tuple(pair)!r} is no pair of the systems {list_names(systems)}")
    if not pairs or len({frozenset(pair) for pair in pairs}) < len(pairs):
        raise ScoresError("pairs are empty, or one is given twice")
    return tuple((left, right) for left, right in pairs)


def _read_conclusion(
    text: str | None, systems: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> tuple[str, str] | None:
    """Return winner and loser of "A>B"; names may hold any sign, so all pairs are tried."""
    if text is None:
        return None
    written = "".join(text.split())
    for winner, loser in permutations(systems, 2):
        if written == "".join(f"{winner}>{loser}".split()):
            if not {(winner, loser), (loser, winner)} & set(pairs):
                asked = ", ".join(f"{left}-{right}" for left, right in pairs)
                raise ScoresError(
                    f"the conclusion {text!r} is about none of the pairs asked for ({asked}): add its pair"
                )
            return winner, loser
    raise ScoresError(f"the conclusion {text!r} is not of the form 'A>B' with two of the systems {list_names(systems)}")


def _warn(scored: Sequence[Scored], used: Sequence[Scored], judged: Judged) -> tuple[str, ...]:
    warnings = []
    if len(used) < len(scored):
        first = next(one.problem for one in scored if one.problem)
        left = f"{len(scored) - len(used)} of {format_counted(len(scored), 'partition')}"
        warnings.append(f"{left} are left out because a score is undefined; the first: {first}.")
    if turned := [conclusion for conclusion in judged.conclusions if conclusion.sign_at_n == "differs"]:
        warnings.append(
            f"The learning curve of {name_pairs(turned)} changes its sign between half of the corpus and near all of "
            "it: what was decided at half does not hold for systems trained on all."
        )
    if any(one.partition.strategy == "blocked" and not one.votes for one in used):
        warnings.append(
            "There are no votes, for want of predictions that are labels or tags: only averages are judged."
        )
    warnings += filter(None, (_compare_curve(check, judged) for check in judged.checks))
    warnings += filter(None, (_compare_votes(conclusion, judged) for conclusion in judged.conclusions))
    if 1 < min(conclusion.partitions for conclusion in judged.conclusions) < ENOUGH:
        warnings.append(f"There are fewer than {ENOUGH} re-partitions: no reproducibility is given.")
    return tuple(warnings)


def _compare_curve(check: CurveCheck, judged: Judged) -> str | None:
    """Return a warning where the learning curve has another sign at half of the corpus than the contest, also there."""
    c = next(c for c in judged.conclusions if (c.left, c.right) == (check.left, check.right))
    own = [row for row in judged.estimators if (row.left, row.right) == (c.left, c.right)]
    row = find_decider(own, c.strategy, c.estimator)
    if c.strategy != "blocked" or row.mean * check.half_difference >= 0:
        return None
    here, there = (format_number(value, uncertainty=abs(value)) for value in (row.mean, check.half_difference))
    told = abs(check.half_difference) > TOLD * check.half_se
    return (
        f"Trained on half, {c.left} - {c.right} is {here} over {format_counted(row.partitions, 'partition')}, but "
        f"{there} on the {format_counted(check.samples, 'sample')} of the learning curve"
        + (": see what differs between them." if told else f": within the error of so few (se {check.half_se:.2g}).")
    )


def _compare_votes(c: Conclusion, judged: Judged) -> str | None:
    """Return a warning where votes, or their mixture with the average, have another sign than the average."""
    own = [row for row in judged.estimators if (row.left, row.right, row.strategy) == (c.left, c.right, c.strategy)]
    means = {row.estimator: row.mean for row in own}
    other = [name for name in ("vote", "mixture") if means.get("averaged", 0.0) * means.get(name, 0.0) < 0]
    if not other:
        return None
    verb = "has" if len(other) == 1 else "have"
    return (
        f"{' and '.join(other)} of {c.left} - {c.right} {verb} another sign than the average. A vote is of several "
        "instances, each trained on half of the corpus, and helps a system the more, the less stable its training is: "
        "the average is about the systems as they are trained."
    )


def _instances(scored: Sequence[Scored]) -> int:
    return sum(len(instances) for one in scored for instances in one.partition.trained.values())
