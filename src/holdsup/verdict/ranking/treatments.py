"""What is made of a nuisance column, and why."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.errors import ScoresError, list_names, shell_names
from holdsup.scores.roles import plain_name
from holdsup.verdict.ranking.records import Treatment
from holdsup.verdict.ranking.table import SPLITS, RunTable, is_named_setting

Floats = NDArray[np.float64]
TREATMENTS = ("fixed", "random", "numeric", "log")
FEW_VALUES = 5  # distinct numbers up to which the paper's form has indicators
MOST_LEVELS = 30  # distinct numbers up to which a column is one of settings, not of amounts
LEAST_ROWS = 2  # rows a level, on average: settings of a grid recur, those of a random search do not
DECADE = 10.0  # highest over lowest of positive numbers, from which a line is one in their logarithm


def treat_column(runs: RunTable, name: str, asked: str | None, repeated: bool, shared: bool) -> Treatment:
    """Return what is made of a nuisance column, and why."""
    labels, numbers = runs.factors[name], runs.numbers(name)
    if asked is not None and asked not in TREATMENTS:
        raise ScoresError(f"--treat {name}={asked}: a column can be treated as {', '.join(TREATMENTS)}")
    if asked in ("numeric", "log") and numbers is None:
        raise ScoresError(f"--treat {name}={asked}: {name!r} has {list_names(labels.names, most=3)}, not only numbers")
    if asked == "log" and numbers is not None and numbers.min() <= 0:
        raise ScoresError(
            f"--treat {name}=log: {name!r} has {numbers.min():g}, and only positive numbers have a logarithm"
        )
    lost = _lost(runs, name, None if repeated or asked in ("fixed", "random") else numbers)
    if lost:
        return Treatment(name=name, levels=labels.count, treated="left out", reference=None, why=lost)
    if asked is not None:
        treated, why = asked, "as asked"
    elif repeated or (shared and not is_named_setting(name)):
        treated, why = "random", "a repetition: its level names mean nothing" if repeated else "shared by systems"
    elif numbers is None or (labels.count <= MOST_LEVELS and can_be_levels(runs, name)):
        treated, why = "fixed", f"{labels.count} settings"
    elif is_wide(numbers):
        treated, why = "log", f"{labels.count} different numbers, from {numbers.min():g} to {numbers.max():g}"
    else:
        treated, why = "numeric", f"{labels.count} different numbers"
    reference = labels.names[0] if treated == "fixed" else None
    return Treatment(name=name, levels=labels.count, treated=treated, reference=reference, why=why)


def can_be_levels(runs: RunTable, name: str) -> bool:
    """Return whether numbers recur, and the rows can tell an effect of each."""
    return len(runs) >= LEAST_ROWS * runs.factors[name].count and are_linked(runs, name)


def are_linked(runs: RunTable, name: str) -> bool:
    """Return whether any two systems share a level of a column, or are linked by others that do.

    Where they are not, effects of its levels can't be separated from those of the systems.
    """
    labels = runs.factors[name]
    linked = np.zeros((runs.system.count, labels.count), bool)
    linked[runs.system.codes, labels.codes] = True
    reached = {0}
    for _ in range(runs.system.count):
        levels = linked[sorted(reached)].any(axis=0)
        reached = set(np.flatnonzero(linked[:, levels].any(axis=1)).tolist())
    return len(reached) == runs.system.count


def is_wide(numbers: Floats) -> bool:
    """Return whether positive numbers span a decade or more and lie more evenly in their logarithm, as rates do."""
    if numbers.min() <= 0 or numbers.max() < DECADE * numbers.min():
        return False
    return _lean(np.log10(numbers)) < _lean(numbers)


def _lean(numbers: Floats) -> float:
    """Return how far the median is from the middle of the range, as a share of the range."""
    return float(abs(np.median(numbers) - (numbers.min() + numbers.max()) / 2) / np.ptp(numbers))


def has_identity(name: str, *, repeated: bool, shared: bool) -> bool:
    """Return whether a level of a column is the same thing everywhere: a learning rate is, a seed or a fold is not."""
    return not repeated and plain_name(name) not in SPLITS and (not shared or is_named_setting(name))


def is_constant_in_cells(runs: RunTable, name: str) -> bool:
    """Return whether each system has one level of a column on each dataset, as where it was tuned there."""
    cells = cross(runs.system, runs.dataset)
    return cross(cells.codes, runs.factors[name]).count == cells.count


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
        told = "it is the same in all rows of a system, so its effect can't be separated from the system's"
        number = labels.count < runs.system.count and runs.numbers(name) is not None
        return f"{told}; --contribution {shell_names([name])} says what it adds" if number else told
    if goes_with(runs.dataset, labels):
        return "it is the same in all rows of a dataset, so its effect can't be separated from the dataset's"
    return ""


def treat_as_printed(runs: RunTable, name: str) -> str:
    """Return how the paper treats a column: seeds too are indicators, and numbers of which there are many amounts."""
    return "fixed" if runs.factors[name].count <= FEW_VALUES or runs.numbers(name) is None else "numeric"
