"""What ships with the package: simulators whose truth is known, published measurements, scores of trained systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.lazy import load_lazily

if TYPE_CHECKING:
    from holdsup.data.biomedical import (
        PublishedEffect as PublishedEffect,
        carmona2025 as carmona2025,
        carmona2025_contributions as carmona2025_contributions,
        simulate_carmona2025 as simulate_carmona2025,
    )
    from holdsup.data.simulation import simulate_scores as simulate_scores
    from holdsup.data.tables import (
        PublishedGroup as PublishedGroup,
        PublishedPrecision as PublishedPrecision,
        belz2022 as belz2022,
        belz2022_groups as belz2022_groups,
        belz2022_table as belz2022_table,
        text_classifiers as text_classifiers,
    )

__all__, __getattr__ = load_lazily(
    __name__,
    {
        "biomedical": "PublishedEffect carmona2025 carmona2025_contributions simulate_carmona2025",
        "simulation": "simulate_scores",
        "tables": "PublishedGroup PublishedPrecision belz2022 belz2022_groups belz2022_table text_classifiers",
    },
)
