"""What tasks name: functions by import strings, files by hashes of their bytes, and what this process holds."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from holdsup.errors import ReadError, TaskError

PREPARE = "prepare"  # attribute of work: what imports and reads, given its arguments, before its time counts
_callables: dict[tuple[str, tuple[tuple[str, str], ...]], Callable[..., Any]] = {}
_loaded: dict[str, str] = {}  # modules of users that this process has loaded, each with the hash of its source
_held: dict[str, Any] = {}  # corpora and systems of this process that are no files
_numbers = count(1)


def import_from(folder: str) -> None:
    """Let this process import from the folder of a spec, first of all: a metric may be a function of the user's."""
    if folder not in sys.path[:1]:
        sys.path.insert(0, folder)


def split_source(source: str) -> tuple[str, str] | None:
    """Return the module and the name in it that an import string gives, or None if it is none.

    >>> split_source("systems:train"), split_source("systems.train")
    (('systems', 'train'), None)
    """
    module, colon, name = source.partition(":")
    parts = [*module.split("."), *name.split(".")]
    return (module, name) if colon and all(part.isidentifier() for part in parts) else None


def load_callable(
    source: str, modules: Mapping[str, str], later: Mapping[str, Sequence[str]] | None = None, *, pinned: bool = True
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


def digest_file(path: Path) -> str:
    """Return a hash of a file's bytes, as 32 hex digits."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror or error}") from error


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
        raise TaskError(f"{source!r} is not an import string: write module:function")
    importlib.invalidate_caches()
    found: Any = importlib.import_module(parts[0])
    for name in parts[1].split("."):
        found = getattr(found, name)
    if not callable(found):
        raise TaskError(f"{source} is a {type(found).__name__}, which cannot be called")
    called: Callable[..., Any] = found
    return called
