"""Several tests at once: p-values adjusted so that the chance of any false positive stays what it was."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10

__all__ = ["adjust_holm"]


def adjust_holm(log10_p: Sequence[float]) -> list[float]:
    """Return Holm's step-down adjustment (Holm 1979), on decimal logarithms, in the order given.

    >>> [round(10**q, 3) for q in adjust_holm([-2.0, -1.0, -1.698970004])]
    [0.03, 0.1, 0.04]
    """
    order = sorted(range(len(log10_p)), key=lambda i: log10_p[i])
    adjusted, highest = [0.0] * len(log10_p), float("-inf")
    for rank, i in enumerate(order):
        highest = max(highest, min(0.0, log10_p[i] + log10(len(log10_p) - rank)))
        adjusted[i] = highest
    return adjusted
