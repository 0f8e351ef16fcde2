"""The verdict in words, by rule from the numbers: the claim, the evidence, how sure, what is not covered."""

from __future__ import annotations

from collections.abc import Sequence

from holdsup.rendering.numbers import format_count, format_interval, format_number, format_p
from holdsup.verdict.records import SystemContrast, SystemMean

__all__ = ["write_verdict"]

COVERS = {
    "these-runs": "for these trained runs, over new items like these",
    "new-runs": "over new items like these and new training runs, settings as they are",
    "new-settings": "over new items like these, new training runs and new settings",
}
LEAVES_OUT = {
    "these-runs": "other training runs, settings or datasets",
    "new-runs": "other settings or datasets",
    "new-settings": "other datasets",
}


def write_verdict(
    contrasts: Sequence[SystemContrast],
    systems: Sequence[SystemMean],
    *,
    baseline: str | None,
    claim: str,
    level: float,
    lower_is_better: bool,
    per_run: bool,
    datasets: int,
) -> str:
    """Return the sentence that stands above the tables."""
    covers, leaves_out = _coverage(claim, per_run, datasets)
    if len(contrasts) == 1:
        said = _about_two(contrasts[0], level, lower_is_better)
    elif baseline is not None:
        said = _about_baseline(contrasts, baseline, level, lower_is_better)
    else:
        said = _about_many(contrasts, systems, level, lower_is_better)
    return f"{said} Claim: {claim}, {covers}; nothing is said about {leaves_out}."


def _coverage(claim: str, per_run: bool, datasets: int) -> tuple[str, str]:
    if per_run:
        return "over new training runs, on the same test data", "other test data or settings"
    if datasets > 1 and claim != "these-runs":
        return f"over new datasets like these {datasets}, new items and new training runs", "other settings"
    return COVERS[claim], LEAVES_OUT[claim]


def better_of(contrast: SystemContrast, *, lower_is_better: bool) -> tuple[str, str]:
    """Return the better and the worse of two systems, by their difference."""
    left_wins = (contrast.difference < 0) == lower_is_better
    return (contrast.left, contrast.right) if left_wins else (contrast.right, contrast.left)


def _about_two(c: SystemContrast, level: float, lower_is_better: bool) -> str:
    better, worse = better_of(c, lower_is_better=lower_is_better)
    metric = f" {c.metric}" if c.metric else ""
    if c.difference == 0:
        return f"{c.left} and {c.right} have the same mean{metric}.{_about_margin(c)}"
    size = format_number(abs(c.difference), uncertainty=c.se or None)
    limits = format_interval(*sorted((abs(c.low), abs(c.high)))) if c.low * c.high > 0 else ""
    shown = f"p {_equals(format_p(c.p_adjusted, c.log10_p_adjusted))}"
    margin = _about_margin(c)
    if c.p_adjusted <= 1 - level and limits:
        strength = (
            "" if c.p_adjusted < (1 - level) / 5 else " The evidence is not strong: a repetition may well miss it."
        )
        evidence = f"({level:.0%} limits {limits}, {shown})"
        return f"{better} is better than {worse} by {size}{metric} {evidence}.{strength}{margin}"
    ahead = (c.low, c.high) if c.difference > 0 else (-c.high, -c.low)  # as the lead of the one that is ahead
    return (
        f"Whether {better} or {worse} is better cannot be told: {better} is ahead by {size}{metric}, but the lead may "
        f"be anything in {format_interval(*ahead)} ({level:.0%} limits, {shown}).{margin}"
    )


def _about_margin(c: SystemContrast) -> str:
    if c.equivalence is None:
        return ""
    e = c.equivalence
    margin = format_number(e.margin)
    if e.p_equivalent <= 0.05:
        return f" They are equivalent within {margin} (p {_equals(format_p(e.p_equivalent))})."
    if e.p_not_worse <= 0.05:
        return f" {c.left} is not worse than {c.right} by {margin} or more (p {_equals(format_p(e.p_not_worse))})."
    return f" Neither equivalence within {margin} nor non-inferiority of {c.left} is shown."


def _about_baseline(contrasts: Sequence[SystemContrast], baseline: str, level: float, lower_is_better: bool) -> str:
    """Say who differs from the baseline, and nothing of the others among themselves."""
    told = [c for c in contrasts if c.p_adjusted <= 1 - level]
    shown = {c: f"{c.left} ({c.metric})" if c.metric else c.left for c in contrasts}
    better = [shown[c] for c in told if better_of(c, lower_is_better=lower_is_better)[0] == c.left]
    worse = [shown[c] for c in told if better_of(c, lower_is_better=lower_is_better)[0] == baseline]
    parts = [f"better than {baseline}: {', '.join(better)}" if better else f"none is better than {baseline}"]
    parts += [f"worse: {', '.join(worse)}"] if worse else []
    unsure = [shown[c] for c in contrasts if c not in told]
    parts += [f"cannot be told: {', '.join(unsure)}"] if unsure else []
    return f"After Holm's adjustment at {1 - level:.2g}, {'; '.join(parts)}."


def _about_many(
    contrasts: Sequence[SystemContrast], systems: Sequence[SystemMean], level: float, lower_is_better: bool
) -> str:
    told = [c for c in contrasts if c.p_adjusted <= 1 - level]
    pairs = f"{len(told)} of {format_count(len(contrasts))} differences"
    said = f"After Holm's adjustment {pairs} can be told from none at {1 - level:.2g}."
    metrics = list(dict.fromkeys(s.metric for s in systems))
    if len(metrics) > 1:
        return said
    best = (min if lower_is_better else max)(systems, key=lambda s: s.mean).name
    level_with = [
        s.name for s in systems if s.name != best and not any({c.left, c.right} == {best, s.name} for c in told)
    ]
    compared = {frozenset((c.left, c.right)) for c in contrasts}
    level_with = [name for name in level_with if frozenset((best, name)) in compared]
    if not level_with:
        return f"{said} {best} is the best: all others are worse."
    return f"{said} {best} has the best mean; it cannot be told from {', '.join(level_with)}."


def _equals(p: str) -> str:
    return p if p.startswith(("<", ">")) else f"= {p}"
