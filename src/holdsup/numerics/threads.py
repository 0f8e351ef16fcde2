"""BLAS threads, held down where they do harm.

On matrices of a few dozen columns a second thread costs more than it brings, and on a busy machine
OpenBLAS's threads wait for one another in a loop: a factorization of 15 ms has been seen to take 1.5 s.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

__all__ = ["blas_threads"]


@contextmanager
def blas_threads(limit: int | None) -> Iterator[None]:
    """Let BLAS use at most `limit` threads inside; None leaves it as it is."""
    if limit is None:
        yield
        return
    with _controller().limit(limits=limit, user_api="blas"):
        yield


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # looks up the loaded libraries: a few milliseconds, once
