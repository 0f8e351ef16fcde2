"""Where a warning stands: beside the table that it limits, or by the verdict.

Results carry their warnings as sentences. Those that are known to be about one table are known here by words that
stand in them; all others, and those of words that have changed, stand by the verdict, where nobody misses them.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdsup.rendering import Table
from holdsup.rendering.table import visible
from holdsup.results import Result

__all__ = ["BESIDE", "place_warnings"]

# For each kind of result: words of a warning, and how the title begins of the table that it is of. Of several tables
# the first that there is has it.
BESIDE: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "compare": (
        ("means are over each system's own", ("Systems,",)),
        ("tell next to nothing about new ones", ("Differences,",)),
        ("Differences rest on the shared seeds", ("Differences,",)),
        ("pairs are left out", ("Differences,",)),
        ("; left out of what is said about", ("By {}",)),
        ("; likelihood ratios by holdsup are not shown", ("By {}",)),
    ),
    "variance": (
        ("a variance of so few is barely known", ("Where the variance",)),
        ("There is no plan for", ("The difference of two systems", "Decision study")),
    ),
    "rank": (
        ("say next to nothing about the variance of systems", ("Random terms",)),
        ("the fit is singular there", ("Random terms",)),
        ("its variance is the residual's", ("Random terms",)),
        ("interactions cannot be told from the residual", ("Random terms",)),
        ("Average ranks are left out", ("Systems by adjusted mean",)),
    ),
    "qra": (
        ("nothing can be said about which condition matters", ("What goes with the spread", "Precision as published")),
        ("conditions are tried two by two", ("What goes with the spread",)),
        ("pairs are listed for up to", ("Pairs of measurements",)),
        ("limits of no width are no evidence", ("Precision as published",)),
        ("not reported for all measurements", ("Precision as published",)),
    ),
    "fit": (
        ("The fit is singular", ("Variance components",)),
        ("Dropped, because they are combinations", ("Fixed effects",)),
    ),
    "tune": (("failed on one fold or more", ("Fits that failed", "Candidates by")),),
}


def place_warnings(
    result: Result, tables: Sequence[Table], warnings: Sequence[str]
) -> tuple[tuple[str, ...], dict[int, tuple[str, ...]]]:
    """Return the warnings that stand by the verdict, and those beside tables, by the number of the table."""
    by_verdict: list[str] = []
    beside: dict[int, list[str]] = {}
    for warning in warnings:
        place = _find_table(result.kind, tables, warning)
        (by_verdict if place is None else beside.setdefault(place, [])).append(warning)
    return tuple(by_verdict), {place: tuple(own) for place, own in beside.items()}


def _find_table(kind: str, tables: Sequence[Table], warning: str) -> int | None:
    titles = next((titles for words, titles in BESIDE.get(kind, ()) if words in warning), ())
    subject = warning.partition(": ")[0]  # some warnings begin with what they are about
    for title in titles:
        for place, table in enumerate(tables):
            if visible(table.title).startswith(title.format(subject)):
                return place
    return None
