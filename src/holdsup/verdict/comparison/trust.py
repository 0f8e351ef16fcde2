"""Where the tests of a comparison are known to fail: item differences or runs with one long tail, a run that collapsed.

No correction kept 7% in all that was tried, so the answer says by how much the promise fails: decision 24.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from holdsup.numerics.arithmetic import NOISE
from holdsup.numerics.differences import compare_over_datasets
from holdsup.numerics.layout import Floats
from holdsup.numerics.outliers import is_skewed, l_skewness, outlying_run
from holdsup.rendering.numbers import format_counted, format_interval, format_number, format_p
from holdsup.results import Caution
from holdsup.verdict.claims import Pair
from holdsup.verdict.comparison.findings import Found
from holdsup.verdict.comparison.likeness import lean_of
from holdsup.verdict.comparison.pairs import ManyPairs, differences_of
from holdsup.verdict.comparison.records import SystemContrast
from holdsup.verdict.evaluation import Evaluation, SystemRuns
from holdsup.verdict.phrases import join_names
from holdsup.verdict.trainings import has_nested_runs

MOST_PAIRS = 200  # of the systems with the highest means, whose skewness is looked at
# False positives of the t-test at 5%, in percent, by the number of differences and their L-skewness up to an edge:
# docs/calibration.md, "Skewed scores and collapsed runs".
EDGES = (0.48, 0.57, 0.68)
MEASURED = {
    15: ((9, 19), (15, 26), (19, 40), (19, 40)),  # the last two bands taken together: one has a single row
    30: ((7, 12), (11, 16), (14, 21), (20, 35)),
    100: ((6, 9), (7, 11), (9, 15), (11, 26)),
    500: ((5, 6), (6, 8), (6, 10), (7, 17)),
}
WEAK = 0.2  # of the level: evidence is weak with a larger p, and with a smaller one 6% holds for lopsided runs as well
LOPSIDED = 12  # percent of true nulls rejected at 5% where run effects of one system are skewed like exponential ones
BY_RUNS = 0.2  # share of the variance of a difference from which on it rests on runs
NEAR_END = 10  # percent of true nulls that are rejected over ten datasets near an end: docs/calibration.md
LEANING, MEANS = 1.0, "89 to 95%"  # skewness of run means from which on CIs of means near an end cover less
COVERED = (51, 71)  # percent, by 95% CIs for new runs where one run in ten collapses


def caution_skewness(found: Found, by: str) -> Iterator[Caution]:
    """Yield which pairs differ by few items, or datasets, very much."""
    skewed = {names: values for names, values in islice(_differences(found), MOST_PAIRS) if is_skewed(values)}
    if not skewed:
        return
    (left, right), values = max(skewed.items(), key=lambda each: abs(float(l_skewness(each[1]))))
    size, count = abs(float(l_skewness(values))), len(values)
    row = MEASURED[min(MEASURED, key=lambda n: abs(np.log(n / count)))]
    low, high = row[np.searchsorted(EDGES, size)]
    others = len(skewed) - 1
    whose = "" if len(found.pairs) == 1 else f" of {left} - {right}"
    also = f", and so are those of {format_counted(others, 'other pair')}" if others else ""
    unit = _unit(found)
    yield Caution(
        code="skewed-differences",
        about="table:contrasts" if others else f"pair:{left} - {right}",
        message=(
            f"{by}The differences{whose} are very skewed over {format_counted(count, unit)}{also}: in simulations like "
            f"this, tests at 5% rejected {low} to {high}% of true nulls."
        ),
        effect=f"L-skewness {size:.2f}, where 0 is even and 1 the most: a few {unit}s decide.",
        advice="Compare the log of the score, or medians, and report both.",
        count=len(skewed),
    )


def _unit(found: Found) -> str:
    """Return what the test averages over."""
    evaluation = found.evaluation
    if evaluation.datasets is not None and not {"these-runs", "these-datasets"} & set(found.claims):
        return "dataset"
    return "item" if evaluation.unit == "items" and evaluation.clusters is None else (
        "cluster" if evaluation.clusters is not None else "dataset"
    )  # fmt: skip


def _differences(found: Found) -> Iterator[tuple[tuple[str, str], Floats]]:
    """Yield the differences that the test of a pair averages; none of two values, whose test knows their shape."""
    evaluation, pairs = found.evaluation, found.pairs
    if evaluation.per_run or evaluation.ends is not None:
        return
    groups = evaluation.datasets if _unit(found) == "dataset" else evaluation.clusters
    with np.errstate(invalid="ignore"):
        means = {s.name: _row_means(s.scores) for s in evaluation.systems}
    if isinstance(pairs, ManyPairs):
        names = [system.name for system in evaluation.systems]
        couples = ((names[a], names[b]) for a, b in zip(pairs.left, pairs.right, strict=True))
    else:
        couples = ((pair.left.name, pair.right.name) for pair in pairs)
    for left, right in couples:
        values = means[left] - means[right]
        there = ~np.isnan(values)
        values = values[there]
        if groups is not None:
            _, code, size = np.unique(groups[there], return_inverse=True, return_counts=True)
            values = np.bincount(code, values) / size
        if np.ptp(values) > NOISE * np.abs(values).max():  # else their shape is that of rounding
            yield (left, right), values


def _row_means(scores: Floats) -> Floats:
    """Return the mean of each item over the runs that have it, NaN where none has."""
    there = ~np.isnan(scores)
    return np.asarray(np.where(there, scores, 0.0).sum(axis=1) / there.sum(axis=1))


def caution_collapses(found: Found, by: str) -> Iterator[Caution]:
    """Yield which run's mean is far from those of the other runs of its system; all numbers keep it."""
    systems = found.evaluation.systems
    for system in systems:
        if system.several is not None or has_nested_runs(found.evaluation, system):
            continue  # runs differ by more than chance, or have datasets of their own
        try:
            far = outlying_run(system.on(system.has).scores, systems=len(systems))
        except ValueError:  # too few items in common to tell runs from items
            continue
        if far is not None:
            yield _say_collapsed(system, far, by)


