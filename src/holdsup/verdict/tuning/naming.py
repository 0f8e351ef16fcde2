"""Candidates as people call them: the parameters that differ."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from holdsup.rendering.numbers import format_number
from holdsup.verdict.tuning.records import Setting

__all__ = ["digest_candidates", "name_candidates", "plain_setting"]


def name_candidates(candidates: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a name for each candidate: the parameters that not all have alike, by their shortest clear names.

    >>> name_candidates([{"svc__C": 1, "svc__kernel": "rbf"}, {"svc__C": 10.0, "svc__kernel": "rbf"}])
    ['C=1', 'C=10']
    """
    plain = [{key: plain_setting(value) for key, value in each.items()} for each in candidates]
    keys = list(dict.fromkeys(key for each in plain for key in each))
    differing = [key for key in keys if len({repr(each.get(key, "absent")) for each in plain}) > 1] or keys
    shorts = _shorten(differing)
    names = [", ".join(f"{shorts[key]}={_write(each[key])}" for key in differing if key in each) for each in plain]
    return [name or "no parameters" for name in names]


def digest_candidates(candidates: Sequence[Mapping[str, Any]]) -> str:
    """Return eight hex digits that stand for all parameters of all candidates, in their order."""
    plain = [{key: plain_setting(value) for key, value in each.items()} for each in candidates]
    return hashlib.sha256(repr(plain).encode()).hexdigest()[:8]


def plain_setting(value: Any) -> Setting:
    """Return a parameter as JSON can hold it: numbers as they are, objects by their names."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    # Where in memory an object is, is no part of what it is.
    return str(getattr(value, "__qualname__", None) or re.sub(r" at 0x[0-9a-f]+", "", repr(value)))


def _write(value: Setting) -> str:
    return format_number(value) if isinstance(value, float) else str(value)


def _shorten(keys: Sequence[str]) -> dict[str, str]:
    """Return the last part of each name, as in svc__C, unless two would be the same."""
    last = {key: key.rpartition("__")[2] for key in keys}
    return last if len(set(last.values())) == len(last) else {key: key for key in keys}
