"""Write (or, with --check, compare) the files that are made from the code.

    python scripts/generate.py            write them
    python scripts/generate.py --check    fail if one of them differs

JSON Schemas of the results, and the pages of the reference: --help of every command, docstring of
every public name, code of every caution.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import cautions
import click

import holdsup
from holdsup import fit
from holdsup.cli.program import COMMANDS, program
from holdsup.measurements.writing import schema_of_measurements
from holdsup.results import KINDS, schema_of
from holdsup.results.schema import read_meanings

ROOT = Path(__file__).resolve().parent.parent


def schemas() -> dict[Path, str]:
    """Return the JSON Schema file of each kind of result, and that of measurements."""
    schema = schema_of_measurements()
    pages = {ROOT / "src/holdsup/measurements/schemas/measurements.json": json.dumps(schema, indent=2) + "\n"}
    for kind, row in KINDS.items():
        schema = schema_of(row.load())
        pages[ROOT / f"src/holdsup/results/schemas/{kind}.json"] = json.dumps(schema, indent=2) + "\n"
    return pages


def commands() -> str:
    """Return the page that shows --help of every command."""
    parts = ["# Commands\n\nMade from `--help` by `scripts/generate.py`.\n"]
    for name in ("", *COMMANDS):
        command = program if not name else program.get_command(click.Context(program), name)
        assert command is not None
        title = f"holdsup {name}".strip()
        with click.Context(command, info_name=title, max_content_width=100, terminal_width=100) as context:
            parts.append(f"## {title}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def names() -> str:
    """Return the page that documents every public name."""
    parts = ["# Python\n\nMade from the docstrings by `scripts/generate.py`. First `holdsup`, then `holdsup.fit`.\n"]
    things = {name: getattr(holdsup, name) for name in sorted(holdsup.__all__) if not name.startswith("__")}
    things.update({f"fit.{name}": getattr(fit, name) for name in fit.__all__ if name not in things})
    for name, thing in things.items():
        parts.append(
            f"## {name}\n\n```python\n{name}{_signature(thing)}\n```\n\n```text\n{inspect.getdoc(thing)}\n```\n"
        )
        parts.extend(_fields(thing))
        parts.extend(_methods(thing))
    return "\n".join(parts)


def _fields(thing: object) -> Iterator[str]:
    """Yield what stands below a record: its fields, and what each means."""
    if inspect.isclass(thing) and dataclasses.is_dataclass(thing):
        meanings, names = read_meanings(thing), [field.name for field in dataclasses.fields(thing)]
        yield "\n".join(f"- `.{name}`: {meanings[name]}" for name in names if name in meanings) + "\n"


def _methods(thing: object) -> Iterator[str]:
    """Yield what stands below a class: its public methods and properties, with the first line of each."""
    if not inspect.isclass(thing) or issubclass(thing, Exception):
        return
    lines = []
    for name, member in inspect.getmembers(thing):
        if name.startswith("_"):
            continue
        is_method = inspect.isfunction(member) or inspect.ismethod(member)
        if is_method or isinstance(member, property | cached_property):
            call = _call(member) if is_method else ""
            lines.append(f"- `.{name}{call}`: {(inspect.getdoc(member) or '').partition(chr(10))[0]}")
    if lines:
        yield "\n".join(lines) + "\n"


def _call(method: Callable[..., object]) -> str:
    """Return the parameters of a method in one line."""
    parameters = [p for name, p in inspect.signature(method).parameters.items() if name != "self"]
    shown = [p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters]
    return f"({', '.join(shown)})"


def _signature(thing: object) -> str:
    """Return the parameters of a function, one a line, without types: the text below says what they are."""
    if not inspect.isfunction(thing):
        return ""
    lines = []
    star = False
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            lines.append("    *,")
            star = True
        default = parameter.default
        shown = "" if default is parameter.empty else f"={getattr(default, '__name__', None) or repr(default)}"
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        lines.append(f"    {stars}{parameter.name}{shown},")
    return "(\n" + "\n".join(lines) + "\n)"


def _alike(old: str, new: str) -> bool:
    """Return whether two pages say the same: versions of click wrap help texts at other words."""
    return old.split() == new.split()


def main() -> None:
    """Write or compare."""
    pages = {
        **schemas(),
        ROOT / "docs/reference/commands.md": commands(),
        ROOT / "docs/reference/python.md": names(),
        ROOT / "docs/reference/cautions.md": cautions.page(cautions.collect(ROOT / "src/holdsup")),
    }
    stale = [path for path, text in pages.items() if not path.exists() or not _alike(path.read_text("utf-8"), text)]
    if "--check" in sys.argv[1:]:
        if stale:
            listed = ", ".join(str(path.relative_to(ROOT)) for path in stale)
            sys.exit(f"out of date: {listed}. Run python scripts/generate.py")
        print(f"{len(pages)} generated files are up to date")
        return
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text := pages[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)} ({len(text):,} characters)")


if __name__ == "__main__":
    main()
