"""How a number is written: the only place that rounds.

An estimate is rounded by its own uncertainty (two significant digits of it), as in physics: digits
beyond that say nothing. Everything is relative to the number at hand, so that scores in [0, 1] and
the same scores times 100 keep the same significant digits.
"""

from __future__ import annotations

import math

SIGNIFICANT = 4  # digits of a number whose uncertainty is not known
UNCERTAIN = 2  # digits of the uncertainty that are worth showing
SMALLEST_PLAIN, LARGEST_PLAIN = 1e-4, 1e9  # outside, scientific notation is shorter and clearer
DIGITS = 15  # that a double has
HUGE = 1e15  # from here on a double has no decimals: plain digits would say what it does not know
SMALLEST_P, LARGEST_P = 0.001, 0.99  # beyond, digits of a p-value are noise
NEGLIGIBLE = 1e-6  # of the half-width of an interval: an end so near to zero is shown as zero
MISSING = "-"


def format_count(count: int) -> str:
    """Return a count with thousands separated.

    >>> format_count(551520)
    '551,520'
    """
    return f"{count:,}"


def format_counted(count: int, noun: str) -> str:
    """Return a count and what is counted.

    >>> format_counted(1, "row"), format_counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{format_count(count)} {noun}{'' if count == 1 else 's'}"


def format_number(value: float | None, *, uncertainty: float | None = None) -> str:
    """Return `value` with the digits that its `uncertainty` (a standard error, say) leaves meaningful.

    >>> format_number(0.0123456, uncertainty=0.0021), format_number(1234.5678, uncertainty=3.2)
    ('0.0123', '1234.6')
    >>> format_number(3.1457e59, uncertainty=2e58), format_number(1e20, uncertainty=1.0)
    ('3.15e+59', '1.000000000000000e+20')
    >>> format_number(0.30000000000000004), format_number(2.5e-7), format_number(float("nan"))
    ('0.3', '2.5e-07', '-')
    """
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if uncertainty is None or not math.isfinite(uncertainty) or uncertainty <= 0:
        return _shortest(value)
    return _to_decimals(value, UNCERTAIN - 1 - _exponent(uncertainty))


def format_interval(low: float, high: float) -> str:
    """Return an interval whose ends carry two significant digits of its half-width.

    An end that is not zero has digits of its own where these would show it as zero: above zero or not is what
    readers look for.

    >>> format_interval(0.0081234, 0.0153456), format_interval(0.00312, 17.6)
    ('0.0081 to 0.0153', '0.0031 to 17.6')
    """
    half_width = (high - low) / 2
    ends = []
    for end in (low, high):
        text = format_number(end, uncertainty=half_width)
        hidden = NEGLIGIBLE * half_width < abs(end) < math.inf and not text.strip("0.")
        ends.append(format_number(end, uncertainty=abs(end)) if hidden else text)
    return f"{ends[0]} to {ends[1]}"


def format_p(p: float | None) -> str:
    """Return a p-value with the digits that anybody reads, and more of them where these would hide the side of .05.

    >>> [format_p(p) for p in (0.137, 0.0342, 0.0496, 0.00042, 0.99999)]
    ['.14', '.034', '.0496', '<.001', '>.99']
    """
    if p is None or math.isnan(p):
        return MISSING
    if p < SMALLEST_P:
        return f"<{SMALLEST_P:g}".replace("0.", ".")
    if p > LARGEST_P:
        return f">{LARGEST_P:g}".replace("0.", ".")
    decimals = 2 if p >= 0.095 else 4 if abs(p - 0.05) < 0.0005 else 3
    return f"{p:.{decimals}f}".removeprefix("0")


def say_p(p: float, *, at_most: bool = False) -> str:
    """Return a p-value in a sentence; `at_most` for the least that a simulation can give.

    >>> say_p(0.03), say_p(1.0), say_p(0.002, at_most=True)
    ('p = .030', 'p > .99', 'p ≤ .002')
    """
    shown = format_p(p)
    shown = f"≤{shown}" if at_most and shown[0] == "." else shown
    return f"p {shown[0]} {shown[1:]}" if shown[0] in "<>≤" else f"p = {shown}"


def say_level(level: float) -> str:
    """Return the coverage of intervals in a sentence.

    >>> say_level(0.95), say_level(0.57), say_level(0.9999)
    ('95%', '57%', '99.99%')
    """
    return f"{100 * level:.10g}%"


def format_percent(percent: float | None) -> str:
    """Return a percentage (0-100) with one decimal, and never a false 0 or 100.

    >>> format_percent(98.3635), format_percent(0.0018), format_percent(99.99), format_percent(0)
    ('98.4%', '<0.1%', '>99.9%', '0%')
    """
    if percent is None or math.isnan(percent):
        return MISSING
    if percent in (0, 100):
        return f"{percent:.0f}%"
    if 0 < percent < 0.05:
        return "<0.1%"
    if 99.95 <= percent < 100:
        return ">99.9%"
    return f"{percent:.1f}%"


def _exponent(value: float) -> int:
    """Return the decimal exponent of `value` after rounding to the digits shown (0.0996 -> -1)."""
    return int(f"{abs(value):.{UNCERTAIN - 1}e}".partition("e")[2])


def _to_decimals(value: float, decimals: int) -> str:
    if abs(value) >= HUGE:
        return f"{value:.{min(max(UNCERTAIN, decimals + _exponent(value)), DIGITS)}e}"
    if value != 0 and not SMALLEST_PLAIN <= abs(value) < LARGEST_PLAIN and decimals > 6:
        return f"{value:.{max(0, decimals + _exponent(value))}e}"
    text = f"{value:.{max(0, min(decimals, 17))}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _shortest(value: float) -> str:
    if value == int(value) and abs(value) < LARGEST_PLAIN:
        return f"{value:.0f}"
    if SMALLEST_PLAIN <= abs(value) < LARGEST_PLAIN:
        decimals = max(0, SIGNIFICANT - 1 - int(f"{abs(value):.{SIGNIFICANT - 1}e}".partition("e")[2]))
        text = f"{value:.{decimals}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, _, exponent = f"{value:.{SIGNIFICANT - 1}e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{exponent}"
