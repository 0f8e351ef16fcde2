"""The paper's 18 results, against which others are placed."""

from __future__ import annotations

import functools

from holdsup.data import belz2022
from holdsup.verdict.reproduction.groups import group_measurements

__all__ = ["reference_cvs"]


@functools.cache
def reference_cvs() -> tuple[float, ...]:
    """Return CV* of the paper's 18 objects and measurands, the smallest first, from its measurements."""
    groups, _, _ = group_measurements(belz2022())
    return tuple(sorted(group.precision(0.95).cv for group in groups))
