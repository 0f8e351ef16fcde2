"""Contract suites for other people's splitters and stores."""

from holdsup.testing.splitters import BrokenPromise, check_splitter
from holdsup.testing.stores import check_store

__all__ = ["BrokenPromise", "check_splitter", "check_store"]
