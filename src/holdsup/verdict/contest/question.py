"""`judge_contest`: from trained instances to an answer: would another split of the corpus say the same?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Any

from holdsup.arguments import check_level, is_number
from holdsup.errors import MetricError, ScoresError, list_names
from holdsup.metrics import Metric
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.results import Asked, Caution, Rows, order_cautions
from holdsup.results.extras import list_extras
from holdsup.verdict.contest.estimates import ESTIMATORS, count_units, order_strategies
from holdsup.verdict.contest.pairs import TOLD, ContestQuestion, LearningCurve, check_curve, judge_pairs, list_points
from holdsup.verdict.contest.partitions import Partition, check_partitions
from holdsup.verdict.contest.records import ENOUGH, TARGET, Conclusion, CurveCheck
from holdsup.verdict.contest.result import Contest
from holdsup.verdict.contest.scoring import Scored, count_votes, list_scores, score_partitions

CORRECTIONS = ("holm", "bonferroni")
MOST = 3  # pairs that a caution names


def judge_contest(
    partitions: Sequence[Partition],
    targets: Sequence[Any] | None,
    metric: Metric,
    *,
    level: float = 0.95,
    threshold: float = TARGET,
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
    """Return whether another split of the corpus would say the same about the systems trained on these.

    Parameters
    ----------
    partitions : re-partitions of the corpus, each with all systems trained on it; several strategies may be among them
    targets : what should be predicted, one for each item of the corpus; None where trained instances have counts only
    metric : how predictions are scored
    level : coverage of CIs
    threshold : the reproducibility from which a conclusion holds up
    margin : lead, in raw units of the metric, from which a system counts as better
    pairs : pairs of systems; by default all
    conclusion : what is claimed, as "A>B"; by default the sign of the mean over these partitions
    estimator : which one decides; by default the average over the folds of a partition, which the tests are about, too
    correction : holm or bonferroni, for the p-values of several pairs
    learning_curve : scores by system and number of items trained on, all systems on the same samples
    seed : seed of the splits
    grouped : whether splits kept groups of items whole; None where that is not known
    groups : what each item belongs to, where they did: a test has no more degrees of freedom than there are groups
    signed : more for the signature, such as a digest of the corpus and the splitter

    Raises
    ------
    SplitError : systems that were not tested on the same splits, or partitions that do not belong together
    MetricError : predictions of unequal length, or a metric that is undefined in every partition
    ScoresError : an option that cannot be
    """
    items = None if targets is None else len(targets)
    check_partitions(partitions, items)
    systems = list(partitions[0].trained)
    chosen, winner = check_question(
        systems, level=level, threshold=threshold, margin=margin, pairs=pairs, conclusion=conclusion,
        estimator=estimator, correction=correction,
    )  # fmt: skip
    if learning_curve is not None:
        check_curve(learning_curve, systems)
    question = ContestQuestion(
        metric=metric if targets is None else metric.for_targets(targets),
        level=level, threshold=threshold, margin=margin, pairs=chosen,
        winner=winner, estimator=estimator, correction=correction, items=items,
        units=count_units(items, groups),
    )  # fmt: skip
    scored = score_partitions(partitions, targets, question.metric)
    used = [one for one in scored if one.problem is None]
    if not used:
        raise MetricError(
            f"{scored[0].problem}, and every partition has such a fold: stratify the splits, match them on the "
            "targets, or test on more items"
        )
    said: list[Caution] = []
    judged = judge_pairs(used, question, learning_curve, said)
    votes = list_extras("the votes", lambda: count_votes(used), said, about="table:votes")
    curve = () if learning_curve is None else list_points(learning_curve, systems)
    planned = _instances(scored) + sum(point.repeats for point in curve)
    left = _instances(scored) - _instances(used)
    found = Contest(
        asked=Asked.about("contest", None, None, **{
            "metric": metric.name, "splits": ",".join(order_strategies(used)), "partitions": len(used),
            "systems": len(systems), "items": items, "margin": margin or None, "conclusion": conclusion,
            "estimator": judged["conclusions"][0].estimator,
            "pairs": None if pairs is None else ",".join(f"{left}-{right}" for left, right in pairs),
            "correction": correction if len(chosen) > 1 else None, "level": level,
            "threshold": threshold if threshold not in (TARGET, (signed or {}).get("sequential")) else None,
            "seed": seed,
            **(signed or {}),
        }),
        seed=seed,
        rows=Rows(planned, planned - left, {"an undefined score in their partition": left} if left else {}),
        metric=metric.name,
        lower_is_better=not metric.higher_is_better,
        level=level,
        threshold=threshold,
        margin=margin,
        correction=correction,
        items=items,
        grouped=grouped,
        **judged,
        votes=votes,
        curve=curve,
        scores=list_scores(scored),
    )  # fmt: skip
    return replace(found, cautions=order_cautions((*question.metric.cautions, *_warn(found, scored, used), *said)))


def check_question(
    systems: Sequence[str],
    *,
    level: float = 0.95,
    threshold: float = TARGET,
    margin: float = 0.0,
    pairs: Sequence[tuple[str, str]] | None = None,
    conclusion: str | None = None,
    estimator: str | None = None,
    correction: str = "holm",
) -> tuple[tuple[tuple[str, str], ...], tuple[str, str] | None]:
    """Return the pairs, and winner and loser of the conclusion; refuse what can't be asked (see `judge_contest`)."""
    check_level(level)
    if not is_number(threshold) or not 0.5 < threshold < 1:
        raise ScoresError(f"threshold is {threshold!r}: give a number between 0.5 and 1, such as 0.8")
    if not is_number(margin) or not (math.isfinite(margin) and margin >= 0):
        raise ScoresError(f"margin is {margin!r}: give a number, zero or more")
    if estimator is not None and estimator not in ESTIMATORS:
        raise ScoresError(f"there is no estimator {estimator!r}: choose from {', '.join(ESTIMATORS)}")
    if correction not in CORRECTIONS:
        raise ScoresError(f"there is no correction {correction!r}: choose from {', '.join(CORRECTIONS)}")
    chosen = _choose_pairs(pairs, systems)
    return chosen, _read_conclusion(conclusion, systems, chosen)


