"""`agree_on_labels`: do studies give the same labels to the same items?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import MeasurementError
from holdsup.numerics.agreement import SCALES, fleiss_kappa, krippendorff_alpha
from holdsup.rendering import Answer, Percent, Table
from holdsup.rendering.numbers import format_counted
from holdsup.results import KINDS, Asked, Caution, Method, Result, write_caveats
from holdsup.verdict.reproduction.judgements import Judgements, read_judgements
from holdsup.verdict.reproduction.tables import MOST_SHOWN, cut_table


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPair:
    """How far two studies agree."""

    left: str  # the one
    right: str  # the other
    items: int  # number of items that both labelled
    percent: float  # share of them with the same label, 0-100
    alpha: float  # Krippendorff's alpha of the two


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAgreement(Result):
    """How far studies agree on the labels of the same items."""

    kind: ClassVar[str] = "qra_labels"

    studies: int  # number of studies
    items: int  # number of items with two labels or more
    labels: tuple[str, ...]  # the labels that occur
    scale: str  # of alpha: nominal, ordinal or interval
    alpha: float  # Krippendorff's alpha of all studies, missing labels allowed; null if all labels are the same
    kappa: float  # Fleiss' kappa on the items that every study labelled; null if there is none
    complete: int  # number of these items
    pairs: tuple[LabelPair, ...]  # studies two by two

    def answer(self) -> Answer:
        """Return how far the studies agree, those furthest apart first."""
        # On a scale with distances two studies may rarely give the same label and yet be near each other.
        nominal = self.scale == "nominal"
        ranked = sorted(self.pairs, key=lambda p: (math.isnan(p.alpha), p.percent if nominal else p.alpha))
        agree = f"{self.studies} studies agree at Krippendorff's alpha = {self.alpha:.2f}"
        alike = "All labels are the same: agreement can't be separated from chance."
        return Answer(
            question="How far do the studies agree on the labels?",
            state=None,
            headline=alike if math.isnan(self.alpha) else f"{agree} ({self.scale}; 1 is perfect, 0 is chance).",
            parts=(cut_table(_tabulate_pairs(ranked), MOST_SHOWN),),
            foot=(("holds for", "these items: alpha has no CI here"), *write_caveats(self.cautions)),
            more=("--full (Fleiss' kappa)", "holdsup report"),
            signature=self.signature,
            names=tuple(name for p in self.pairs for name in (p.left, p.right)),
        )

    def tables(self) -> tuple[Table, ...]:
        """Return agreement of all studies, and two by two."""
        everyone = Table(
            name="agreement",
            title="Agreement of all studies",
            columns=("measure", "value", "items"),
            rows=(
                (f"Krippendorff's alpha, {self.scale}", self.alpha, self.items),
                ("Fleiss' kappa", self.kappa, self.complete),
            ),
            notes=(
                "1 is perfect agreement, 0 is chance. Alpha uses items with two labels or more, kappa those that all "
                "studies labelled.",
            ),
        )
        return (everyone, _tabulate_pairs(self.pairs))

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        said = f"Agreement on labels is Krippendorff's alpha ({self.scale}); Fleiss' kappa is on complete items."
        return Method(question=KINDS[self.kind].question, sentences=(said,), citations=("belz2022",))


def _tabulate_pairs(pairs: Iterable[LabelPair]) -> Table:
    return Table(
        name="pairs",
        title="Studies two by two",
        columns=("study", "and", "items", "same label", "alpha"),
        rows=tuple((p.left, p.right, p.items, Percent(p.percent), p.alpha) for p in pairs),
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
    kappa = fleiss_kappa(_count_labels(complete)) if complete.size else float("nan")
    return LabelAgreement(
        asked=Asked.about("qra_labels", data=found.digest, scale=scale),
        seed=None,
        cautions=tuple(_caution_items(rated, len(found.studies))),
        rows=found.rows,
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
    numbers = []
    for label in found.labels:
        try:
            numbers.append(float(label))
        except ValueError:
            raise MeasurementError(f"the {scale} scale needs labels that are numbers, and one is {label!r}") from None
    return np.where(np.isnan(found.values), np.nan, np.array(numbers)[np.nan_to_num(found.values).astype(int)])


def _count_labels(complete: NDArray[np.float64]) -> NDArray[np.int64]:
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


def _caution_items(rated: NDArray[np.int64], studies: int) -> Iterator[Caution]:
    if alone := int((rated < 2).sum()):
        said = f"{format_counted(alone, 'item')} with fewer than two labels left out."
        yield Caution(code="items-labelled-once", about="table:agreement", message=said, count=alone)
    if partly := int(((rated >= 2) & (rated < studies)).sum()):
        said = f"{format_counted(partly, 'item')} not labelled by every study: alpha counts them, kappa does not."
        yield Caution(code="items-incomplete", severity="note", about="table:agreement", message=said, count=partly)
