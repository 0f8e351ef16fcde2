"""What the rule's false positives were in simulated evaluations like this one: the nearest cell of the grid.

Only evaluations of a kind that the grid holds are compared with it: items, and runs of one setting that score all of
them, or single runs; no datasets, shared seeds, drawn settings, properties or baselines. Of others nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from holdsup.data.calibration import CalibrationCell, Likeness, calibration_cells
from holdsup.numerics.layout import Floats
from holdsup.numerics.proportions import wilson
from holdsup.numerics.spread import find_clusters, measure_arm
from holdsup.rendering.numbers import format_count, format_percent
from holdsup.results import Caution
from holdsup.verdict.claims import Rule
from holdsup.verdict.comparison.findings import CompareQuestion, Found
from holdsup.verdict.scales import Scale, is_skewed

LEVEL = 0.95  # of the simulated tests
MOST = 0.06  # false positives that the rule promises at most
MOST_SYSTEMS = 20  # twice those of the largest cells
AT_ENDS = 0.02  # share of scores at an end of their scale
SEEN = 0.5  # a lean of runs that is worth a word
# How far a cell may be away, and what counts as one step: in decimal logarithms, of `lean` as it is.
STEPS = {
    "items": 0.5,
    "fewest_runs": 0.23,
    "most_runs": 0.3,
    "systems": 0.3,
    "loudness": 0.5,
    "lean": 0.7,
    "rarer": 0.3,
}
FARTHEST = {"loudness": 2.0, "lean": 2.0, "rarer": 1.6}  # steps, of others 1
TINY = 1e-9
SAID = {
    "two-valued": "0/1 scores",
    "at-ends": "scores that reach the ends of their scale",
    "skewed": "skewed scores",
    "other": "continuous scores",
}
Z = 1.959964


def quote_nearest(asked: Sequence[Found], question: CompareQuestion) -> Iterator[Caution]:
    """Yield how often true nulls were rejected in simulated evaluations like this one, where there are such."""
    if len(asked) > 1 or question.by or question.level != LEVEL or not _is_covered(asked[0], question):
        return
    evaluation = asked[0].evaluation
    scores = [system.scores for system in evaluation.systems]
    scale = evaluation.scale
    if (near := find_nearest(describe(scores, scale, clusters=evaluation.clusters is not None))) is None:
        return
    said = say_nearest(near)
    if not is_broken(near):
        yield Caution(code="calibration", severity="note", message=said)
        return
    leans = "Runs near the end of a scale or in a long tail vary to one side, which few runs may not show."
    yield Caution(
        code="calibration-broken",
        message=said,
        effect=leans if near.like.lean > SEEN else "",
        advice="Add runs of the system whose runs vary most.",
    )


def is_broken(cell: CalibrationCell) -> bool:
    """Return whether more than 6% of true nulls were rejected in a cell, by Wilson's lower limit."""
    low, _ = wilson(cell.false_positives / cell.tables, 0.0, cell.tables, Z)
    return float(low) > MOST


def _is_covered(found: Found, question: CompareQuestion) -> bool:
    """Return whether the grid holds evaluations of this kind."""
    evaluation, systems = found.evaluation, found.evaluation.systems
    if (question.baseline is not None and len(systems) > 2) or len(systems) > MOST_SYSTEMS or found.refused:
        return False
    if evaluation.per_run or evaluation.unit != "items" or evaluation.datasets is not None or evaluation.resplit:
        return False
    single = {system.scores.shape[1] == 1 for system in systems}
    plain = all(s.several is None and not s.deterministic and not np.isnan(s.scores).any() for s in systems)
    kinds = {(pair.claim, pair.rule is Rule.SEEDS) for pair in found.covering}
    return plain and len(single) == 1 and kinds == {("these-runs" if single.pop() else "new-runs", False)}


