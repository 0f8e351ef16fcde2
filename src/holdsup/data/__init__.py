"""What ships with the package: simulators whose truth is known, published measurements, scores of trained systems."""

from holdsup.data.biomedical import (
    PublishedEffect,
    carmona2025,
    carmona2025_contributions,
    simulate_carmona2025,
)
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
    "PublishedEffect",
    "PublishedGroup",
    "PublishedPrecision",
    "belz2022",
    "belz2022_groups",
    "belz2022_table",
    "carmona2025",
    "carmona2025_contributions",
    "simulate_carmona2025",
    "simulate_scores",
    "text_classifiers",
]
