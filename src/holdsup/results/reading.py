"""Saved results, restored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdsup.errors import HoldsupError, ReadError, ResultError, list_names
from holdsup.results.envelope import Result
from holdsup.results.kinds import KINDS
from holdsup.results.scored import find_scored
from holdsup.results.upgrade import upgrade

LARGEST = 512 * 2**20  # bytes; a result is a summary, and this is far beyond any of ours
PIECE = 2**20  # bytes read at a time

TOO_DEEP = "is nested far deeper than a saved result"
REMEDY = "If it is a table of scores, save a result first: holdsup compare TABLE --format json -o RESULT.json"


def read_result(path: str | Path) -> Result:
    """Return the frozen result that a command saved with ``--format json -o FILE``."""
    return read_saved(Path(path))[0]


def read_saved(file: Path) -> tuple[Result, dict[str, Any]]:
    """Return the result that a file or a pipe holds, and the JSON object that it was made from."""
    try:
        with file.open("rb") as stream:  # once: a pipe gives its bytes a single time
            content = bytearray()
            while len(content) <= LARGEST and (piece := stream.read(PIECE)):
                content += piece
        if len(content) > LARGEST:
            raise ResultError(f"{file} has more than {LARGEST >> 20} MiB: too large for a saved result")
    except OSError as error:
        raise ReadError(f"cannot read {file}: {error.strerror or error}") from error
    plain = _parse(file, content)
    if not isinstance(plain, dict) or "kind" not in plain or "schema" not in plain:
        raise ResultError(f"{file} is JSON, but no result of holdsup. {REMEDY}")
    with showing(str(file)):  # a result whose parts contradict each other is refused here, not where it is used
        try:
            result = restore(plain)
        except ResultError as error:
            raise ResultError(f"{file}: {error}") from error
        except RecursionError:
            raise ResultError(f"{file} {TOO_DEEP}") from None
        str(result)
        result.page()
        result.describe_method()
        result.asked.command()
        find_scored(result).sentence()
    return result, plain


@contextmanager
def showing(source: str) -> Iterator[None]:
    """Say of which file a result can't be shown: one that was edited may name what it does not hold."""
    try:
        yield
    except HoldsupError:
        raise
    except Exception as error:
        if not source:  # made here, just now: a fault of ours
            raise
        cause = " ".join(f"{type(error).__name__}: {error}".split())
        raise ResultError(
            f"{source} can't be shown: its parts contradict each other ({cause}). If it was edited, make it again"
        ) from error


def _parse(file: Path, content: bytearray) -> Any:
    """Return what a file of JSON holds, in UTF-8, 16 or 32, with the mark of the order of bytes or without."""
    try:
        return json.loads(content)
    except RecursionError:
        raise ResultError(f"{file} {TOO_DEEP}") from None
    except json.JSONDecodeError as error:
        if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            place = f"line {error.lineno}, character {error.colno}"
            raise ResultError(f"{file} is not JSON, so it isn't a saved result: it breaks at {place}") from None
        raise ResultError(f"{file} is not JSON, so it isn't a saved result. {REMEDY}") from None
    except ValueError:  # bytes that are no text
        raise ResultError(f"{file} is not JSON, so it isn't a saved result. {REMEDY}") from None


def restore(plain: dict[str, Any]) -> Result:
    """Return the result of a JSON object of this schema, or of an earlier one."""
    kind, schema = plain["kind"], plain["schema"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise ResultError(f"results of kind {kind!r} are not known to this version; it reads {list_names(KINDS)}")
    found: type[Result] = KINDS[kind].load()
    if schema == 1:
        plain = upgrade(plain)
    elif schema != found.schema:
        raise ResultError(
            f"it was saved with schema {schema!r}, and this version reads schemas 1 to {found.schema}: "
            "update holdsup, or make the result again"
        )
    return found.from_dict(plain)
