"""Candidates that are one setting, written twice: they count as one candidate.

Candidates that merely tie stay candidates: what makes two of them one are their parameters.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["find_repeated", "identify_settings"]


def identify_settings(params: Mapping[str, Any], *, typed: bool = True) -> Hashable:
    """Return what two candidates have in common if they are the same; unless `typed`, 1 and 1.0 are.

    >>> identify_settings({"C": 1}) == identify_settings({"C": 1.0})
    False
    >>> identify_settings({"C": 1}, typed=False) == identify_settings({"C": 1.0}, typed=False)
    True
    """
    return frozenset((name, _identify(value, typed)) for name, value in params.items())


def find_repeated(candidates: Sequence[Mapping[str, Any]], scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return for each candidate the one that it repeats, itself if none; scores have shape (partitions, candidates).

    Equal parameters make one candidate, and so do numbers that differ in type alone (1 and 1.0) if scores are the same:
    to some estimators 1 is one item, and 1.0 all of them. Of several, the first that was run most often stays.
    """
    run = np.isfinite(scores)
    repeated = np.arange(len(candidates))
    kept: dict[Hashable, list[int]] = {}
    for c in np.argsort(-run.sum(axis=0), kind="stable").tolist():
        others = kept.setdefault(identify_settings(candidates[c], typed=False), [])
        for other in others:
            both = run[:, c] & run[:, other]
            same_scores = both.any() and bool((scores[both, c] == scores[both, other]).all())
            if same_scores or identify_settings(candidates[c]) == identify_settings(candidates[other]):
                repeated[c] = other
                break
        else:
            others.append(c)
    return repeated


def _identify(value: Any, typed: bool) -> Hashable:
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if value is None or isinstance(value, str | bool):
        return type(value), value
    if isinstance(value, int | float):
        return type(value) if typed else float, "nan" if value != value else value
    if isinstance(value, list | tuple):
        return type(value), *(_identify(each, typed) for each in value)
    if hasattr(value, "get_params") and not isinstance(value, type):
        return type(value), identify_settings(value.get_params(deep=False), typed=typed)
    return object, id(value)  # a function, say, of which nothing tells what it does
