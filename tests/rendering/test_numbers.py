"""How numbers are written."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from holdsup.rendering.numbers import format_count, format_interval, format_number, format_p, format_percent

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12)


@pytest.mark.parametrize(
    ("value", "uncertainty", "text"),
    [
        (0.0123456, 0.0021, "0.0123"),
        (0.0123456, 0.0099, "0.0123"),
        (0.0123456, 0.00999, "0.012"),  # 0.00999 is 0.010 at two digits
        (12.3456, 0.21, "12.35"),
        (1234567.891, 3.2, "1234567.9"),
        (1234567.891, 320.0, "1234568"),
        (0.0, 0.01, "0.000"),
        (-0.0001, 0.01, "0.000"),  # no minus before a zero
        (3.21e-9, 1.2e-10, "3.21e-09"),
        (3.1457627e59, 5e59, "3.15e+59"),
        (-2.5e15, 1e13, "-2.500e+15"),
        (-2.5, 0.3, "-2.50"),
    ],
)
def test_an_estimate_is_rounded_by_its_uncertainty(value: float, uncertainty: float, text: str) -> None:
    assert format_number(value, uncertainty=uncertainty) == text


@given(st.integers(100, 9999), st.integers(10, 99), st.integers(0, 2))
def test_the_digits_do_not_depend_on_the_unit(value: int, error: int, decimals: int) -> None:
    """0.7512 +- 0.0012 and 75.12 +- 0.12 show the same digits."""
    unit, other = 10.0**-4, 10.0 ** -(4 - decimals)
    digits = [format_number(value * u, uncertainty=error * u).replace(".", "").lstrip("0") for u in (unit, other)]
    assert digits[0] == digits[1]


@given(finite)
def test_a_number_without_uncertainty_keeps_four_digits(value: float) -> None:
    assert float(format_number(value)) == pytest.approx(value, rel=6e-4, abs=1e-300)


@given(finite, st.floats(1e-9, 1e9))
def test_what_is_written_is_within_a_tenth_of_the_uncertainty(value: float, uncertainty: float) -> None:
    written = float(format_number(value, uncertainty=uncertainty))
    assert abs(written - value) <= max(0.051 * uncertainty, 0.5000001 if uncertainty >= 9 else 0, 1e-12 * abs(value))


@given(st.floats(0, 1))
def test_a_p_value_is_never_written_as_zero_or_one(p: float) -> None:
    text = format_p(p)
    assert text in ("<.001", ">.99") or 0.001 <= float(text) <= 0.99
    if text[0] == ".":
        assert (float(text) <= 0.05) == (p <= 0.05) or text == ".0500"  # its digits show on which side of .05 it is


def test_a_p_value_below_the_smallest_double_is_small() -> None:
    assert format_p(0.0) == "<.001"


@pytest.mark.parametrize("value", [None, math.nan])
def test_what_is_not_there_is_a_dash(value: float | None) -> None:
    assert {format_number(value), format_p(value), format_percent(value)} == {"-"}


def test_percentages_are_never_falsely_zero_or_a_hundred() -> None:
    assert [format_percent(x) for x in (0, 0.04, 0.05, 99.94, 99.96, 100)] == [
        "0%", "<0.1%", "0.1%", "99.9%", ">99.9%", "100%",
    ]  # fmt: skip


def test_counts_have_their_thousands_marked() -> None:
    assert format_count(1234567) == "1,234,567"


def test_an_interval_is_rounded_by_its_half_width() -> None:
    assert format_interval(-0.00123, 0.0456) == "-0.001 to 0.046"


def test_a_limit_above_zero_is_not_shown_as_zero() -> None:
    assert format_interval(0.0004, 12.0) == "0.00040 to 12.0"
    assert format_interval(-12.0, -0.0004) == "-12.0 to -0.00040"
    assert format_interval(0.0, 12.0) == "0.0 to 12.0"
    assert format_interval(1e-12, 12.0) == "0.0 to 12.0"  # what an optimizer leaves of a zero
