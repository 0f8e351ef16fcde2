"""`gate_release`: may a candidate replace the baseline?

The limits are those of `compare`: its test of a pair, asked at other levels. A candidate passes if the one-sided limit
of its loss is within the drop, which takes precedence; else it fails if it is worse for all but certain; else the gate
is inconclusive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdsup.arguments import check_count, check_finite, check_level, check_progress, list_names_given
from holdsup.errors import ScoresError, list_names
from holdsup.numerics.decisions import Difference
from holdsup.numerics.same_noise import compare_same_noise
from holdsup.progress import Progress, no_progress
from holdsup.results import Asked, Rows
from holdsup.results.extras import find_extra
from holdsup.scores import Scores
from holdsup.scores.audit import list_roles
from holdsup.scores.directions import LowerIsBetter, sign_direction
from holdsup.verdict.claims import Pair, Rule, pair_systems
from holdsup.verdict.comparison.cautions import caution
from holdsup.verdict.comparison.findings import Found
from holdsup.verdict.evaluation import Evaluation, check_reachable, lay_out_metric
from holdsup.verdict.gate.records import SURE, GateContrast, Needed, Outcome
from holdsup.verdict.gate.result import Gate
from holdsup.verdict.gate.sides import BASELINE, CANDIDATE, SIDES, Sides, read_sides, split_parts
from holdsup.verdict.intake import Where, list_where
from holdsup.verdict.looking import Looking
from holdsup.verdict.planning import plan_items, plan_pair
from holdsup.verdict.repeats import check_repeats, declare_deterministic, leave_out_copies
from holdsup.verdict.trainings import can_repeat

CLAIMS = ("these-runs", "these-datasets", "new-runs")
UNSAID = ("one-run-each", "less-claimed")  # the outcome says it, or it is about another question
Test = Callable[[float, float], Difference]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateQuestion:
    """What is asked of both sides; see `gate_release`."""

    drop: float | Mapping[str, float]
    level: float
    claim: str | None
    deterministic: bool
    same_noise: bool
    nested_runs: bool
    looking: Looking | None

    def drop_of(self, metric: str | None, scores: Scores) -> float:
        """Return how much worse a candidate may be by one metric; the only one is called as its column is."""
        if not isinstance(self.drop, Mapping):
            return self.drop
        name = metric if metric is not None else scores.roles.score
        if not isinstance(name, str) or name not in self.drop:
            raise ScoresError(f"there is no drop for {name!r}: add --drop {name}=D, or one for all, --drop D")
        return self.drop[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What was found by one metric on one task: the numbers, and what can be planned from them."""

    contrast: GateContrast
    found: Found
    pair: Pair | None


