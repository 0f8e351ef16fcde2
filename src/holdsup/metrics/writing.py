"""Metrics in one line, as --metric takes them and as tables of scores name them: f1,average=macro."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from holdsup.errors import MetricError

__all__ = ["read_metric", "write_metric"]

QUOTED = r"\"[^\"]*\"|'[^']*'"
PART = re.compile(rf"(?:\[(?:{QUOTED}|[^\]\"'])*\]|{QUOTED}|[^,])+")  # up to a comma that is in no list and no text

SPECIAL = set(",[]\"'")  # text with one of these needs quotation marks


def read_metric(line: str) -> dict[str, Any]:
    """Return name and options of a metric; values are TOML, and text needs no quotation marks.

    >>> read_metric('f1,average=micro,labels=["pos", "neg"]')
    {'name': 'f1', 'average': 'micro', 'labels': ['pos', 'neg']}
    """
    name, *options = [part.strip() for part in PART.findall(line)] or [""]
    found: dict[str, Any] = {"name": name}
    for option in options:
        key, equals, value = (part.strip() for part in option.partition("="))
        if not (key and equals and value):
            raise MetricError(f"{option!r} is not of the form average=macro")
        found[key] = _read_value(value)
    return found


def write_metric(metric: Mapping[str, Any]) -> str:
    """Return a metric in one line, from which `read_metric` reads the same.

    >>> write_metric({"name": "f1", "average": "micro", "labels": ["pos", "neg"]})
    'f1,average=micro,labels=["pos", "neg"]'
    """
    options = [f"{option}={_write_value(value)}" for option, value in metric.items() if option != "name"]
    return ",".join([str(metric["name"]), *options])


def _read_value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:  # text without quotation marks
        return text


def _write_value(value: Any) -> str:
    if isinstance(value, str) and not SPECIAL & set(value) and _read_value(value) == value == value.strip():
        return value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool | list | tuple) else str(value)
