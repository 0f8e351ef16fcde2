"""Loops that numba compiles, if it is installed (the `numba` extra); plain NumPy does the same without it.

Compiled code is cached on disk, so compiling is paid once; importing numba takes some tenths of a
second in every process, so that callers ask for a compiled loop only where it saves more than that.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.layout import Floats, Ints

Places = NDArray[np.uint32]


@cache
def available() -> bool:
    """Return whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


@cache
def compile_loops(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of arrays compiled by numba, from its cache where it was.

    Sums may be added up in another order, so that they use the processor's vectors.
    """
    import numba

    return numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})(function)


def sum_cells(place: Ints, left: Floats, right: Floats, count: int) -> Floats:
    """Return the sum over the rows of each cell of the product of two columns, each of shape (n,)."""
    return np.asarray(compile_loops(_sum_cells)(place, left, right, count))


def _sum_cells(place, left, right, count):  # type: ignore[no-untyped-def]
    sums = np.zeros(count)
    for i in range(len(place)):
        sums[place[i]] += left[i] * right[i]
    return sums


def add_rows(
    level: Places, combination: Places, values: Floats, response: Floats, weights: Floats, first: Floats, held: Places,
    pointers: Places, places: Places, products: Places, A: Floats, B: Floats,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Add each row to A_j and b_j of its level, and return the sums of w v_a v_b and of w v_a y by combination.

    The products v_a are 1 and then `values`; row r of `first` says which columns of Z1 combination r picks, `held`
    which product they hold; `places` and `products` from pointers[r] to pointers[r + 1] are the columns of M.
    """
    pairs, responses = compile_loops(_add_rows)(
        level, combination, values, response, weights, first, held, pointers, places, products, A, B
    )
    return np.asarray(pairs), np.asarray(responses)


def _add_rows(  # type: ignore[no-untyped-def]
    level, combination, values, response, weights, first, held, pointers, places, products, A, B
):
    v = np.ones(values.shape[1] + 1)
    pairs, responses = np.zeros((len(first), len(v), len(v))), np.zeros((len(first), len(v)))
    last = B.shape[2] - 1
    for i in range(len(level)):
        j, r, y = level[i], combination[i], response[i]
        w = weights[i] if len(weights) else 1.0
        for a in range(1, len(v)):
            v[a] = values[i, a - 1]
        for a in range(len(v)):
            weighed = w * v[a]
            for b in range(a + 1):
                pairs[r, a, b] += weighed * v[b]
            responses[r, a] += weighed * y
        for k in range(len(held)):
            z, row = w * first[r, k] * v[held[k]], B[j, k]
            for h in range(len(held)):
                A[j, k, h] += z * first[r, h] * v[held[h]]
            for t in range(pointers[r], pointers[r + 1]):
                row[places[t]] += z * v[products[t]]
            row[last] += z * y
    return pairs, responses


def scatter_pairs(m: int, weights: Floats, indptr: Ints, indices: Ints, data: Floats) -> Floats:
    """Return the sum over sparse rows j of weight_j b_j b_j', shape (m, m)."""
    return np.asarray(compile_loops(_scatter_pairs)(m, weights, indptr, indices, data))


def _scatter_pairs(m, weights, indptr, indices, data):  # type: ignore[no-untyped-def]
    S = np.zeros((m, m))
    for j in range(len(weights)):
        for a in range(indptr[j], indptr[j + 1]):
            scaled = weights[j] * data[a]
            row = indices[a]
            for b in range(indptr[j], a + 1):
                S[row, indices[b]] += scaled * data[b]
    for i in range(m):
        for k in range(i):
            S[k, i] = S[i, k]
    return S


def gather_pairs(slope: Floats, indptr: Ints, indices: Ints, data: Floats) -> Floats:
    """Return b_j' slope b_j of every sparse row j, for a symmetric slope."""
    return np.asarray(compile_loops(_gather_pairs)(slope, indptr, indices, data))


def _gather_pairs(slope, indptr, indices, data):  # type: ignore[no-untyped-def]
    found = np.zeros(len(indptr) - 1)
    for j in range(len(found)):
        total = 0.0
        for a in range(indptr[j], indptr[j + 1]):
            row = indices[a]
            part = 0.0
            for b in range(indptr[j], a):
                part += data[b] * slope[row, indices[b]]
            total += data[a] * (2 * part + data[a] * slope[row, row])
        found[j] = total
    return found
