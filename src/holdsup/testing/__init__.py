"""Contract suites for other people's splitters, stores and readers of logs."""

from holdsup.testing.contracts import BrokenPromise, check_splitter, check_store
from holdsup.testing.logs import check_reader

__all__ = ["BrokenPromise", "check_reader", "check_splitter", "check_store"]