def describe(scores: Sequence[Floats], scale: Scale, *, clusters: bool) -> Likeness:
    """Return what the false positives of an evaluation depend on; `scores` has items x runs of each system.

    >>> rng = np.random.default_rng(1)
    >>> found = describe([rng.normal(size=(50, 3)) for _ in range(2)], Scale(), clusters=False)
    >>> found.scores, found.systems, found.items, found.fewest_runs, found.lean
    ('other', 2, 50, 3, 0.0)
    """
    runs = [each.shape[1] for each in scores]
    kind, skewed = _find_kind(scores, scale)
    sds, leans = [], [0.0]
    for each in scores if max(runs) > 1 else ():
        arm = measure_arm(each, None, find_clusters(None, len(each)))
        sds.append(math.sqrt(max(float(arm.part), float(arm.noise)) * each.shape[1]))
        leans.append(lean_of(float(each.mean()), math.sqrt(float(arm.run_variance)), scale, skewed=skewed))
    means = [(float(each.mean()) - scale.low) / (scale.high - scale.low) for each in scores if scale.two_valued]
    return Likeness(
        scores=kind, systems=len(scores), items=len(scores[0]), fewest_runs=min(runs), most_runs=max(runs),
        clusters=clusters, loudness=max(sds) / min(sds) if sds and min(sds) > 0 else 1.0, lean=max(leans),
        rarer=min((min(mean, 1 - mean) for mean in means), default=0.5),
    )  # fmt: skip


def _find_kind(scores: Sequence[Floats], scale: Scale) -> tuple[str, bool]:
    """Return what kind of scores these are, and whether they have one long tail."""
    if scale.two_valued:
        return "two-valued", False
    values = np.concatenate([each.ravel() for each in scores])
    if math.isfinite(scale.high) and np.mean((values <= scale.low) | (values >= scale.high)) >= AT_ENDS:
        return "at-ends", False
    skewed = is_skewed(values)
    return ("skewed" if skewed else "other"), skewed


def lean_of(mean: float, sd: float, scale: Scale, *, skewed: bool) -> float:
    """Return how skewed run means are whose effects are even on the scale where they add up.

    For shares that is the logit, where a mean m moves by m (1 - m) with each unit, and the skewness of a mean with the
    standard deviation s is about 3 |1 - 2m| s / (m (1 - m)); for scores with one long tail the logarithm.
    """
    if math.isfinite(scale.high):
        share, sd = (mean - scale.low) / (scale.high - scale.low), sd / (scale.high - scale.low)
        room = share * (1 - share)
        return 3 * abs(1 - 2 * share) * sd / room if room > 0 else 0.0
    ratio = sd / abs(mean) if skewed and mean != 0 else 0.0
    return 3 * ratio + ratio**3


def find_nearest(like: Likeness) -> CalibrationCell | None:
    """Return the cell of the grid that is most like an evaluation; None where none is like it."""
    near = [(steps, cell) for cell in calibration_cells() if (steps := _distance(like, cell.like)) < math.inf]
    return min(near, key=lambda each: each[0])[1] if near else None


def _distance(one: Likeness, other: Likeness) -> float:
    """Return how many steps two evaluations are apart; infinite where the rule treats them differently."""
    if _treated(one) != _treated(other):
        return math.inf
    total = 0.0
    for name, step in STEPS.items():
        a, b = float(getattr(one, name)), float(getattr(other, name))
        steps = abs(a - b if name == "lean" else math.log10(max(a, TINY) / max(b, TINY))) / step
        if steps > FARTHEST.get(name, 1.0):
            return math.inf
        total += steps**2
    return math.sqrt(total)


def _treated(like: Likeness) -> tuple[object, ...]:
    """Return by which of the rule's ways an evaluation goes."""
    runs = min(like.fewest_runs, 3)  # one and two are cases of their own
    return like.scores, like.clusters, like.systems > 2, runs, like.fewest_runs == like.most_runs


def say_nearest(near: CalibrationCell) -> str:
    """Return what was found in a cell, in a sentence."""
    like, rate = near.like, format_percent(100 * near.false_positives / near.tables)
    runs = sorted({like.fewest_runs, like.most_runs})
    each = f"{' to '.join(map(format_count, runs))} run{'s' if runs[-1] > 1 else ''}{' each' if len(runs) == 1 else ''}"
    clusters = " in clusters" if like.clusters else ""
    design = f"{like.systems} systems, {format_count(like.items)} items{clusters}, {each}, {SAID[like.scores]}"
    start = f"In {format_count(near.tables)} simulated evaluations like this one ({design})"
    if like.systems == 2:
        return f"{start}, {rate} of true nulls were rejected at 5%."
    return f"{start} in which no system was better, {rate} had a pair told apart at 5%."
