"""How a number is written: the only place that rounds.

An estimate is rounded by its own uncertainty (two significant digits of it), as in physics: digits
beyond that say nothing. Everything is relative to the number at hand, so that scores in [0, 1] and
the same scores times 100 keep the same significant digits.
"""

from __future__ import annotations

import math

__all__ = ["format_count", "format_counted", "format_interval", "format_number", "format_p", "format_percent"]

SIGNIFICANT = 4  # digits of a number whose uncertainty is not known
UNCERTAIN = 2  # digits of the uncertainty that are worth showing
SMALLEST_PLAIN, LARGEST_PLAIN = 1e-4, 1e9  # outside, scientific notation is shorter and clearer
DIGITS = 15  # that a double has
HUGE = 1e15  # from here on a double has no decimals: plain digits would say what it does not know
SMALLEST_P = 1e-300  # below, a double has lost digits: a p without its logarithm is only bounded
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
    ('[0.0081, 0.0153]', '[0.0031, 17.6]')
    """
    half_width = (high - low) / 2
    ends = []
    for end in (low, high):
        text = format_number(end, uncertainty=half_width)
        hidden = NEGLIGIBLE * half_width < abs(end) < math.inf and not text.strip("0.")
        ends.append(format_number(end, uncertainty=abs(end)) if hidden else text)
    return f"[{ends[0]}, {ends[1]}]"


def format_p(p: float | None, log10_p: float | None = None) -> str:
    """Return a p-value that is never "0.000": very small ones are written from their logarithm.

    >>> format_p(0.0342), format_p(0.99999), format_p(3.21e-5), format_p(0.0, -327.4)
    ('0.034', '>0.999', '3.2e-05', '4.0e-328')
    """
    if p is None or math.isnan(p):
        return MISSING
    if p >= 0.9995:
        return ">0.999"
    if p >= 0.001:
        return f"{p:.3f}"
    if p > SMALLEST_P:
        return f"{p:.1e}"
    if log10_p is None or not math.isfinite(log10_p):
        return f"<{SMALLEST_P:.0e}"
    exponent = math.floor(log10_p)
    mantissa = f"{10 ** (log10_p - exponent):.1f}"
    if mantissa == "10.0":  # 9.97 rounds up to the next power of ten
        mantissa, exponent = "1.0", exponent + 1
    return f"{mantissa}e{exponent}"


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
