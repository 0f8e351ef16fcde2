"""What a tuning says in words, made from its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

from holdsup.numerics.arithmetic import NOISE
from holdsup.numerics.distributions import t_quantile
from holdsup.numerics.tuning_plans import LEAST_K
from holdsup.rendering import Answer, Estimate, Interval, State, Table
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.results import Caution, Method, write_caveats
from holdsup.verdict.phrases import say_level
from holdsup.verdict.tuning.candidates import CandidateRow, TuningNumbers

MOST = 3  # names that are spelt out
SHOWN = 5  # candidates of the short answer
LONG = 30  # characters of a candidate's name beyond which the table leaves out a column


def write_answer(tuning: TuningNumbers) -> Answer:
    """Return whether the pick is safe from the luck of the partition."""
    return Answer(
        question="Is the pick safe from the luck of the partition?",
        state=find_state(tuning),
        headline=_headline(tuning),
        parts=(_show_candidates(tuning),),
        foot=(
            ("holds for", f"other partitions of these items into {tuning.k} folds; not new data"),
            *(("settle it", said) for said in tuning.next),
            *write_caveats(tuning.cautions),
        ),
        more=("--full (all candidates)", "--advise", "holdsup report", "--plot figure.svg"),
        signature=tuning.signature,
        names=(tuning.metric, *(row.name for row in tuning.candidates)),
    )


def find_state(tuning: TuningNumbers) -> State | None:
    """Return yes if no other candidate is better by more than the margin, no if what was taken is told to be worse."""
    if len(tuning.different) == 1:
        return None  # nothing was tuned
    if (taken := _taken(tuning)) is not None:
        return "no" if taken.status == "worse" else "unclear"
    return "yes" if len(_judged(tuning)) > 1 and tuning.regret <= tuning.margin else "unclear"


def _taken(tuning: TuningNumbers) -> CandidateRow | None:
    """Return the candidate that was taken instead of the pick; one that repeats the pick's setting is the pick."""
    row = tuning.pick if tuning.taken is None else tuning.candidates[tuning.taken]
    return None if tuning.best_index in (row.index, row.same_as if row.status == "same" else None) else row


def _judged(tuning: TuningNumbers) -> list[CandidateRow]:
    return [row for row in tuning.different if row.status != "failed"]


def _headline(tuning: TuningNumbers) -> str:
    pick, judged = tuning.pick, _judged(tuning)
    mean = f"{tuning.metric} {format_number(pick.mean, uncertainty=pick.se)}"
    if len(tuning.different) == 1:
        return f"{pick.name} is the only candidate, so nothing was tuned; its mean is {mean}."
    if (taken := _taken(tuning)) is not None:
        return _about_taken(tuning, taken)
    if len(judged) == 1:
        return f"{pick.name} is the only candidate that did not fail; its mean is {mean}."
    if tuning.partitions == 1:
        return f"{pick.name} is best on one partition, mean {mean}; one partition can't tell how much of that is luck."
    if all(row.scores == pick.scores for row in judged):
        return f"All {len(judged)} candidates have the same {mean} on every partition: take any of them."
    won = f"{pick.name} won {round(pick.wins * tuning.partitions)} of {tuning.partitions} partitions{_say_ties(tuning)}"
    other = "another setting" if len(judged) == len(tuning.different) else "another of those judged"
    if tuning.regret == 0:
        return f"{won}; {other.replace('another', 'no other')} is better ({say_level(tuning.level)} confidence)."
    limit = format_number(tuning.regret, uncertainty=tuning.regret)
    margin = format_number(tuning.margin, uncertainty=tuning.margin)
    side = "within" if tuning.regret <= tuning.margin else "above"
    return f"{won}; {other} could be at most {limit} better, {side} the margin ({margin})."


def _say_ties(tuning: TuningNumbers) -> str:
    """Return on how many partitions the pick is the best together with a candidate that has other scores elsewhere."""
    pick = tuning.pick
    rivals = [row.scores for row in _judged(tuning) if row.scores != pick.scores]
    sign = 1 if tuning.higher_is_better else -1
    tied = 0
    for place, own in enumerate(pick.scores):
        ahead = [sign * (scores[place] - own) for scores in rivals if not math.isnan(scores[place])]
        tied += bool(ahead) and abs(max(ahead)) <= NOISE * abs(own)
    if not tied:
        return ""
    return f", {'each time' if tied == round(pick.wins * tuning.partitions) else tied} tied with other settings"


