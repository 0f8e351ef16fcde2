"""One error tree. Every message says what was asked, what was found and what to do.

HoldsupError
├── ReadError         a file or stream that cannot be read as a table
├── ColumnError       a column that is not there, or not of the kind its role needs
├── ScoresError       a table that was read, but is no usable table of scores
├── MeasurementError  measurements that were read, but cannot be used
├── FormulaError      a formula that cannot be read, or not with these columns
├── FitError          a model that cannot be fitted, or a question that a fit cannot answer
│   └── NotNested     two fits that cannot be compared
├── MetricError       a metric that is not there, or targets and predictions that it cannot count
├── SplitError        a corpus that cannot be split as asked
├── SpecError         a spec that cannot be read, or asks for what is not there
├── TaskError         a system that gave no usable predictions
├── StoreError        a store that cannot be opened, read or written
├── RunError          a run that cannot go on: its executor or its workers are gone
├── TuningError       a search over hyper-parameters that cannot be made; a ValueError too, as scikit-learn expects
├── ResultError       a saved result that cannot be restored
└── MissingExtra      an optional dependency that is not installed
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from difflib import get_close_matches


class HoldsupError(Exception):
    """Anything holdsup refuses; catch this to catch them all."""


class ReadError(HoldsupError):
    """A file or stream cannot be read as a table."""


class ColumnError(HoldsupError):
    """A column is not there, or is not of the kind that its role needs."""

    @classmethod
    def not_found(cls, asked: str, columns: Iterable[str], *, where: str) -> ColumnError:
        """Return the error for a column that `where` does not have, with the nearest name that it has."""
        names = list(columns)
        hint = hint_at(asked, names)
        if whole := next((name for name in names if asked in (part.strip() for part in name.split(",")[:-1])), None):
            hint = f" In a list of names, one that holds commas is quoted: {quote_names([whole])}"
        return cls(f"no column {asked!r} in {where}; it has {list_names(names)}.{hint}")


class ScoresError(HoldsupError):
    """The table was read, but cannot be used as a table of scores."""


class MeasurementError(HoldsupError):
    """Measurements were read, but one of them, or some of them together, cannot be used."""


class FormulaError(HoldsupError):
    """A formula cannot be read, or asks for what the table does not hold."""

    @classmethod
    def at(cls, formula: str, place: int, message: str) -> FormulaError:
        """Return the error that points at a character of the formula, counted from 1."""
        before, after = formula[max(0, place - 30) : place], formula[place : place + 30]
        return cls(f"{message}, at character {place + 1} of the formula: {before}»{after}")


class FitError(HoldsupError):
    """A model cannot be fitted, or a fit cannot answer."""


class Separation(FitError):
    """An estimate runs to infinity: outcomes that are always right, or always wrong."""


class NotNested(FitError):
    """Two fits cannot be compared: other rows, another response, or neither contains the other."""


class MetricError(HoldsupError):
    """A metric is not there, or cannot count these targets and predictions."""


class SplitError(HoldsupError):
    """A corpus cannot be split as asked."""


class SpecError(HoldsupError):
    """A spec cannot be read, or asks for what is not there."""


class TaskError(HoldsupError):
    """A system gave no usable predictions."""


class StoreError(HoldsupError):
    """A store cannot be opened, read or written."""


class RunError(HoldsupError):
    """A run cannot go on: its executor or its workers are gone."""


class TuningError(HoldsupError, ValueError):
    """A search over hyper-parameters cannot be made; scikit-learn's contract asks for a ValueError."""


class ResultError(HoldsupError):
    """A saved result cannot be restored."""


class MissingExtra(HoldsupError):
    """An optional dependency is not installed."""

    @classmethod
    def named(cls, package: str, *, purpose: str) -> MissingExtra:
        """Return the error that names the extra to install."""
        return cls(f"{purpose} needs {package}, which is not installed: pip install 'holdsup[{package}]'")


def hint_at(asked: str, known: Iterable[str]) -> str:
    """Return what ends an error about an unknown name: the nearest that there is, if one is near.

    >>> hint_at("Sedd", ["seed", "item"]), hint_at("x", ["seed"])
    (" Did you mean 'seed'?", '')
    """
    names = {name.lower(): name for name in known}
    near = get_close_matches(asked.lower(), names, n=1)
    return f" Did you mean {names[near[0]]!r}?" if near else ""


def quote_text(text: str, *, most: int = 40) -> str:
    """Return text for a message: its first line, quoted, with a mark where it is cut.

    >>> quote_text("84.5 or so", most=4)
    "'84.5…'"
    """
    first = text.split("\n", 1)[0]
    return repr(text if len(text) <= most and first == text else f"{first[:most]}…")


def list_names(names: Iterable[str], *, most: int = 12) -> str:
    """Return names for a message: quoted, comma-separated, the tail counted.

    >>> list_names(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    quoted = [repr(name) for name in names]
    if not quoted:
        return "none"
    if len(quoted) > most:
        return f"{', '.join(quoted[:most])} and {len(quoted) - most} more"
    return ", ".join(quoted)


def quote_names(names: Iterable[str]) -> str:
    """Return names as the options of the command line take a list: those that need it are quoted, as in CSV.

    >>> quote_names(["A, v2", "B"])
    '"A, v2",B'
    """
    needed = re.compile(r'[,"]|^\s|\s$')
    return ",".join('"' + name.replace('"', '""') + '"' if needed.search(name) else name for name in names)


def shell_names(names: Iterable[str]) -> str:
    """Return names as one types them behind an option: a list as in `quote_names`, quoted for the shell if need be.

    >>> shell_names(["seed"]), shell_names(["Seed #", "lr"])
    ('seed', "'Seed #,lr'")
    """
    return shlex.quote(quote_names(names))
