"""BLAS threads, held down where they do harm.

On matrices of a few dozen columns a second thread costs more than it brings, and on a busy machine
OpenBLAS's threads wait for one another in a loop: a factorization of 15 ms has been seen to take 1.5 s.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

THREADS_PAY = 4000  # columns of a dense matrix from which a second thread is worth its waiting


@contextmanager
def blas_threads(limit: int | None) -> Iterator[None]:
    """Let BLAS use at most `limit` threads inside; None leaves it as it is."""
    if limit is None:
        yield
        return
    with _controller().limit(limits=limit, user_api="blas"):
        yield


def threads_for(columns: int) -> int | None:
    """Return how many threads factoring a matrix may use: all for a large one on a machine with idle cores, else 1."""
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return None if columns >= THREADS_PAY and busy < (os.cpu_count() or 1) - 1 else 1


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # looks up the loaded libraries: a few milliseconds, once
