"""`compare_score_sets`: do studies give the same scores to the same items?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from holdsup.arguments import check_level
from holdsup.errors import MeasurementError
from holdsup.numerics.agreement import correlation_interval, pearson, rmse, spearman
from holdsup.rendering import Answer, Interval, Table
from holdsup.rendering.numbers import format_interval, format_number
from holdsup.results import KINDS, Asked, Caution, Method, Result, write_caveats
from holdsup.verdict.phrases import say_level
from holdsup.verdict.reproduction.judgements import Judgements, read_judgements
from holdsup.verdict.reproduction.tables import MOST_SHOWN, cut_table


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSet:
    """The scores of a reproduction against the original's."""

    reproduction: str  # the study
    items: int  # number of items that both scored
    pearson: float  # Pearson's correlation, null if one of the two is constant
    low: float  # lower end of its CI, by Fisher's transformation
    high: float  # its upper end
    spearman: float  # Spearman's correlation
    rmse: float  # root of the mean squared difference
    bias: float  # mean of reproduction - original
    mean: float  # mean of the reproduction
    original_mean: float  # mean of the original on the same items


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSets(Result):
    """How closely reproductions gave the same scores to the same items."""

    kind: ClassVar[str] = "qra_scores"

    level: float  # coverage of the CIs
    original: str  # the study that the others are compared with
    sets: tuple[ScoreSet, ...]  # the others

    def answer(self) -> Answer:
        """Return how closely the scores follow the original's."""
        return Answer(
            question=f"How closely do the reproductions follow {self.original}'s scores?",
            state=None,
            headline=self._headline(),
            parts=(cut_table(self.tables()[0], MOST_SHOWN),),
            foot=(
                ("holds for", "new items like these; a high r allows a shift in the mean"),
                *write_caveats(self.cautions),
            ),
            more=("--full", "holdsup report"),
            signature=self.signature,
        )

    def _headline(self) -> str:
        known = sorted((s for s in self.sets if not math.isnan(s.pearson)), key=lambda s: s.pearson)
        if not known:
            return f"Scores that are all equal have no correlation with {self.original}'s."
        least, most = known[0], known[-1]
        if len(self.sets) == 1:
            ci = f"{say_level(self.level)} CI {format_interval(least.low, least.high)}"
            return (
                f"{least.reproduction}'s scores correlate with {self.original}'s at r = {least.pearson:.2f} ({ci}) and "
                f"differ by {format_number(least.rmse)} (RMSE)."
            )
        return (
            f"Correlations with {self.original}'s scores range from {least.pearson:.2f} ({least.reproduction}) to "
            f"{most.pearson:.2f} ({most.reproduction})."
        )

    def tables(self) -> tuple[Table, ...]:
        """Return how closely the scores of each reproduction follow the original's."""
        ci = f"{say_level(self.level)} CI"
        table = Table(
            name="sets",
            title=f"Scores compared with those of {self.original}",
            columns=("reproduction", "items", "Pearson's r", ci, "RMSE", "difference", "Spearman", "mean"),
            rows=tuple(
                (s.reproduction, s.items, s.pearson, Interval(s.low, s.high, drawn=False), s.rmse, s.bias, s.spearman,
                 s.mean)
                for s in self.sets
            ),
            notes=("Difference: mean of reproduction - original, on the items that both scored.",),
        )  # fmt: skip
        return (table,)

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        said = (
            f"Scores of the same items were compared with those of {self.original} by Pearson's r (CI by Fisher's "
            "transformation), Spearman's rho, RMSE and the difference of means."
        )
        return Method(question=KINDS[self.kind].question, sentences=(said,), citations=("belz2022",))


def compare_score_sets(
    data: Any,
    *,
    original: str | None = None,
    study: str | None = None,
    item: str | None = None,
    score: str | None = None,
    level: float = 0.95,
) -> ScoreSets:
    """Return how closely the scores of each reproduction follow those of the original, item by item.

    Parameters
    ----------
    data : a table with a row for each study and item: a file, records, a frame
    original : the study that the others are compared with; by default the first one in the table
    study, item, score : names of the columns, found by their usual names if not given
    level : coverage of CIs

    Examples
    --------
    >>> rows = [{"study": s, "item": i, "score": i + (s == "B") * (i % 2)} for s in "AB" for i in range(6)]
    >>> round(compare_score_sets(rows).sets[0].rmse, 3)
    0.707
    """
    check_level(level, MeasurementError)
    found = read_judgements(data, study=study, item=item, score=score, scored=True)
    first = found.studies[0] if original is None else original
    place = found.place(first)
    sets = tuple(_compare(found, place, other, level) for other in range(len(found.studies)) if other != place)
    assumed = Caution(
        code="original-assumed",
        message=f"{first} is assumed to be the original because it comes first.",
        advice="Name another one with --original (original= in Python).",
    )
    return ScoreSets(
        asked=Asked.about("qra_scores", data=found.digest, original=first, level=level),
        seed=None,
        cautions=(assumed,) if original is None else (),
        rows=found.rows,
        level=level,
        original=first,
        sets=sets,
    )


def _compare(found: Judgements, place: int, other: int, level: float) -> ScoreSet:
    both = ~np.isnan(found.values[[place, other]]).any(axis=0)
    x, y = found.values[place, both], found.values[other, both]
    if len(x) < 2:
        raise MeasurementError(
            f"{found.studies[place]} and {found.studies[other]} share {len(x)} scored items, and two are needed: check "
            "that items have the same names in both"
        )
    r = pearson(x, y)
    low, high = correlation_interval(r, len(x), level=level)
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
