"""What is to be said of a saved result that another version of holdsup wrote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdsup import __version__
from holdsup.errors import list_names
from holdsup.results import Result

__all__ = ["find_strangers", "remark_fields", "remark_version"]


def remark_version(result: Result) -> str:
    """Return what is to be said of a result that another version of holdsup made; "" of one of this version."""
    if result.version == __version__:
        return ""
    return (
        f"The numbers and the verdict are by holdsup {result.version}; this report is by {__version__}, whose tables "
        "and descriptions may say more or less than those of that version."
    )


def remark_fields(result: Result, plain: dict[str, Any]) -> str:
    """Return what is to be said of fields of a saved result that this version does not know; "" if there are none."""
    strangers = list(dict.fromkeys(find_strangers(plain, result.to_dict())))
    if not strangers:
        return ""
    return (
        f"The saved result holds what holdsup {__version__} does not know, and does not show: {list_names(strangers)}."
    )


def find_strangers(plain: Any, known: Any, path: str = "") -> Iterator[str]:
    """Yield the names of fields of a JSON object that another one of the same form lacks.

    >>> list(find_strangers({"a": 1, "b": [{"c": 1, "d": 2}]}, {"a": 2, "b": [{"c": 3}]}))
    ['b.d']
    """
    if isinstance(plain, dict) and isinstance(known, dict):
        for name, value in plain.items():
            if name not in known:
                yield f"{path}{name}"
            else:
                yield from find_strangers(value, known[name], f"{path}{name}.")
    elif isinstance(plain, list) and isinstance(known, list):
        for one, other in zip(plain, known, strict=False):
            yield from find_strangers(one, other, path)
