"""What a contest says in words, made from its numbers."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from holdsup.numerics.contests import binomial_interval
from holdsup.rendering import Answer, Cell, Estimate, Interval, PValue, State, Table
from holdsup.rendering.numbers import format_count, format_counted, format_interval, format_number
from holdsup.results import Method, write_caveats
from holdsup.verdict.contest.records import ENOUGH, Conclusion, ContestNumbers, ContestTest, EstimatorRow
from holdsup.verdict.phrases import join_names, judge_intervals, say_level, say_p, say_threshold

MOST_PAIRS = 8  # rows of the short answer; half of them where names are long
LONG = 30  # characters of two names beyond which they take two lines
MOST_PARTITIONS = 2000  # beyond, nobody trains that often
NEEDED = f"reproducibility needs {ENOUGH} partitions or more"


def write_answer(contest: ContestNumbers) -> Answer:
    """Return who leads, by how much, and whether another split would say the same."""
    alone = len(contest.conclusions) == 1
    parts = (_show_estimators(contest, contest.conclusions[0]) if alone else _show_pairs(contest),)
    return Answer(
        question="Would another split say the same?",
        state=find_state(contest),
        headline=_about_pair(contest, contest.conclusions[0]) if alone else _about_pairs(contest),
        parts=tuple(part for part in parts if part is not None),
        foot=tuple(_foot(contest)),
        more=("--full (tests)", "--learning-curve", "holdsup report", "--plot figure.svg"),
        signature=contest.signature,
        names=(contest.metric, *(name for c in contest.conclusions for name in (c.left, c.right))),
    )


def find_state(contest: ContestNumbers) -> State:
    """Return yes if every conclusion's CI is above the threshold, no if one is below it, else unclear."""
    return judge_intervals(map(contest.interval, contest.conclusions), contest.threshold)


def _about_pair(contest: ContestNumbers, c: Conclusion) -> str:
    row = contest.decider(c)
    if row.is_tied:
        where = "this partition" if c.partitions == 1 else f"all {c.partitions} partitions"
        return f"{c.left} and {c.right} are equal on {where}: there is no winner to reproduce."
    usual = c.estimator in ("averaged", "holdout")
    lead = f"{_say_lead(contest, row)} {contest.metric}{'' if usual else f' ({c.estimator})'}"
    if c.partitions == 1:
        return f"{lead} on one partition; {NEEDED}."
    beyond = f" by more than {format_number(contest.margin)}" if contest.margin else ""
    tied = f" ({row.ties} tied)" if row.ties else ""
    won = f"{lead} and won {c.wins} of {c.partitions} partitions{beyond}{tied}"
    ci = contest.interval(c)
    return f"{won}; {NEEDED}." if ci is None else f"{won}: {_say_share(contest, row, ci)}."


def _say_lead(contest: ContestNumbers, row: EstimatorRow) -> str:
    ahead = row.mean <= 0 if contest.lower_is_better else row.mean >= 0
    size = format_number(abs(row.mean), uncertainty=row.sd if row.sd > 0 else abs(row.mean))
    return f"{row.left} {'leads' if ahead else 'trails'} {row.right} by {size}"


def _say_share(contest: ContestNumbers, row: EstimatorRow, ci: tuple[float, float]) -> str:
    """Return the reproducibility on one or the other side of the threshold."""
    interval = f"{say_level(contest.level)} CI {format_interval(*ci)}"
    unsure = "may be below" if (row.reproducibility or 0) >= contest.threshold else "may be above"
    state = judge_intervals([ci], contest.threshold)
    side = {"yes": "is above", "no": "is below", "unclear": unsure}[state]
    return f"reproducibility {row.reproducibility:.2f} ({interval}) {side} {say_threshold(contest.threshold)}"


