"""Columns that stand in the names of files: `{system}_seed{seed}` and A_seed1.csv give A and 1."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable

from holdsup.columns.sources import without_endings
from holdsup.errors import ColumnError, list_names

__all__ = ["columns_in_names"]

PLACE = re.compile(r"\{(\w+)\}")


def columns_in_names(pattern: str, paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the columns that a pattern finds in paths: for each `{column}`, its text in each path.

    The pattern is matched against the end of a path, whole folders and the name without its endings; a
    place takes any text but "/", the first ones as much as they can.

    >>> columns_in_names("{system}/seed{seed}", ["runs/A/seed1.csv", "runs/B/seed2.csv.gz"])
    {'system': ['A', 'B'], 'seed': ['1', '2']}
    """
    columns = PLACE.findall(pattern)
    if not columns:
        raise ColumnError(f"the pattern {pattern!r} names no column: write something like {{system}}_seed{{seed}}")
    if twice := [column for column, count in Counter(columns).items() if count > 1]:
        raise ColumnError(f"the pattern {pattern!r} names {list_names(twice)} more than once")
    literals = PLACE.split(pattern)[::2]
    shape = re.compile("(?:.*/)?" + "([^/]+)".join(re.escape(text) for text in literals), flags=re.DOTALL)
    found: dict[str, list[str]] = {column: [] for column in columns}
    for path in paths:
        whole = os.path.abspath(path).replace(os.sep, "/")  # noqa: PTH100 (a name need not be that of a file)
        match = shape.fullmatch(without_endings(whole))
        if match is None:
            raise ColumnError(f"the name of {path} does not match the pattern {pattern!r}: all files must")
        for column, text in zip(columns, match.groups(), strict=True):
            found[column].append(text)
    return found
