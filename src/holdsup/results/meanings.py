"""What the fields of a record mean: the comment behind each, or the lines of comment right above it."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap

COMMENT = re.compile(r"\s*#\s?(.*)")


def read_meanings(record: type) -> dict[str, str]:
    """Return what each field of a record means, its parents' among them; of a property, what its docstring says."""
    found: dict[str, str] = {}
    for parent in reversed(record.__mro__):
        if dataclasses.is_dataclass(parent):
            found |= _read_comments(parent)
        for name, member in vars(parent).items():
            if isinstance(member, property):
                found[name] = (inspect.getdoc(member) or "").partition("\n")[0].removesuffix(".")
    return found


def _read_comments(record: type) -> dict[str, str]:
    source = textwrap.dedent(inspect.getsource(record))
    lines = source.splitlines()
    (described,) = ast.parse(source).body
    assert isinstance(described, ast.ClassDef)
    found = {}
    for node in described.body:
        if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)):
            continue
        behind = COMMENT.fullmatch(lines[(node.end_lineno or node.lineno) - 1][node.end_col_offset or 0 :])
        above: list[str] = []
        place = node.lineno - 2
        while behind is None and (said := COMMENT.fullmatch(lines[place])) is not None:
            above.insert(0, said[1])
            place -= 1
        if behind is not None or above:
            found[node.target.id] = " ".join(above) if behind is None else behind[1]
    return found
