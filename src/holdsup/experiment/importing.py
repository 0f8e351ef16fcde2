"""Import strings: ``module:function``, loaded from the folder of the spec as the plan saw it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
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


def load_callable(
    source: str,
    modules: Mapping[str, str],
    later: Mapping[str, Sequence[str]] | None = None,
    *,
    pinned: bool = True,
) -> Callable[..., Any]:
    """Return what an import string names, its modules being those whose sources the plan has hashed.

    A process that has loaded another version of a module (another spec's, or one edited since) loads all of them again.
    With `pinned`, a file that has changed since the plan was made is an error: its results would be recorded as
    those of the old code.

    Parameters
    ----------
    modules : what importing it loads, each with the hash of its source
    later : what its functions import when they run: path and hash of each
    """
    later = later or {}
    wanted = {**modules, **{name: digest for name, (_, digest) in later.items()}}
    _forget_others(wanted)
    for name, (path, digest) in later.items():
        if name not in sys.modules:
            _note(name, path, digest, pinned=pinned)
    key = (source, tuple(sorted(wanted.items())))
    if key not in _callables:
        found = _import(source)
        for name, digest in modules.items():
            _note(name, getattr(sys.modules.get(name), "__file__", None), digest, pinned=pinned)
        _callables[key] = found
    return _callables[key]


def _forget_others(wanted: Mapping[str, str]) -> None:
    """Let go of modules of which one was loaded in another version: the others may hold parts of it."""
    if all(name not in sys.modules or _loaded.get(name) == digest for name, digest in wanted.items()):
        return
    for name in wanted:
        sys.modules.pop(name, None)
        package, _, part = name.rpartition(".")
        if hasattr(sys.modules.get(package), part):
            delattr(sys.modules[package], part)  # where "from package import part" would find it


def _note(name: str, path: str | None, digest: str, *, pinned: bool) -> None:
    """Note which version of a module is loaded, or will be; refuse one that is not as planned."""
    if pinned and (path is None or digest_file(Path(path)) != digest):
        _loaded.pop(name, None)
        raise TaskError(f"the module {name} has changed since the tasks were planned: run the spec again")
    _loaded[name] = digest


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
