"""Imports that stand in Python files, also within functions, followed below one folder; nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

__all__ = ["find_module", "follow_imports", "is_python", "name_module"]


def follow_imports(files: Iterable[Path], folders: Sequence[Path]) -> list[Path]:
    """Return Python files and all files that they import, and these in turn, as far as they lie below some folders.

    Parameters
    ----------
    files : where to begin
    folders : where Python would look for modules
    """
    found: dict[Path, None] = {}
    left = list(files)
    while left:
        file = left.pop()
        if file not in found:
            found[file] = None
            imported = _imported_by(file, folders)
            left.extend(other for other in imported if any(other.is_relative_to(folder) for folder in folders))
    return sorted(found)


def find_module(name: str, folder: Path) -> list[Path]:
    """Return the files below a folder that importing a module runs: its packages, then itself."""
    found, place = [], folder
    for part in name.split("."):
        package, module = place / part / "__init__.py", place / f"{part}.py"
        found.extend([file for file in (package, module) if file.is_file()][:1])
        place /= part
    return found


def name_module(file: Path, folder: Path) -> str:
    """Return the name under which a file below a folder is imported.

    >>> name_module(Path("study/tools/words.py"), Path("study"))
    'tools.words'
    """
    parts = file.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_python(file: Path) -> bool:
    """Return whether a file is a program in Python, by its ending or its first line."""
    if file.suffix == ".py":
        return True
    with file.open("rb") as opened:
        first = opened.readline(200)
    return first.startswith(b"#!") and b"python" in first


def _imported_by(file: Path, folders: Sequence[Path]) -> Iterator[Path]:
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):  # running it will say what is wrong
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _find(alias.name, folders)
        elif isinstance(node, ast.ImportFrom):
            package = [node.module] if node.module else []
            places = [file.parents[node.level - 1]] if 0 < node.level <= len(file.parents) else folders
            yield from _find(".".join(package), places)
            for alias in node.names:
                yield from _find(".".join([*package, alias.name]), places)


def _find(name: str, folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        if found := find_module(name, folder):
            yield from found
            return
