"""holdsup: does this result hold up?

Names are loaded when first used, so that ``import holdsup`` costs next to nothing. ``dir(holdsup)``
lists them all; docs/architecture.md shows where each lives.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdsup.data import simulate_scores as simulate_scores
    from holdsup.errors import (
        ColumnError as ColumnError,
        FitError as FitError,
        FormulaError as FormulaError,
        HoldsupError as HoldsupError,
        MeasurementError as MeasurementError,
        MissingExtra as MissingExtra,
        NotNested as NotNested,
        ReadError as ReadError,
        ResultError as ResultError,
        ScoresError as ScoresError,
    )
    from holdsup.fit import LmmFit as LmmFit, fit_lmm as fit_lmm
    from holdsup.measurements import Measurement as Measurement, read_measurements as read_measurements
    from holdsup.plots import plot as plot
    from holdsup.results import read_result as read_result
    from holdsup.scores import (
        Audit as Audit,
        Scores as Scores,
        audit_scores as audit_scores,
        read_scores as read_scores,
    )
    from holdsup.verdict import (
        Comparison as Comparison,
        Decomposition as Decomposition,
        Reproduction as Reproduction,
        assess_repeatability as assess_repeatability,
        assess_reproduction as assess_reproduction,
        compare_systems as compare_systems,
        decompose_variance as decompose_variance,
    )

__version__ = "0.1.0"

_HOME = {
    "Audit": "holdsup.scores",
    "Comparison": "holdsup.verdict",
    "ColumnError": "holdsup.errors",
    "Decomposition": "holdsup.verdict",
    "FitError": "holdsup.errors",
    "FormulaError": "holdsup.errors",
    "HoldsupError": "holdsup.errors",
    "LmmFit": "holdsup.fit",
    "Measurement": "holdsup.measurements",
    "MeasurementError": "holdsup.errors",
    "MissingExtra": "holdsup.errors",
    "NotNested": "holdsup.errors",
    "ReadError": "holdsup.errors",
    "Reproduction": "holdsup.verdict",
    "ResultError": "holdsup.errors",
    "Scores": "holdsup.scores",
    "ScoresError": "holdsup.errors",
    "assess_repeatability": "holdsup.verdict",
    "assess_reproduction": "holdsup.verdict",
    "audit_scores": "holdsup.scores",
    "compare_systems": "holdsup.verdict",
    "decompose_variance": "holdsup.verdict",
    "fit_lmm": "holdsup.fit",
    "plot": "holdsup.plots",
    "read_measurements": "holdsup.measurements",
    "read_result": "holdsup.results",
    "read_scores": "holdsup.scores",
    "simulate_scores": "holdsup.data",
}

__all__ = [*sorted(_HOME), "__version__"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'holdsup' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
