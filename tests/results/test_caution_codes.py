"""Codes of cautions, on which programs rely: each can be read from the source, and is used for one thing."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
# Codes that several modules use, and the one thing that they say in all of them.
SHARED = {
    "missing-scores": "rows without a score, left out",
    "confounded": "two columns change together",
    "corpus-metrics-left-out": "metrics of a log that are no means of scores of items",
    "copied-partitions": "partitions that are copies of others, left out",
    "copied-runs": "runs with exactly the scores of another run",
    "different-items": "systems were scored on different items",
    "direction-by-name": "lower is better, for no other reason than the name",
    "dropped-columns": "columns of a model that others determine",
    "few-folds": "two folds, of which estimates vary more",
    "infinite-scores": "scores that are infinite, left out",
    "less-claimed": "the answer claims less than was asked for",
    "lookalike-labels": "labels that may mean the same",
    "missing-cells": "items without a score in some runs",
    "not-converged": "the optimizer gave up",
    "not-reported": "conditions that some measurements leave open",
    "original-assumed": "the study that comes first is taken as the original",
    "scale-minimum": "values from 1 to 7 of which nothing says where their scale starts",
    "single": "one measurement of an object and measurand",
    "runs-across-datasets": "how a run name on several datasets was read",
    "unknown-log-version": "a log of a version that its reader was not made for",
    "unused-columns": "columns that nothing looked at",
}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("cautions_script", ROOT / "scripts/cautions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where a dataclass looks for its module
    spec.loader.exec_module(module)
    return module


def test_every_code_can_be_read_from_the_source_and_is_in_kebab_case(script: ModuleType) -> None:
    uses = script.collect(ROOT / "src/holdsup")
    assert len({use.code for use in uses}) > 80
    wrong = [use.where for use in uses if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", use.code)]
    assert not wrong, "write the code as a constant in kebab-case"


def test_a_code_is_used_for_one_thing(script: ModuleType) -> None:
    modules: dict[str, set[str]] = defaultdict(set)
    for use in script.collect(ROOT / "src/holdsup"):
        modules[use.code].add(use.where.partition(":")[0])
    several = {code: where for code, where in modules.items() if len(where) > 1 and code not in SHARED}
    assert not several, "say in SHARED what the code means in all of them, or give one of them another"
    assert modules.keys() >= SHARED.keys(), "a code in SHARED is gone"


def test_a_code_is_found_where_it_is_a_constant_a_choice_a_loop_or_handed_on(
    script: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "module.py").write_text(
        'TABLE = {"a": "from-table"}\n'
        "def make(code, message):\n"
        '    return Caution(about="data", code=code, message=message)\n'
        "def use(x, kind):\n"
        '    make("handed-on", f"{x} rows are odd.")\n'
        '    Caution(code="one" if x else "other", severity="error" if x else "note")\n'
        '    Caution(code=TABLE.get(kind, "by-default"), about=f"system:{x}")\n'
        '    for code, n in (("loop-one", 1), ("loop-two", 2)):\n'
        "        Caution(code=code)\n"
        "    Caution(code=x.code)\n",
        encoding="utf-8",
    )
    found = {use.code: use for use in script.collect(tmp_path)}
    assert found.keys() == {"handed-on", "one", "other", "from-table", "by-default", "loop-one", "loop-two", ""}
    assert found["handed-on"].about == ("data",)
    assert found["handed-on"].message == "… rows are odd."
    assert found["one"].severities == ("error", "note")
    assert found["by-default"].about == ("system:…",)
    assert found[""].where == "module.py:10"