def gate_release(
    candidate: Any,
    baseline: Any,
    *,
    drop: float | Mapping[str, float],
    claim: str | None = None,
    deterministic: bool = False,
    same_noise: bool = False,
    sides: str | Sequence[str] = (),
    peek: bool = False,
    looks: Sequence[int] = (),
    where: Where = None,
    last: str | None = None,
    nested_runs: bool = False,
    lower_is_better: LowerIsBetter = None,
    accept: str | Sequence[str] = (),
    level: float = 0.95,
    seed: int = 0,
    progress: Progress = no_progress,
    **roles: Any,
) -> Gate:
    """Return whether a candidate is as good as a baseline, to within a drop.

    Parameters
    ----------
    candidate, baseline : `Scores`, or anything that `read_scores` takes, such as a table or a folder of logs
    drop : how much worse the candidate may be, in the unit of the scores; or one for each metric, {"f1": 0.01}
    claim : "these-runs" takes single runs as they are; "these-datasets" gates the mean over tasks, not each of them;
        by default new runs are claimed, and fewer than two runs on a side are inconclusive
    deterministic : whether both systems score the same in every run, so that one run is enough
    same_noise : whether runs of the candidate vary as those of the baseline do, so that one of the candidate is enough
    sides : which system of the candidate's table, and which of the baseline's, where there are several
    peek : whether you look early at more and more items, in the order that `order_items` draws from the seed
    looks : numbers of runs of the candidate at which you planned to look, such as (4, 6, 8)
    where, last, nested_runs, lower_is_better : as in `compare_systems`
    accept : codes of errors in how both sides pair up that you know about
    level : one-sided level of the limit that must be within the drop
    roles : passed on to `read_scores`, for both sides

    Examples
    --------
    >>> from holdsup import simulate_scores
    >>> sides = [simulate_scores({"A": mean}, runs=4, seed=seed) for mean, seed in ((0.7, 1), (0.7, 2))]
    >>> gate_release(*sides, drop=0.1).outcome
    'pass'
    """
    check_level(level)
    if level <= 0.5:
        raise ScoresError(f"level is {level:g}: a one-sided level must be above .5")
    check_count(seed, "seed")
    check_progress(progress)
    for name, value in drop.items() if isinstance(drop, Mapping) else [("", drop)]:
        check_finite(value, f"the drop {name}".strip(), least=0)
    if claim not in (None, *CLAIMS):
        raise ScoresError(f"the claim {claim!r} is unknown to a gate: use {', '.join(CLAIMS)}")
    if claim is not None and claim != "these-runs" and peek and not looks:
        raise ScoresError(f"--peek over items holds for these runs, not for {claim}: plan looks at runs, with --looks")
    looking = Looking.of(peek, looks, seed, CANDIDATE)
    over_items = looking is not None and not looking.looks
    accept, chosen = list_names_given(accept, "accept"), list_names_given(sides, "sides")
    both = read_sides(
        (candidate, baseline), chosen, roles, where=where, last=last, lower_is_better=lower_is_better, accept=accept,
        order_seed=seed if over_items else None, progress=progress,
    )  # fmt: skip
    question = GateQuestion(
        drop=drop, level=level, claim=claim, deterministic=deterministic,
        same_noise=same_noise, nested_runs=nested_runs, looking=looking,
    )  # fmt: skip
    split = list(split_parts(both.scores, together=claim == "these-datasets"))
    if not split:
        used = [each.rows().used for each in both.taken]
        why = "no row of one side has a score" if 0 in used else "name the columns with --metric and --dataset"
        raise ScoresError(f"candidate and baseline have no metric and task in common: {why}")
    if isinstance(drop, Mapping):
        metrics = {metric or both.scores.roles.score for metric, *_ in split}
        if unknown := [name for name in drop if name not in metrics]:
            raise ScoresError(
                f"--drop {unknown[0]}: there is no such metric; there is {list_names(sorted(map(str, metrics)))}"
            )
    parts = [_ask(both, *each, question, len(split)) for each in split]
    if both.identical:
        parts = [replace(p, contrast=replace(p.contrast, outcome="pass", why="")) for p in parts]
    contrasts = tuple(part.contrast for part in parts)
    said = [looking.say()] if looking else []
    said += [c for part in parts for c in caution(part.found, level=level) if c.code not in UNSAID]
    said += [*both.cautions, *both.taken[0].directions.assumptions()]
    outcome = _join([c.outcome for c in contrasts])
    needed = None
    if outcome == "inconclusive":
        needed = find_extra("what would decide", lambda: _plan(parts, question), said, None)
    scores = both.taken[0].scores
    signed = Asked.about(
        "gate", data=both.scores.digest, roles=list_roles(scores),
        drop={name: f"{value:g}" for name, value in drop.items()} if isinstance(drop, Mapping) else float(drop),
        claim=claim or "auto", deterministic=deterministic or None, same_noise=same_noise or None, sides=chosen,
        where=list_where(where), last=last, nested_runs=nested_runs or None,
        lower_is_better=sign_direction(lower_is_better), accept=accept, level=level,
        peek=peek or None, looks=",".join(map(str, looks)), seed=seed if over_items else None,
    )  # fmt: skip
    return Gate(
        asked=signed, cautions=tuple(dict.fromkeys(said)), seed=seed if over_items else None, rows=_count_rows(both),
        outcome=outcome, level=level, fail_level=SURE, candidate=both.names[0], baseline=both.names[1],
        identical=both.identical, lower_is_better=contrasts[0].lower_is_better,
        unit=parts[0].found.evaluation.unit, contrasts=contrasts, needed=needed,
    )  # fmt: skip


