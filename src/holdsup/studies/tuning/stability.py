"""How much the choice, and the score that comes with it, depend on the luck of the partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import _num_samples

from holdsup.errors import TuningError
from holdsup.numerics.tuning import Retuning, retune
from holdsup.progress import Progress, no_progress
from holdsup.rendering import Answer, Table
from holdsup.rendering.numbers import format_counted
from holdsup.rendering.table import Estimate, Percent
from holdsup.results import KINDS, Asked, Caution, Method, Result, Rows, order_cautions, write_caveats
from holdsup.studies.tuning.options import name_metric, require_folds
from holdsup.studies.tuning.pools import Floats, Pool, digest, gather_pool
from holdsup.studies.tuning.training import Params, configure, list_candidates
from holdsup.verdict.tuning.candidates import name_candidates

ENOUGH = 5  # times J partitions that a pool should have: its own means say who is best

SHOWN = 8  # rows of the short answer
DRAWN = "Each re-tuning draws its J partitions from a pool of {}, with replacement, as if there were endlessly many."


def answer_study(
    study: Result,
    *,
    headline: str,
    table: Table,
    foot: tuple[tuple[str, str], ...],
    more: tuple[str, ...] = ("holdsup report",),
) -> Answer:
    """Return the short answer of a study, which has no yes or no."""
    return Answer(
        question=KINDS[study.kind].question, state=None, headline=headline, parts=(table,),
        foot=(*foot, *write_caveats(study.cautions)), more=more, signature=study.signature,
    )  # fmt: skip


def describe_study(study: Result, done: str) -> Method:
    """Return what was done in a study, in words."""
    return Method(question=KINDS[study.kind].question, sentences=(done,), citations=("moss2018",))


def study_tuning(
    estimator: Any,
    candidates: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    n_candidates: int | None = None,
    j: Sequence[int] = (1, 2, 4, 8),
    k: Sequence[int] = (5,),
    partitions: int = 40,
    retunings: int = 1000,
    scoring: Any = None,
    stratify: bool | None = None,
    uneven: bool = False,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> TuningStudy:
    """Return how much tuning varies when it is repeated on other partitions of the same items.

    All candidates are trained on a pool of partitions for each K, once; every re-tuning draws J of them, with
    replacement, so that it varies as one on new partitions would.

    Parameters
    ----------
    estimator, candidates, X, y, groups, n_candidates, scoring, stratify, uneven, n_jobs, seed : as in `JKSearchCV`
    j : numbers of partitions to study
    k : numbers of folds to study
    partitions : partitions in the pool of each K; five times the largest J or more is advised, to know the best one by
    retunings : how often to tune again, at no further fits
    progress : called as work goes on

    Raises
    ------
    TuningError : as in `JKSearchCV`; a pool smaller than a J; a candidate that failed, since none may be missing
    """
    listed, fewer = list_candidates(candidates, n_candidates=n_candidates, seed=seed)
    for params in listed:
        configure(estimator, params)
    for folds in k:
        require_folds(folds, _num_samples(X))
    pools: dict[int, Floats] = {}
    for folds in k:
        pool = gather_pool(
            estimator, listed, X, y, groups, scoring=scoring, j=partitions, k=folds, seed=seed, stratify=stratify,
            uneven=uneven, n_jobs=n_jobs, progress=progress,
        )  # fmt: skip
        _require_whole(pool, listed)
        pools[folds] = pool.only_means()
    study = judge_pools(pools, listed, j=j, metric=name_metric(scoring), retunings=retunings, seed=seed)
    return replace(study, cautions=order_cautions((*study.cautions, *fewer)))


def _require_whole(pool: Pool, candidates: Sequence[Params]) -> None:
    if pool.failures:
        first = pool.failures[0]
        raise TuningError(
            f"{len(pool.failures)} of {pool.fits} fits failed, and a study compares candidates on all partitions. Take"
            f" out {candidates[first.candidate]} ({first.place}: {first.error})"
        )


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
        asked=Asked.about(
            "tune-study", scores=digest(*pools.values()), metric=metric, candidates=len(labels),
            j=",".join(map(str, j)), k=",".join(map(str, pools)), retunings=retunings, seed=seed,
        ),
        seed=None if retunings is None else seed,
        cautions=() if retunings is None else _warn(max(j), smallest),
        rows=Rows(fits, fits),
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


def _warn(j: int, partitions: int) -> tuple[Caution, ...]:
    if j * ENOUGH <= partitions:
        return ()
    caution = Caution(
        code="small-pool",
        about="table:procedures",
        message=f"The regret at J={j} is measured from only {format_counted(partitions, 'partition')} and may be a "
        "third too small or too large.",
        advice=f"Use a pool of {ENOUGH * j} partitions.",
    )
    return (caution,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """What tuning by J-K-fold cross-validation gives when it is repeated on other partitions."""

    j: int  # partitions
    k: int  # folds
    fits: int  # fits of one tuning
    retunings: int  # how often it was repeated, from the pool
    choices: int  # how many different candidates were chosen
    favourite: str  # the candidate chosen most often
    share: float  # how often that was, 0-1
    estimate: float  # mean score of the chosen candidate, as tuning estimates it
    sd_estimate: float  # standard deviation of this estimate between tunings
    regret: float  # by how much the chosen candidate's mean over the whole pool is below the best one's, on average
    worst_regret: float  # the same, at its worst


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterSpread:
    """How much a chosen parameter, if it is a number, varies between tunings."""

    j: int  # partitions
    k: int  # folds
    parameter: str  # its name
    mean: float  # of the chosen values
    sd: float  # their standard deviation
    low: float  # the smallest value chosen
    high: float  # the largest value chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How often tuning chose a candidate."""

    j: int  # partitions
    k: int  # folds
    index: int  # the candidate's place, from 0
    candidate: str  # its parameters that differ
    share: float  # how often it was chosen, 0-1
    pool_mean: float  # its mean score over the whole pool of partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningStudy(Result):
    """How much tuning by J-K-fold cross-validation varies with the partition, for several J and K."""

    kind: ClassVar[str] = "tune-study"

    metric: str  # what candidates are ranked by
    candidates: int  # how many there are
    partitions: int  # partitions in the smallest pool
    fits: int  # fits behind the pools
    procedures: tuple[Procedure, ...]  # the spread of the choice and of the estimate, for each J and K
    parameters: tuple[ParameterSpread, ...]  # the spread of each parameter that is a number
    choices: tuple[Choice, ...]  # how often each candidate was chosen, those never chosen left out

    def answer(self) -> Answer:
        """Return how often tuning makes the same choice, for the smallest J and the steadiest."""
        first, steady = self.procedures[0], min(self.procedures, key=lambda p: p.sd_estimate)
        return answer_study(
            self,
            headline=_headline(first, steady, self.metric),
            table=self._tabulate_procedures(SHOWN),
            foot=(("holds for", "other partitions of these items; not new data"),),
            more=("tables() has all rows", "holdsup report"),
        )

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        drawn = " with replacement" if self.seed is not None else ""
        done = (
            f"{self.candidates} candidates were trained on a pool of partitions; each re-tuning takes J of them{drawn}."
        )
        return describe_study(self, done)

    def tables(self) -> tuple[Table, ...]:
        """Return the procedures, and the parameters that are numbers."""
        procedures = self._tabulate_procedures(len(self.procedures))
        parameters = Table(
            name="parameters",
            title="Parameters chosen",
            columns=("J", "K", "parameter", "mean", "sd", "smallest", "largest"),
            rows=tuple((p.j, p.k, p.parameter, p.mean, p.sd, p.low, p.high) for p in self.parameters),
        )
        return (procedures, parameters) if self.parameters else (procedures,)

    def _tabulate_procedures(self, most: int) -> Table:
        more = len(self.procedures) - most
        explained = (
            "Regret: how far the chosen mean is below the best mean over the whole pool; not on new data.",
            *(() if self.seed is None else (DRAWN.format(self.partitions),)),
        )
        return Table(
            name="procedures",
            title=f"Tuning repeated on other partitions ({self.candidates} candidates)",
            columns=("J", "K", "fits", "choices", "most often", "share", "estimate", "sd", "regret", "worst"),
            rows=tuple(
                (p.j, p.k, p.fits, p.choices, p.favourite, Percent(100 * p.share), Estimate(p.estimate, p.sd_estimate),
                 Estimate(p.sd_estimate, p.sd_estimate), Estimate(p.regret, p.regret),
                 Estimate(p.worst_regret, p.regret))
                for p in self.procedures[:most]
            ),
            notes=(f"{more} more",) if more > 0 else explained,
        )  # fmt: skip


def _headline(first: Procedure, steady: Procedure, metric: str) -> str:
    choice = f"With J={first.j}, tuning picks {first.favourite} {100 * first.share:.0f}% of the time"
    if steady == first:
        return (
            f"{choice} ({format_counted(first.choices, 'pick')} in all); its {metric} has sd {first.sd_estimate:.2g}."
        )
    to = "" if steady.k == first.k else f" and K={steady.k}"
    other = "" if steady.favourite == first.favourite else f"{steady.favourite} "
    return (
        f"{choice}; with J={steady.j}{to}, {other}{100 * steady.share:.0f}%. The sd of its {metric} falls from "
        f"{first.sd_estimate:.2g} to {steady.sd_estimate:.2g}."
    )
