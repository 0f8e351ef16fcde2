"""`compare_score_sets`: the scores that a reproduction gave the same items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from holdsup.errors import MeasurementError
from holdsup.numerics.correlation import correlation_limits, pearson, rmse, spearman
from holdsup.rendering import Interval, Table
from holdsup.rendering.numbers import format_interval, format_number
from holdsup.results import Result, sign
from holdsup.verdict.reproduction.judgements import Judgements, read_judgements

__all__ = ["ScoreSet", "ScoreSets", "compare_score_sets"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSet:
    """The scores of a reproduction against the original's.

    Attributes
    ----------
    reproduction : the study
    items : number of items that both scored
    pearson : Pearson's correlation, null if one of the two is constant
    low : its lower limit, by Fisher's transformation
    high : its upper limit
    spearman : Spearman's correlation
    rmse : root of the mean squared difference
    bias : mean of reproduction - original
    mean : mean of the reproduction
    original_mean : mean of the original on the same items
    """

    reproduction: str
    items: int
    pearson: float
    low: float
    high: float
    spearman: float
    rmse: float
    bias: float
    mean: float
    original_mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSets(Result):
    """How closely reproductions gave the same scores to the same items.

    Attributes
    ----------
    level : coverage of the limits
    original : the study that the others are compared with
    sets : the others
    """

    kind: ClassVar[str] = "qra_scores"

    level: float
    original: str
    sets: tuple[ScoreSet, ...]

    def tables(self) -> tuple[Table, ...]:
        """Return the table of reproductions."""
        return (
            Table(
                title=f"Scores against those of {self.original}, {self.level:.0%} limits of Pearson's r",
                columns=("reproduction", "items", "Pearson", "limits", "Spearman", "RMSE", "mean", "difference"),
                rows=tuple(
                    (s.reproduction, s.items, s.pearson, Interval(s.low, s.high, drawn=False), s.spearman, s.rmse,
                     s.mean, s.bias)
                    for s in self.sets
                ),
                notes=("difference: mean of reproduction - original, on the items that both scored.",),
            ),
        )  # fmt: skip


def compare_score_sets(
    data: Any,
    *,
    original: str | None = None,
    study: str | None = None,
    item: str | None = None,
    score: str | None = None,
    level: float = 0.95,
) -> ScoreSets:
    """Return how the scores of each reproduction go with those of the original, item by item.

    Parameters
    ----------
    data : a table with a row for each study and item: a file, records, a frame
    original : the study that the others are compared with; by default the first one in the table
    study, item, score : names of the columns, found by their usual names if not given
    level : coverage of limits

    Examples
    --------
    >>> rows = [{"study": s, "item": i, "score": i + (s == "B") * (i % 2)} for s in "AB" for i in range(6)]
    >>> round(compare_score_sets(rows).sets[0].rmse, 3)
    0.707
    """
    found = read_judgements(data, study=study, item=item, score=score, scored=True)
    first = found.studies[0] if original is None else original
    place = found.place(first)
    sets = tuple(_compare(found, place, other, level) for other in range(len(found.studies)) if other != place)
    warnings = [] if original is not None else [f"The original is taken to be {first}, the first study in the table."]
    return ScoreSets(
        signature=sign("qra_scores", data=found.digest, original=first, level=level),
        seed=None,
        warnings=tuple(warnings),
        rows=found.rows,
        verdict=_verdict(first, sets, level),
        level=level,
        original=first,
        sets=sets,
    )


def _compare(found: Judgements, place: int, other: int, level: float) -> ScoreSet:
    both = ~np.isnan(found.values[[place, other]]).any(axis=0)
    x, y = found.values[place, both], found.values[other, both]
    if len(x) < 2:
        raise MeasurementError(
            f"{found.studies[place]} and {found.studies[other]} share {len(x)} scored items: two are needed to compare "
            "them; check that items have the same names in both"
        )
    r = pearson(x, y)
    low, high = correlation_limits(r, len(x), level=level)
    return ScoreSet(
        reproduction=found.studies[other],
        items=len(x),
        pearson=r,
        low=low,
        high=high,
        spearman=spearman(x, y),
        rmse=rmse(x, y),
        bias=float((y - x).mean()),
        mean=float(y.mean()),
        original_mean=float(x.mean()),
    )


def _verdict(original: str, sets: tuple[ScoreSet, ...], level: float) -> str:
    said = [
        f"{s.reproduction} gives scores that go with those of {original} at r = {format_number(s.pearson)} "
        f"({level:.0%} limits {format_interval(s.low, s.high)}) and differ from them by {format_number(s.rmse)} (RMSE)."
        for s in sets[:3]
    ]
    more = f" {len(sets) - 3} more are in the table." if len(sets) > 3 else ""
    return f"{' '.join(said)}{more} A high correlation says nothing about level: see the difference of means."
