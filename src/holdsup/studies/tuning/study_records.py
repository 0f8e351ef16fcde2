"""`TuningStudy`: what tuning again and again on other partitions gave, and the rows of its tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from holdsup.rendering import Table
from holdsup.rendering.table import Estimate, Percent
from holdsup.results import Result

__all__ = ["Choice", "ParameterSpread", "Procedure", "TuningStudy"]

DRAWN = "Each re-tuning draws its J partitions from a pool of {}, with replacement, as if there were endless ones."


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """What tuning by J-K-fold cross-validation gives when it is repeated on other partitions.

    Attributes
    ----------
    j : partitions
    k : folds
    fits : fits of one tuning
    retunings : how often it was repeated, from the pool
    choices : how many different candidates were chosen
    favourite : the candidate chosen most often
    share : how often that was, 0-1
    estimate : mean score of the chosen candidate, as tuning estimates it
    sd_estimate : standard deviation of this estimate between tunings
    regret : by how much the chosen candidate's mean over the whole pool is below the best one's, on average
    worst_regret : the same, at its worst
    """

    j: int
    k: int
    fits: int
    retunings: int
    choices: int
    favourite: str
    share: float
    estimate: float
    sd_estimate: float
    regret: float
    worst_regret: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterSpread:
    """How much a chosen parameter, if it is a number, varies between tunings.

    Attributes
    ----------
    j : partitions
    k : folds
    parameter : its name
    mean : of the chosen values
    sd : their standard deviation
    low : the smallest value chosen
    high : the largest value chosen
    """

    j: int
    k: int
    parameter: str
    mean: float
    sd: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How often tuning chose a candidate.

    Attributes
    ----------
    j : partitions
    k : folds
    index : the candidate's place, from 0
    candidate : its parameters that differ
    share : how often it was chosen, 0-1
    pool_mean : its mean score over the whole pool of partitions
    """

    j: int
    k: int
    index: int
    candidate: str
    share: float
    pool_mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningStudy(Result):
    """How much tuning by J-K-fold cross-validation varies with the partition, for several J and K.

    Attributes
    ----------
    metric : what candidates are ranked by
    candidates : how many there are
    partitions : partitions in the smallest pool
    fits : fits behind the pools
    procedures : the spread of the choice and of the estimate, for each J and K
    parameters : the spread of each parameter that is a number
    choices : how often each candidate was chosen, those never chosen left out
    """

    kind: ClassVar[str] = "tune-study"

    metric: str
    candidates: int
    partitions: int
    fits: int
    procedures: tuple[Procedure, ...]
    parameters: tuple[ParameterSpread, ...]
    choices: tuple[Choice, ...]

    def tables(self) -> tuple[Table, ...]:
        """Return the procedures, and the parameters that are numbers."""
        procedures = Table(
            title=f"Tuning repeated on other partitions ({self.candidates} candidates)",
            columns=("J", "K", "fits", "choices", "most often", "share", "estimate", "sd", "regret", "worst"),
            rows=tuple(
                (p.j, p.k, p.fits, p.choices, p.favourite, Percent(100 * p.share), Estimate(p.estimate, p.sd_estimate),
                 p.sd_estimate, p.regret, p.worst_regret)
                for p in self.procedures
            ),
            notes=(
                "Regret: below the best mean over the whole pool of partitions; nothing is said about new data.",
                *(() if self.seed is None else (DRAWN.format(self.partitions),)),
            ),
        )  # fmt: skip
        parameters = Table(
            title="Parameters chosen",
            columns=("J", "K", "parameter", "mean", "sd", "smallest", "largest"),
            rows=tuple((p.j, p.k, p.parameter, p.mean, p.sd, p.low, p.high) for p in self.parameters),
        )
        return (procedures, parameters) if self.parameters else (procedures,)