def _about_pairs(contest: ContestNumbers) -> str:
    """Return who has the best mean, and how many of the leads hold up."""
    means = _mean_scores(contest)
    first, second, *_ = sorted(means, key=lambda name: means[name], reverse=not contest.lower_is_better)
    gap = abs(means[first] - means[second])
    lead = f"{first} is best of {len(means)}, {format_number(gap, uncertainty=gap)} {contest.metric} ahead of {second}"
    known = [ci for c in contest.conclusions if (ci := contest.interval(c)) is not None]
    if not known:
        return f"{lead}; {NEEDED}."
    safe = sum(ci[0] >= contest.threshold for ci in known)
    count = f"{safe} of {len(contest.conclusions)} leads {'holds' if safe == 1 else 'hold'} up"
    return f"{lead}; {count} on another split (CI of reproducibility above {say_threshold(contest.threshold)})."


def _mean_scores(contest: ContestNumbers) -> dict[str, float]:
    """Return the mean score of each system over the splits that decide."""
    own = [s for s in contest.scores if s.strategy == contest.conclusions[0].strategy]
    undefined = {s.partition for s in own if s.score != s.score}
    used = [s for s in own if s.partition not in undefined]
    return {
        name: statistics.fmean(s.score for s in used if s.system == name)
        for name in dict.fromkeys(s.system for s in used)
    }


def _show_estimators(contest: ContestNumbers, c: Conclusion) -> Table | None:
    """Return the estimators of the splits that decide; None where one partition says it all in the headline."""
    rows = [row for row in contest.estimators if row.strategy == c.strategy]
    most = max(row.trained for row in rows)
    rows = [row for row in rows if row.trained in (1, most)]  # of hold-outs: one of them, and all
    if c.partitions == 1 and len(rows) == 1:
        return None
    several, enough = c.partitions > 1, c.partitions >= ENOUGH
    decides = {True: "decides", False: ""}
    return Table(
        name="estimators",
        title=c.pair,
        columns=("estimator", "difference", *(("sd", "won") if several else ()),
                 *((f" | {say_level(contest.level)} CI of share won | ",) if enough else ()), ""),
        rows=tuple(
            (f"{row.estimator} (paper)" if row.paper else row.estimator, Estimate(row.mean, row.sd),
             *((Estimate(row.sd, row.sd), f"{row.wins} of {row.partitions}") if several else ()),
             *((Interval(row.low, row.high, row.reproducibility, written=False),) if enough else ()),
             decides[row.estimator == c.estimator])
            for row in rows
        ),
    )  # fmt: skip


