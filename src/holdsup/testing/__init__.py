"""Contract suites for other people's splitters, stores and readers of logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.lazy import load_lazily

if TYPE_CHECKING:
    from holdsup.testing.contracts import (
        BrokenPromise as BrokenPromise,
        check_splitter as check_splitter,
        check_store as check_store,
    )
    from holdsup.testing.logs import check_reader as check_reader

# Loaded when used: pytest loads the plugin in every session of whoever has holdsup installed.
__all__, __getattr__ = load_lazily(
    __name__, {"contracts": "BrokenPromise check_splitter check_store", "logs": "check_reader"}
)
