"""Scores by two keys, as a dict of dicts has them: by system and item, item and system, or system and metric.

One dict of numbered keys has scores by item, of a system that the file is named after.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from holdsup.results.direction_names import find_direction

SHARED = 0.5  # of all pairs of keys, this many have a score: else it is a configuration, whose parts differ
CLEAR = 4  # times as many ids as other keys, or as names before their numbers, leave no doubt
NUMBERED = re.compile(r"(.*?)[\W_]*\d+")
NOT_ITEMS = frozenset(
    "run seed fold step epoch checkpoint ckpt trial exp experiment model system method agent v".split()
)


def is_nested(whole: Mapping[str, Any]) -> bool:
    """Return whether an object holds scores by two keys."""
    if not whole or not all(isinstance(inner, dict) and inner for inner in whole.values()):
        return False
    if not all(value is None or isinstance(value, int | float) for inner in whole.values() for value in inner.values()):
        return False
    held = Counter(key for inner in whole.values() for key in inner)
    if len(whole) == 1:  # of one system, if it is one: an object with an object in it may be anything
        return _are_items(list(held), list(whole))
    return len(held) > 1 and sum(held.values()) >= SHARED * len(held) * len(whole)


def holds_items(whole: Mapping[str, Any]) -> bool:
    """Return whether an object holds scores by item, and is no record: its keys are ids with numbers."""
    numbers = all(isinstance(value, int | float | None) for value in whole.values())
    return numbers and len(whole) >= CLEAR and _are_numbered(list(whole))


def unnest(whole: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return scores by two keys as columns: system, item and score, or outer, inner and score where it is not clear.

    >>> unnest({"A": {"q1": 1, "q2": 0}, "B": {"q1": 0}})
    {'system': ['A', 'A', 'B'], 'item': ['q1', 'q2', 'q1'], 'score': [1, 0, 0]}
    """
    inner_keys = dict.fromkeys(key for inner in whole.values() for key in inner)
    outer, inner = _name_keys(whole, inner_keys)
    rows = [(first, second, score) for first, scores in whole.items() for second, score in scores.items()]
    return dict(zip((outer, inner, "score"), map(list, zip(*rows, strict=True)), strict=True))


def _name_keys(outer: Iterable[str], inner: Iterable[str]) -> tuple[str, str]:
    """Return what the keys are: only ids with numbers are surely items, and names of metrics surely no systems."""
    first, second = list(outer), list(inner)
    if _are_items(second, first):
        return _name_others(first), "item"
    if _are_items(first, second):
        return "item", _name_others(second)
    kinds = _name_others(first), _name_others(second)
    return kinds if len(set(kinds)) == 2 else ("outer", "inner")  # names of metrics, beside what are none


def _name_others(keys: list[str]) -> str:
    return "metric" if all(find_direction(key) for key in keys) else "system"


def _are_items(keys: list[str], others: list[str]) -> bool:
    """Return whether keys are numbered, and more than the others: far more if these are numbered as well."""
    if not _are_numbered(keys):
        return False
    return len(keys) >= CLEAR * len(others) or (len(keys) >= len(others) and not _are_numbered(others))


def _are_numbered(keys: list[str]) -> bool:
    """Return whether keys are a few names with numbers, and none that systems and runs are numbered by."""
    matches = [NUMBERED.fullmatch(key) for key in keys]
    names = {match[1].lower() for match in matches if match}
    return all(matches) and len(names) <= max(1, len(keys) // CLEAR) and not names & NOT_ITEMS
