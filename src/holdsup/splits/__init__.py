"""Who trains, who tests: seeded splits of a corpus that scikit-learn takes as ``cv=``."""

from __future__ import annotations

from holdsup.splits.splitter import Promises, Split, Splitter
from holdsup.splits.splitters import BlockedCV, HoldOut, JKFold, KFold, RepeatedHoldOut, make_splitter

__all__ = [
    "BlockedCV",
    "HoldOut",
    "JKFold",
    "KFold",
    "Promises",
    "RepeatedHoldOut",
    "Split",
    "Splitter",
    "make_splitter",
]
