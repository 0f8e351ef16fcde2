"""The environment of a run: what its numbers may depend on."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from holdsup import __version__

ALWAYS = ("numpy", "scipy", "scikit-learn", "pyarrow")
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONHASHSEED")
PATIENCE = 10.0  # seconds for git


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
            ["git", "-C", folder, *words], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _libraries() -> list[dict[str, Any]]:
    """Return the numerical libraries that are loaded, with their threads."""
    kept = ("user_api", "internal_api", "version", "num_threads", "architecture")
    return [{name: library.get(name) for name in kept} for library in threadpool_info()]