def _join(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of all: each must pass, and one that fails is enough."""
    if "fail" in outcomes:
        return "fail"
    return "inconclusive" if "inconclusive" in outcomes else "pass"


def _count_rows(both: Sides) -> Rows:
    rows = [each.rows() for each in both.taken]
    reasons: dict[str, int] = {}
    for why, count in (each for of_side in rows for each in of_side.reasons.items()):
        reasons[why] = reasons.get(why, 0) + count
    planned, used = sum(each.planned for each in rows), int(both.scores.usable.sum())
    if (less := sum(each.used for each in rows) - used) > 0:
        reasons["an item that comes later in the order"] = less
    return Rows(planned, used, reasons)


def _ask(both: Sides, metric: str | None, task: str | None, scores: Scores, question: GateQuestion, parts: int) -> Part:
    """Return what one metric says on one task, of so many parts."""
    evaluation = replace(lay_out_metric(scores, metric, nested_runs=question.nested_runs), looking=question.looking)
    check_repeats(evaluation, averaged=True)
    distinct = declare_deterministic(leave_out_copies(evaluation), SIDES if question.deterministic else ())
    lower = both.taken[0].directions.is_lower(metric)
    pair, test, claim, why = _find_test(distinct.evaluation, question)
    found = Found(distinct, () if pair is None else (pair,), (), lower)
    drop = question.drop_of(metric, scores)
    if evaluation.ends is not None:  # other scores may differ by more than they do here
        check_reachable([evaluation], drop, "drop")
    left, right = (distinct.evaluation.system(name) for name in SIDES)
    if pair is not None:
        left, right = pair.left, pair.right
    means = left.mean(), right.mean()
    share = (1 - SURE) / parts
    wide, sure = (test(0.0, 1 - 2 * alpha) if test else None for alpha in (1 - question.level, share))
    contrast = GateContrast(
        metric=metric, task=task, outcome="inconclusive", why=why,
        difference=means[0] - means[1] if wide is None else wide.estimate,
        se=_finite(wide, "se"), low=_finite(wide, "low"), high=_finite(wide, "high"),
        fail_limit=_finite(sure, "low" if lower else "high"),
        drop=drop, lower_is_better=lower, claim=claim,
        method="" if pair is None else pair.method, rule="" if pair is None else pair.rule,
        items=0 if pair is None else pair.items,
        candidate_mean=means[0], baseline_mean=means[1], candidate_runs=len(left.runs), baseline_runs=len(right.runs),
    )  # fmt: skip
    return Part(contrast=replace(contrast, outcome=_decide(contrast)), found=found, pair=pair)


def _finite(found: Difference | None, name: str) -> float | None:
    """Return a number of a test; None where runs are too few to have one."""
    value = float(getattr(found, name, math.nan))
    return value if math.isfinite(value) else None


def _decide(c: GateContrast) -> Outcome:
    if c.why:
        return "inconclusive"
    if c.worst is not None and c.worst > -c.drop:
        return "pass"
    return "fail" if c.best is not None and c.best < 0 else "inconclusive"


def _find_test(evaluation: Evaluation, question: GateQuestion) -> tuple[Pair | None, Test | None, str, str]:
    """Return the pair, its test, what that covers, and why it cannot decide; no pair where nothing can be tested."""
    sides = [evaluation.system(name) for name in SIDES]
    single = [s.name for s in sides if not can_repeat(evaluation, s)]
    over_items = question.looking is not None and not question.looking.looks
    wanted = question.claim or ("these-runs" if over_items else "new-runs")
    whose = " and ".join(single)
    why = f"one run of {whose} can't tell a worse system from an unlucky run" if single else ""
    why = "more items say nothing about other runs" if over_items else why
    if question.claim == "these-runs" or question.deterministic:
        why = ""
    if single and evaluation.per_run and not question.same_noise:
        return None, None, wanted, why or f"one run of {whose} and no items: nothing says how far scores vary"
    if question.same_noise and wanted != "these-runs":
        if len(single) == 2:
            raise ScoresError(
                "--same-noise takes the spread of runs from the side that has several, and neither has two"
            )
        if question.looking is not None:
            raise ScoresError(
                "--same-noise and --looks exclude each other: looks need two runs of the candidate or more"
            )
        return _share_noise(evaluation)
    pair = pair_systems(evaluation, CANDIDATE, BASELINE, "these-runs" if single else wanted, level=question.level)
    if not single and pair.claim == "these-runs" and wanted != "these-runs" and not question.deterministic:
        why = pair.note
    return pair, pair.test, pair.claim, why


def _share_noise(evaluation: Evaluation) -> tuple[Pair | None, Test, str, str]:
    """Return the test over new runs in which runs of both sides vary alike."""
    if evaluation.datasets is not None or evaluation.scores.roles.shared:
        raise ScoresError("--same-noise takes one task at a time, and runs that are not paired by a shared seed")
    left, right = (evaluation.system(name) for name in SIDES)
    pair, options = None, dict[str, Any]()
    if not evaluation.per_run:
        pair = pair_systems(evaluation, CANDIDATE, BASELINE, "these-runs", level=0.95)
        left, right = pair.left, pair.right
        clusters = None if evaluation.clusters is None else evaluation.clusters[pair.shared]
        options = {"clusters": clusters, "ends": evaluation.ends, "room": evaluation.room}

    def test(up: float, level: float) -> Difference:
        return compare_same_noise(left.scores, right.scores, **options, up=up, level=level)

    method = "two-way Welch t-test (items and runs, which vary alike on both sides)"
    return pair and replace(pair, claim="new-runs", rule=Rule.TWO_WAY, method=method, test=test), test, "new-runs", ""


def _plan(parts: Sequence[Part], question: GateQuestion) -> Needed | None:
    """Return what would decide the part that needs most; None where no plan can tell."""
    undecided = [part for part in parts if part.contrast.outcome == "inconclusive"]
    if question.looking is not None and question.looking.looks:
        c = undecided[0].contrast
        later = next((n for n in question.looking.looks if n > c.candidate_runs), None)
        return None if later is None else _need(c, next_look=later)
    found = [need for part in undecided if (need := _plan_part(part, question)) is not None]
    return max(found, key=_effort, default=None)


def _effort(need: Needed) -> float:
    return math.inf if need.runs is None and need.items is None else float(need.runs or 0) + 1e-9 * (need.items or 0)


def _need(c: GateContrast, **what: int | None) -> Needed:
    """Return what would decide if the true difference is the one found: to pass if it is within the drop."""
    outcome: Outcome = "pass" if c.gain > -c.drop else "fail"
    return Needed(outcome=outcome, metric=c.metric, task=c.task, difference=c.difference, **what)


def _plan_part(part: Part, question: GateQuestion) -> Needed | None:
    c, pair, evaluation = part.contrast, part.pair, part.found.evaluation
    if c.why:
        return _need(c, runs=2)  # a spread that is not measured is nothing to plan with
    if question.same_noise:
        return None
    passes = c.gain > -c.drop
    size, alpha = (c.gain + c.drop, 2 * (1 - question.level)) if passes else (-c.gain, 2 * (1 - SURE))
    if size <= 0 or c.claim == "these-datasets" or (pair is None and not evaluation.per_run):
        return _need(c)
    if pair is not None and (c.claim == "these-runs" or pair.nested is not None):
        if c.se is None or question.looking is not None:
            return _need(c)
        items = plan_items(*SIDES, c.metric, c.items, c.se, pair.difference.df).enough_items(size, alpha)
        return _need(c, items=items)
    plan = plan_pair(evaluation, *SIDES)
    more = plan.enough_runs(size, alpha)
    items = None if evaluation.per_run else plan.enough_items(size, alpha)
    return _need(c, runs=None if more is None else max(plan.runs) + more, items=items)
