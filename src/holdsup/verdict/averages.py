"""What weighs how much in a mean over datasets: each dataset, each item, a column of weights, or groups of datasets.

A leaderboard's average is one of these. `macro:group,subject` is the mean over groups of the means over their subjects,
so that the columns are named from the outermost to the innermost, whose levels are the datasets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdsup.columns import Column, Labels
from holdsup.columns.crossing import cross
from holdsup.errors import ColumnError, ScoresError, list_names
from holdsup.numerics.layout import Floats
from holdsup.scores import Scores
from holdsup.verdict.evaluation import Evaluation

HOW = "macro (each dataset the same), micro (each item), weights:COL, or macro:GROUP,SUBJECT"


@dataclass(frozen=True, slots=True)
class Average:
    """How a mean over datasets is made."""

    kind: str  # macro, micro or weights
    columns: tuple[str, ...] = ()  # of macro, what is averaged, the outermost first; the column of the weights

    @classmethod
    def read(cls, text: object) -> Average:
        """Return an average from how it is asked for.

        >>> Average.read("macro:group,subject")
        Average(kind='macro', columns=('group', 'subject'))
        """
        kind, colon, rest = text.partition(":") if isinstance(text, str) else ("", "", "")
        columns = tuple(name.strip() for name in rest.split(",") if name.strip())
        right = kind == "weights" if len(columns) == 1 and kind != "macro" else kind in ("macro", "micro")
        if not right or bool(colon) != bool(columns) or (kind == "micro" and columns):
            raise ScoresError(f"average is {text!r}: it can be {HOW}")
        return cls(kind, columns)

    def name_dataset(self, roles: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `read_scores` with the innermost column as that of the datasets."""
        if self.kind != "macro" or not self.columns or roles.get("dataset") == self.columns[-1]:
            return dict(roles)
        if roles.get("dataset") is not None:
            raise ScoresError(
                f"--average macro:{','.join(self.columns)}: the last column holds the datasets, but --dataset names "
                f"{roles['dataset']!r}: leave one of them out"
            )
        return {**roles, "dataset": self.columns[-1]}

    def weigh(self, scores: Scores) -> Floats | None:
        """Return the weight of each dataset, by its code, where datasets weigh neither the same nor as their items."""
        if not self.columns or (self.kind == "macro" and len(self.columns) == 1):
            return None
        option = f"--average {self.kind}:{','.join(self.columns)}"
        if scores.dataset is None or cross(scores.dataset).count < 2:
            raise ScoresError(f"{option}: there is one dataset, or none, to average over: name them with --dataset")
        if scores.item is None:
            raise ScoresError(f"{option}: there is one score for each dataset and no items: name these with --item")
        if self.kind == "weights":
            return self._read_weights(scores, scores.dataset, option)
        weights = np.ones(scores.dataset.count)
        inner = np.arange(scores.dataset.count)  # what is averaged at each step, for each dataset
        for name in reversed(self.columns[:-1]):
            outer = _of_datasets(scores, scores.dataset, name, option)
            places = np.unique(np.stack([outer, inner]), axis=1)
            weights /= np.bincount(places[0], minlength=int(outer.max()) + 1)[outer]
            inner = outer
        return weights

    def _read_weights(self, scores: Scores, dataset: Labels, option: str) -> Floats:
        column = _find(scores, self.columns[0], option)
        if isinstance(column, Labels):
            raise ScoresError(f"{option}: weights must be numbers, but there is {list_names(column.names, most=3)}")
        codes = _of_datasets(scores, dataset, self.columns[0], option)
        weights = np.unique(column.values)[codes]
        if (weights < 0).any() or not weights.sum() > 0:
            worst = int(weights.argmin())
            raise ScoresError(
                f"{option}: a weight is 0 or more and some are larger, but dataset {dataset.names[worst]!r} has "
                f"{weights[worst]:g}: correct the column"
            )
        return np.asarray(weights)


def narrow_claim(evaluation: Evaluation, claim: str) -> str:
    """Return a claim that weights can carry: given for these datasets, they say nothing about others."""
    return "these-datasets" if evaluation.weights is not None and claim in ("new-runs", "new-settings") else claim


def _find(scores: Scores, name: str, option: str) -> Column:
    known: dict[str, Column] = {**scores.others, **scores.properties, **scores.facets}
    if name not in known and name in scores.roles.columns():
        raise ScoresError(f"{option}: column {name!r} holds the {scores.roles.columns()[name]}: name another")
    if name not in known:
        raise ColumnError.not_found(name, tuple(known), where=scores.source)
    return known[name]


def _of_datasets(scores: Scores, dataset: Labels, name: str, option: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the code of what each dataset has in a column; one that has nothing there, or two things, is refused."""
    column = _find(scores, name, option)
    if isinstance(column, Labels):
        codes = column.codes.astype(np.int64)
        shown = column.names
    else:
        values, codes = np.unique(column.values, return_inverse=True)
        codes = np.where(np.isfinite(column.values), codes, -1)
        shown = tuple(f"{value:g}" for value in values)
    found = np.full(dataset.count, -1)
    there = (codes >= 0) & (dataset.codes >= 0)
    found[dataset.codes[there]] = codes[there]
    lacking = np.flatnonzero(found < 0)
    if len(lacking):
        raise ScoresError(f"{option}: dataset {dataset.names[lacking[0]]!r} has no {name}: fill the column")
    astray = np.flatnonzero(there & (found[dataset.codes] != codes))
    if len(astray):
        own = dataset.codes[astray[0]]
        both = " and ".join(repr(shown[code]) for code in (codes[astray[0]], found[own]))
        raise ScoresError(
            f"{option}: {name} differs within dataset {dataset.names[own]!r} ({both}): it must be one for each dataset"
        )
    return found
