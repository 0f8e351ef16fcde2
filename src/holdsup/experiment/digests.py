"""Files as hashes of their bytes: what data and code are, whatever they are called."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from holdsup.errors import ReadError, SpecError

__all__ = ["digest_file", "find_matching"]


def digest_file(path: Path) -> str:
    """Return a hash of a file's bytes, as 32 hex digits."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror or error}") from error


def find_matching(folder: Path, patterns: Iterable[str]) -> dict[str, Path]:
    """Return the files below a folder that match glob patterns, by their path from there."""
    found: dict[str, Path] = {}
    for pattern in patterns:
        try:
            files = sorted(file for file in folder.glob(pattern) if file.is_file())
        except (ValueError, NotImplementedError) as error:
            raise SpecError(f"code has {pattern!r}, which is no pattern below the spec's folder: {error}") from error
        if not files:
            raise SpecError(f"code has {pattern!r}, which matches no file below the spec's folder")
        found |= {file.relative_to(folder).as_posix(): file for file in files}
    return found
