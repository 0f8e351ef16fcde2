"""Import strings: ``module:function``, loaded from the folder of the spec as the plan saw it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from holdsup.errors import TaskError
from holdsup.experiment.digests import digest_file

__all__ = ["PREPARE", "import_from", "load_callable", "prepared_by", "split_source"]

PREPARE = "prepare"  # attribute of work: what is called with its arguments before its time counts

F = TypeVar("F", bound=Callable[..., Any])

_callables: dict[tuple[str, tuple[tuple[str, str], ...]], Callable[..., Any]] = {}
_loaded: dict[str, str] = {}  # modules of users that this process has loaded, each with the hash of its source


def import_from(folder: str) -> None:
    """Let this process import from the folder of a spec, first of all: a metric may be a function of the user's."""
    if folder not in sys.path[:1]:
        sys.path.insert(0, folder)


def prepared_by(prepare: Callable[[Mapping[str, Any]], None]) -> Callable[[F], F]:
    """Give the work of tasks a function that imports and reads what it needs; no time limit counts what that takes."""

    def mark(work: F) -> F:
        setattr(work, PREPARE, prepare)
        return work

    return mark


def split_source(source: str) -> tuple[str, str] | None:
    """Return the module and the name in it that an import string gives, or None if it is none.

    >>> split_source("systems:train"), split_source("systems.train")
    (('systems', 'train'), None)
    """
    module, colon, name = source.partition(":")
    parts = [*module.split("."), *name.split(".")]
    return (module, name) if colon and all(part.isidentifier() for part in parts) else None


def load_callable(source: str, modules: Mapping[str, str], *, pinned: bool = True) -> Callable[..., Any]:
    """Return what an import string names, its modules being those whose sources the plan has hashed.

    A process that has loaded another version of a module (another spec's, or one edited since) loads it again.
    With `pinned`, a file that has changed since the plan was made is an error: its results would be recorded as
    those of the old code.
    """
    key = (source, tuple(sorted(modules.items())))
    if key not in _callables:
        for name, digest in modules.items():
            if name in sys.modules and _loaded.get(name) != digest:
                del sys.modules[name]
        _callables[key] = _import(source)
        for name, digest in modules.items():
            _loaded[name] = digest
            if pinned and _digest_of(name) != digest:
                del _callables[key], _loaded[name]
                raise TaskError(f"the module {name} has changed since the tasks were planned: run the spec again")
    return _callables[key]


def _import(source: str) -> Callable[..., Any]:
    parts = split_source(source)
    if parts is None:
        raise TaskError(f"{source!r} is no import string: write module:function")
    importlib.invalidate_caches()
    found: Any = importlib.import_module(parts[0])
    for name in parts[1].split("."):
        found = getattr(found, name)
    if not callable(found):
        raise TaskError(f"{source} is a {type(found).__name__}, which cannot be called")
    called: Callable[..., Any] = found
    return called


def _digest_of(name: str) -> str | None:
    origin = getattr(sys.modules.get(name), "__file__", None)
    return digest_file(Path(origin)) if origin else None
