"""The variance of a mean over items that come in clusters.

Clusters are drawn, items come with them, and the estimand stays the mean over items: large clusters
weigh more. The variance is the jackknife's over clusters, which for clusters of one size n is exactly
s^2 / C of the cluster means, and for single items s^2 / I.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.layout import Floats

__all__ = ["Clusters", "find_clusters"]


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Which items belong together.

    Attributes
    ----------
    order : items sorted by cluster; None where every item is its own
    starts : where each cluster starts in `order`
    sizes : number of items of each cluster, shape (C,)
    df : degrees of freedom of the variance
    """

    order: NDArray[np.intp] | None
    starts: NDArray[np.intp]
    sizes: Floats
    df: float

    def variance_of_mean(self, values: Floats) -> Floats:
        """Return the variance of the mean of `values`, shape (..., I)."""
        count = values.shape[-1]
        if self.order is None:
            return np.asarray(values.var(-1, ddof=1) / count)
        centred = (values - values.mean(-1, keepdims=True))[..., self.order]
        # Without cluster c the mean moves by totals_c / (I - n_c).
        moves = np.add.reduceat(centred, self.starts, axis=-1) / (count - self.sizes)
        return np.asarray((1 - 1 / len(self.sizes)) * (moves**2).sum(-1))


def find_clusters(codes: NDArray[np.integer] | None, count: int) -> Clusters:
    """Return the clusters of `count` items from a code per item; None makes each item its own."""
    if codes is None:
        return Clusters(None, np.arange(count), np.ones(count), count - 1.0)
    if np.shape(codes) != (count,):
        raise ValueError(f"a cluster is needed for each of {count} items, but there are {np.size(codes)} codes.")
    order = np.argsort(codes, kind="stable")
    _, starts, sizes = np.unique(np.asarray(codes)[order], return_index=True, return_counts=True)
    if len(sizes) == count:
        return find_clusters(None, count)
    if len(sizes) < 2:
        raise ValueError("all items are in one cluster: how much clusters differ is not measured.")
    return Clusters(order, starts, sizes.astype(float), _degrees(sizes / count))


def _degrees(share: Floats) -> float:
    """Return Satterthwaite's degrees of freedom, (tr A)^2 / tr(A^2), of the jackknife variance u'Au.

    u are cluster means of equal variance, as when clusters differ and items hardly do (with independent
    items the degrees would be more); A = M'DM, M = I - 1 share', D = diag(d). With S = MM', S_ij =
    delta_ij - p_i - p_j + q, both traces are sums over d, p and q. Bell & McCaffrey (2002).
    """
    p, q = share, float(share @ share)
    d = (p / (1 - p)) ** 2
    d0, d1, d2 = float(d.sum()), float(d @ p), float(d @ p**2)
    trace = d0 * (1 + q) - 2 * d1
    square = (
        float(d**2 @ (1 + 2 * (q - 2 * p))) + q**2 * d0**2 + 2 * d0 * d2 - 4 * q * d0 * d1 + 2 * d1**2
    )  # sum over i, j of d_i d_j S_ij^2
    return trace**2 / square
