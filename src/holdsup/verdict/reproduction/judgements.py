"""Items that several studies judged: their scores (`compare_score_sets`) or labels (`agree_on_labels`) compared."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.arguments import check_level
from holdsup.columns import Labels, Numbers, OpenTable, open_tables, read_columns
from holdsup.errors import ColumnError, MeasurementError, list_names
from holdsup.numerics.agreement import (
    SCALES,
    correlation_interval,
    fleiss_kappa,
    krippendorff_alpha,
    pearson,
    rmse,
    spearman,
)
from holdsup.rendering.numbers import format_counted
from holdsup.results import Asked, Caution, Rows
from holdsup.scores.table import digest_rows
from holdsup.verdict.reproduction.records import LabelPair, ScoreSet
from holdsup.verdict.reproduction.result import LabelAgreement, ScoreSets

__all__ = ["agree_on_labels", "compare_score_sets"]

# Names under which columns are found, the usual one first.
STUDY = ("study", "source", "performed_by", "rater", "annotator", "team")
ITEM = ("item", "item_id", "id", "sentence_id", "question_id")
SCORE = ("score", "value", "rating")
LABEL = ("label", "category", "value")


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
    found = _read_judgements(data, study=study, item=item, score=score, scored=True)
    first = found.studies[0] if original is None else original
    place = found.place(first)
    sets = tuple(_compare(found, place, other, level) for other in range(len(found.studies)) if other != place)
    assumed = Caution(
        code="original-assumed",
        message=f"{first} is taken as the original: it comes first in the table.",
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
    found = _read_judgements(data, study=study, item=item, label=label, scored=False)
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


@dataclass(frozen=True, eq=False)
class Judgements:
    """What studies say about items, as a matrix."""

    studies: tuple[str, ...]  # their names, in the order in which they come
    items: tuple[str, ...]  # their names
    values: NDArray[np.float64]  # scores, or codes of labels, shape (studies, items); NaN where a study says nothing
    labels: tuple[str, ...]  # the labels in the order of their codes; empty for scores
    digest: str  # eight hex digits that change with any value
    rows: Rows  # rows used, and why others were not

    def place(self, study: str) -> int:
        """Return the row of a study."""
        if study not in self.studies:
            raise MeasurementError(f"there is no study {study!r}; there is {list_names(self.studies)}")
        return self.studies.index(study)


def _read_judgements(
    data: Any, *, study: str | None, item: str | None, score: str | None = None, label: str | None = None, scored: bool
) -> Judgements:
    """Return what studies say about items, from a table with a row for each study and item.

    Columns are found by name if not given. `scored` tells scores, which are numbers, from labels, which are not.
    """
    tables = open_tables(data)
    who = _find(tables, "study", study, STUDY)
    what = _find(tables, "item", item, ITEM)
    value = _find(tables, "score", score, SCORE) if scored else _find(tables, "label", label, LABEL)
    columns = read_columns(tables, labels=[who, what, *([] if scored else [value])], numbers=[value] if scored else [])
    studies, items, column = columns.named[who], columns.named[what], columns.named[value]
    assert isinstance(studies, Labels)
    assert isinstance(items, Labels)
    if isinstance(column, Numbers):
        values = column.values
        digest = digest_rows({"study": studies, "item": items}, {"value": values})
    else:
        values = np.where(column.codes < 0, np.nan, column.codes)
        digest = digest_rows({"study": studies, "item": items, "value": column}, {})
    named = (studies.codes >= 0) & (items.codes >= 0)
    used = named & np.isfinite(values)
    _refuse_repeats(studies, items, used, who)
    matrix = np.full((studies.count, items.count), np.nan)
    matrix[studies.codes[used], items.codes[used]] = values[used]
    order = list(dict.fromkeys(studies.codes[used].tolist()))  # as they come: the original first
    if len(order) < 2:
        raise MeasurementError(
            f"column {who!r} has {len(order)} study with values: two are needed, an original and a reproduction"
        )
    reasons = {"no study or item": int((~named).sum()), "no value": int((named & ~used).sum())}
    return Judgements(
        studies=tuple(studies.names[code] for code in order),
        items=items.names,
        values=matrix[order],
        labels=column.names if isinstance(column, Labels) else (),
        digest=digest,
        rows=Rows(len(values), int(used.sum()), {why: count for why, count in reasons.items() if count}),
    )


def _find(tables: Sequence[OpenTable], role: str, asked: str | None, usual: Sequence[str]) -> str:
    columns = dict.fromkeys(column for table in tables for column in table.columns)
    if asked is not None:
        if asked not in columns:
            raise ColumnError.not_found(asked, columns, where=tables[0].name)
        return asked
    lowered = {column.lower(): column for column in columns}
    found = next((lowered[name] for name in usual if name in lowered), None)
    if found is None:
        raise ColumnError(
            f"no column of {tables[0].name} is called {' or '.join(usual)}; name it with --{role} COL "
            f"({role}= in Python). It has {list_names(columns)}"
        )
    return found


def _refuse_repeats(studies: Labels, items: Labels, used: NDArray[np.bool_], who: str) -> None:
    cells = studies.codes[used].astype(np.int64) * items.count + items.codes[used]
    cell, counts = np.unique(cells, return_counts=True)
    repeated = cell[counts > 1]
    if len(repeated):
        study, item = divmod(int(repeated[0]), items.count)
        raise MeasurementError(
            f"{who} {studies.names[study]!r} has several values for item {items.names[item]!r} "
            f"({len(repeated)} such cells): keep one a cell, or give the values to different studies"
        )
