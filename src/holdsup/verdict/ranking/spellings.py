"""Labels that are numbers: 3e-5 and 0.00003 are one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.values import parse_number

__all__ = ["find_spellings", "join_spellings", "parse_labels"]

Floats = NDArray[np.float64]


def find_spellings(labels: Labels) -> list[list[str]]:
    """Return the numbers that are written in several ways, each with its spellings; none where a label is no number."""
    parsed = parse_labels(labels)
    if parsed is None:
        return []
    alike = [[name for name, number in zip(labels.names, parsed, strict=True) if number == value]
             for value in np.unique(parsed)]  # fmt: skip
    return [names for names in alike if len(names) > 1]


def join_spellings(labels: Labels, parsed: Floats) -> tuple[Labels, Floats]:
    """Return labels in which 3e-5 and 0.00003 are one level, called as most rows call it."""
    values, place = np.unique(parsed, return_inverse=True)
    if len(values) == len(parsed):
        return labels, parsed
    sizes = np.bincount(labels.codes, minlength=labels.count)
    groups = [np.flatnonzero(place == i) for i in range(len(values))]
    names = [max((int(sizes[i]), -len(labels.names[i]), labels.names[i]) for i in group)[2] for group in groups]
    joined = Labels.of(place[labels.codes], names)
    return joined, np.array([values[names.index(name)] for name in joined.names])


def parse_labels(labels: Labels) -> Floats | None:
    """Return the number that each label is, None if one is none."""
    parsed = [parse_number(name) for name in labels.names]
    if any(number is None or not np.isfinite(number) for number in parsed):
        return None
    return np.array(parsed, dtype=float)
