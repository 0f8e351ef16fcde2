"""Results saved by earlier versions, told in the words of today's.

This module alone reads a signature: what schema 1 knew of what was asked, it kept nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

ROLES = frozenset(
    "score system item run dataset metric cluster status facets shared properties replicates names wide".split()
)
# Kinds that are about a corpus, not about a table: their metric is no column.
WITHOUT_ROLES = frozenset("contest tune tune-advice tune-study estimate-study stopping-study".split())
NUMBERS = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")


def upgrade(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON object of schema 1 as one of schema 2; what was a warning is a caution of the code "legacy"."""
    found = dict(plain)
    signature = found.pop("signature", "")
    parts = parse_signature(signature if isinstance(signature, str) else "")
    parts.pop("v", None)
    roles = frozenset[str]() if plain["kind"] in WITHOUT_ROLES else ROLES
    asked = {
        "kind": plain["kind"],
        "data": parts.pop("data", None),
        "roles": {name: _list(value) for name, value in parts.items() if name in roles},
        "options": {name: _value(value) for name, value in parts.items() if name not in roles},
    }
    faults = [{**each, "about": "data"} for each in found.pop("findings", ()) if isinstance(each, dict)]
    warnings = [
        {"code": "legacy", "severity": "warning", "about": "claim", "message": said}
        for said in found.pop("warnings", ())
    ]
    if plain["kind"] == "qra_findings":  # where a list of this name holds something else
        faults, found["findings"] = [], plain.get("findings", [])
    return {**found, "schema": 2, "asked": asked, "cautions": [*faults, *warnings]}


def parse_signature(signature: str) -> dict[str, str]:
    r"""Return the parts of a signature by their names, the kind left out.

    >>> parse_signature(r"fit|formula:y ~ (1 \| g)|v:1")
    {'formula': 'y ~ (1 | g)', 'v': '1'}
    """
    parts = re.findall(r"(?:[^|\\]|\\.)+", signature)[1:]  # a bar or a backslash in a part follows a backslash
    named = (re.sub(r"\\(.)", r"\1", part).partition(":") for part in parts)
    return {key: value for key, _, value in named}


def _list(value: str) -> str | list[str]:
    """Return the columns of a role; one that holds a comma is quoted."""
    names = [quoted or bare for quoted, bare in re.findall(r'"((?:[^"]|"")*)"|([^,]+)', value)]
    return names if len(names) > 1 else value


def _value(value: str) -> bool | int | float | str:
    if value in ("True", "False"):
        return value == "True"
    if NUMBERS.fullmatch(value):
        return int(value) if re.fullmatch(r"-?\d+", value) else float(value)
    return value
