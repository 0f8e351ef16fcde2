"""What a contest says in words, by rule from its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from holdsup.metrics import Metric
from holdsup.numerics.contests import binomial_limits
from holdsup.rendering.numbers import format_counted, format_interval, format_number
from holdsup.verdict.contest.estimates import ENOUGH
from holdsup.verdict.contest.pairs import Judged, find_decider
from holdsup.verdict.contest.records import Conclusion, ContestTest, EstimatorRow, FoldSigns
from holdsup.verdict.contest.sequential import TARGET
from holdsup.verdict.phrases import say_p

__all__ = ["SIGN_AT_N", "name_pairs", "write_contest_verdict"]

SIGN_AT_N = {
    "same": "The learning curve has the same sign at half of the corpus and near all of it.",
    "differs": "The learning curve has another sign near all of the corpus than at half of it, where this was decided.",
    "unsure": "The learning curve can't tell if the sign at half of the corpus is that at all of it; it is assumed.",
    "unchecked": "This assumes that the sign after training on half of the corpus is the sign after training on all.",
}
SURVIVES = {
    "survives": "The conclusion survives another split of this corpus.",
    "likely": "The conclusion is more likely than not to survive another split of this corpus.",
    "unsure": "Another split of this corpus may well turn the conclusion around.",
    "refuted": "Other splits of this corpus do not bear the conclusion out.",
}
MOSTLY_TIED = "On most splits of this corpus neither is ahead: there is little to conclude."
SOMETIMES_TIED = (
    "On another split of this corpus neither may be ahead; that it turns the conclusion around is less likely."
)
MOST = 3  # pairs that are spelt out
ONE = "One partition of the corpus tells nothing of reproducibility: 20 or more are needed."
TOO_FEW = "A reproducibility needs 20 re-partitions or more."


def write_contest_verdict(
    judged: Judged, means: Mapping[str, float], metric: Metric, *, level: float, margin: float, correction: str
) -> str:
    """Return the sentence that stands above the tables: claim, evidence, how sure, what is assumed and not covered."""
    conclusions = judged.conclusions
    if len(conclusions) == 1:
        said = [_about_pair(judged, conclusions[0], metric, level=level, margin=margin)]
    else:
        about = _about_pairs(judged, metric, level=level, margin=margin, correction=correction)
        said = [_rank(means, metric), *about]
    return " ".join([*said, *_say_signs(conclusions), "Other settings of the systems are not covered."])


def _say_signs(conclusions: Sequence[Conclusion]) -> Iterator[str]:
    """Yield what is known of the sign at all of the corpus; where that differs between pairs, for which of them."""
    pairs: dict[str, list[Conclusion]] = {}
    for c in conclusions:
        if c.sign_at_n and c.status != "equal":
            pairs.setdefault(c.sign_at_n, []).append(c)
    for status, own in pairs.items():
        said = SIGN_AT_N[status]
        yield said if len(pairs) == 1 else f"For {name_pairs(own)}, {said[0].lower()}{said[1:]}"


def name_pairs(conclusions: Sequence[Conclusion]) -> str:
    """Return the conclusions about some pairs, the first few by name."""
    named = ", ".join(f"{c.left} > {c.right}" for c in conclusions[:MOST])
    return named + (f" and {len(conclusions) - MOST} more" if len(conclusions) > MOST else "")


def _about_pair(judged: Judged, c: Conclusion, metric: Metric, *, level: float, margin: float) -> str:
    row, signs, test = _evidence(judged, c)
    return _about(c, row, signs, metric, margin, level) + _about_test(test, c, level, margin)


def _about(c: Conclusion, row: EstimatorRow, signs: FoldSigns, metric: Metric, margin: float, level: float) -> str:
    if row.is_tied:
        where = "this partition" if c.partitions == 1 else f"{c.partitions} re-partitions"
        return f"{c.left} and {c.right} never differ on {where} of the corpus: there is no conclusion."
    lead = row.mean if metric.higher_is_better else -row.mean
    size = f"by {_write_size(row)} {metric.name} ({c.estimator} estimator)"
    if c.partitions == 1:
        if c.estimator != "averaged":  # folds are what the average is made of, and nothing else
            return f"{c.left} is {'ahead of' if lead >= 0 else 'behind'} {c.right} {size}. {ONE}"
        folds = f"{signs.left_ahead} of {format_counted(signs.folds, 'fold')}"
        return f"{c.left} is ahead of {c.right} in {folds}, {'' if lead >= 0 else 'but behind '}{size}. {ONE}"
    share = ""
    if row.low is not None and row.high is not None:
        share = f"reproducibility {row.reproducibility:.2f}, {format_interval(row.low, row.high)}"
    end = f". {_survives(c, row, level)}" if share else "; a reproducibility needs 20 or more."
    beyond = f" by more than {format_number(margin)}" if margin else ""
    noted = "; ".join(filter(None, (_say_ties(row, margin), share)))
    times = f"in {c.wins} of {c.partitions} re-partitions" + (f" ({noted})" if noted else "")
    seldom = 2 * c.wins <= c.partitions
    if lead < 0:
        joint = "and" if seldom else "but"
        return f"{c.left} is ahead of {c.right}{beyond} {times}, {joint} on average behind {size}{end}"
    if seldom:
        return f"{c.left} is ahead of {c.right} on average, {size}, but{beyond} only {times}{end}"
    verb = "beats" if c.status in ("survives", "likely") else "is ahead of"
    return f"{c.left} {verb} {c.right}{beyond} {times}, on average {size}{end}"


def _say_ties(row: EstimatorRow, margin: float) -> str:
    """Return how the other partitions went, where some are ties."""
    if not row.ties:
        return ""
    how = f"within {format_number(margin)}" if margin else "equal"
    return f"behind in {row.losses}, {how} in {row.ties}"


def _survives(c: Conclusion, row: EstimatorRow, level: float) -> str:
    """Return what another split would do; partitions without a lead do not turn a conclusion around."""
    if c.status == "unsure" and row.is_mostly_tied:
        return MOSTLY_TIED
    if c.status == "unsure" and row.ties and binomial_limits(row.losses, row.partitions, level=level).high < 0.5:
        return SOMETIMES_TIED
    return SURVIVES[c.status]


def _about_test(test: ContestTest | None, c: Conclusion, level: float, margin: float) -> str:
    """Return what the test says, which is about new corpora and about the average, whatever estimator decides."""
    if test is None:
        return ""
    known = "can" if test.p <= 1 - level else "cannot"
    null = f"one of {format_number(margin)} or less" if margin else "none"
    which = "the difference"
    if c.estimator != "averaged" and c.strategy != "holdout":
        which = f"the averaged difference, {format_number(test.difference, uncertainty=test.se)},"
    return f" Over new corpora like this one {which} {known} be told from {null} ({say_p(test.p)})."


def _rank(means: Mapping[str, float], metric: Metric) -> str:
    ordered = sorted(means.items(), key=lambda named: -named[1] if metric.higher_is_better else named[1])
    return f"Mean {metric.name}, the best first: {', '.join(f'{name} {mean:.4g}' for name, mean in ordered)}."


def _about_pairs(judged: Judged, metric: Metric, *, level: float, margin: float, correction: str) -> Iterator[str]:
    """Yield the first pairs in few words, and once for all what holds for each."""
    conclusions = judged.conclusions
    first = conclusions[0]
    pairs = ", ".join(_in_short(judged, c, metric, correction) for c in conclusions[:MOST])
    beyond = f", leads beyond {format_number(margin)}" if margin else ""
    tested = f"; p over new corpora like this one, {correction.capitalize()}'s adjustment" if judged.tests else ""
    yield f"{pairs} ({first.estimator} estimator{beyond}{tested})."
    if first.partitions >= ENOUGH:
        yield _list_safe(conclusions, level)
    else:
        yield ONE if first.partitions == 1 else TOO_FEW


def _list_safe(conclusions: Sequence[Conclusion], level: float) -> str:
    """Return which of several conclusions survive, and by what rule."""
    safe = [c for c in conclusions if c.status == "survives"]
    rule = f"the lower {level:.0%} limit of the reproducibility is {TARGET:g} or more"
    if not safe:
        return f"None of the {len(conclusions)} conclusions is sure to survive another split of this corpus ({rule})."
    verb = "survives" if len(safe) == 1 else "survive"
    return f"Of {len(conclusions)} conclusions, {name_pairs(safe)} {verb} another split of this corpus ({rule})."


def _in_short(judged: Judged, c: Conclusion, metric: Metric, correction: str) -> str:
    row, _, test = _evidence(judged, c)
    if row.is_tied:
        return f"{c.left} and {c.right} never differ"
    lead = row.mean if metric.higher_is_better else -row.mean
    verb = "beats" if c.status in ("survives", "likely") else "is ahead of"
    times = "" if c.partitions == 1 else f" in {c.wins} of {c.partitions} re-partitions"
    times += f", tied in {row.ties}" if row.ties and times else ""
    size = f"{'by' if lead >= 0 else 'behind by'} {_write_size(row)}"
    p = ""
    if test is not None:
        p = f", {say_p(test.p_holm if correction == 'holm' else test.p_bonferroni)}"
    return f"{c.left} {verb} {c.right}{times} ({size}{p})"


def _evidence(judged: Judged, c: Conclusion) -> tuple[EstimatorRow, FoldSigns, ContestTest | None]:
    """Return what a conclusion rests on: its estimator, the signs of folds, our test if there is one."""
    own = [row for row in judged.estimators if _same(row, c)]
    signs = next(signs for signs in judged.signs if _same(signs, c))
    test = next((test for test in judged.tests if _same(test, c) and not test.paper), None)
    return find_decider(own, c.strategy, c.estimator), signs, test


def _write_size(row: EstimatorRow) -> str:
    return format_number(abs(row.mean), uncertainty=row.sd or None)


def _same(row: EstimatorRow | FoldSigns | ContestTest, conclusion: Conclusion) -> bool:
    return (row.left, row.right, row.strategy) == (conclusion.left, conclusion.right, conclusion.strategy)
