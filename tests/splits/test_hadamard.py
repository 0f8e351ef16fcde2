"""Hadamard matrices: their definition, and the orders that are reached."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from holdsup.splits.hadamard import choose_order, make_hadamard

# Orders 4 to 200 that need constructions beyond doubling and Paley's for primes.
OUT_OF_REACH = [52, 92, 100, 116, 156, 172, 184, 188]


@pytest.mark.parametrize("m", range(1, 200))
def test_columns_are_signs_and_orthogonal_and_the_first_is_all_ones(m: int) -> None:
    signs = make_hadamard(choose_order(m))
    h = len(signs)
    assert h > m
    assert np.array_equal(np.unique(signs), [-1, 1])
    assert np.array_equal(signs.T @ signs, h * np.eye(h))
    assert (signs[:, 0] == 1).all()


def test_orders_are_the_smallest_multiples_of_four_but_for_those_out_of_reach() -> None:
    reached = {choose_order(m) for m in range(2, 200)}
    assert sorted(set(range(4, 201, 4)) - reached) == OUT_OF_REACH
    assert choose_order(1) == 2


def test_an_order_out_of_reach_is_replaced_by_the_next() -> None:
    assert [choose_order(m) for m in (47, 48, 51, 91)] == [48, 56, 56, 96]


def test_powers_of_two_are_equivalent_to_those_of_scipy() -> None:
    # Equivalent matrices have the same absolute determinant, the largest that signs can have: h^(h/2) (Hadamard 1893).
    for h in (2, 4, 8, 16):
        determinants = [abs(np.linalg.det(matrix)) for matrix in (make_hadamard(h), scipy.linalg.hadamard(h))]
        assert determinants == pytest.approx([h ** (h / 2)] * 2)
