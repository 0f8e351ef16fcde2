"""What makes a task the same task: settings, data, code; and what else numbers may depend on, the environment.

The hash of the first three is the name of a task in the store.
The metric is not part of it: predictions are kept, so that another metric needs no other training. Nor are names
of systems and datasets, paths and timeouts, which change no prediction.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from holdsup import __version__
from holdsup.errors import SpecError
from holdsup.experiment.sources import digest_file

PROBE = Path(__file__).with_name("probe.py")
PATIENCE, GIT_PATIENCE = 600.0, 10.0  # seconds that importing a module, and a command of git, may take
ALWAYS = ("numpy", "scipy", "scikit-learn", "pyarrow")
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONHASHSEED")


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
            f"importing {named} takes more than {PATIENCE:g} seconds: move the slow work into the function"
        ) from None
    except ValueError:
        said = " ".join(done.stderr.split())[-300:]
        raise SpecError(f"importing {named} ended Python (exit code {done.returncode}); it printed: {said}") from None


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
            raise SpecError(
                f"code has {pattern!r}, which is not a pattern inside the spec's folder: {error}"
            ) from error
        if not files:
            raise SpecError(f"code has {pattern!r}, which matches no file in the spec's folder")
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


def describe_environment(folder: str, *, executor: str, distributions: Iterable[str] = ()) -> dict[str, Any]:
    """Return the record of this environment, which JSON can hold.

    Parameters
    ----------
    folder : where the code of the tasks lies; its commit is noted
    executor : what the tasks run on
    distributions : names of installed packages that the tasks use
    """
    names = sorted({*ALWAYS, *distributions})
    return {
        "holdsup": __version__,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpu": _processor(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "executor": executor,
        "versions": {name: found for name in names if (found := _version(name))},
        "commit": _commit(folder),
        "threads": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        "blas": _libraries(),
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    """Return the name of the processor, as far as the system tells it."""
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        for line in listed.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _commit(folder: str) -> dict[str, Any] | None:
    """Return the commit that the folder is at and whether files were changed since; None outside git."""
    head, changed = _git(folder, "rev-parse", "HEAD"), _git(folder, "status", "--porcelain", "-uno", ".")
    return None if head is None else {"id": head, "changed": bool(changed)}


def _git(folder: str, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", folder, *words], capture_output=True, text=True, timeout=GIT_PATIENCE, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _libraries() -> list[dict[str, Any]]:
    """Return the numerical libraries that are loaded, with their threads."""
    kept = ("user_api", "internal_api", "version", "num_threads", "architecture")
    return [{name: library.get(name) for name in kept} for library in threadpool_info()]