def _choose_pairs(pairs: Sequence[tuple[str, str]] | None, systems: Sequence[str]) -> tuple[tuple[str, str], ...]:
    if pairs is None:
        return tuple(combinations(systems, 2))
    for pair in pairs:
        if len(pair) != 2 or pair[0] == pair[1] or not set(pair) <= set(systems):
            raise ScoresError(f"{tuple(pair)!r} is not a pair of systems: choose two of {list_names(systems)}")
    if not pairs or len({frozenset(pair) for pair in pairs}) < len(pairs):
        raise ScoresError("pairs are empty, or one is given twice: give each pair once")
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
                    f"the conclusion {text!r} is not about any of the pairs asked for ({asked}): add its pair"
                )
            return winner, loser
    raise ScoresError(
        f"the conclusion {text!r} is not of the form 'A>B': name two of the systems {list_names(systems)}"
    )


def _warn(contest: Contest, scored: Sequence[Scored], used: Sequence[Scored]) -> Iterator[Caution]:
    """Yield what limits the answer."""
    if len(used) < len(scored):
        yield Caution(
            code="undefined-scores",
            message=f"{len(scored) - len(used)} of {format_counted(len(scored), 'partition')} are left out: a score is "
            f"undefined there, first {next(one.problem for one in scored if one.problem)}.",
            advice="Stratify the splits, or test on more items.",
            count=len(scored) - len(used),
        )
    yield from _warn_of_half(contest)
    if any(one.partition.strategy == "blocked" and not one.votes for one in used):
        yield Caution(
            code="no-votes",
            severity="note",
            about="table:estimators",
            message="There are no votes, as predictions are not labels or tags: only averages are judged.",
        )
    for check, c in zip(contest.curve_checks, contest.conclusions, strict=False):
        yield from _compare_curve(contest, check, c)
    for c in contest.conclusions:
        yield from _compare_votes(contest, c)
    if 1 < min(c.partitions for c in contest.conclusions) < ENOUGH:
        yield Caution(
            code="few-partitions", severity="note", message=f"Fewer than {ENOUGH} partitions: no reproducibility."
        )


def _warn_of_half(contest: Contest) -> Iterator[Caution]:
    """Yield what is known of the sign after training on all of the corpus, of pairs that were trained on half."""
    half = [c for c in contest.conclusions if c.status != "equal"]
    if turned := [c for c in half if c.sign_at_n == "differs"]:
        yield Caution(
            code="sign-turns",
            message=f"On the learning curve, {_name_pairs(turned)} holds at half of the corpus but not near all of it.",
            advice="Don't conclude anything about systems trained on the whole corpus.",
            count=len(turned),
        )
    if unsure := [c for c in half if c.sign_at_n == "unsure"]:
        yield Caution(
            code="sign-unsure",
            severity="note",
            about="table:curve_checks",
            message=f"The learning curve can't tell if {_name_pairs(unsure)} also holds after training on all of the "
            "corpus.",
            count=len(unsure),
        )
    if any(c.sign_at_n == "unchecked" for c in half):
        yield Caution(
            code="half-corpus",
            severity="note",
            message="Systems were trained on half of the corpus: trained on all of it, another may win.",
            advice="Check with --learning-curve.",
        )


def _name_pairs(conclusions: Sequence[Conclusion]) -> str:
    """Return the conclusions about some pairs, the first few by name."""
    named = ", ".join(f"{c.left} > {c.right}" for c in conclusions[:MOST])
    return named + (f" and {len(conclusions) - MOST} more" if len(conclusions) > MOST else "")


def _compare_curve(contest: Contest, check: CurveCheck, c: Conclusion) -> Iterator[Caution]:
    """Yield a caution where the learning curve has another sign at half of the corpus than the contest, also there."""
    row = contest.decider(c)
    if c.strategy != "blocked" or row.mean * check.half_difference >= 0:
        return
    here, there = (format_number(value, uncertainty=abs(value)) for value in (row.mean, check.half_difference))
    known = abs(check.half_difference) > TOLD * check.half_se
    yield Caution(
        code="curve-against-contest",
        severity="warning" if known else "note",
        about="table:curve_checks",
        message=f"Trained on half, {c.pair} is {here} over {format_counted(row.partitions, 'partition')}, "
        f"but {there} on the {format_counted(check.samples, 'sample')} of the learning curve"
        + ("." if known else f": within the error of so few (se {check.half_se:.2g})."),
        advice="Find out what differs between them." if known else "",
    )


def _compare_votes(contest: Contest, c: Conclusion) -> Iterator[Caution]:
    """Yield a caution where votes, or their mixture with the average, have another sign than the average."""
    own = [row for row in contest.estimators if row.is_of(c)]
    means = {row.estimator: row.mean for row in own}
    other = [name for name in ("vote", "mixture") if means.get("averaged", 0.0) * means.get(name, 0.0) < 0]
    if other:
        yield Caution(
            code="votes-disagree",
            about="table:estimators",
            message=f"{c.pair}: {' and '.join(other)} and the average have opposite signs.",
            advice="Trust the average: a vote is an ensemble, which helps a system whose training is unstable.",
        )


def _instances(scored: Sequence[Scored]) -> int:
    return sum(len(instances) for one in scored for instances in one.partition.trained.values())
