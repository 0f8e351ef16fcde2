"""The verdict in words, by rule from the numbers."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from holdsup.rendering.numbers import format_counted, format_interval, format_number, format_percent
from holdsup.verdict.phrases import join_names, say_level, say_p
from holdsup.verdict.ranking.contrasts import LEAST_SHARED, NOT_TESTED, WITH_RUNS
from holdsup.verdict.ranking.fits import LEAST_DATASETS
from holdsup.verdict.ranking.system_records import RankContrast, RankedSystem, WaterfallStep
from holdsup.verdict.ranking.term_records import Treatment

__all__ = ["ISOLATED", "say_best", "say_isolated", "say_settings", "write_ranking_verdict"]

ISOLATED = "random effects"  # the step after which the gap is that of the adjusted means


def write_ranking_verdict(
    systems: Sequence[RankedSystem],
    contrasts: Sequence[RankContrast],
    waterfall: Sequence[WaterfallStep],
    *,
    datasets: int,
    level: float,
    lower_is_better: bool,
    interacts: bool,
    new_runs: bool,
    isolated: str,
    settings: str,
    confounded: Sequence[str],
    tuned: Sequence[str],
) -> str:
    """Return the sentence that stands above the tables: claim, evidence, how sure, what is not covered.

    `interacts` says whether systems may differ from dataset to dataset in the form, `new_runs` whether other training
    runs are covered, `isolated` what it has effects of,
    `settings` where nuisance columns are held, `confounded` which of them are the same in all rows of a system,
    `tuned` which are the same in all rows of a system on a dataset.
    """
    scope = (
        f"This is for new datasets like these {datasets}{' and new training runs' if new_runs else ''}"
        if interacts
        else f"This is for these {datasets} datasets alone, and too sure even of them: the formula has no term of "
        "systems on datasets, so that all rows of one count as evidence of their own"
    )
    best = say_best(systems, contrasts, datasets, level, lower_is_better)
    gap = _isolated(waterfall, contrasts, isolated, confounded, tuned)
    by_raw = (min if lower_is_better else max)(systems, key=lambda system: system.raw_mean)
    raw = "" if by_raw.raw_mean == systems[0].raw_mean else f" By raw means {by_raw.name} would lead."
    others = "settings or systems" if new_runs or not interacts else "training runs, settings or systems"
    return f"{best} {gap}{raw} {scope}{settings}; nothing is said about other {others}."


def say_best(
    systems: Sequence[RankedSystem],
    contrasts: Sequence[RankContrast],
    datasets: int,
    level: float,
    lower_is_better: bool,
) -> str:
    """Return who leads, by how much, and whom it can be told from."""
    leader, sign = systems[0], -1.0 if lower_is_better else 1.0
    own = [c for c in contrasts if c.left == leader.name]
    told = [c.right for c in own if c.p_adjusted <= 1 - level and sign * c.difference > 0]
    behind = [c.right for c in own if c.p_adjusted <= 1 - level and sign * c.difference < 0]
    unsure = [s.name for s in systems[1:] if s.name not in (*told, *behind)]
    end = "lowest" if lower_is_better else "highest"
    pairs = f" (not adjusted for {len(contrasts)} pairs)" if len(contrasts) > 1 else ""
    parts = []
    if unsure:
        parts.append(f"cannot be told from {_join(unsure)}")
    if told:
        parts.append(f"is better than {_join(told) if unsure or behind else 'every other system'}")
    if behind:
        parts.append(f"is worse than {_join(behind)} on the datasets that both have")
    parts.append(f"is the best in {format_percent(100 * leader.p_best)} of draws{pairs}")
    ahead = [s for s in systems if sign * s.mean > sign * leader.mean]
    enough = sum(s.datasets >= LEAST_DATASETS for s in systems)
    end += (
        f" adjusted mean of the {enough} systems with {LEAST_DATASETS} datasets or more" if ahead else " adjusted mean"
    )
    return (
        f"{leader.name} has the {end}, {_lead(systems, own[0], datasets, level)}; it "
        f"{', '.join(parts[:-1])}, and {parts[-1]}."
    )


def _lead(systems: Sequence[RankedSystem], lead: RankContrast, datasets: int, level: float) -> str:
    """Return the leader's mean, its lead over the second and how sure that is.

    The lead is that of adjusted means. Where the pair's own datasets tell another one, it stands beside it.
    """
    (leader, second), several = systems[:2], len(systems) > 2
    gap = leader.mean - second.mean
    mean, size, means, own = (
        format_number(value, uncertainty=_finite(lead.se)) for value in (leader.mean, abs(gap), gap, lead.difference)
    )
    if lead.method == NOT_TESTED:
        below = "below" if gap < 0 else "above"
        few = lead.datasets < LEAST_SHARED
        why = "with too few datasets in common" if few else "the same on every dataset, so that there is no spread"
        return f"{mean}: {size} {below} {second.name}, {why} to test it"
    p = say_p(lead.p_adjusted, lead.log10_p_adjusted) + (" after Holm" if several else "")
    sure = f"{_limits(lead, level, ' for all pairs' if several else '')}, {p}"
    first = f"{mean}: {size} {'below' if gap < 0 else 'above'} {second.name}"
    if lead.method == "pooled" or (own == means and lead.datasets == datasets):
        return f"{first}, {sure}"
    some = f"on the {lead.datasets} datasets that both have" if lead.datasets < datasets else "dataset by dataset"
    return f"{first}; {some} the difference is {own}, {sure}"


def _limits(lead: RankContrast, level: float, of: str) -> str:
    """Return the limits of the lead, or why there are none."""
    if math.isfinite(lead.low_simultaneous) and math.isfinite(lead.high_simultaneous):
        return f"{say_level(level)} limits{of} {format_interval(lead.low_simultaneous, lead.high_simultaneous)}"
    few = f"{format_counted(lead.datasets, 'dataset')}{' and their runs' if lead.method == WITH_RUNS else ''}"
    return f"without a {say_level(level)} CI{of} ({few} are too few to measure the spread)"


def _finite(se: float) -> float | None:
    return se if math.isfinite(se) else None


def _join(names: Sequence[str]) -> str:
    """Return names of systems in a sentence; one that holds a comma is quoted, lest it be taken for two."""
    return join_names([f'"{name}"' if "," in name else name for name in names])


def _isolated(
    waterfall: Sequence[WaterfallStep],
    contrasts: Sequence[RankContrast],
    what: str,
    confounded: Sequence[str],
    tuned: Sequence[str],
) -> str:
    raw = waterfall[0]
    after = next(step for step in waterfall if step.step == ISOLATED)
    se = next(c.se for c in contrasts if {c.left, c.right} == {raw.left, raw.right})
    shown = [format_number(step.gap, uncertainty=_finite(se)) for step in (raw, after)]
    pair = f"The raw gap of {raw.left} - {raw.right} in this table"
    mixed = (
        f" {join_names(confounded)} is the same in all rows of a system: its effect is part of the system's."
        if confounded
        else ""
    )
    if tuned:
        mixed += (
            f" Every system has one setting of {join_names(tuned)} on each dataset: if it was tuned there, what that "
            "gained is adjusted away."
        )
    if not what:
        return f"{pair} is {shown[0]}; the form isolates neither datasets nor nuisance factors from it.{mixed}"
    if shown[0] == shown[1]:
        return f"{pair}, {shown[0]}, stays with {what} isolated.{mixed}"
    return f"{pair} is {shown[0]}; with {what} isolated it is {shown[1]}.{mixed}"


def say_isolated(*, datasets: bool, nuisance: bool) -> str:
    """Return what a form isolates, in words."""
    return join_names([*(["datasets"] if datasets else []), *(["nuisance factors"] if nuisance else [])])


def say_settings(treatments: Sequence[Treatment], drawn: Collection[str]) -> str:
    """Return at which settings systems are compared, as it follows on what a claim is for."""
    by = {how: [t.name for t in treatments if t.treated == how] for how in ("fixed", "numeric", "log", "random")}
    means = [*by["numeric"], *(f"log {name}" for name in by["log"])]
    levels = [name for name in by["random"] if name in drawn]
    parts = []
    if by["fixed"]:
        which = f"levels of {join_names(by['fixed'])}" if means or levels else "settings"
        parts.append(f"over the {which} that the table has, equally weighted")
    if means:
        parts.append(f"at the mean of {join_names(means)}, by a straight line")
    if levels:
        parts.append(f"over levels of {join_names(levels)} like these")
    return f", {', and '.join(parts)}" if parts else ""