def _say_collapsed(system: SystemRuns, far: int, by: str) -> Caution:
    means = np.nanmean(system.scores, axis=0)
    others = np.delete(means, far)
    size = format_number(float(means[far]), uncertainty=float(others.std(ddof=1)) or None)
    usual = format_interval(float(others.min()), float(others.max()))
    return Caution(
        code="collapsed-run",
        about=f"system:{system.name}",
        message=(
            f"{by}Run {system.runs[far]} of {system.name} is far off: mean {size}, the other {len(others)} "
            f"{usual}. If one run in ten is, 95% CIs cover {COVERED[0]} to {COVERED[1]}%."
        ),
        effect="It is in all numbers. CIs fail where such runs occur and a table happens to have none.",
        advice="Check its training, report the comparison with and without it, or compare medians over runs.",
        examples=(system.runs[far],),
    )


def caution_evidence(found: Found, contrasts: Sequence[SystemContrast], level: float) -> Iterator[Caution]:
    """Yield that the surest difference of a metric is only just told, and what that takes for granted of runs.

    A few runs of a system that seldom goes far astray look steady just where its mean is off. No table shows it, but a
    smaller p holds even then.
    """
    alpha, own = 1 - level, [contrast for contrast in contrasts if contrast.metric == found.metric]
    told = [place for place, contrast in enumerate(own) if contrast.p_adjusted <= alpha]
    least = min((own[place].p_adjusted for place in told), default=0.0)
    if least < WEAK * alpha:
        return
    if (_run_shares(found)[told] > BY_RUNS).any():
        yield Caution(
            code="lopsided-runs",
            about="table:contrasts" if len(told) > 1 else f"pair:{own[told[0]].left} - {own[told[0]].right}",
            message=(
                f"The evidence is not strong: if runs of one system can go far astray to one side, tests like this "
                f"reject up to {LOPSIDED}% of true nulls."
            ),
            effect="Few runs do not show whether they can.",
            advice=f"Add runs: a p below {format_p(WEAK * alpha)} would hold even then.",
            count=len(told),
        )
    elif found.metric is None and len(own) == 1:  # of several metrics p is adjusted
        message = "The evidence is not strong: a repeat could well miss the difference."
        yield Caution(code="weak-evidence", message=message)


