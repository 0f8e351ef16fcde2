"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from holdsup.errors import ResultError


def write_file(path: str | Path, content: bytes) -> None:
    """Write `content` to a file: beside it first, then in its place, so that nobody ever sees half of it.

    A link is followed, not replaced. What is no regular file (a device, a pipe) is written through.
    """
    file = Path(path)
    try:
        if file.exists() and not file.is_file():
            file.write_bytes(content)
        else:
            _replace(Path(os.path.realpath(file)), content)
    except OSError as error:
        raise ResultError(f"cannot write {path}: {error.strerror or error}") from error


def _replace(target: Path, content: bytes) -> None:
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        beside.chmod(mode)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
