"""Imports followed without importing: which files of a folder a program would load."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdsup.experiment.identity import find_module, follow_imports

FILES = {
    "start.py": "def f():\n    import lazy\n    from tools import words, letters\n",
    "lazy.py": "import json, start\nif False:\n    import never_there\n",
    "tools/__init__.py": "from . import base\n",
    "tools/words.py": "from .inner.deep import x\nfrom tools.base import y\n",
    "tools/base.py": "",
    "tools/letters.txt": "",
    "tools/inner/deep.py": "from .. import top\nfrom ....far import z\n",
    "tools/top.py": "",
    "unused.py": "",
    "json/nothing.txt": "",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of modules that import one another."""
    root = tmp_path / "root"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (tmp_path / "far.py").write_text("")
    return root


def followed(folder: Path, start: str) -> set[str]:
    found = follow_imports([folder / start], [folder])
    return {file.relative_to(folder).as_posix() for file in found}


def test_imports_are_followed_into_functions_packages_and_relative_names(folder: Path) -> None:
    wanted = {"start.py", "lazy.py", "tools/__init__.py", "tools/words.py", "tools/base.py", "tools/inner/deep.py", "tools/top.py"}  # fmt: skip
    assert followed(folder, "start.py") == wanted


def test_nothing_outside_the_folder_is_followed(folder: Path) -> None:
    assert all(file.is_relative_to(folder) for file in follow_imports([folder / "tools/inner/deep.py"], [folder]))


@pytest.mark.parametrize("text", ["def f(:", "\0", "import lazy\n" + "(" * 1000])
def test_a_file_that_cannot_be_parsed_counts_alone(folder: Path, text: str) -> None:
    (folder / "start.py").write_text(text)
    assert followed(folder, "start.py") == {"start.py"}


def test_a_module_is_found_with_its_packages(folder: Path) -> None:
    assert find_module("tools.words", folder) == [folder / "tools/__init__.py", folder / "tools/words.py"]
    assert find_module("nowhere", folder) == []
