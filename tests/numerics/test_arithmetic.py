"""Roots of functions of one number, against SciPy's and where they are known."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st
from scipy import optimize, special

from holdsup.numerics.arithmetic import find_root

CASES: dict[str, tuple[Callable[[float], float], float, float]] = {
    "smooth": (lambda x: x**3 - 2 * x - 5, 2.0, 3.0),
    "steep": (lambda x: math.expm1(50 * x) - 1, -1.0, 1.0),
    "jump": (lambda x: 1.0 if x > 0.3 else -1.0, 0.0, 1.0),
    "far": (lambda x: math.log(x) - 20, 1.0, 1e12),
    "tail": (lambda x: float(special.ndtr(-x)) - 1e-12, 0.0, 40.0),
    "end": (lambda x: x, 0.0, 1.0),
}


@pytest.mark.parametrize("case", CASES)
def test_roots_are_where_brent_finds_them_in_as_many_looks(case: str) -> None:
    function, low, high = CASES[case]
    looks = 0

    def counted(x: float) -> float:
        nonlocal looks
        looks += 1
        return function(x)

    theirs, report = optimize.brentq(function, low, high, xtol=1e-12, full_output=True)
    assert find_root(counted, low, high, xtol=1e-12) == pytest.approx(theirs, rel=1e-12, abs=3e-12)
    assert looks <= 2 * report.function_calls + 10
    assert find_root(function, high, low, xtol=1e-12) == pytest.approx(theirs, rel=1e-12, abs=3e-12)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_any_crossing_of_a_line_is_found(root: float, below: float, above: float) -> None:
    assert find_root(lambda x: x - root, root - below, root + above) == pytest.approx(root, rel=1e-14, abs=1e-11)


@pytest.mark.parametrize("function", [lambda x: x * x + 1, lambda x: math.nan])
def test_where_no_crossing_is_known_there_is_an_error(function: Callable[[float], float]) -> None:
    with pytest.raises(ValueError, match="no root between -1 and 2"):
        find_root(function, -1.0, 2.0)
