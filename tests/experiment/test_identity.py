"""Identity: a task is its settings, its data and its code; whatever else changes, it is the same task."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdsup.errors import SpecError
from holdsup.experiment import Store, run_plan
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
    with pytest.raises(SpecError, match=r"systems:train_length has no source.*set key ="):
        make_plan(study)
    for system in ("length", "majority"):
        replace(study, f'"systems:train_{system}"', f'"systems:train_{system}"\nkey = "1"')
    assert len(ids(study)) == 6


def test_what_modules_print_when_imported_disturbs_nothing(study: Path) -> None:
    replace(study.parent / "systems.py", "from collections", "print('hello')\nfrom collections")
    assert len(ids(study)) == 6


LAZY = "def train_length(inputs, targets, *, seed):\n    from helper import LABEL\n    return lambda unseen: [LABEL] * len(unseen)\n"


def test_what_a_function_imports_when_it_runs_counts(study: Path) -> None:
    (study.parent / "lazy.py").write_text(LAZY)
    (study.parent / "helper.py").write_text("import deeper\nLABEL = deeper.LABEL\n")
    (study.parent / "deeper.py").write_text("LABEL = 'long'\n")
    replace(study, '"systems:train_length"', '"lazy:train_length"')
    before = ids(study)
    (study.parent / "deeper.py").write_text("LABEL = 'short'\n")
    after = ids(study)
    assert [a == b for a, b in zip(before, after, strict=True)] == [False] * 3 + [True] * 3
    replace(study, '"lazy:train_length"', '"lazy:train_length"\ncode = ["lazy.py"]')
    named = ids(study)
    (study.parent / "deeper.py").write_text("LABEL = 'neither'\n")
    assert ids(study) == named


@pytest.mark.parametrize("arguments", ['"tag.py"', '"-m", "tag"'])
def test_what_a_program_in_python_imports_counts(study: Path, arguments: str) -> None:
    program = (
        f'\n[systems.program]\ncommand = ["{{python}}", {arguments}, "{{train}}", "{{test}}", "{{out}}", "{{seed}}"]\n'
    )
    study.write_text(study.read_text() + program)
    replace(study.parent / "tag.py", "import sys", "import sys\nimport helper")
    (study.parent / "helper.py").write_text("A = 1\n")
    before = ids(study)
    (study.parent / "helper.py").write_text("A = 2\n")
    after = ids(study)
    assert [a == b for a, b in zip(before, after, strict=True)] == [True] * 6 + [False] * 3


EAGER = "from tools.helper import LABEL\n\n\ndef train_length(inputs, targets, *, seed):\n    return lambda unseen: [LABEL] * len(unseen)\n"


@pytest.mark.parametrize("code", [LAZY.replace("from helper", "from tools.helper"), EAGER], ids=["lazy", "eager"])
def test_a_process_that_has_loaded_another_version_of_a_helper_loads_it_again(
    study: Path, tmp_path: Path, code: str
) -> None:
    (study.parent / "trained.py").write_text(code)
    (study.parent / "tools").mkdir()
    replace(study, '"systems:train_length"', '"trained:train_length"')
    for number, label in enumerate(("long", "short", "long")):
        (study.parent / "tools" / "helper.py").write_text(f"LABEL = {label!r}\n")
        plan, path = make_plan(study), tmp_path / f"{number}.db"
        run_plan(plan, path)
        with Store(path, writing=False) as store:
            (found,) = store.results({plan.tasks[0].id})
            assert set(found.tables["items"]["prediction"].to_pylist()) == {f'"{label}"'}


def test_a_helper_that_is_edited_after_planning_fails_its_tasks(study: Path, tmp_path: Path) -> None:
    (study.parent / "lazy.py").write_text(LAZY)
    (study.parent / "helper.py").write_text("LABEL = 'long'\n")
    replace(study, '"systems:train_length"', '"lazy:train_length"')
    plan = make_plan(study)
    (study.parent / "helper.py").write_text("LABEL = 'short'\n")
    report = run_plan(plan, tmp_path / "s.db")
    assert report.statuses["failed"] == 3
    assert "the module helper has changed since the tasks were planned" in report.failures[0].message


def test_codes_that_are_text_now_are_not_the_numbers_that_they_were(study: Path) -> None:
    """Results of classes that had been merged must not be reused."""
    data = study.parent / "toy.csv"
    replace(study, "toy.jsonl", "toy.csv")
    for labels in (("1.1", "2.2"), ("1.1", "1.10")):
        data.write_text("text,label\n" + "".join(f"t{i},{labels[i % 2]}\n" for i in range(60)))
        described = make_plan(study).tasks[0].arguments["data"]
        assert described.get("spelled") == (["label"] if labels[1] == "1.10" else None)
