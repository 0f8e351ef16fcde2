"""Every example in the documents is run, and shows what the document says it shows.

A ``python`` block is executed, in order, in one namespace per document; a ``text`` block right after
it is what it printed. In a ``console`` block each line that begins with ``$`` is run, and the lines
below it are what it printed. ``UPDATE_DOCUMENTS=1`` writes the real output into the documents, for a
person to read before it is committed, and keeps the pictures that examples draw and the document shows. Blocks
of other kinds (``sh``, ``toml``) are shown, not run.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from holdsup.cli.program import COMMANDS

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"```(python|text|console)\n(.*?)```", flags=re.DOTALL)
SLOW = ("tune.md", "contest.md", "runner.md", "rank.md")  # pages whose examples train systems or fit hundreds of models
RUNNABLE = [
    pytest.param(d, marks=[pytest.mark.slow] if d.name in SLOW else [], id=str(d.relative_to(ROOT)))
    for d in DOCUMENTS
    if re.search(r"```(python|console)\n", d.read_text(encoding="utf-8")) and "reference" not in d.parts
]


def console(text: str, folder: Path) -> str:
    """Return a console block with what its commands really print."""
    shown = []
    for line in text.splitlines():
        if line.startswith("$ "):
            environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "HOLDSUP_DEBUG")}
            environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
            command = ["bash", "-c", line.removeprefix("$ ")]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            shown.append(f"{line}\n{done.stdout}{done.stderr}")
    return "".join(shown)


def keep_pictures(document: Path, folder: Path) -> None:
    """Copy pictures that the examples drew to where the document shows them: tutorial-rank.svg is rank.svg."""
    for target in re.findall(r"!\[[^]]*\]\(([^)]+\.svg)\)", document.read_text(encoding="utf-8")):
        shown = document.parent / target
        drawn = folder / shown.name.partition("-")[2]
        if drawn.is_file():
            shutil.copy(drawn, shown)


@pytest.mark.parametrize("document", RUNNABLE)
def test_examples_show_what_they_say(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    printed = ""

    def really(match: re.Match[str]) -> str:
        nonlocal printed
        kind, text = match[1], match[2]
        if kind == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(text, str(document), "exec"), namespace)
            printed = output.getvalue()
        elif kind == "console":
            text = console(text, tmp_path)
        elif printed:
            text, printed = printed, ""
        return f"```{kind}\n{text}```"

    before = document.read_text(encoding="utf-8")
    after = BLOCK.sub(really, before)
    if os.environ.get("UPDATE_DOCUMENTS"):
        document.write_text(after, encoding="utf-8")
        keep_pictures(document, tmp_path)
    assert after == before


def test_every_command_is_in_the_readme_and_the_reference() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    reference = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"holdsup {name}" in readme
        assert f"## holdsup {name}\n" in reference


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert (document.parent / target).exists(), f"{document.name} links to {target}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(ROOT)))
def test_every_picture_is_drawn_by_a_command_that_its_document_names(document: Path) -> None:
    """By an example (tutorial-rank.svg is its rank.svg), or by a script that gives its name to the picture."""
    text = document.read_text(encoding="utf-8")
    code = " ".join(re.findall(r"```.*?```|`[^`]+`", text, flags=re.DOTALL))
    for target in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
        assert (document.parent / target).is_file(), target
        name, _, drawn = Path(target).name.partition("-")
        example = re.search(rf'(--plot |save_plot\(\w+, "){re.escape(drawn)}', code)
        script = re.search(rf"python ((?:benchmarks|replications)/{name}\.py)", code)
        assert example or (script and (ROOT / script[1]).is_file()), f"{document.name} does not say what drew {target}"


def test_public_methods_of_classes_are_in_the_reference() -> None:
    reference = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    audit = reference.partition("## Audit\n")[2].partition("\n## ")[0]
    for method in ("to_frame(", "to_dict(", "to_json(", "write_json("):
        assert f"- `.{method}" in audit


def test_the_readme_documents_the_exit_codes() -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "Exit codes: 0 done; 1 no answer" in readme
    assert "--strict`; 2 wrong usage; 130 stopped by Ctrl-C." in readme
