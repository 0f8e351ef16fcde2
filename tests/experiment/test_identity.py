"""Identity: a task is its settings, its data and its code; whatever else changes, it is the same task."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdsup.errors import SpecError
from holdsup.studies.specs import make_plan


def ids(spec: Path) -> list[str]:
    return [task.id for task in make_plan(spec).tasks]


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_the_same_spec_gives_the_same_ids(study: Path) -> None:
    assert ids(study) == ids(study)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "accuracy"', 'name = "exact_match"'),
        ("[systems.length]", "[systems.renamed]"),
        ("[data.toy]", "[data.renamed]"),
        ('store = "runs.db"', 'store = "other.db"'),
        ('call = "systems:train_length"', 'call = "systems:train_length"\ntimeout = 9'),
    ],
)
def test_names_paths_timeouts_and_the_metric_leave_ids_alone(study: Path, old: str, new: str) -> None:
    before = ids(study)
    replace(study, old, new)
    assert ids(study) == before


def test_the_folder_leaves_ids_alone(study: Path) -> None:
    before = ids(study)
    moved = study.parent.rename(study.parent.with_name("moved"))
    assert ids(moved / study.name) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seed = 5", "seed = 6"),
        ("test = 0.25", "test = 0.5"),
        ('input = "text"', 'input = ["text"]'),
        ('target = "label"', 'target = "label"\ngroup = "doc"'),
        ('"systems:train_length"', '"systems:train_length"\nsettings = { floor = 1 }'),
        ('"systems:train_length"', '"systems:train_length"\nkey = "second try"'),
    ],
)
def test_settings_splits_columns_and_keys_change_ids(study: Path, old: str, new: str) -> None:
    before = ids(study)
    replace(study, old, new)
    assert ids(study)[0] != before[0]


def test_one_changed_byte_of_the_data_changes_all_ids(study: Path) -> None:
    before = ids(study)
    replace(study.parent / "toy.jsonl", '"doc": 0}', '"doc": 9}')
    assert not set(before) & set(ids(study))


def test_code_that_is_imported_counts_and_code_that_is_not_does_not(study: Path) -> None:
    before = ids(study)
    (study.parent / "other.py").write_text("A = 1\n")
    assert ids(study) == before
    replace(study.parent / "systems.py", "from collections", "import other\nfrom collections")
    imported = ids(study)
    assert not set(before) & set(imported)
    (study.parent / "other.py").write_text("A = 2\n")
    assert not set(imported) & set(ids(study))


def test_patterns_override_what_is_found_by_importing(study: Path) -> None:
    (study.parent / "notes.txt").write_text("1")
    for system in ("length", "majority"):
        replace(study, f'"systems:train_{system}"', f'"systems:train_{system}"\ncode = ["notes.txt"]')
    before = ids(study)
    replace(study.parent / "systems.py", "Counter(targets)", "Counter(list(targets))")
    assert ids(study) == before
    (study.parent / "notes.txt").write_text("2")
    assert not set(before) & set(ids(study))


def test_the_file_that_a_command_names_counts(study: Path) -> None:
    replace(
        study,
        "[facets]",
        '[systems.program]\ncommand = ["{python}", "tag.py", "{train}", "{test}", "{out}", "{seed}"]\n[facets]',
    )
    before = ids(study)
    replace(study.parent / "tag.py", "> 6", "> 7")
    after = ids(study)
    assert before[:6] == after[:6]
    assert not set(before[6:]) & set(after[6:])


def test_versions_of_the_libraries_that_are_imported_count(study: Path) -> None:
    replace(study.parent / "systems.py", "from collections", "import click\nfrom collections")
    package = study.parent / "click"  # stands before the installed one
    before = ids(study)
    package.mkdir()
    (package / "__init__.py").write_text("")
    assert not set(before) & set(ids(study))


def test_a_callable_of_a_library_needs_no_source_here_and_its_version_counts(study: Path) -> None:
    from importlib import metadata

    from holdsup.experiment.identity import probe_sources

    call = {"positional": [], "keywords": ["max_depth"]}
    source = "sklearn.tree:DecisionTreeClassifier"
    imported = probe_sources(study.parent, {source: [call]})[source]
    assert imported.modules == {}
    assert imported.has_source
    assert imported.versions["scikit-learn"] == metadata.version("scikit-learn")
    assert imported.versions["numpy"] == metadata.version("numpy")


def test_a_callable_without_source_needs_a_key(study: Path) -> None:
    import py_compile

    source = study.parent / "systems.py"
    py_compile.compile(str(source), cfile=str(study.parent / "systems.pyc"))
    source.unlink()
    with pytest.raises(SpecError, match=r"systems:train_length has no source.*give key ="):
        make_plan(study)
    for system in ("length", "majority"):
        replace(study, f'"systems:train_{system}"', f'"systems:train_{system}"\nkey = "1"')
    assert len(ids(study)) == 6


def test_what_modules_print_when_imported_disturbs_nothing(study: Path) -> None:
    replace(study.parent / "systems.py", "from collections", "print('hello')\nfrom collections")
    assert len(ids(study)) == 6