def caution_ends(found: Found, contrasts: Sequence[SystemContrast], level: float) -> Iterator[Caution]:
    """Yield which differences over new datasets runs near an end of the scale may feign; and means whose CIs they do.

    Elsewhere variances are those under the null. Over datasets they are not, for `rank` gives the same answer.
    """
    evaluation, alpha = found.evaluation, 1 - level
    room, own = evaluation.room, [contrast for contrast in contrasts if contrast.metric == found.metric]
    if room is None or evaluation.per_run:
        return
    for pair, contrast in zip(found.pairs, own, strict=True) if evaluation.datasets is not None else ():
        if contrast.p_adjusted > alpha or pair.nested is not False or pair.claim != "new-runs":
            continue
        moved = compare_over_datasets(
            pair.left.on_datasets, pair.right.on_datasets, room=room, level=level, nested=_nested(evaluation, pair),
            left_settings=pair.left.several, right_settings=pair.right.several,
        )  # fmt: skip
        if moved.p * len(contrasts) > alpha:
            yield Caution(
                code="runs-near-end",
                about=f"pair:{pair.left.name} - {pair.right.name}",
                message=(
                    f"Runs near the end of a scale vary to one side, which few may not show: in simulations up to "
                    f"{NEAR_END}% of true nulls were rejected."
                ),
                effect=f"With the run variance half way between both systems p is {format_p(moved.p)}.",
                advice="Add runs, or ask for these datasets (--claim these-datasets), where this is allowed for.",
            )
    leaning = _find_leaning(found.pairs) if evaluation.scale.piled and not evaluation.scale.two_valued else []
    if leaning:
        yield Caution(
            code="means-near-end",
            severity="note",
            about=f"system:{leaning[0]}" if len(leaning) == 1 else "table:systems",
            message=f"Near the end of the scale 95% CIs of the mean of {join_names(leaning, most=3)} cover {MEANS}.",
            effect="Runs that vary a lot there vary to one side.",
            count=len(leaning),
        )


def _nested(evaluation: Evaluation, pair: Pair) -> tuple[bool, bool]:
    """Return of which side each dataset has runs of its own, or none that vary."""
    a, b = (side.deterministic or has_nested_runs(evaluation, side) for side in (pair.left, pair.right))
    return a, b


def _find_leaning(pairs: Sequence[Pair]) -> list[str]:
    """Return the systems whose runs vary to one side, by where they are on the scale and how much they vary."""
    if not isinstance(pairs, ManyPairs) or pairs.like.claim != "new-runs":
        return []
    sds, scale = np.sqrt(np.nan_to_num(pairs.run_variance)), pairs.evaluation.scale
    return [s.name for s, sd in zip(pairs.evaluation.systems, sds.tolist(), strict=True)
            if lean_of(s.mean(), sd, scale, skewed=False) > LEANING]  # fmt: skip


def _run_shares(found: Found) -> Floats:
    """Return how much of the variance of each difference is that of the runs of its systems, residual aside."""
    pairs, square = found.pairs, differences_of(found.pairs).se_limits ** 2
    if found.evaluation.per_run:
        return np.ones(len(pairs))
    if isinstance(pairs, ManyPairs):
        like = pairs.like
        part = pairs.run_variance / np.array([len(system.runs) for system in found.evaluation.systems])
        runs = np.nan_to_num(part[pairs.left] + part[pairs.right]) * (like.claim != "these-runs" and not like.nested)
    else:
        runs = np.array([_run_part(pair) for pair in pairs])
    return np.asarray(runs / np.where(square > 0, square, 1.0))


def _run_part(pair: Pair) -> float:
    """Return what runs contribute to the variance of one difference; of paired seeds, or of one system, at once."""
    found, counts = pair.difference.run_variance, [len(side.runs) for side in (pair.left, pair.right)]
    if pair.claim == "these-runs":
        return 0.0
    counts = counts if len(found) == len(counts) else [max(counts)] * len(found)
    return sum(variance / count for variance, count in zip(found, counts, strict=True) if variance is not None)
