"""`agree_on_labels`: the labels that studies gave the same items."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MeasurementError
from holdsup.numerics.agreement import SCALES, fleiss_kappa, krippendorff_alpha
from holdsup.rendering import Percent, Table
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.results import Result, sign
from holdsup.verdict.reproduction.judgements import Judgements, read_judgements

__all__ = ["LabelAgreement", "LabelPair", "agree_on_labels"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPair:
    """How far two studies agree.

    Attributes
    ----------
    left : the one
    right : the other
    items : number of items that both labelled
    percent : share of them with the same label, 0-100
    alpha : Krippendorff's alpha of the two
    """

    left: str
    right: str
    items: int
    percent: float
    alpha: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAgreement(Result):
    """How far studies agree on the labels of the same items.

    Attributes
    ----------
    studies : number of studies
    items : number of items with two labels or more
    labels : the labels that occur
    scale : of alpha: nominal, ordinal or interval
    alpha : Krippendorff's alpha of all studies, missing labels allowed; null if all labels are the same
    kappa : Fleiss' kappa on the items that every study labelled; null if there is none
    complete : number of these items
    pairs : studies two by two
    """

    kind: ClassVar[str] = "qra_labels"

    studies: int
    items: int
    labels: tuple[str, ...]
    scale: str
    alpha: float
    kappa: float
    complete: int
    pairs: tuple[LabelPair, ...]

    def tables(self) -> tuple[Table, ...]:
        """Return agreement of all studies, and two by two."""
        return (
            Table(
                title="Agreement of all studies",
                columns=("measure", "value", "items"),
                rows=(
                    (f"Krippendorff's alpha, {self.scale}", self.alpha, self.items),
                    ("Fleiss' kappa", self.kappa, self.complete),
                ),
                notes=(
                    "alpha: items with two labels or more; kappa: items that every study labelled. 1 is perfect "
                    "agreement, 0 what chance gives.",
                ),
            ),
            Table(
                title="Studies two by two",
                columns=("", " ", "items", "same label", "alpha"),
                rows=tuple((p.left, p.right, p.items, Percent(p.percent), p.alpha) for p in self.pairs),
            ),
        )


def agree_on_labels(
    data: Any,
    *,
    study: str | None = None,
    item: str | None = None,
    label: str | None = None,
    scale: str = "nominal",
) -> LabelAgreement:
    """Return how far studies agree on the labels of the same items.

    Parameters
    ----------
    data : a table with a row for each study and item: a file, records, a frame
    study, item, label : names of the columns, found by their usual names if not given
    scale : "nominal"; "ordinal" or "interval" for labels that are numbers

    Examples
    --------
    >>> rows = [{"study": s, "item": i, "label": "yes" if i % 3 else s} for s in ("a", "b") for i in range(9)]
    >>> round(agree_on_labels(rows).pairs[0].percent, 1)
    66.7
    """
    if scale not in SCALES:
        raise MeasurementError(f"scale is {scale!r}; it can be {', '.join(SCALES)}")
    found = read_judgements(data, study=study, item=item, label=label, scored=False)
    values = found.values if scale == "nominal" else _as_numbers(found, scale)
    rated = (~np.isnan(values)).sum(axis=0)
    complete = values[:, rated == len(found.studies)]
    pairs = tuple(_pair(found, values, i, j, scale) for i, j in itertools.combinations(range(len(values)), 2))
    if not (rated >= 2).any():
        raise MeasurementError("no item has two labels: check that items have the same names in all studies")
    alpha = krippendorff_alpha(values, scale)
    kappa = fleiss_kappa(_count(complete)) if complete.size else float("nan")
    return LabelAgreement(
        signature=sign("qra_labels", data=found.digest, scale=scale),
        seed=None,
        warnings=tuple(_warnings(rated, len(found.studies))),
        rows=found.rows,
        verdict=_verdict(found, alpha, scale, pairs),
        studies=len(found.studies),
        items=int((rated >= 2).sum()),
        labels=found.labels,
        scale=scale,
        alpha=alpha,
        kappa=kappa,
        complete=complete.shape[1],
        pairs=pairs,
    )


def _as_numbers(found: Judgements, scale: str) -> NDArray[np.float64]:
    try:
        numbers = np.array([float(label) for label in found.labels])
    except ValueError:
        odd = next(label for label in found.labels if not label.replace(".", "", 1).lstrip("-").isdigit())
        raise MeasurementError(f"the {scale} scale needs labels that are numbers, and one is {odd!r}") from None
    return np.where(np.isnan(found.values), np.nan, numbers[np.nan_to_num(found.values).astype(int)])


def _count(complete: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many studies gave each item each label, shape (items, labels)."""
    return np.array([(complete == level).sum(axis=0) for level in np.unique(complete)]).T


def _pair(found: Judgements, values: NDArray[np.float64], i: int, j: int, scale: str) -> LabelPair:
    both = values[[i, j]][:, ~np.isnan(values[[i, j]]).any(axis=0)]
    return LabelPair(
        left=found.studies[i],
        right=found.studies[j],
        items=both.shape[1],
        percent=float(100 * (both[0] == both[1]).mean()) if both.size else float("nan"),
        alpha=krippendorff_alpha(both, scale) if both.size else float("nan"),
    )


def _warnings(rated: NDArray[np.int64], studies: int) -> list[str]:
    alone, partly = int((rated < 2).sum()), int(((rated >= 2) & (rated < studies)).sum())
    them = "it" if partly == 1 else "them"
    said = [f"{format_counted(alone, 'item')} with fewer than two labels: left out."] if alone else []
    return [
        *said,
        *([f"{format_counted(partly, 'item')} not labelled by all: kappa leaves {them} out."] if partly else []),
    ]


def _verdict(found: Judgements, alpha: float, scale: str, pairs: tuple[LabelPair, ...]) -> str:
    if np.isnan(alpha):
        return "All labels are the same, so that agreement cannot be told from chance."
    # On a scale with distances two studies may rarely give the same label and yet be near each other.
    by_label = scale == "nominal"
    worst = min(pairs, key=lambda p: _last_if_unknown(p.percent if by_label else p.alpha))
    how = (
        f"give the same label to {format_number(worst.percent, uncertainty=1)}% of"
        if by_label
        else f"agree at alpha = {format_number(worst.alpha, uncertainty=0.01)} on"
    )
    return (
        f"{len(found.studies)} studies agree at alpha = {format_number(alpha, uncertainty=0.01)} (Krippendorff, "
        f"{scale}: 1 is perfect, 0 chance). The two farthest apart, {worst.left} and {worst.right}, {how} "
        f"{format_counted(worst.items, 'item')}. There are no limits: alpha is about these items."
    )


def _last_if_unknown(agreement: float) -> tuple[bool, float]:
    return bool(np.isnan(agreement)), agreement