def _about_taken(tuning: TuningNumbers, taken: CandidateRow) -> str:
    """Return how a candidate stands that was taken instead of the pick."""
    best = tuning.pick.name
    if taken.status in ("failed", "same"):
        how = "failed and can't be judged" if taken.status == "failed" else "repeats the setting of another candidate"
        return f"{taken.name} was taken, which {how}; {best} has the best mean."
    size = format_number(abs(taken.difference), uncertainty=abs(taken.difference))
    how = {
        "alike": "but the partitions can't tell them apart", "worse": "beyond the luck of the partition",
        "dropped": "and it was dropped on the way",
    }[taken.status]  # fmt: skip
    return f"{taken.name} was taken; the mean {tuning.metric} of {best} is {size} better, {how}."


def _show_candidates(tuning: TuningNumbers) -> Table:
    """Return the first candidates, their means with CIs over new partitions."""
    rows = tuning.ranked()
    short = max(len(row.name) for row in rows[:SHOWN]) <= LONG
    ends = ("worse", "better") if tuning.higher_is_better else ("better", "worse")
    several = tuning.partitions > 1
    return Table(
        name="candidates",
        title=f"Candidates by {tuning.metric}",
        columns=("candidate", "mean",
                 *((f"{ends[0]} | {say_level(tuning.level)} CI | {ends[1]}", "won") if several else ()),
                 *(("P(best)",) if several and short else ())),
        rows=tuple(
            (row.name, Estimate(row.mean, row.se),
             *((_interval(row, tuning.level), _say_won(row)) if several else ()),
             *((Estimate(row.p_best, 0.1),) if several and short else ()))
            for row in rows[:SHOWN]
        ),
        notes=(f"{len(rows) - SHOWN} more: --full",) if len(rows) > SHOWN else (),
    )  # fmt: skip


def _interval(row: CandidateRow, level: float) -> Interval:
    """Return the CI of a mean over new partitions."""
    if math.isnan(row.se):
        return Interval(None, None)
    half = row.se * t_quantile((1 + level) / 2, row.partitions - 1)
    return Interval(row.mean - half, row.mean + half, row.mean, written=False)


def _say_won(row: CandidateRow) -> str:
    if math.isnan(row.wins):
        return row.status
    return f"{round(row.wins * len(row.scores))} of {row.partitions}"


def suggest_partitions(tuning: TuningNumbers) -> Iterator[str]:
    """Yield about how many partitions would bring the regret within the margin, as CIs shrink with their root.

    Where the partitions that there are allow no more, or where a candidate that was dropped sets the limit, more of
    them do not bring it.
    """
    farthest = max(tuning.candidates, key=lambda row: -math.inf if math.isnan(row.lead) else row.lead)
    if not tuning.regret > tuning.margin > 0 or tuning.copies or farthest.status == "dropped":
        return
    needed = math.ceil(tuning.partitions * (tuning.regret / tuning.margin) ** 2)
    # CIs shrink faster than that while degrees of freedom are few: it is up to three times what is needed.
    if needed > 2 * tuning.partitions:
        needed = round(needed, 1 - len(str(needed)))
    yield f"about {needed:,} partitions (J) would bring it within the margin"


def list_cautions(tuning: TuningNumbers) -> Iterator[Caution]:
    """Yield what limits the answer."""
    yield from _warn_of_partitions(tuning)
    if same := [row.name for row in tuning.candidates if row.status == "same"]:
        between = "; " if any("," in name for name in same) else ", "  # names of several parameters have commas
        more = f" and {len(same) - MOST} more" if len(same) > MOST else ""
        yield Caution(
            code="repeated-candidates",
            severity="note",
            about="table:candidates",
            message=f"{len(same)} of {len(tuning.candidates)} candidates repeat others and count once: "
            f"{between.join(same[:MOST])}{more}.",
            count=len(same),
        )
    yield from _warn_of_failures(tuning)
    if tuning.stop == "budget spent":
        yield Caution(
            code="budget-spent",
            message=f"The budget of {format_counted(tuning.budget or 0, 'fit')} ended the tuning before the margin was "
            f"reached ({tuning.fits:,} fits were made).",
            advice="Raise the budget.",
        )


