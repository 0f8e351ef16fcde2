"""What can be wrong with a table of scores: each kind of fault, what it does to results, and what to do about it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import ScoresError
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import EXAMPLES, Caution, Severity
from holdsup.scores.table import Scores

LEFT_OUT = "These rows are left out. If they are the hard items or the failed runs, the rest looks too good."
NO_UNIT = "A mean over datasets then mixes units, and the largest numbers decide it."
UNEVEN = (
    "Plain means then compare runs on different items. A mixed model corrects for it if they are missing by chance."
)

# The severity of each fault, what it does to results, and what to do; where advice is empty, it depends on the table.
FAULTS: dict[str, tuple[Severity, str, str]] = {
    "no-scores": ("error", "There is nothing to analyse.", "Check --score and --system: are these the right columns?"),
    "missing-scores": ("warning", LEFT_OUT, ""),
    "nan-scores": ("error", LEFT_OUT, ""),
    "infinite-scores": ("error", LEFT_OUT, ""),
    "failed-scores": ("warning", LEFT_OUT, ""),
    "unlabelled-rows": (
        "error",
        "It's unclear what these rows belong to, so they are left out.",
        "Fill in the labels.",
    ),
    "duplicates": ("error", "One measurement counts as several, so every interval is too narrow.", ""),
    "out-of-range": (
        "error",
        "One score on another scale can outweigh hundreds of right ones.",
        "Correct them, or give the right range with --range.",
    ),
    "constant-scores": (
        "error",
        "Nothing differs, so nothing can be compared.",
        "Check --score: is this the right column?",
    ),
    "missing-codes": (
        "warning",
        "The code counts as a score and shifts the means.",
        "If it is a code, leave these cells empty. --range LOW,HIGH finds every score that cannot occur.",
    ),
    "far-scores": (
        "warning",
        "A few such scores decide every mean, and make every CI wide.",
        "Correct them, or leave them out if they are errors. --range LOW,HIGH finds every score that cannot occur.",
    ),
    "summary-rows": (
        "warning",
        "The summary counts as one more row, though nothing was scored there.",
        "Leave these rows out.",
    ),
    "constant-runs": (
        "warning",
        "A run like this has usually failed. It shifts its system's mean and inflates the variance between runs.",
        "Look at these runs. Train them again, or leave them out and say so.",
    ),
    "identical-runs": (
        "warning",
        "Copies count as separate runs, so runs seem to vary less than they do.",
        "Was a file copied, or a seed not set? Remove the copies.",
    ),
    "different-scales": (
        "error",
        "A difference between systems is then a difference between scales.",
        "Bring all scores to one scale.",
    ),
    "facet-gaps": ("warning", "One run is then split in two, and the number of runs is wrong.", ""),
    "single-run": (
        "warning",
        "Results then hold only for these trained models; another seed may give different ones.",
        "Train each system with two seeds or more. If the table has several runs, name the column that tells them "
        "apart with --replicates or --run.",
    ),
    "no-repeats": (
        "warning",
        "The spread between runs at one setting isn't measured, so results say nothing about new runs.",
        "",
    ),
    "confounded": ("warning", "Either one could cause a difference, and the table can't say which.", ""),
    "item-names-dataset": (
        "warning",
        "With one item in each dataset, items and datasets can't be told apart.",
        "If these are scores of whole datasets, say that there are no items: --item -",
    ),
    "systems-without-dataset": (
        "warning",
        "Plain means then compare systems on different datasets. A mixed model allows for it, unless a system failed "
        "where rows are missing.",
        "Run the missing combinations, or compare on the datasets that all systems have.",
    ),
    "missing-cells": ("warning", UNEVEN, "Score the missing items, or find out why they are missing."),
    "items-of-one-system": (
        "warning",
        "They say nothing about a difference between systems.",
        "Score them for the others too, or leave them out.",
    ),
    "lookalike-labels": (
        "warning",
        "They count as different, so one thing is split in two.",
        "If they mean the same, spell them the same way.",
    ),
    "one-level": (
        "note",
        "Such a column can't explain a difference; results hold for its one value.",
        "Nothing to do, unless you expected more values.",
    ),
    "unused-columns": (
        "note",
        "What varies with them counts as noise.",
        "Name those that differ between runs with --facets, those that describe items with --properties.",
    ),
    "mixed-metrics": ("error", NO_UNIT, ""),
    "mixed-scales": (
        "warning",
        NO_UNIT,
        "If the metrics differ, name their column with --metric. Else bring datasets to one scale, or compare one at a "
        "time with --where.",
    ),
    "opposite-columns": (
        "error",
        "A ranking by both is wrong for one of them.",
        "Give --lower-is-better or --higher-is-better; if they are metrics, --wide metric=... instead.",
    ),
    "scores-beyond-computing": ("error", "Their squares overflow or vanish, so no variance can be computed.", ""),
    "broken-clusters": ("error", "It's unclear which items belong together.", ""),
    "item-facet": ("error", "It can't explain how runs differ.", ""),
    "measured-facet": ("error", "Its levels never repeat, so they have no variance of their own.", ""),
    "told-apart": ("error", "Averaging them would give a score that no run ever had.", ""),
    "grouped-items": ("note", "Each item counts as independent evidence; related items carry less.", ""),
}


def make_fault(
    code: str,
    message: str,
    *,
    count: int = 1,
    examples: Iterable[str] = (),
    advice: str = "",
    severity: Severity | None = None,
) -> Caution:
    """Return a fault that was found; advice and severity are those of its kind unless they are given."""
    usual, effect, known = FAULTS[code]
    return Caution(
        code=code,
        severity=severity or usual,
        about="data",
        message=message,
        effect=effect,
        advice=advice or known,
        count=count,
        examples=tuple(itertools.islice(examples, EXAMPLES)),
    )


def note(code: str, message: str) -> Caution:
    """Return what the reader of a table decided."""
    return Caution(code=code, severity="note", about="data", message=message)


def refuse(faults: Iterable[Caution]) -> None:
    """Raise the first of the faults with which no question can be asked."""
    for fault in faults:
        message = f"{fault.message[0].lower()}{fault.message[1:].removesuffix('.')}"
        advice = f"{fault.advice[0].lower()}{fault.advice[1:].removesuffix('.')}"
        raise ScoresError(f"{message}: {advice}")


def count_have(count: int, noun: str, total: int | None = None) -> str:
    """Return the beginning of a sentence about how many there are.

    >>> count_have(1, "row"), count_have(2, "run", 6)
    ('1 row has', '2 of 6 runs have')
    """
    counted = format_counted(count, noun) if total is None else f"{count:,} of {format_counted(total, noun)}"
    return f"{counted} {'has' if count == 1 else 'have'}"


def show_rows(
    scores: Scores,
    rows: Sequence[int] | NDArray[Any],
    *,
    roles: tuple[str, ...] = ("dataset", "run", "item", "metric"),
    with_score: bool = False,
) -> tuple[str, ...]:
    """Return up to three rows in words."""
    return tuple(
        write_row(scores, row, roles) + (f": {scores.score[row]:g}" if with_score else "") for row in rows[:EXAMPLES]
    )


def write_row(scores: Scores, row: int, roles: tuple[str, ...]) -> str:
    """Return one row in words: the label of each role."""
    found = ((role, getattr(scores, role)) for role in roles)
    said = [f"{role} {x.names[x.codes[row]]}" for role, x in found if x is not None and x.codes[row] >= 0]
    return ", ".join(said) or f"row {row + 1}"


def extremes(
    values: NDArray[np.float64], groups: NDArray[np.int64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lowest and the highest value of each of `count` groups, each of shape (count,)."""
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, groups, values)
    np.maximum.at(high, groups, values)
    return low, high
