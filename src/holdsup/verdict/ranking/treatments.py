"""What is made of a nuisance column, and why."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.errors import ScoresError, list_names, quote_names
from holdsup.verdict.ranking.table import RunTable
from holdsup.verdict.ranking.term_records import Treatment

__all__ = ["goes_with", "treat_as_printed", "treat_column"]

Floats = NDArray[np.float64]
TREATMENTS = ("fixed", "random", "numeric")
FEW_VALUES = 5  # distinct numbers up to which a column is one of settings, not of amounts


def treat_column(runs: RunTable, name: str, asked: str | None, repeated: bool, shared: bool) -> Treatment:
    """Return what is made of a nuisance column, and why."""
    labels, numbers = runs.factors[name], runs.numbers(name)
    if asked is not None and asked not in TREATMENTS:
        raise ScoresError(f"--treat {name}={asked}: a column can be treated as {', '.join(TREATMENTS)}")
    if asked == "numeric" and numbers is None:
        raise ScoresError(f"--treat {name}=numeric: {name!r} has {list_names(labels.names, most=3)}, not only numbers")
    lost = _lost(runs, name, None if repeated or asked in ("fixed", "random") else numbers)
    if lost:
        return Treatment(name=name, levels=labels.count, treated="left out", reference=None, why=lost)
    if asked is not None:
        treated, why = asked, "as asked"
    elif repeated or shared:
        treated, why = "random", "a repetition: its levels have no identity" if repeated else "shared by systems"
    elif numbers is not None and labels.count > FEW_VALUES:
        treated, why = "numeric", f"{labels.count} different numbers"
    else:
        treated, why = "fixed", f"{labels.count} settings"
    reference = labels.names[0] if treated == "fixed" else None
    return Treatment(name=name, levels=labels.count, treated=treated, reference=reference, why=why)


def goes_with(owner: Labels, labels: Labels) -> bool:
    """Return whether a column is the same in all rows of each system, or of each dataset."""
    return cross(owner, labels).count == owner.count


def _lost(runs: RunTable, name: str, numbers: Floats | None) -> str:
    """Return why nothing can be learnt about a nuisance column, "" if something can.

    Numbers that differ in every row may be amounts, as in a random search; those that count the rows are not.
    """
    labels = runs.factors[name]
    if labels.count < 2:
        return f"it is {labels.names[0]} in every row"
    if labels.count == len(runs) and (
        numbers is None or np.array_equal(np.sort(numbers) - numbers.min(), range(len(runs)))
    ):
        return "it has a level of its own in every row"
    if goes_with(runs.system, labels):
        told = "it is the same in all rows of a system, so that its effect cannot be told from the system's"
        number = labels.count < runs.system.count and runs.numbers(name) is not None
        return f"{told}; --contribution {quote_names([name])} says what it adds" if number else told
    if goes_with(runs.dataset, labels):
        return "it is the same in all rows of a dataset, so that its effect cannot be told from the dataset's"
    return ""


def treat_as_printed(runs: RunTable, name: str) -> str:
    """Return how the paper treats a column: seeds too are indicators, and amounts are numbers."""
    return "fixed" if runs.factors[name].count <= FEW_VALUES or runs.numbers(name) is None else "numeric"
