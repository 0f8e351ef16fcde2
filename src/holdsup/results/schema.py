"""JSON Schemas of the results, made from the records themselves so that they cannot drift."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
import types
import typing
from collections.abc import Mapping
from typing import Any

from holdsup.results.envelope import Result
from holdsup.results.plain import saved_fields

COMMENT = re.compile(r"\s*#\s?(.*)")
_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},  # NaN and infinities are written as null
    type(None): {"type": "null"},
}


def schema_of(result: type[Result]) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of what `result.to_dict()` gives."""
    record = _record(result)
    fixed = {"kind": {"const": result.kind}, "schema": {"const": result.schema}}
    meanings = read_meanings(result)
    made = {name: {**_of(hint), "description": meanings[name]} for name, hint in result.derived.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"holdsup {result.kind}, version {result.schema}",
        "description": record.pop("description"),
        "type": "object",
        "properties": {**fixed, **made, **record["properties"]},
        "required": [*fixed, *made, *record["required"]],
    }


def _record(record: type) -> dict[str, Any]:
    hints = typing.get_type_hints(record)
    meanings = read_meanings(record)
    properties = {}
    missing = [name for name in saved_fields(record) if name not in meanings]
    if missing:
        raise TypeError(f"{record.__name__} has no comments that say what {missing} mean")
    for name in saved_fields(record):
        properties[name] = {**_of(hints[name]), "description": meanings[name]}
    description = (inspect.getdoc(record) or "").partition("\n")[0]
    return {"description": description, "type": "object", "properties": properties, "required": [*properties]}


def _of(hint: Any) -> dict[str, Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in _SCALARS:
        return dict(_SCALARS[hint])
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _record(hint)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_of(argument) for argument in arguments]}
    if origin is tuple:
        return {"type": "array", "items": _of(arguments[0])}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _of(arguments[1])}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    raise TypeError(f"no JSON Schema for a field of type {hint}")


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
