"""One BLAS thread: the tests run on every core already, and threads that wait for each other crawl."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdsup.numerics.threads import blas_threads


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    with blas_threads(1):
        yield
