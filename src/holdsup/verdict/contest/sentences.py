"""What a contest says in words, by rule from its numbers."""

from __future__ import annotations

from holdsup.metrics import Metric
from holdsup.rendering.numbers import format_counted, format_interval, format_number, format_p
from holdsup.verdict.contest.pairs import Judged, find_decider
from holdsup.verdict.contest.records import Conclusion, ContestTest, EstimatorRow, FoldSigns

__all__ = ["SIGN_AT_N", "write_contest_verdict"]

SIGN_AT_N = {
    "same": "The learning curve has the same sign at half of the corpus and near all of it.",
    "differs": "The learning curve has another sign near all of the corpus than at half of it, where this was decided.",
    "unsure": "That the sign at half of the corpus is that at all of it is assumed: the learning curve cannot tell.",
    "unchecked": "This assumes that the sign after training on half of the corpus is the sign after training on all.",
}
SURVIVES = {
    "survives": "The conclusion survives another split of this corpus.",
    "likely": "The conclusion is more likely than not to survive another split of this corpus.",
    "unsure": "Another split of this corpus may well turn the conclusion around.",
    "refuted": "Other splits of this corpus do not bear the conclusion out.",
}
MOST = 3  # pairs that are spelt out


def write_contest_verdict(judged: Judged, metric: Metric, *, level: float, margin: float, correction: str) -> str:
    """Return the sentence that stands above the tables: claim, evidence, how sure, what is assumed and not covered."""
    conclusions = judged.conclusions
    said = []
    for conclusion in conclusions[:MOST]:
        own = [row for row in judged.estimators if _same(row, conclusion)]
        row = find_decider(own, conclusion.strategy, conclusion.estimator)
        signs = next(signs for signs in judged.signs if _same(signs, conclusion))
        test = next((test for test in judged.tests if _same(test, conclusion) and not test.paper), None)
        said.append(
            _about(conclusion, row, signs, metric, margin)
            + _about_test(test, len(conclusions), level, margin, correction)
        )
    if len(conclusions) > MOST:
        safe = sum(conclusion.status == "survives" for conclusion in conclusions)
        said.append(f"{safe} of all {len(conclusions)} conclusions survive another split of this corpus.")
    assumed = dict.fromkeys(SIGN_AT_N[c.sign_at_n] for c in conclusions if c.sign_at_n and c.status != "equal")
    covers = "Other settings of the systems are not covered."
    return " ".join([*said, *assumed, covers])


def _about(c: Conclusion, row: EstimatorRow, signs: FoldSigns, metric: Metric, margin: float) -> str:
    if row.is_tied:
        where = "this partition" if c.partitions == 1 else f"{c.partitions} re-partitions"
        return f"{c.left} and {c.right} never differ on {where} of the corpus: there is no conclusion."
    lead = row.mean if metric.higher_is_better else -row.mean
    size = f"by {format_number(abs(lead), uncertainty=row.sd or None)} {metric.name}"
    if c.partitions == 1:
        folds = f"{signs.left_ahead} of {format_counted(signs.folds, 'fold')}"
        behind = "" if lead >= 0 else "but behind "
        return (
            f"{c.left} is ahead of {c.right} in {folds}, {behind}{size} ({c.estimator} estimator). One partition of "
            "the corpus tells nothing of reproducibility: 20 or more are needed."
        )
    verb = "beats" if c.status in ("survives", "likely") else "is ahead of"
    beyond = f" by more than {format_number(margin)}" if margin else ""
    times = f"{c.left} {verb} {c.right}{beyond} in {c.wins} of {c.partitions} re-partitions"
    mean = f"on average {size}" if lead >= 0 else f"but on average behind {size}"
    if row.reproducibility is None or row.low is None or row.high is None:
        return f"{times}, {mean}; a reproducibility needs 20 or more."
    share = f"(reproducibility {row.reproducibility:.2f}, {format_interval(row.low, row.high)})"
    return f"{times} {share}, {mean}. {SURVIVES[c.status]}"


def _about_test(test: ContestTest | None, pairs: int, level: float, margin: float, correction: str) -> str:
    """Return what the test says, which is about new corpora."""
    if test is None:
        return ""
    p = test.p if pairs == 1 else test.p_holm if correction == "holm" else test.p_bonferroni
    shown = format_p(p)
    adjusted = "" if pairs == 1 else f", {correction.capitalize()}'s adjustment"
    known = "can" if p <= 1 - level else "cannot"
    sign = "" if shown.startswith((">", "<")) else "= "
    null = f"one of {format_number(margin)} or less" if margin else "none"
    return f" Over new corpora like this one the difference {known} be told from {null} (p {sign}{shown}{adjusted})."


def _same(row: EstimatorRow | FoldSigns | ContestTest, conclusion: Conclusion) -> bool:
    return (row.left, row.right, row.strategy) == (conclusion.left, conclusion.right, conclusion.strategy)
