"""Scores by two keys, as a dict of dicts has them: by system and item, or by item and system."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

SHARED = 0.5  # of all pairs of keys, this many have a score: else it is a configuration, whose parts differ
CLEAR = 4  # times as many items as systems are items without a doubt
NUMBERED = re.compile(r"(.*?)[\W_]*\d+")


def is_nested(whole: Mapping[str, Any]) -> bool:
    """Return whether an object holds scores by two keys."""
    if len(whole) < 2 or not all(isinstance(inner, dict) and inner for inner in whole.values()):
        return False
    if not all(value is None or isinstance(value, int | float) for inner in whole.values() for value in inner.values()):
        return False
    held = Counter(key for inner in whole.values() for key in inner)
    return len(held) > 1 and sum(held.values()) >= SHARED * len(held) * len(whole)


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
    """Return which keys are the items: far more than the others, or alone in being numbered and not fewer."""
    first, second = list(outer), list(inner)
    if _are_items(second, first):
        return "system", "item"
    return ("item", "system") if _are_items(first, second) else ("outer", "inner")


def _are_items(keys: list[str], others: list[str]) -> bool:
    if len(keys) >= CLEAR * len(others):
        return True
    return len(keys) >= len(others) and _are_numbered(keys) and not _are_numbered(others)


def _are_numbered(keys: list[str]) -> bool:
    """Return whether keys are one name with numbers: q1, q2, q3."""
    matches = [NUMBERED.fullmatch(key) for key in keys]
    return all(matches) and len({match[1] for match in matches if match}) == 1
