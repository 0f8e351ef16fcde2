"""Means, contrasts and the waterfall as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from holdsup.errors import list_names
from holdsup.rendering import Estimate, Percent, PValue, Table
from holdsup.rendering.numbers import format_number
from holdsup.verdict.comparison.contrasts import choose_shown, note_disagreement
from holdsup.verdict.phrases import join_names, say_level, show_limits
from holdsup.verdict.ranking.contrasts import DIFFERENCES, NOT_TESTED, WITH_RUNS
from holdsup.verdict.ranking.system_records import RankContrast, RankedSystem, WaterfallStep

__all__ = ["tabulate_contrasts", "tabulate_systems", "tabulate_waterfall"]

SAME = 1e-6  # of its standard error: differences so near are one
MOST_PAIRS = 21  # contrasts that are all shown; of more, those of the leader and of neighbours


def tabulate_systems(systems: Sequence[RankedSystem], *, level: float, scope: str) -> Table:
    """Return the ranking."""
    spread = min((s.se for s in systems if s.se > 0), default=0.0)
    datasets = f"{scope} like these" if scope == "new datasets" else scope
    return Table(
        title=f"Systems by adjusted mean, {say_level(level)} limits for {datasets}",
        columns=("rank", "system", "mean", "limits", "places", "best in", "raw mean", "shrunken"),
        rows=tuple(
            (
                s.rank,
                s.name,
                Estimate(s.mean, spread / 10),
                show_limits(s.low, s.high, s.mean, drawn=False),
                f"{s.rank_low}" if s.rank_low == s.rank_high else f"{s.rank_low}-{s.rank_high}",
                Percent(100 * s.p_best),
                Estimate(s.raw_mean, spread / 10),
                Estimate(s.shrunken, spread / 10),
            )
            for s in systems
        ),
        notes=(
            *_say_without(systems, level),
            "Mean: datasets, and levels of fixed nuisance factors, count equally. Places: those that Holm's tests "
            "leave open. Systems share their datasets, so that contrasts are far surer than means.",
            "Best in: share of draws with the contrasts' errors, like a one-sided p: not adjusted for pairs. Shrunken: "
            "drawn towards the mean of all, systems random.",
        ),
    )


def _say_without(systems: Sequence[RankedSystem], level: float) -> Iterator[str]:
    """Yield whose means have no limits, and why."""
    without = [s for s in systems if not (math.isfinite(s.low) and math.isfinite(s.high))]
    for why, named in (
        ("one dataset", [s.name for s in without if s.datasets == 1]),
        ("too few datasets to measure their spread", [s.name for s in without if s.datasets > 1]),
    ):
        if named:
            yield f"No {say_level(level)} CI of the mean of {join_names(named)}: {why}."


def tabulate_contrasts(contrasts: Sequence[RankContrast], *, datasets: int, level: float) -> Table:
    """Return the contrasts: all of them, or those that a reader looks for first."""
    shown = choose_shown(contrasts, most=MOST_PAIRS)
    notes = [*_say_methods(contrasts), *_say_subsets(contrasts, datasets)]
    if len(shown) < len(contrasts):
        notes.append(f"Shown are {len(shown)} of {len(contrasts)} pairs: those of the leader and of neighbours.")
    return Table(
        title=f"Contrasts, {say_level(level)} limits for all pairs at once",
        columns=("contrast", "difference", "se", "df", "limits", "p", "p Holm", "pooled p"),
        rows=tuple(
            (
                f"{c.left} - {c.right}",
                Estimate(c.difference, c.se),
                Estimate(c.se, c.se),
                c.df,
                show_limits(c.low_simultaneous, c.high_simultaneous, c.difference, drawn=False),
                PValue(c.p, c.log10_p),
                PValue(c.p_adjusted, c.log10_p_adjusted),
                PValue(c.pooled_p),
            )
            for c in shown
        ),
        notes=(
            *notes,
            f"Limits: Bonferroni's. Pooled p: the fit's, one variance of interactions for all systems"
            f"{_say_runs(contrasts)}.",
            *note_disagreement(contrasts, level=level),
        ),
    )


def _say_methods(contrasts: Sequence[RankContrast]) -> Iterator[str]:
    """Yield where p come from; where pairs differ in it, the fewer pairs are named."""
    by = {method: [f"{c.left} - {c.right}" for c in contrasts if c.method == method] for method in METHODS}
    used = sorted((method for method in METHODS if by[method]), key=lambda method: -len(by[method]))
    for place, method in enumerate(used):
        yield f"{f'p of {list_names(by[method], most=6)}' if place else 'p'}: {METHODS[method]}"


def _say_runs(contrasts: Sequence[RankContrast]) -> str:
    return " and none of runs" if any(c.method == WITH_RUNS for c in contrasts) else ""


def _say_subsets(contrasts: Sequence[RankContrast], datasets: int) -> Iterator[str]:
    """Yield which differences are not those of the means in the table above, and why."""
    own = [c for c in contrasts if c.method in (DIFFERENCES, WITH_RUNS)]
    other = [c for c in own if c.datasets < datasets and abs(c.difference - c.pooled_difference) > SAME * c.se]
    if other:
        named = join_names([f"{c.left} - {c.right} ({c.datasets})" for c in other], most=3)
        every = "All differences" if len(other) == len(contrasts) else named
        yield f"{every}: over the datasets that both have (their number), and so not the difference of the means above."
    shown = [[format_number(d, uncertainty=c.se) for d in (c.difference, c.pooled_difference)] for c in own]
    weighed = [c for c, (one, two) in zip(own, shown, strict=True) if c.datasets == datasets and one != two]
    if weighed:
        named = join_names([f"{c.left} - {c.right}" for c in weighed], most=3)
        yield (
            f"{named}: each dataset counts the same, while the fit behind the means above weighs them by what their "
            "rows tell: so these are not the differences of those means."
        )


METHODS = {
    "dataset differences": "t on the differences of adjusted means between datasets, pair by pair.",
    WITH_RUNS: "Welch's t in two ways (cautious df): differences of adjusted means between datasets, pair by pair, and "
    "the runs of each system, each of which was scored on all datasets.",
    "pooled": "Satterthwaite's t of the fit.",
    NOT_TESTED: "not tested: fewer than two datasets of both, or the same difference on all of them.",
}


def tabulate_waterfall(steps: Sequence[WaterfallStep]) -> Table:
    """Return the bars from the raw gap to the isolated one, but for those that change nothing."""
    first = steps[0]
    scale = max(abs(step.gap) for step in steps) / 100
    still = [step.step for step in steps[1:] if step.change == 0]
    unchanged = (f"Without any change: {join_names(still)}.",) if still else ()
    return Table(
        title=f"From the raw gap of {first.left} - {first.right} to the isolated one",
        columns=("step", "change", "gap"),
        rows=tuple(
            (step.step, Estimate(step.change, scale), Estimate(step.gap, scale))
            for step in steps
            if step.step not in still
        ),
        notes=(
            *unchanged,
            "In this order: datasets, nuisance factors, random effects. Shrinkage is no cause: it is what taking "
            "systems for random draws adds.",
        ),
    )
