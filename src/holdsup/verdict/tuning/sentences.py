"""What a tuning says in words, by rule from its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from holdsup.numerics.rounding import NOISE
from holdsup.numerics.tuning.advice import LEAST_K
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.verdict.tuning.failing import has_failures, say_failures
from holdsup.verdict.tuning.records import CandidateRow
from holdsup.verdict.tuning.report import Tuning

__all__ = ["format_probability", "list_warnings", "suggest_partitions", "write_choice", "write_tuning_verdict"]

MOST = 3  # names that are spelt out


def write_tuning_verdict(tuning: Tuning) -> str:
    """Return the sentence that stands above the tables: the pick, its luck, how sure, what is not covered."""
    pick = tuning.pick
    tried = [row for row in tuning.different if row.status != "failed"]
    mean = format_number(pick.mean, uncertainty=pick.se)
    if len(tuning.different) == 1:
        return f"{pick.name} is the only candidate, so nothing was tuned; its mean {tuning.metric} is {mean}."
    failed = say_failures(tuning)
    if len(tried) == 1:
        return f"{pick.name} is the only candidate that did not fail; its mean {tuning.metric} is {mean}.{failed}"
    if tuning.partitions == 1:
        return (
            f"{pick.name} has the best mean {tuning.metric}, {mean}, on one partition of K={tuning.k} folds. "
            f"One partition cannot tell how much of that is luck: {_other_partitions(tuning)}.{failed}"
        )
    if all(row.scores == pick.scores for row in tried):
        return (
            f"All {len(tried)} candidates have the same {tuning.metric} on every partition, {mean}: "
            f"nothing speaks for any of them, and {pick.name}, the first, is taken.{failed}"
        )
    won = round(pick.wins * tuning.partitions)
    return (
        f"{pick.name} wins on {100 * pick.wins:.0f}% of partitions ({won} of {tuning.partitions}{_say_shared(tuning)});"
        f" with J={tuning.partitions} the pick is the best over all partitions with probability "
        f"{format_probability(tuning.probability)}.{failed} {_alike(tuning)} {_regret(tuning)} "
        f"Best means the {'highest' if tuning.higher_is_better else 'lowest'} mean over all partitions of this corpus; "
        "it says nothing about new data."
    )


def format_probability(value: float) -> str:
    """Return a probability with two decimals, and never a false 0 or 1.

    >>> format_probability(0.873), format_probability(0.9991), format_probability(0.001)
    ('.87', 'above .99', 'below .01')
    """
    if value > 0.99:
        return "above .99"
    return "below .01" if value < 0.01 else f"{value:.2f}".removeprefix("0")


def list_warnings(tuning: Tuning) -> Iterator[str]:
    """Yield what limits trust in the numbers."""
    if tuning.k < LEAST_K:
        yield (
            f"K={tuning.k}: with two folds, training sets share no items and estimates vary more. "
            f"Use K of {LEAST_K} or more."
        )
    if tuning.partitions == 1 and len(tuning.different) > 1:
        yield "J=1: no standard error, probability or limit can be had from one partition."
    if tuning.copies:
        asked = tuning.partitions + tuning.copies
        verb = "is a copy" if tuning.copies == 1 else "are copies"
        why = "groups" if tuning.grouped else "items"
        yield (
            f"{tuning.copies} of {asked} partitions {verb} of others and left out, as no new evidence. So few {why} "
            "can be dealt evenly in few ways: a larger J adds little, another K or smaller groups may."
        )
    if tuning.partitions == 2 and len(tuning.different) > 1:
        yield (
            "J=2: limits take it that candidates vary alike from partition to partition. One that varies ten times as "
            "much as the others is beyond its limit in 13% of cases, not 5%: use J of 3 or more."
        )
    if same := [row.name for row in tuning.candidates if row.status == "same"]:
        count = f"{len(same)} of {len(tuning.candidates)} candidates"
        verb = "repeats" if len(same) == 1 else "repeat"
        yield f"{count} {verb} the setting of another ({_list(same)}): it counts once."
    failed = [row.name for row in tuning.candidates if row.status == "failed"]
    if failed:
        verb = "is" if len(failed) == 1 else "are"
        yield f"{_list(failed)} failed on one fold or more and {verb} not ranked."
    if tuning.stop == "budget spent":
        yield (
            f"The budget of {format_counted(tuning.budget or 0, 'fit')} ended it before the margin was reached: the "
            f"next partition would have gone beyond it ({tuning.fits:,} fits were made)."
        )


def suggest_partitions(tuning: Tuning) -> Iterator[str]:
    """Yield about how many partitions would bring the regret within the margin, as limits shrink with their root.

    Where the partitions that there are allow no more, or where a candidate that was dropped sets the limit, more of
    them do not bring it.
    """
    if not tuning.regret > tuning.margin > 0 or tuning.copies or _farthest(tuning).status == "dropped":
        return
    needed = math.ceil(tuning.partitions * (tuning.regret / tuning.margin) ** 2)
    # Limits shrink faster than that while degrees of freedom are few: it is up to three times what is needed.
    if needed > 2 * tuning.partitions:
        needed = round(needed, 1 - len(str(needed)))
    margin = format_number(tuning.margin, uncertainty=tuning.margin)
    yield f"To bring the regret within {margin}, the margin, takes J of the order of {needed:,}."


def write_choice(tuning: Tuning, index: int) -> str:
    """Return how a candidate stands that was taken instead of the pick."""
    row = tuning.candidates[index]
    if row.status == "same":
        return f"{row.name} was taken, which repeats the setting of another candidate."
    if row.status == "failed":
        return f"{row.name} was taken instead, which failed and is not judged."
    gap = row.difference if tuning.higher_is_better else -row.difference
    size = format_number(abs(gap), uncertainty=abs(gap))
    stands = {
        "alike": "cannot be told from the pick", "worse": "can be told to be worse than the pick",
        "dropped": "was dropped on the way",
    }[row.status]  # fmt: skip
    mean = f"its mean {tuning.metric}, {format_number(row.mean, uncertainty=row.se)}, is {size} behind"
    chance = "" if math.isnan(row.p_best) else f", and it is the best with probability {format_probability(row.p_best)}"
    return f"{row.name} was taken instead: {mean}{chance}. It {stands}."


def _alike(tuning: Tuning) -> str:
    alike = [row for row in tuning.ranked() if row.status == "alike"]
    equal = [row.name for row in alike if row.scores == tuning.pick.scores]
    names = [row.name for row in alike if row.scores != tuning.pick.scores]
    said = [f"{_list(equal)} {'has' if len(equal) == 1 else 'have'} the same scores as the pick."] if equal else []
    if names:
        said.append(f"{_list(names)} cannot be told from it.")
    if _dropped(tuning):
        said.append(_dropped(tuning))
    elif not names:
        judged = " that was judged" if has_failures(tuning) else ""
        said.append(f"Every other candidate{judged} can be told to be worse.")
    return " ".join(said)


def _dropped(tuning: Tuning) -> str:
    count = sum(row.status == "dropped" for row in tuning.candidates)
    if not count:
        return ""
    if not tuning.adaptive:  # another tuner stopped them, by a rule of its own
        return f"{format_counted(count, 'candidate')} stopped early."
    margin = format_number(tuning.margin, uncertainty=tuning.margin)
    return (
        f"{format_counted(count, 'candidate')} stopped early, when {'it' if count == 1 else 'they'} could no longer "
        f"beat the leader of the moment by more than the margin, {margin}."
    )


def _regret(tuning: Tuning) -> str:
    limit = format_number(tuning.regret, uncertainty=tuning.regret)
    if tuning.regret == 0:
        none = "None of those judged" if has_failures(tuning) else "None"
        return f"{none} is better than it ({tuning.level:.0%} confidence).{_say_smaller(tuning)}"
    best = "The best of those judged" if has_failures(tuning) else "The best"
    return f"{best} may be better than it by {limit} at most ({tuning.level:.0%} confidence{_say_farthest(tuning)})."


def _say_shared(tuning: Tuning) -> str:
    """Return on how many partitions the pick is the best together with a candidate that has other scores elsewhere."""
    pick = tuning.pick
    rivals = [row.scores for row in tuning.different if row.status != "failed" and row.scores != pick.scores]
    sign = 1 if tuning.higher_is_better else -1
    shared = 0
    for place, own in enumerate(pick.scores):
        ahead = [sign * (scores[place] - own) for scores in rivals if not math.isnan(scores[place])]
        shared += bool(ahead) and abs(max(ahead)) <= NOISE * abs(own)
    return f", {shared} of them with others" if shared else ""


def _say_smaller(tuning: Tuning) -> str:
    """Return why the probability may be below the confidence with which all others are told to be worse."""
    if not tuning.probability < tuning.level:
        return ""
    return (
        " The probability is smaller since it takes good candidates to be often nearly equal, where the confidence "
        "takes nothing for granted."
    )


def _farthest(tuning: Tuning) -> CandidateRow:
    """Return the candidate that may be better than the pick by most."""
    return max(tuning.candidates, key=lambda row: -math.inf if math.isnan(row.lead) else row.lead)


def _say_farthest(tuning: Tuning) -> str:
    """Return which candidate the limit is of, and who led when it was dropped, if it was: it may be beyond the margin.

    Dropping it compared it with another one, or over the same partitions by another limit.
    """
    row = _farthest(tuning)
    if row.status != "dropped" or not tuning.adaptive or row.lead != tuning.regret:
        return ""
    sign = 1 if tuning.higher_is_better else -1
    running = [other for other in tuning.candidates if other.partitions >= row.partitions and other.status != "failed"]
    leader = max(running, key=lambda other: sign * math.fsum(other.scores[: row.partitions]))
    led = "" if leader.index == tuning.best_index else f", when {leader.name} led"
    return f"; that is {row.name}, dropped after {format_counted(row.partitions, 'partition')}{led}"


def _other_partitions(tuning: Tuning) -> str:
    if not tuning.copies:
        return "use J of 2 or more"
    return f"the other {tuning.copies} that were asked for are copies of it, and more would be too"


def _list(names: Sequence[str]) -> str:
    """Return the first names; between names of several parameters stand semicolons."""
    between = "; " if any("," in name for name in names) else ", "
    return between.join(names[:MOST]) + (f" and {len(names) - MOST} more" if len(names) > MOST else "")
