"""What makes a task the same task: its settings, its data, its code. Its hash is its name in the store.

The metric is not part of it: predictions are kept, so that another metric needs no other training. Nor are names
of systems and datasets, paths and timeouts, which change no prediction.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdsup.errors import SpecError
from holdsup.experiment.digests import digest_file

__all__ = ["Imported", "identify", "probe_sources"]

PROBE = Path(__file__).with_name("probe.py")
PATIENCE = 600.0  # seconds that importing a module may take


@dataclass(frozen=True, slots=True)
class Imported:
    """What importing a callable loads.

    Attributes
    ----------
    modules : modules that no distribution owns, with the hash of their files
    versions : distributions that the others come from, with their versions
    has_source : whether the callable's own module is source or belongs to a distribution
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
