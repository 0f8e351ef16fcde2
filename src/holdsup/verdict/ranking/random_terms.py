"""The random terms of a form, as a formula writes them."""

from __future__ import annotations

from holdsup.columns.crossing import cross
from holdsup.verdict.ranking.table import RunTable

__all__ = ["RandomTerms", "quote"]


class RandomTerms:
    """The random terms of a form, each checked to be one whose variance can be told from the others'.

    Attributes
    ----------
    written : the terms as a formula has them
    notes : why others are not among them
    """

    def __init__(self, runs: RunTable) -> None:
        self.runs = runs
        self.columns = {runs.system_name: runs.system, runs.dataset_name: runs.dataset, **runs.factors}
        self.written: list[str] = []
        self.notes: list[str] = []
        self.known: dict[bytes, str] = {}

    def add(self, group: tuple[str, ...]) -> None:
        """Add a random intercept, or say why there is none."""
        found = cross(*(self.columns[name] for name in group))
        label = ":".join(group)
        grouping = found.first[found.codes].tobytes()  # the same for the same groups, whatever their names
        if found.count == len(self.runs):
            self.notes.append(
                f"There is no term of {label}: it has one row a level, so that its variance is the residual's."
            )
        elif grouping in self.known:
            self.notes.append(f"There is no term of {label}: it has the same levels as {self.known[grouping]}.")
        else:
            self.known[grouping] = label
            self.written.append(f"(1 | {':'.join(quote(name) for name in group)})")

    def add_slope(self, name: str, regressor: str, group: tuple[str, ...]) -> None:
        """Add a random slope, or say why there is none."""
        cells = cross(*(self.columns[column] for column in group))
        within = cross(cells.codes, self.columns[name])
        if within.count == cells.count:
            label = ":".join(group)
            self.notes.append(f"There is no slope of {name} by {label}: every level of it has one {name} only.")
        elif cells.count < len(self.runs):
            self.written.append(f"(0 + {regressor} | {':'.join(quote(column) for column in group)})")


def quote(name: str) -> str:
    """Return a column's name as a formula writes it.

    >>> quote("lr"), quote("learning rate")
    ('lr', '`learning rate`')
    """
    return name if name.isidentifier() and name.isascii() else f"`{name}`"
