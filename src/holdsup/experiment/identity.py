"""What makes a task the same task: its settings, its data, its code. Its hash is its name in the store.

The metric is not part of it: predictions are kept, so that another metric needs no other training. Nor are names
of systems and datasets, paths and timeouts, which change no prediction.
"""

from __future__ import annotations

import ast
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdsup.errors import SpecError
from holdsup.experiment.sources import digest_file

PROBE = Path(__file__).with_name("probe.py")
PATIENCE = 600.0  # seconds that importing a module may take


@dataclass(frozen=True, slots=True)
class Imported:
    """What importing a callable loads: modules that no distribution owns, with hashes; distributions, with versions.

    It `has_source` if its own module is source or belongs to a distribution.
    """

    modules: Mapping[str, str]
    versions: Mapping[str, str]
    has_source: bool


def identify(content: Mapping[str, Any]) -> str:
    """Return the id of a task: 32 hex digits of all that its predictions depend on.

    >>> identify({"a": 1, "b": [2]}) == identify({"b": [2], "a": 1})
    True
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def probe_sources(folder: Path, calls: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Imported]:
    """Return what importing each import string loads, and refuse those that cannot be called as they will be.

    Each module is imported in a process of its own: what one has loaded would hide what the other needs.

    Parameters
    ----------
    folder : where import strings resolve from
    calls : for each import string, the ways in which it will be called: ``positional`` arguments and the names of
        ``keywords``
    """
    by_module: dict[str, dict[str, Any]] = {}
    for source, ways in calls.items():
        by_module.setdefault(source.partition(":")[0], {})[source] = list(ways)
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda request: _probe(folder, request), by_module.values()))
    found: dict[str, Imported] = {}
    for (module, request), answer in zip(by_module.items(), answers, strict=True):
        for source, problem in answer["problems"].items():
            raise SpecError(f"{source} cannot be used: {' '.join(problem.split())}")
        modules = {name: digest_file(Path(path)) for name, path in sorted(answer["modules"].items())}
        path = answer["modules"].get(module)
        imported = Imported(modules, answer["versions"], path is None or path.endswith(".py"))
        found |= dict.fromkeys(request, imported)
    return found


def _probe(folder: Path, request: Mapping[str, Any]) -> Any:
    command = [sys.executable, "-B", str(PROBE), str(folder)]
    named = ", ".join(request)
    try:
        done = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True, timeout=PATIENCE)
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise SpecError(
            f"importing {named} takes more than {PATIENCE:g} seconds: move work into the function"
        ) from None
    except ValueError:
        said = " ".join(done.stderr.split())[-300:]
        raise SpecError(f"importing {named} ended Python with code {done.returncode}; it said: {said}") from None


def follow_imports(files: Iterable[Path], folders: Sequence[Path]) -> list[Path]:
    """Return Python files and all files that they import, and these in turn, as far as they lie below some folders.

    Also imports within functions are followed; nothing is executed.

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


def find_matching(folder: Path, patterns: Iterable[str]) -> dict[str, Path]:
    """Return the files below a folder that match glob patterns, by their path from there."""
    found: dict[str, Path] = {}
    for pattern in patterns:
        try:
            files = sorted(file for file in folder.glob(pattern) if file.is_file())
        except (ValueError, NotImplementedError) as error:
            raise SpecError(f"code has {pattern!r}, which is no pattern below the spec's folder: {error}") from error
        if not files:
            raise SpecError(f"code has {pattern!r}, which matches no file below the spec's folder")
        found |= {file.relative_to(folder).as_posix(): file for file in files}
    return found


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
