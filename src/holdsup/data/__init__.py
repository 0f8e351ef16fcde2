"""What ships with the package: simulators whose truth is known, published measurements, scores of trained systems."""

from holdsup.data.biomedical import PublishedEffect, carmona2025, carmona2025_contributions, simulate_carmona2025
from holdsup.data.simulation import simulate_scores
from holdsup.data.tables import (
    PublishedGroup,
    PublishedPrecision,
    belz2022,
    belz2022_groups,
    belz2022_table,
    text_classifiers,
)

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