def _warn_of_partitions(tuning: TuningNumbers) -> Iterator[Caution]:
    if tuning.k < LEAST_K:
        yield Caution(
            code="few-folds",
            message=f"With K={tuning.k}, training sets share no items and estimates vary more.",
            advice=f"Use K of {LEAST_K} or more.",
        )
    if tuning.copies:
        why = "groups" if tuning.grouped else "items"
        yield Caution(
            code="copied-partitions",
            message=f"{tuning.copies} of {tuning.partitions + tuning.copies} partitions are copies of others and left "
            f"out: so few {why} can be split evenly in few ways.",
            advice="A larger J adds little; another K or smaller groups may.",
            count=tuning.copies,
        )
    if tuning.partitions == 1 and len(tuning.different) > 1:
        yield Caution(
            code="one-partition",
            severity="note",
            message="One partition gives no standard error, no probability and no CI.",
            advice="" if tuning.copies else "Use J of 2 or more.",
        )
    if tuning.partitions == 2 and len(tuning.different) > 1:
        yield Caution(
            code="two-partitions",
            message="With J=2, CIs assume that all candidates vary alike; one that varies far more is often missed.",
            effect="One that varies ten times as much is missed in 13% of cases, not 5%.",
            advice="Use J of 3 or more.",
        )


def _warn_of_failures(tuning: TuningNumbers) -> Iterator[Caution]:
    """Yield which candidates are not judged, the ones that may be better than the pick first."""
    sign = 1 if tuning.higher_is_better else -1
    failed = [(row, _beside_pick(row, tuning)) for row in tuning.candidates if row.status == "failed"]
    failed.sort(key=lambda pair: -sign * (pair[1][0] - pair[1][1]) if pair[1] else math.inf)
    for row, means in failed[:MOST]:
        fits = sum(failure.candidate == row.index for failure in tuning.failures)
        yield Caution(
            code="failed-candidate",
            about="table:candidates",
            message=f"{_say_failed(row, fits, tuning)} and is not judged{_say_means(row, means, tuning)}.",
            count=max(fits, 1),
        )
    if (more := len(failed) - MOST) > 0:
        message = f"{format_counted(more, 'more candidate')} failed and {'is' if more == 1 else 'are'} not judged."
        yield Caution(code="failed-candidate", about="table:candidates", message=message, count=more)


def _beside_pick(row: CandidateRow, tuning: TuningNumbers) -> tuple[float, float] | None:
    """Return the means of a candidate and of the pick on the partitions that the candidate completed, if any."""
    both = [pair for pair in zip(row.scores, tuning.pick.scores, strict=True) if not math.isnan(pair[0])]
    if not both:
        return None
    own, picks = zip(*both, strict=True)
    return math.fsum(own) / len(own), math.fsum(picks) / len(picks)


def _say_failed(row: CandidateRow, fits: int, tuning: TuningNumbers) -> str:
    partitions = len({failure.partition for failure in tuning.failures if failure.candidate == row.index})
    tried = format_counted(tuning.k * (row.partitions + partitions), "fit")
    return f"{row.name} {f'failed {fits} of {tried}' if fits else 'has no score on some partitions'}"


def _say_means(row: CandidateRow, means: tuple[float, float] | None, tuning: TuningNumbers) -> str:
    if means is None:
        return ""
    own, picks = means
    side = "above" if own > picks else "below" if own < picks else "the same as"
    over = format_counted(row.partitions, "complete partition")
    return f" (its mean over {over}, {own:.4g}, is {side} {tuning.pick.name}'s there, {picks:.4g})"


def describe_method(tuning: TuningNumbers) -> Method:
    """Return what was done, for a paper."""
    adaptive = ", candidates that could no longer win dropped on the way" if tuning.adaptive else ""
    return Method(
        question="Is the pick of the tuning safe from the luck of the partition?",
        sentences=(
            f"J-K-fold cross-validation measured the {tuning.metric} of "
            f"{format_counted(len(tuning.different), 'candidate')}: the mean over J={tuning.partitions} partitions "
            f"into K={tuning.k} folds, the same for every candidate ({format_counted(tuning.fits, 'fit')}{adaptive}).",
            "The probability of being the best is over all partitions of this corpus, from the spread between these.",
        ),
        citations=("moss2018",),
    )
