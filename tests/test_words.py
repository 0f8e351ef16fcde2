"""One word has one meaning (docs/glossary.md), and what a person reads is plain English."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src/holdsup"
MODULES = sorted(SOURCE.rglob("*.py"))
# Decisions are history; the reference is made from the source.
DOCUMENTS = [ROOT / "README.md", *(d for d in sorted((ROOT / "docs").rglob("*.md")) if "decisions" not in d.parts)]
ONCE = (
    "Answer",
    "Asked",
    "Caution",
    "Fit",
    "Gauge",
    "Layout",
    "Method",
    "Plan",
    "Question",
    "Report",
    "Result",
    "Table",
)
# What nobody would say, and what to say instead.
ODD = {
    r"cannot be told|told from none": "can't tell apart",
    r"stands? beside": "is next to, is shown with",
    r"may be anything in": "could be anywhere from ... to ...",
    r"\d% limits": "95% CI",
    r"taken for (?!example)": "counted as",
    r"goes with(?!out)": "belongs to, comes with",
}


@pytest.mark.parametrize("odd", ODD)
def test_nobody_has_to_read_what_nobody_would_say(odd: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in (*MODULES, *DOCUMENTS)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(odd, line, flags=re.IGNORECASE)
    ]
    assert not found, f"instead: {ODD[odd]}"


def test_a_word_of_the_house_names_one_class() -> None:
    where = defaultdict(list)
    for path, node in _definitions():
        if isinstance(node, ast.ClassDef):
            where[node.name].append(path.relative_to(SOURCE).as_posix())
    twice = {name: where[name] for name in ONCE if len(where[name]) > 1}
    assert not twice


def test_no_module_is_a_drawer_for_everything() -> None:
    assert not [path for path in MODULES if path.stem in ("utils", "helpers", "common", "misc", "tools")]


def test_a_confidence_interval_is_not_called_limits() -> None:
    """`columns/limits.py` is about the largest numbers that a table can hold, `time_limit` about seconds."""
    named = [path.relative_to(SOURCE).as_posix() for path in MODULES if "limits" in path.stem]
    assert named == ["columns/limits.py"]
    assert not [node.name for path, node in _definitions() if "limits" in node.name.lower()]
    said = {
        line.strip()
        for schema in sorted((SOURCE / "results/schemas").glob("*.json"))
        for line in schema.read_text(encoding="utf-8").splitlines()
        if re.search(r"(lower|upper|confidence) limit|(the|these) limits", line)
    }
    assert not said


def test_every_word_of_the_glossary_is_defined_once() -> None:
    text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| \*\*(.+?)\*\*", text, flags=re.MULTILINE)
    assert len(words) == len(set(words)) > 60
    for name in ("system", "item", "run", "claim", "verdict", "state", "headline", "caution", "interval", "report"):
        assert name in words


def _definitions() -> Iterator[tuple[Path, ast.ClassDef | ast.FunctionDef]]:
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                yield path, node


def test_no_code_goes_by_the_words_of_a_sentence() -> None:
    """Cautions have codes, tests of pairs rules, errors classes: a sentence may be rewritten, and nothing else changes."""
    said = frozenset("message advice effect headline verdict method p_method adjusted_by note why title".split())
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if _asks_words(node, said)
    }
    assert found == {"cli/program.py", "experiment/identity.py"}  # words of click's, and of /proc/cpuinfo


def _asks_words(node: ast.AST, said: frozenset[str]) -> bool:
    """Return whether a text is looked for in what a field of sentences holds, or a sentence at the start of anything."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("startswith", "endswith")
    ):
        texts = [text for each in node.args for text in ast.walk(each) if isinstance(text, ast.Constant)]
        sentences = any(isinstance(text.value, str) and re.search(r"[a-z] [a-z]", text.value) for text in texts)
        return sentences or (bool(texts) and getattr(node.func.value, "attr", "") in said)
    if (
        not isinstance(node, ast.Compare)
        or not isinstance(node.left, ast.Constant)
        or not isinstance(node.left.value, str)
    ):
        return False
    asked = any(isinstance(op, ast.In | ast.NotIn) for op in node.ops)
    return asked and any(getattr(right, "attr", "") in said for right in node.comparators)
