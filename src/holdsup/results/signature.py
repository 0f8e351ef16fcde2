"""The signature: one line from which a stranger can redo the number, as sacrebleu taught the field."""

from __future__ import annotations

from holdsup import __version__

__all__ = ["sign"]


def sign(kind: str, **parts: object) -> str:
    """Return ``kind|key:value|...|v:version``; parts that are None are left out.

    >>> sign("check", data="3f2a9c1e", rows=7287, seed=None).rpartition("|")[0]
    'check|data:3f2a9c1e|rows:7287'
    """
    written = [f"{key}:{_escape(value)}" for key, value in parts.items() if value is not None]
    return "|".join([kind, *written, f"v:{__version__}"])


def _escape(value: object) -> str:
    return str(value).replace("\\", "\\\\").replace("|", "\\|")
