"""`judge_pools`: a tuning study from pools of partitions, whoever trained them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from holdsup.errors import TuningError
from holdsup.numerics.tuning import Retuning, retune
from holdsup.rendering.numbers import format_counted
from holdsup.results import Rows, sign
from holdsup.studies.tuning.pools import Floats, digest
from holdsup.studies.tuning.study_records import Choice, ParameterSpread, Procedure, TuningStudy
from holdsup.verdict.tuning.naming import name_candidates

__all__ = ["judge_pools"]

ENOUGH = 5  # times J partitions that a pool should have: its own means say who is best


def judge_pools(
    pools: Mapping[int, Floats],
    candidates: Sequence[Mapping[str, Any]],
    *,
    j: Sequence[int],
    metric: str,
    retunings: int | None = 1000,
    seed: int = 0,
) -> TuningStudy:
    """Return how much tuning varies between groups of J partitions from a pool, drawn with replacement.

    Parameters
    ----------
    pools : for each K, mean scores, shape (partitions, candidates); larger is better
    candidates : the parameters of each
    j : numbers of partitions to study
    metric : what the scores are
    retunings : how many groups to draw; None for all disjoint ones, as Moss et al. (2018) do
    seed : of the draws
    """
    smallest = min(len(pool) for pool in pools.values())
    if not j or min(j) < 1 or max(j) > smallest:
        raise TuningError(f"j is {tuple(j)}: give numbers from 1 to the {smallest} partitions of the pool")
    labels = name_candidates(candidates)
    procedures: list[Procedure] = []
    parameters: list[ParameterSpread] = []
    choices: list[Choice] = []
    for k, pool in pools.items():
        for count in j:
            tuned = retune(pool, count, repeats=retunings, seed=seed)
            procedures.append(_procedure(tuned, pool.mean(axis=0), k, labels))
            parameters += _spreads(tuned, k, candidates)
            choices += _choices(tuned, pool.mean(axis=0), k, labels)
    fits = sum(k * pool.size for k, pool in pools.items())
    return TuningStudy(
        signature=sign(
            "tune-study", scores=digest(*pools.values()), metric=metric, candidates=len(labels),
            j=",".join(map(str, j)), k=",".join(map(str, pools)), retunings=retunings, seed=seed,
        ),
        seed=None if retunings is None else seed,
        warnings=() if retunings is None else _warn(max(j), smallest),
        rows=Rows(fits, fits),
        verdict=_say(procedures, metric),
        metric=metric,
        candidates=len(labels),
        partitions=smallest,
        fits=fits,
        procedures=tuple(procedures),
        parameters=tuple(parameters),
        choices=tuple(choices),
    )  # fmt: skip


def _procedure(tuned: Retuning, means: Floats, k: int, labels: Sequence[str]) -> Procedure:
    shares = tuned.shares(len(labels))
    regrets = means.max() - means[tuned.picks]
    return Procedure(
        j=tuned.j,
        k=k,
        fits=tuned.j * k * len(labels),
        retunings=len(tuned.picks),
        choices=int((shares > 0).sum()),
        favourite=labels[int(shares.argmax())],
        share=float(shares.max()),
        estimate=float(tuned.estimates.mean()),
        sd_estimate=tuned.sd_estimate,
        regret=float(regrets.mean()),
        worst_regret=float(regrets.max()),
    )


def _spreads(tuned: Retuning, k: int, candidates: Sequence[Mapping[str, Any]]) -> list[ParameterSpread]:
    """Return the spread of each parameter for which all candidates have a number."""
    found = []
    for name in candidates[0]:
        values = [params.get(name) for params in candidates]
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            numbers = np.array(values, float)
            chosen = numbers[tuned.picks]
            found.append(
                ParameterSpread(
                    j=tuned.j, k=k, parameter=name, mean=float(chosen.mean()), sd=tuned.sd_choice(numbers),
                    low=float(chosen.min()), high=float(chosen.max()),
                )
            )  # fmt: skip
    return found


def _choices(tuned: Retuning, means: Floats, k: int, labels: Sequence[str]) -> list[Choice]:
    shares = tuned.shares(len(labels))
    return [
        Choice(
            j=tuned.j, k=k, index=int(c), candidate=labels[int(c)], share=float(shares[c]), pool_mean=float(means[c])
        )
        for c in np.flatnonzero(shares)
    ]


def _warn(j: int, partitions: int) -> tuple[str, ...]:
    if j * ENOUGH <= partitions:
        return ()
    return (
        f"The regret at J={j} is beside the best mean of only {format_counted(partitions, 'partition')}, and may be a"
        f" third too small or too large; {ENOUGH * j} partitions would do.",
    )


def _say(procedures: Sequence[Procedure], metric: str) -> str:
    """Return what the smallest J and the steadiest one do."""
    said = [
        f"With J={p.j} and K={p.k} tuning chooses {p.favourite} in {100 * p.share:.0f}% of re-tunings"
        f" ({format_counted(p.choices, 'choice')} in all), and its {metric} has a standard deviation of"
        f" {p.sd_estimate:.3g}."
        for p in dict.fromkeys((procedures[0], min(procedures, key=lambda p: p.sd_estimate)))
    ]
    return f"{' '.join(said)} Items are the same throughout: this is the luck of the partition alone."
