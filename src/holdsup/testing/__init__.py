"""Contract suites for other people's splitters and stores."""

from holdsup.testing.contracts import BrokenPromise, check_splitter, check_store

__all__ = ["BrokenPromise", "check_splitter", "check_store"]
