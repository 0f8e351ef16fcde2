"""Standard output while code of users runs: it is for the report, so what they write there goes to standard error."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress

_lock = threading.Lock()
_inside = 0  # threads that are in a block: what the first has diverted, the last puts back
_diverted = ExitStack()


@contextmanager
def divert_output() -> Iterator[None]:
    """Send standard output to standard error: what Python prints, and what programs write that are started inside."""
    global _inside, _diverted  # streams and descriptors are those of the whole process
    with _lock:
        _inside += 1
        if _inside == 1:
            _diverted = _divert()
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                _diverted.close()


def _divert() -> ExitStack:
    stack = ExitStack()
    if sys.stdout is not None:
        with suppress(OSError, ValueError):  # nobody reads it any more, or it is closed
            sys.stdout.flush()
    with suppress(OSError):  # a process without a standard output, or without a standard error
        kept = os.dup(1)
        stack.callback(os.close, kept)
        os.dup2(2, 1)
        stack.callback(os.dup2, kept, 1)
    stack.enter_context(redirect_stdout(sys.stderr))
    return stack
