"""Many pairs in words: how many differ, who is ahead of how many, and who cannot be told from the best."""

from __future__ import annotations

import math
from collections.abc import Sequence

from holdsup.rendering.numbers import format_count
from holdsup.verdict.comparison.records import SystemContrast, SystemMean
from holdsup.verdict.phrases import join_names, say_p

__all__ = ["better_of", "describe_pairs"]

MOST_LEADERS = 3
MOST_BEATEN = 2  # of each, told by name
MOST_METRICS = 3  # told one by one
SAME = 1e-12  # relative difference of two means below which it is the rounding of sums


def better_of(contrast: SystemContrast) -> tuple[str, str]:
    """Return the better and the worse of two systems, by their difference."""
    left_wins = (contrast.difference < 0) == contrast.lower_is_better
    return (contrast.left, contrast.right) if left_wins else (contrast.right, contrast.left)


def describe_pairs(contrasts: Sequence[SystemContrast], systems: Sequence[SystemMean], *, level: float) -> str:
    """Return what several differences come to, metric by metric."""
    told = [c for c in contrasts if c.p_adjusted <= 1 - level]
    metrics = list(dict.fromkeys(c.metric for c in contrasts))
    if len(metrics) == 1:
        said = _standing(contrasts, systems, level, " after Holm's adjustment")
        return f"{said[0].upper()}{said[1:]}."
    each = []
    for metric in metrics[:MOST_METRICS]:
        own = [c for c in contrasts if c.metric == metric]
        means = [s for s in systems if s.metric == metric]
        each.append(f"by {metric} {_standing(own, means, level)}")
    if len(metrics) > MOST_METRICS:
        count = f"{len(told)} of {format_count(len(contrasts))} differences"
        each.append(f"by all {len(metrics)} metrics {count} can be told from none")
    return f"After Holm's adjustment over pairs and metrics, {'; '.join(each)}."


def _standing(
    contrasts: Sequence[SystemContrast],
    systems: Sequence[SystemMean],
    level: float,
    adjusted: str = "",
) -> str:
    """Return who is ahead by one metric; `adjusted` says how, where it is not said before."""
    if len(contrasts) == 1:
        (c,) = contrasts
        better, worse = better_of(c)
        if c.difference == 0:
            return f"{c.left} and {c.right} have the same mean"
        p = say_p(c.p_adjusted, c.log10_p_adjusted)
        if c.p_adjusted <= 1 - level:
            return f"{better} is better than {worse} ({p})"
        return f"{c.left} and {c.right} cannot be told apart ({p})"
    told = [better_of(c) for c in contrasts if c.p_adjusted <= 1 - level]
    compared = {name for c in contrasts for name in (c.left, c.right)}
    ordered = sorted(systems, key=lambda s: s.mean if contrasts[0].lower_is_better else -s.mean)
    names = [s.name for s in ordered if s.name in compared]
    many = f"of {format_count(len(contrasts))} pairs,"
    if not told:
        best = _best_mean([s for s in ordered if s.name in compared], partly=len(names) < len(ordered))
        return f"{many} none differ{adjusted}; {best}"
    counted = "1 differs" if len(told) == 1 else f"{format_count(len(told))} differ"
    return f"{many} {counted}{adjusted}: {_leaders(names, told)}; {_top(names, told, contrasts)}"


def _best_mean(ordered: Sequence[SystemMean], *, partly: bool) -> str:
    """Return whose mean is the best; several may have the same. `partly` says whether there are systems besides."""
    best = [s.name for s in ordered if math.isclose(s.mean, ordered[0].mean, rel_tol=SAME)]
    if len(best) == len(ordered):
        return "all that were compared have the same mean" if partly else "all have the same mean"
    return f"{join_names(best)} {'has' if len(best) == 1 else 'have'} the best mean"


def _leaders(names: Sequence[str], told: Sequence[tuple[str, str]]) -> str:
    """Return who is ahead of most others, and of whom; `told` are pairs of the better and the worse."""
    beaten: dict[str, list[str]] = {name: [] for name in names}
    for better, worse in told:
        beaten[better].append(worse)
    leaders = sorted((name for name in names if beaten[name]), key=lambda name: -len(beaten[name]))
    first, *others = leaders[:MOST_LEADERS]
    said = [f"{first} is ahead of {_count(beaten[first], ' others')}"]
    said += [f"{name} of {_count(beaten[name])}" for name in others]
    unsaid = sum(len(beaten[name]) for name in leaders[MOST_LEADERS:])
    return ", ".join(said) + (f", and {format_count(unsaid)} more" if unsaid else "")


def _count(names: Sequence[str], noun: str = "") -> str:
    """Return a few names, or how many there are."""
    return join_names(names) if len(names) <= MOST_BEATEN else f"{format_count(len(names))}{noun}"


def _top(names: Sequence[str], told: Sequence[tuple[str, str]], contrasts: Sequence[SystemContrast]) -> str:
    """Return the best and those that cannot be told from it; the best mean on its own items may lose on shared ones."""
    losers = {worse for _, worse in told}
    best = next((name for name in names if name not in losers), names[0])
    met = {c.right if c.left == best else c.left for c in contrasts if best in (c.left, c.right)}
    apart = {worse if better == best else better for better, worse in told if best in (better, worse)}
    level_with = [name for name in names if name in met - apart]
    if level_with:
        return f"top group: {best}, and {join_names(level_with)}, which cannot be told from it"
    if best in losers:
        return f"{best} has the best mean"
    every = met >= set(names) - {best}
    return f"{best} is better than {'all others' if every else 'all that it can be compared with'}"
