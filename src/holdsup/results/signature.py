"""The signature: one line from which a stranger can redo the number, as sacrebleu taught the field."""

from __future__ import annotations

import re

from holdsup import __version__

__all__ = ["parse_signature", "sign"]


def sign(kind: str, **parts: object) -> str:
    """Return ``kind|key:value|...|v:version``; parts that are None are left out.

    >>> sign("check", data="3f2a9c1e", rows=7287, seed=None).rpartition("|")[0]
    'check|data:3f2a9c1e|rows:7287'
    """
    written = [f"{key}:{_escape(value)}" for key, value in parts.items() if value is not None]
    return "|".join([kind, *written, f"v:{__version__}"])


def _escape(value: object) -> str:
    return str(value).replace("\\", "\\\\").replace("|", "\\|")


def parse_signature(signature: str) -> dict[str, str]:
    r"""Return the parts of a signature by their names, the kind left out.

    >>> parse_signature(r"fit|formula:y ~ (1 \| g)|v:1")
    {'formula': 'y ~ (1 | g)', 'v': '1'}
    """
    parts = re.findall(r"(?:[^|\\]|\\.)+", signature)[1:]  # a bar or a backslash in a part follows a backslash
    named = (re.sub(r"\\(.)", r"\1", part).partition(":") for part in parts)
    return {key: value for key, _, value in named}
