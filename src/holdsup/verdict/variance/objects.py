"""What is measured: the items, and the clusters and datasets that they lie in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from holdsup.columns.crossing import cross
from holdsup.scores import Scores

__all__ = ["cross_datasets", "find_objects", "tell_as_many"]

Codes = NDArray[np.int64]


def find_objects(scores: Scores, mine: NDArray[np.bool_]) -> dict[str, Codes]:
    """Return the item, the cluster and the dataset of each row of `mine`, items first; nothing if runs have one score.

    Items are those of all systems. Without items, datasets are; clusters and items belong to their dataset.
    """
    datasets = scores.dataset if scores.dataset is not None and scores.dataset.count > 1 else None
    if scores.items is not None:
        found = {"item": scores.items.codes[mine]}
    elif datasets is not None:
        found = {"dataset": datasets.codes[mine].astype(np.int64)}
    else:
        return {}
    if scores.cluster is not None:
        found["cluster"] = cross(*(labels for labels in (datasets, scores.cluster) if labels is not None)).codes[mine]
    if datasets is not None and "item" in found:
        found["dataset"] = datasets.codes[mine].astype(np.int64)
    return found


def cross_datasets(
    objects: Mapping[str, Codes], facets: Mapping[str, Codes], interactions: Sequence[str]
) -> tuple[str, ...]:
    """Return the interactions, with that of datasets and runs if there are items in several datasets.

    A run's training may turn out well for one dataset and not for another; without a variance of its own that would
    count once for every item.
    """
    varied = [name for name, codes in facets.items() if np.ptp(codes) > 0]
    parts = {"dataset", *varied}
    asked = [{part.strip() for part in name.split(":")} for name in interactions]
    if not {"item", "dataset"} <= set(objects) or not varied or np.ptp(objects["dataset"]) == 0 or parts in asked:
        return tuple(interactions)
    return (*interactions, ":".join(["dataset", *varied]))


def tell_as_many(groups: Codes, items: Codes) -> float:
    """Return how many groups of equal size tell as much of the mean over the items, 1 / (sum of squared shares).

    >>> tell_as_many(np.array([0, 0, 1, 1, 1, 1]), np.array([0, 1, 2, 3, 4, 5]))
    1.8
    """
    sizes = np.bincount(cross(groups[cross(items).first]).codes).astype(float)
    return float(sizes.sum() ** 2 / (sizes @ sizes))
