"""What importing some callables loads: run as a script in a process of its own, never imported.

    python probe.py FOLDER < request.json > answer.json

It uses the standard library alone and leaves importing anything else to the callables, so that what is loaded
afterwards is loaded because of them. What they print goes to standard error.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def main() -> None:
    """Answer a request: import strings, each with the ways in which it will be called."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.load(sys.stdin)
    sys.path[0] = sys.argv[1]  # the folder of this script must not be looked into
    before = set(sys.modules)
    problems = {source: problem for source, calls in request.items() if (problem := find_problem(source, calls))}
    own = sys.modules["__main__"]  # some library may have given it a second name
    loaded = {name: module for name, module in sys.modules.items() if name not in before and module is not own}
    origins = {name: path for name, module in loaded.items() if (path := getattr(module, "__file__", None))}
    modules = {name: path for name, path in origins.items() if where_from(name, path) == "user"}
    installed = {name.partition(".")[0] for name, path in origins.items() if where_from(name, path) == "installed"}
    found = {"problems": problems, "modules": modules, "versions": find_versions(installed)}
    with answer:
        json.dump(found, answer)


def find_problem(source: str, calls: list[Mapping[str, Any]]) -> str | None:
    """Return what is wrong with an import string, given how it will be called, or None."""
    module, _, name = source.partition(":")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        return f"there is no module {missing!r}" + ("" if missing == module else f", which {module} imports")
    except BaseException as error:  # whatever the user's module does when it is imported
        return f"importing {module} fails: {type(error).__name__}: {error}"
    for part in name.split("."):
        if not hasattr(found, part):
            return f"{module} has no {name!r}"
        found = getattr(found, part)
    if not callable(found):
        return f"it is a {type(found).__name__}, which cannot be called"
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):  # written in C: it says nothing about its arguments
        return None
    for call in calls:
        try:
            signature.bind(*call["positional"], **dict.fromkeys(call["keywords"]))
        except TypeError as error:
            return f"it cannot be called with {', '.join(call['keywords']) or 'nothing'}: {error}"
    return None


def where_from(name: str, path: str) -> str:
    """Return "standard", "installed" or "user" for where a module comes from."""
    file = Path(path).resolve()
    if {"site-packages", "dist-packages"} & set(file.parts) or name.partition(".")[0] == "holdsup":
        return "installed"
    standard = (Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib"))
    return "standard" if any(file.is_relative_to(folder) for folder in standard) else "user"


def find_versions(packages: set[str]) -> dict[str, str]:
    """Return the distributions that packages come from, with their versions."""
    from importlib import metadata

    owners = metadata.packages_distributions()
    names = {owner for package in packages for owner in owners.get(package, ())}
    return {name: metadata.version(name) for name in sorted(names)}


if __name__ == "__main__":
    main()
