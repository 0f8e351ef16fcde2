"""What a report wrote to a folder: digests at the end of its preview, by which files that were changed since are known.

A paragraph on the method is there to be edited, and an edit must not be lost when the report is made again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from holdsup.errors import ResultError, list_names

HEAD = "% Written by holdsup, with digests by which it knows what was changed since:"
LINE = re.compile(r"^% ([0-9a-f]{64}) (.+)$", flags=re.MULTILINE)
PREVIEW = "preview.tex"

Manifest = set[tuple[str, str]]


def add_manifest(preview: str, files: Mapping[str, bytes], before: Iterable[tuple[str, str]] = ()) -> bytes:
    """Return the preview with the digests of all files, its own among them, and of those `before` that may be left."""
    written = {*before, (PREVIEW, _digest(preview.encode())), *((name, _digest(file)) for name, file in files.items())}
    return "\n".join([f"{preview}{HEAD}", *(f"% {digest} {name}" for name, digest in sorted(written)), ""]).encode()


def read_manifest(folder: Path) -> Manifest:
    """Return the names and digests of what a report wrote to a folder."""
    preview = folder / PREVIEW
    text = preview.read_text(encoding="utf-8", errors="replace") if preview.is_file() else ""
    return {(name, digest) for digest, name in LINE.findall(text.partition(HEAD)[2])}


def refuse_changed(folder: Path, files: Mapping[str, bytes], removed: Iterable[str]) -> None:
    """Raise if a file that is to be replaced or removed is neither as a report wrote it nor as it would write it."""
    known = read_manifest(folder) | {(name, _digest(file)) for name, file in files.items()}
    there = [name for name in (*files, *removed, PREVIEW) if (folder / name).is_file()]
    changed = [name for name in there if (name, _digest(_read(folder / name))) not in known]
    if changed:
        raise ResultError(
            f"{folder}: {list_names(changed)} changed since a report wrote {'it' if len(changed) == 1 else 'them'}: "
            "keep your own version under another name, or give another folder"
        )


def _read(file: Path) -> bytes:
    """Return the content of a file, of a preview without the digests at its end."""
    content = file.read_bytes()
    return content.partition(HEAD.encode())[0] if file.name == PREVIEW else content


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
