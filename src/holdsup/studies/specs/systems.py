"""The systems of a spec as tasks are given them, and what their identity rests on: their code."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any

from holdsup.errors import HoldsupError, SpecError
from holdsup.experiment.digests import digest_file, find_matching
from holdsup.experiment.identity import Imported, probe_sources
from holdsup.experiment.scanning import find_module, follow_imports, is_python, name_module
from holdsup.experiment.systems import split_settings
from holdsup.studies.specs.records import Spec, SystemSource
from holdsup.studies.specs.shapes import Place

__all__ = ["describe_systems", "find_code"]


def describe_systems(spec: Spec) -> dict[str, dict[str, Any]]:
    """Return each system as tasks are given it, and under "code" what its identity rests on."""
    calls: dict[str, list[dict[str, Any]]] = {}
    for system in spec.systems.values():
        if isinstance(system.source, str):
            names = [*system.settings, *(name for name in spec.facets if name != "seed")]
            if system.kind == "call":
                call = {"positional": [None, None], "keywords": ["seed", *names]}
            else:
                call = {"positional": [], "keywords": list(split_settings(dict.fromkeys(names))[0])}
            calls.setdefault(system.source, []).append(call)
    try:
        imported = probe_sources(spec.folder, calls)
    except SpecError as error:
        raise Place(spec.file.name, "systems").refuse(str(error)) from error
    return {name: _describe_system(spec, name, system, imported) for name, system in spec.systems.items()}


def _describe_system(spec: Spec, name: str, system: SystemSource, imported: Mapping[str, Imported]) -> dict[str, Any]:
    place = Place(spec.file.name, f"systems.{name}")
    described: dict[str, Any] = {"kind": system.kind, "settings": dict(system.settings)}
    try:
        if isinstance(system.source, str):
            described |= _describe_import(spec.folder, system, imported[system.source])
        else:
            described |= _describe_command(spec.folder, system)
    except HoldsupError as error:
        raise place.refuse(str(error)) from error
    return {**described, "limit": None if system.kind == "command" else system.timeout}


def _describe_import(folder: Path, system: SystemSource, loaded: Imported) -> dict[str, Any]:
    if not (loaded.has_source or system.key or system.code):
        raise SpecError(f"{system.source} has no source to tell its versions apart: give key = or code =")
    versions = dict(loaded.versions)
    if system.kind == "estimator":  # imported by the function when it is called, perhaps
        versions["scikit-learn"] = metadata.version("scikit-learn")
    files = _digest(find_matching(folder, system.code))
    code: dict[str, Any] = {"key": system.key, "files": files, "versions": versions, "python": _python()}
    code["modules"] = {} if files else loaded.modules
    described: dict[str, Any] = {
        "source": system.source,
        "modules": dict(loaded.modules),
        "pinned": not files,
        "code": code,
    }
    later = {} if files else _find_later(folder, loaded.modules)
    if later:  # else the ids of tasks stay what they were before such imports were followed
        code["later"] = _digest(later)
        described["later"] = {name: [str(file), code["later"][name]] for name, file in later.items()}
    return described


def _describe_command(folder: Path, system: SystemSource) -> dict[str, Any]:
    files = _digest(find_code(folder, system))
    if not (files or system.key):
        raise SpecError("command names no file of the spec's folder, so that its versions cannot be told: give key =")
    return {
        "source": list(system.source), "folder": str(folder), "timeout": system.timeout,
        "code": {"key": system.key, "files": files},
    }  # fmt: skip


def find_code(folder: Path, system: SystemSource) -> dict[str, Path]:
    """Return the files of the spec's folder that are a system's code, as far as they can be told without importing it.

    Importing a function may load more than its imports show; `describe_systems` finds that, too.
    """
    found = find_matching(folder, system.code)
    if isinstance(system.source, str):
        start = [] if found else find_module(system.source.partition(":")[0], folder)
        return found | _by_path(follow_imports(start, [folder]), folder)
    named = {part: folder / part for part in system.source if _is_below(folder / part, folder)}
    followed = [
        file
        for program in named.values()
        if is_python(program)
        for file in follow_imports([program], [program.parent, folder])
        if file not in named.values()
    ]
    return found | named | _by_path([*followed, *_run_as_modules(system.source, folder)], folder)


def _run_as_modules(arguments: tuple[str, ...], folder: Path) -> list[Path]:
    """Return the code of modules that Python is told to run: ["{python}", "-m", "tagger.train"]."""
    names = [name for flag, name in pairwise(arguments) if flag == "-m"]
    return [file for name in names for file in follow_imports(find_module(name, folder), [folder])]


def _find_later(folder: Path, modules: Mapping[str, str]) -> dict[str, Path]:
    """Return the modules that functions of imported ones import only when they run."""
    start = [file for name in modules for file in find_module(name, folder)]
    named = {name_module(file, folder): file for file in follow_imports(start, [folder])}
    return {name: file for name, file in named.items() if name not in modules}


def _by_path(files: list[Path], folder: Path) -> dict[str, Path]:
    return {file.relative_to(folder).as_posix(): file for file in files}


def _digest(files: Mapping[str, Path]) -> dict[str, str]:
    return {name: digest_file(file) for name, file in files.items()}


def _is_below(file: Path, folder: Path) -> bool:
    return file.is_file() and file.resolve().is_relative_to(folder)


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"
