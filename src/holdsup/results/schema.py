"""JSON Schemas of the results, made from the records themselves so that they cannot drift."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Mapping
from typing import Any

from holdsup.results.envelope import Result
from holdsup.results.plain import saved_fields

__all__ = ["schema_of"]

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
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"holdsup {result.kind}, version {result.schema}",
        "description": record.pop("description"),
        "type": "object",
        "properties": {**fixed, **record["properties"]},
        "required": [*fixed, *record["required"]],
    }


def _record(record: type) -> dict[str, Any]:
    hints = typing.get_type_hints(record)
    meanings = _meanings(record)
    properties = {}
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


def _meanings(record: type) -> dict[str, str]:
    """Return what each field means, from the lines ``name : meaning`` under Attributes in the docstrings."""
    found: dict[str, str] = {}
    for parent in reversed(record.__mro__):
        _, _, section = (inspect.cleandoc(parent.__doc__ or "")).partition("Attributes\n----------\n")
        for entry in re.finditer(r"^(\w+) : (.+(?:\n +.+)*)", section, flags=re.MULTILINE):
            found[entry[1]] = " ".join(entry[2].split())
    missing = {field.name for field in dataclasses.fields(record)} - set(found)
    if missing:
        raise TypeError(f"{record.__name__} does not say under Attributes what {sorted(missing)} mean")
    return found
