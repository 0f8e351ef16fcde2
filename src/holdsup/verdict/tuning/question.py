"""`judge_tuning`: which candidate to take, and is it safe from the luck of the partition?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdsup.arguments import check_count, check_level, is_number
from holdsup.errors import TuningError
from holdsup.numerics.tuning import best_probabilities, bound_regret, measure_standing
from holdsup.numerics.tuning_plans import MARGIN, AdaptiveSchedule, Review
from holdsup.results import Asked, Caution, Rows, order_cautions
from holdsup.results.extras import list_extras
from holdsup.verdict.tuning.candidates import FailedFit, digest_candidates, find_repeated, list_candidates
from holdsup.verdict.tuning.result import Tuning
from holdsup.verdict.tuning.words import list_cautions, suggest_partitions

Floats = NDArray[np.float64]


def judge_tuning(
    scores: ArrayLike,
    candidates: Sequence[Mapping[str, Any]],
    *,
    k: int,
    metric_name: str,
    higher_is_better: bool = True,
    level: float = 0.95,
    margin: float | None = None,
    budget: int | None = None,
    seed: int = 0,
    fits: int | None = None,
    failures: Sequence[FailedFit] = (),
    schedule: AdaptiveSchedule | None = None,
    copies: int = 0,
    grouped: bool | None = None,
    cautions: Sequence[Caution] = (),
    signed: Mapping[str, object] | None = None,
) -> Tuning:
    """Return the pick of J-K-fold tuning and how sure it is.

    Best means best over all partitions of this corpus: the mean that endless J would give. It says nothing of new data.

    Parameters
    ----------
    scores : mean cross-validated scores, shape (partitions, candidates); NaN where a candidate failed or was not run
    candidates : the parameters of each
    k : folds of a partition
    metric_name : what the scores are
    higher_is_better : whether larger scores are better
    level : confidence of what is said
    margin : a difference that does not matter; None for half a standard deviation of a difference on one partition
    budget : the most fits, if there was a limit
    seed : of the draws behind probabilities and CIs
    fits : how many fits were made; None for k on each partition of each candidate
    failures : fits that gave no score; their candidates are not ranked
    schedule : of adaptive J, if that decided who was run on which partition
    copies : how many partitions asked for are not among these, since they are copies of them: no new evidence
    grouped : whether partitions kept groups of items whole; None where that is not known
    cautions : of whoever trained the candidates
    signed : more for the signature, such as a digest of the corpus, the splitter and the estimator

    Examples
    --------
    >>> scores = [[0.81, 0.84], [0.80, 0.83], [0.82, 0.84]]
    >>> found = judge_tuning(scores, [{"C": 1}, {"C": 10}], k=5, metric_name="accuracy")
    >>> found.best, found.candidates[1].wins, found.probability > 0.95
    ('C=10', 1.0, True)
    """
    check_count(seed, "seed", TuningError)
    table = _check(scores, candidates, k, level, margin)
    failed = _find_failed(table, failures)
    if failed.all():
        why = f": {failures[0].error}" if failures else ""
        raise TuningError(f"all {len(candidates)} candidates failed, so there is nothing to pick{why}")
    sign_of = 1.0 if higher_is_better else -1.0
    repeated = find_repeated(candidates, table)
    ranked = np.where(failed | (repeated != np.arange(len(candidates))), np.nan, sign_of * table)
    if not np.isfinite(ranked).all(axis=0).any():
        raise TuningError("no candidate has a score on every partition: run at least one on all of them")
    standing = measure_standing(ranked)
    limits = bound_regret(standing, level=level, seed=seed)
    review = schedule.review(sign_of * table) if schedule else None
    chances = best_probabilities(standing, seed=seed)
    indifference = margin if margin is not None or review is None else review.margin
    if indifference is None:
        indifference = MARGIN * float(np.sqrt(standing.variance))
    regret = _limit_stated(limits.regret, indifference, review)
    rows = list_candidates(table, candidates, standing, limits, chances, failed, repeated, sign_of)
    found = Tuning(
        asked=Asked.about("tune", None, None, **{
            "scores": hashlib.sha256(np.ascontiguousarray(table).tobytes()).hexdigest()[:12], "metric": metric_name,
            "better": "higher" if higher_is_better else "lower", "j": len(table), "k": k,
            "candidates": f"{len(candidates)}#{digest_candidates(candidates)}", "adaptive": True if schedule else None,
            "margin": margin, "level": level, "budget": budget, "seed": seed, **(signed or {}),
        }),
        seed=seed,
        rows=_count_rows(table, failed, repeated != np.arange(len(candidates))),
        metric=metric_name,
        higher_is_better=higher_is_better,
        level=level,
        partitions=len(table),
        copies=copies,
        k=k,
        fits=k * int(np.isfinite(table).sum()) if fits is None else fits,
        budget=budget,
        margin=indifference,
        adaptive=schedule is not None,
        grouped=grouped,
        stop=(review.stop or "all partitions run") if review else None,
        best=rows[standing.pick].name,
        best_index=standing.pick,
        probability=float(chances[standing.pick]),
        regret=regret,
        candidates=rows,
        failures=tuple(failures),
        next=(),
    )  # fmt: skip
    said: list[Caution] = []
    advice = list_extras("the advice on how many partitions to run", lambda: suggest_partitions(found), said)
    return replace(found, cautions=order_cautions((*list_cautions(found), *cautions, *said)), next=advice)


def _limit_stated(limit: float, margin: float, review: Review | None) -> float:
    """Return the limit of the regret: a candidate that was dropped may be better than the pick by the margin.

    Its own limit is of the moment at which it looked worst, and too low as often as that is luck.
    """
    if not review or not review.dropped:
        return limit
    return margin if review.stop == "within margin" else max(limit, margin)


def _check(
    scores: ArrayLike, candidates: Sequence[Mapping[str, Any]], k: int, level: float, margin: float | None
) -> Floats:
    try:
        table = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TuningError(f"the scores of a tuning must be numbers, in rows of the same length: {error}") from error
    if table.ndim != 2 or table.shape[1] != len(candidates) or not table.size:
        raise TuningError(
            f"tuning needs a score for each partition and each of {len(candidates)} candidates, but the scores have "
            f"shape {table.shape}: give a row for each partition and a column for each candidate"
        )
    if check_count(k, "k", TuningError) < 2:
        raise TuningError(f"k is {k}, but cross-validation needs 2 folds or more: give 3 or more")
    check_level(level, TuningError)
    if margin is not None and not (is_number(margin) and margin >= 0):
        raise TuningError(f"margin is {margin!r}: give a difference in score that does not matter, zero or more")
    return np.where(np.isinf(table), np.nan, table)


def _find_failed(table: Floats, failures: Sequence[FailedFit]) -> NDArray[np.bool_]:
    """Return which candidates failed: those named, and those whose scores have gaps or an empty start.

    One that was run on the first partitions and not on the last was dropped, not a failure.
    """
    run = np.isfinite(table)
    failed = ~run[0] | (np.diff(run.astype(int), axis=0) > 0).any(axis=0)
    failed[[failure.candidate for failure in failures]] = True
    return np.asarray(failed)


def _count_rows(table: Floats, failed: NDArray[np.bool_], repeats: NDArray[np.bool_]) -> Rows:
    used = int(np.isfinite(table[:, ~failed & ~repeats]).sum())
    again = int(repeats.sum()) * len(table)
    lost = int((failed & ~repeats).sum()) * len(table)
    idle = table.size - used - lost - again
    reasons = {
        "a candidate that failed": lost, "a candidate that was dropped": idle, "a candidate that repeats another": again
    }  # fmt: skip
    return Rows(table.size, used, {why: count for why, count in reasons.items() if count})
