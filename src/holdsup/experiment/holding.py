"""What this process holds in memory for its tasks, which name it: corpora and systems that are no files."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

from holdsup.errors import TaskError

__all__ = ["find_held", "forget", "hold"]

_held: dict[str, Any] = {}
_numbers = count(1)


def hold(what: str, thing: Any) -> str:
    """Keep a corpus or a function that trains; return the name by which tasks of this process find it."""
    name = f"{what} (no. {next(_numbers)})"
    _held[name] = thing
    return name


def forget(names: Iterable[str]) -> None:
    """Let go of what is held under some names."""
    for name in names:
        _held.pop(name, None)


def find_held(name: str) -> Any:
    """Return what is held under a name."""
    if name not in _held:
        raise TaskError(
            f"{name} is in the memory of the process that planned this task: give data as a file and systems as "
            "functions of a module, so that other processes can find them"
        )
    return _held[name]