def _show_pairs(contest: ContestNumbers) -> Table:
    """Return the first pairs, with their p-values adjusted."""
    long = any(len(c.left) + len(c.right) > LONG for c in contest.conclusions)
    shown = contest.conclusions[: MOST_PAIRS // 2 if long else MOST_PAIRS]
    enough = any(contest.interval(c) for c in shown)
    rows: list[tuple[Cell, ...]] = []
    for c in shown:
        row, ci, test = contest.decider(c), contest.interval(c), _find_test(contest, c)
        drawn = Interval(*ci, row.reproducibility, written=False) if ci else Interval(None, None)
        p = None if test is None else test.p_holm if contest.correction == "holm" else test.p_bonferroni
        won = f"{c.wins} of {c.partitions}"
        rows.append((c.pair, Estimate(row.mean, row.sd), won, *((drawn,) if enough else ()), PValue(p)))
    more = len(contest.conclusions) - len(shown)
    interval = (f" | {say_level(contest.level)} CI of share won | ",) if enough else ()
    return Table(
        name="conclusions",
        title="Pairs",
        columns=("pair", "difference", "won", *interval, "p"),
        rows=tuple(rows),
        notes=(f"{more} more: --full",) if more > 0 else (),
    )


def _find_test(contest: ContestNumbers, c: Conclusion) -> ContestTest | None:
    """Return our test of the difference that a conclusion is about."""
    return next((t for t in contest.tests if t.is_of(c) and not t.paper), None)


def _foot(contest: ContestNumbers) -> Iterator[tuple[str, str]]:
    c = contest.conclusions[0]
    signs = next(s for s in contest.signs if s.is_of(c))
    test = _find_test(contest, c)
    if len(contest.conclusions) == 1:
        ties = f", {signs.ties} tied" if signs.ties else ""
        ahead = f"{c.left} ahead in {signs.left_ahead}, {c.right} in {signs.right_ahead}{ties}"
        yield "folds", f"{format_count(signs.folds)}: {ahead}"
        if test is not None:
            of = "" if c.estimator in ("averaged", "holdout") else " of the average"
            yield "new corpus", f"{say_p(test.p)} for no difference{of}{_beyond(contest)} ({test.name}-test)"
    elif test is not None:
        yield (
            "p",
            f"for no difference{_beyond(contest)} on a new corpus ({test.name}-test, {contest.correction.title()})",
        )
    if contest.decisions:
        yield "stopped", _say_stopped(contest)
    items = "" if contest.items is None else f" {format_count(contest.items)}"
    kind = "new 50:50 splits" if c.strategy == "blocked" else "new splits"
    yield "holds for", f"{kind} of these{items} items; not new items or other settings"
    yield from _settle(contest)
    yield from write_caveats(contest.cautions)


def _beyond(contest: ContestNumbers) -> str:
    return f" beyond {format_number(contest.margin)}" if contest.margin else ""


def _say_stopped(contest: ContestNumbers) -> str:
    """Return why a sequential contest ended."""
    last = contest.decisions[0]
    ended = any(decision.outcome == "budget" for decision in contest.decisions)
    most = f" of at most {last.budget}" if last.budget is not None else ""
    why = "with no clear answer" if ended else "when the answer was safe"
    return f"after {last.partitions}{most} partitions, {why}; the CI allows for all looks"


def _settle(contest: ContestNumbers) -> Iterator[tuple[str, str]]:
    """Yield how many partitions would give a clear answer, if the share that was won stays the same."""
    most = max(c.partitions for c in contest.conclusions)
    if most < ENOUGH:
        yield "settle it", f"{ENOUGH} partitions or more (repeats = {ENOUGH})"
    row = contest.decider(contest.conclusions[0])
    if row.reproducibility is not None and find_state(contest) == "unclear" and len(contest.conclusions) == 1:
        needed = next(
            (n for n in range(row.partitions + 1, MOST_PARTITIONS) if _is_clear(contest, row.wins / row.partitions, n)),
            None,
        )
        if needed is not None:
            rounded = needed if needed < 100 else round(needed, 1 - len(str(needed)) + 1)
            yield (
                "settle it",
                f"about {format_counted(rounded, 'partition')} in all, if the share stays {row.reproducibility:.2f}",
            )


def _is_clear(contest: ContestNumbers, share: float, partitions: int) -> bool:
    ci = binomial_interval(round(share * partitions), partitions, level=contest.level)
    return ci.low >= contest.threshold or ci.high < contest.threshold


def describe_method(contest: ContestNumbers) -> Method:
    """Return what was done, for a paper."""
    first = contest.conclusions[0]
    corpus = f"a corpus of {format_counted(contest.items, 'item')}" if contest.items else "a corpus"
    splits = join_names(list(dict.fromkeys(row.strategy for row in contest.estimators)))
    tests = join_names(list(dict.fromkeys(test.name for test in contest.tests)))
    tested = f" The difference over new corpora is tested by {tests}." if tests else ""
    sources = dict.fromkeys("wang2014" if test.strategy == "blocked" else "nadeau2003" for test in contest.tests)
    return Method(
        question="Would another split of the corpus say the same?",
        sentences=(
            f"All systems were trained on the same splits ({splits}) in {format_counted(first.partitions, 'partition')}"
            f" of {corpus} and scored by {contest.metric}; the {first.estimator} estimator decides.",
            "Reproducibility is the share of partitions in which the same system is better, with an exact binomial "
            f"CI.{tested}",
        ),
        citations=("xue2023", *sources),
    )
