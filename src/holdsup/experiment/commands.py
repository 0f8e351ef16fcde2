"""Systems that are programs: files in, one JSON prediction a line out. An argument list, never a shell."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from holdsup.columns.limits import LARGEST_DOCUMENT
from holdsup.errors import TaskError

__all__ = ["FILLED", "fill_arguments", "find_placeholders", "run_command"]

FILLED = ("train", "test", "out", "seed", "python")  # placeholders that a run fills; the others are settings
PLACEHOLDER = re.compile(r"\{(\w+)\}")
GUARD = Path(__file__).with_name("guard.py")  # ends a program when this process is killed
TAIL = 500  # characters of a program's last words that go into the error


def find_placeholders(arguments: Sequence[str]) -> set[str]:
    """Return the names in braces.

    >>> sorted(find_placeholders(["{python}", "tag.py", "--rate={rate}"]))
    ['python', 'rate']
    """
    return {name for argument in arguments for name in PLACEHOLDER.findall(argument)}


def fill_arguments(arguments: Sequence[str], values: Mapping[str, Any]) -> list[str]:
    """Return an argument list with its placeholders filled; truth values as true and false."""

    def written(match: re.Match[str]) -> str:
        value = values.get(match[1], match[0])
        return str(value).lower() if isinstance(value, bool) else str(value)

    return [PLACEHOLDER.sub(written, argument) for argument in arguments]


def run_command(
    arguments: Sequence[str],
    settings: Mapping[str, Any],
    train: Sequence[Mapping[str, Any]],
    test: Sequence[Mapping[str, Any]],
    *,
    seed: int,
    folder: str,
    timeout: float | None,
) -> list[Any]:
    """Return the predictions of a program that is run in `folder`, its files in a temporary one.

    Parameters
    ----------
    arguments : program and arguments, with placeholders
    settings : what fills the placeholders that `FILLED` does not name
    train, test : rows of the two files of JSON lines that it is given
    timeout : seconds after which the program, and all that it has started, is killed
    """
    with tempfile.TemporaryDirectory(prefix="holdsup-") as own:
        files = {name: Path(own) / f"{name}.jsonl" for name in ("train", "test", "out")}
        _write_lines(files["train"], train)
        _write_lines(files["test"], test)
        filled = fill_arguments(arguments, {**settings, **files, "seed": seed, "python": sys.executable})
        log = Path(own) / "log.txt"
        code = _run(filled, folder, log, timeout)
        program = Path(filled[0]).name if len(filled) == 1 else " ".join(Path(part).name for part in filled[:2])
        if code is None:
            raise TaskError(f"{program} was stopped after {timeout:g} seconds: give it a longer timeout{_last(log)}")
        if code != 0:
            raise TaskError(f"{program} ended with code {code}{_last(log)}")
        return _read_predictions(files["out"], program, log)


def _write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _run(arguments: list[str], folder: str, log: Path, timeout: float | None) -> int | None:
    """Return the exit code of a program, None if it had to be stopped."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(GUARD), *arguments],
            cwd=folder, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            _kill_group(process)
        process.communicate()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a session's leader, whose number the group has until it is waited for, and all that it has started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _read_predictions(out: Path, program: str, log: Path) -> list[Any]:
    if not out.exists():
        raise TaskError(f"{program} wrote no file {{out}}{_last(log)}")
    if out.stat().st_size > LARGEST_DOCUMENT:
        raise TaskError(
            f"{program} wrote {out.stat().st_size:,} bytes to {{out}}: one JSON prediction a line is wanted"
        )
    predictions = []
    for number, line in enumerate(out.read_bytes().splitlines(), start=1):
        try:
            predictions.append(json.loads(line))
        except (ValueError, RecursionError):
            shown = line[:40].decode("utf-8", "replace")
            raise TaskError(f"line {number} that {program} wrote to {{out}} is not JSON: {shown!r}") from None
    return predictions


def _last(log: Path) -> str:
    """Return the last words of a program, ready to end an error."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4 * TAIL))
        words = " ".join(file.read().decode("utf-8", "replace").split())
    return f"; it said: {words[-TAIL:]}" if words else ""
