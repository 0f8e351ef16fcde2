"""What ships with the package: simulators whose truth is known, and published measurements."""

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
]
