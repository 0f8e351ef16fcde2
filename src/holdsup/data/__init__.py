"""What ships with the package: simulators whose truth is known, published measurements, scores of trained systems."""

from holdsup.data.grids import text_classifiers
from holdsup.data.reproductions import (
    PublishedGroup,
    PublishedPrecision,
    belz2022,
    belz2022_groups,
    belz2022_table,
)
from holdsup.data.simulation import simulate_scores

__all__ = [
    "PublishedGroup",
    "PublishedPrecision",
    "belz2022",
    "belz2022_groups",
    "belz2022_table",
    "simulate_scores",
    "text_classifiers",
]
