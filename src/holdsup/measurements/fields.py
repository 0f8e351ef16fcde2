"""Which column of a table of measurements holds what, by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from holdsup.errors import ColumnError
from holdsup.measurements.record import CONDITIONS

__all__ = ["FIELDS", "PREFIX", "REQUIRED", "Place", "near_field", "place_of", "require_columns"]

REQUIRED = ("object", "measurand", "value")
FIELDS = (*REQUIRED, "unit", "scale_minimum", "source", "time")
PREFIX = "conditions."  # of a column that is a condition whatever it is called; nested in JSON, it has this name too
ALIASES = {  # heads of the paper's tables, its names of conditions, and what scores are called elsewhere
    "system": "object",
    "metric": "measurand",
    "evaluation_measure": "measurand",
    "score": "value",
    "measured_value": "value",
    "measured_quantity_value": "value",
    "scale_min": "scale_minimum",
    "paper": "source",
    "date": "time",
    "year": "time",
    "code_by": "code",
    "system_code": "code",
    "comp_trained_by": "compile_training",
    "compiled_trained_by": "compile_training",
    "compile_training_information": "compile_training",
    "method": "specification",
    "method_specification": "specification",
    "implem_by": "implementation",
    "implemented_by": "implementation",
}
# Columns that tables of judgements and scores have, and tables of measurements have not.
ITEM_NAMES = frozenset({"item", "item_id", "id", "sentence_id", "question_id"})
STUDY_NAMES = frozenset({"study", "rater", "annotator", "team"})
RUN_NAMES = frozenset({"seed", "random_seed", "run", "trial", "replicate"})


class Place(NamedTuple):
    """Where the cells of a column go: a field of the record, or a condition under its name."""

    is_condition: bool
    name: str


def place_of(column: str) -> Place | None:
    """Return where the cells of a column go by its name; None for a name that says nothing.

    >>> place_of("Performed by"), place_of("seed")
    (Place(is_condition=True, name='performed_by'), None)
    >>> place_of("System"), place_of("conditions.seed")
    (Place(is_condition=False, name='object'), Place(is_condition=True, name='seed'))
    """
    bare = column.removeprefix(PREFIX)
    name = _standard(bare)
    if name in CONDITIONS:
        return Place(True, name)
    if bare != column:
        return Place(True, bare)
    return Place(False, name) if name in FIELDS else None


def near_field(name: str) -> str | None:
    """Return the field or standard condition that a name, which is neither, may be meant for.

    >>> near_field("preformed_by"), near_field("seed")
    ('performed_by', None)
    """
    near = get_close_matches(_standard(name), [*FIELDS, *CONDITIONS, *ALIASES], n=1, cutoff=0.8)
    return ALIASES.get(near[0], near[0]) if near else None


def require_columns(columns: Iterable[str], names: Iterable[str], *, where: str) -> None:
    """Raise if a table lacks a column for one of the fields in `names`."""
    columns = list(columns)
    there = {place.name for column in columns if (place := place_of(column)) and not place.is_condition}
    for name in names:
        if name not in there:
            raise ColumnError(f"{ColumnError.not_found(name, columns, where=where)}{_other_question(columns)}")


def _other_question(columns: Iterable[str]) -> str:
    """Return what to ask instead of a table that holds something else than measurements, by its columns."""
    there = {_standard(column) for column in columns}
    if there & ITEM_NAMES and there & {"label", "category"}:
        return " If these are labels that studies gave the same items: --kind labels."
    if there & ITEM_NAMES and there & STUDY_NAMES:
        return " If these are scores that studies gave the same items: --kind scores."
    if there & ITEM_NAMES or there & RUN_NAMES:
        return " If these are scores of your own runs: --seeds."
    return ""


def _standard(column: str) -> str:
    words = re.sub(r"[^0-9a-z]+", "_", column.lower()).strip("_")
    return ALIASES.get(words, words)
