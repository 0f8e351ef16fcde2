"""Hadamard matrices: square, of signs, any two columns orthogonal.

Orders come from Sylvester's doubling, Paley's two constructions for primes, and products of these: every
multiple of 4 up to 200 but 52, 92, 100, 116, 156, 172, 184, 188. Where an order is out of reach the next one serves
as well, since any order above m gives m balanced columns; a power of two is always near.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

Signs = NDArray[np.int64]

# The columns of order 4 after the first are the repetitions of Xue et al., Table 1: + stands in fold 1.
TABLE_1 = ((1, 1, -1, 1), (1, 1, 1, -1), (1, -1, -1, -1), (1, -1, 1, 1))


def choose_order(m: int) -> int:
    """Return the smallest order above `m` of a Hadamard matrix that can be made here.

    >>> [choose_order(m) for m in (1, 2, 3, 4, 8, 12, 16, 48)]
    [2, 4, 4, 8, 12, 16, 20, 56]
    """
    order = 2 if m < 2 else 4 * (m // 4 + 1)
    while _find_maker(order) is None:
        order += 4
    return order


@cache
def make_hadamard(order: int) -> Signs:
    """Return the matrix of an order that `choose_order` gives; its first column is all ones.

    >>> make_hadamard(4)[:, 1:].T  # the paper's Table 1, a repetition a line
    array([[ 1,  1, -1, -1],
           [-1,  1, -1,  1],
           [ 1, -1, -1,  1]])
    """
    make = _find_maker(order)
    assert make is not None  # the order is one that can be made
    signs = make()
    normal: Signs = signs * signs[:, :1]  # a row may change its sign: the first column becomes all ones
    normal.flags.writeable = False
    return normal


@cache
def _find_maker(order: int) -> Callable[[], Signs] | None:
    """Return what makes a matrix of an order, None where that is out of reach."""
    if order == 2:
        return lambda: np.array([[1, 1], [1, -1]])
    if order == 4:
        return lambda: np.array(TABLE_1)
    if order % 4:
        return None
    if _is_prime(order - 1):
        return partial(_paley_one, order - 1)
    if (order // 2 - 1) % 4 == 1 and _is_prime(order // 2 - 1):
        return partial(_paley_two, order // 2 - 1)
    for factor in range(2, order // 2 + 1):
        if order % factor == 0 and _find_maker(factor) and _find_maker(order // factor):
            return lambda: np.kron(make_hadamard(factor), make_hadamard(order // factor))
    return None


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def _jacobsthal(q: int) -> Signs:
    """Return Q with Q[i, j] = 1 where i - j is a square modulo the prime q, -1 where it is none, 0 on the diagonal."""
    character = np.full(q, -1)
    character[np.arange(1, q) ** 2 % q] = 1
    character[0] = 0
    differences: Signs = np.subtract.outer(np.arange(q), np.arange(q)) % q
    return character[differences]


def _paley_one(q: int) -> Signs:
    """Return the matrix of order q + 1, q a prime = 3 mod 4 (Paley 1933): I + S with S skew."""
    skew = np.zeros((q + 1, q + 1), np.int64)
    skew[0, 1:], skew[1:, 0], skew[1:, 1:] = 1, -1, _jacobsthal(q)
    return np.eye(q + 1, dtype=np.int64) + skew


def _paley_two(q: int) -> Signs:
    """Return the matrix of order 2(q + 1), q a prime = 1 mod 4 (Paley 1933)."""
    conference = np.zeros((q + 1, q + 1), np.int64)
    conference[0, 1:], conference[1:, 0], conference[1:, 1:] = 1, 1, _jacobsthal(q)
    return np.kron(conference, [[1, 1], [1, -1]]) + np.kron(np.eye(q + 1, dtype=np.int64), [[1, -1], [-1, -1]])
